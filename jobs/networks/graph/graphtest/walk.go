// Package graphtest checks tables of Graph refusals.
package graphtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Walk checks a table against lines of a file that was written from the
// network's documentation, one refusal a line:
//
//	HTTP-status code[/subcode] kind-before kind-on-commit [word=value ...]
//
// Words: again (kind on the commit call of a second attempt), later (kind before
// the commit on the sixth attempt), message (what the body says), everyone,
// transient (is_transient is set). A kind may be written - where the commit
// call cannot meet the refusal. Every row of own must be met by a line.
func Walk(t *testing.T, table graph.Table, own []graph.Row, lines string) {
	t.Helper()
	met := map[string]bool{}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(line, func(t *testing.T) { walk(t, table, strings.Fields(line)) })
		met[strings.Fields(line)[1]] = true
	}
	for _, row := range own {
		if !covered(row, met) {
			t.Errorf("no line meets the row %d/%d %s", row.Code, row.Subcode, row.Type)
		}
	}
}

func walk(t *testing.T, table graph.Table, words []string) {
	status, _ := strconv.Atoi(words[0])
	rest := map[string]string{}
	for _, word := range words[4:] {
		name, value, _ := strings.Cut(word, "=")
		rest[name] = value
	}
	a := &httpx.Answer{Status: status, Header: http.Header{}, Body: []byte(body(words[1], rest))}
	check := func(step httpx.Step, attempt int, want string) {
		t.Helper()
		f := table.Sort(step, attempt, a)
		switch {
		case want == "-" || want == "":
		case f == nil || string(f.Kind) != want:
			t.Errorf("%s on attempt %d: got %v, want %s", step, attempt, f, want)
		case f.Code != words[1]:
			t.Errorf("%s: code %q, want %q", step, f.Code, words[1])
		case f.Say == "" || strings.Contains(f.Say, "{"):
			t.Errorf("%s: says %q", step, f.Say)
		case f.Everyone != (rest["everyone"] == "true") && f.Kind == fault.RateLimited:
			t.Errorf("%s: everyone is %v", step, f.Everyone)
		}
	}
	check(httpx.Prepare, 1, words[2])
	check(httpx.Find, 1, words[2])
	check(httpx.Commit, 1, words[3])
	check(httpx.Commit, 2, rest["again"])
	check(httpx.Prepare, 6, rest["later"])
}

// body is the error body of a code such as 190/463 or OffsetInvalidError.
func body(code string, rest map[string]string) string {
	message := strings.ReplaceAll(rest["message"], "_", " ")
	number, subcode, _ := strings.Cut(code, "/")
	if _, err := strconv.Atoi(number); err != nil {
		return fmt.Sprintf(`{"debug_info":{"type":%q,"message":"m","retriable":false}}`, code)
	}
	if subcode == "" {
		subcode = "0"
	}
	return fmt.Sprintf(`{"error":{"message":%q,"type":"OAuthException","code":%s,"error_subcode":%s,"is_transient":%t,"fbtrace_id":"T"}}`,
		message, number, subcode, rest["transient"] == "true")
}

func covered(row graph.Row, met map[string]bool) bool {
	for code := range met {
		number, subcode, _ := strings.Cut(code, "/")
		n, err := strconv.Atoi(number)
		switch {
		case row.Type != "":
			if code == row.Type {
				return true
			}
		case err != nil:
		case row.Code == graph.Any && subcode == strconv.Itoa(row.Subcode):
			return true
		case row.Subcode == 0 && subcode == "" && (n == row.Code || row.To != 0 && n >= row.Code && n <= row.To):
			return true
		case row.Subcode != 0 && row.Code == n && subcode == strconv.Itoa(row.Subcode):
			return true
		}
	}
	return false
}
