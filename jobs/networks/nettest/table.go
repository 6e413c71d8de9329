package nettest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Noon is when the answers of Walk and FuzzTable are read.
var Noon = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// refusal is one line of a file that Walk reads.
type refusal struct {
	line          string
	answer        *httpx.Answer
	before, after string
	code          string
	more          map[string]string
}

// Walk checks a table against the lines of a file that was written from the
// network's documentation, one refusal a line:
//
//	status | headers | body | kind before | kind on commit | code | word=value ...
//
// Headers are separated by two semicolons. Words: again (kind on the commit call
// of a second attempt), later (kind before the commit on the sixth attempt), wait
// (a Go duration), everyone. A kind may be written - where the call cannot meet
// the refusal. Every row of the table must be met by a line.
func Walk(t *testing.T, table rest.Table, lines string) {
	t.Helper()
	var all []refusal
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, parse(t, line))
		}
	}
	for _, r := range all {
		t.Run(r.line[:min(len(r.line), 70)], func(t *testing.T) { r.check(t, table) })
	}
	for _, row := range table.Rows {
		if !met(table, row, all) {
			t.Errorf("no line meets the row %d %s %v: %s", row.Status, row.Code, row.Words, row.Say)
		}
	}
}

func parse(t *testing.T, line string) refusal {
	t.Helper()
	cells := strings.Split(line, " | ")
	if len(cells) < 6 {
		t.Fatalf("%q is no line", line)
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	status, err := strconv.Atoi(cells[0])
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	r := refusal{line: line, before: cells[3], after: cells[4], code: cells[5], more: map[string]string{}}
	r.answer = Said(status, cells[1], cells[2])
	for _, word := range strings.Fields(strings.Join(cells[6:], " ")) {
		name, value, _ := strings.Cut(word, "=")
		r.more[name] = value
	}
	return r
}

// Said is an answer with headers as "Name: value", separated by two semicolons.
func Said(status int, headers, body string) *httpx.Answer {
	a := &httpx.Answer{Status: status, Header: http.Header{}, Body: []byte(body), At: Noon}
	for header := range strings.SplitSeq(headers, ";;") {
		if name, value, ok := strings.Cut(header, ":"); ok {
			a.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return a
}

func (r refusal) check(t *testing.T, table rest.Table) {
	r.sort(t, table, httpx.Prepare, 1, r.before)
	r.sort(t, table, httpx.Find, 1, r.before)
	r.sort(t, table, httpx.Commit, 1, r.after)
	r.sort(t, table, httpx.Commit, 2, r.more["again"])
	r.sort(t, table, httpx.Prepare, 6, r.more["later"])
}

func (r refusal) sort(t *testing.T, table rest.Table, step httpx.Step, attempt int, want string) {
	t.Helper()
	if want == "-" || want == "" {
		return
	}
	f := table.Sort(step, attempt, r.answer)
	if f == nil {
		t.Errorf("%s: taken for a success", step)
		return
	}
	wait, _ := time.ParseDuration(r.more["wait"])
	_, everyone := r.more["everyone"]
	switch {
	case string(f.Kind) != want:
		t.Errorf("%s on attempt %d: got %s, want %s", step, attempt, f.Kind, want)
	case f.Code != r.code:
		t.Errorf("%s: code %q, want %q", step, f.Code, r.code)
	case !strings.HasSuffix(f.Say, ".") || strings.ContainsAny(f.Say, "{}<>\n"):
		t.Errorf("%s: %q is no sentence", step, f.Say)
	case f.Kind == fault.RateLimited && r.more["wait"] != "" && f.Wait != wait:
		t.Errorf("%s: waits %v, want %v", step, f.Wait, wait)
	case f.Kind == fault.RateLimited && f.Everyone != everyone:
		t.Errorf("%s: everyone is %v", step, f.Everyone)
	}
}

// met says whether a line is sorted by the row, and not by another or by none.
func met(table rest.Table, row rest.Row, all []refusal) bool {
	alone, none := table, table
	alone.Rows, none.Rows = []rest.Row{row}, nil
	for _, r := range all {
		f, by, without := table.Sort(httpx.Prepare, 1, r.answer), alone.Sort(httpx.Prepare, 1, r.answer), none.Sort(httpx.Prepare, 1, r.answer)
		if f != nil && by != nil && without != nil && f.Say == by.Say && f.Kind == by.Kind && f.Code == by.Code &&
			(by.Say != without.Say || by.Kind != without.Kind || by.Code != without.Code || by.Wait != without.Wait) {
			return true
		}
	}
	return false
}

// FuzzTable feeds answers of any sort to a table: whatever comes, it keeps to the
// rules that the pipeline rests on.
func FuzzTable(f *testing.F, table rest.Table, bodies ...string) {
	for _, body := range append(bodies, "", "<html>", "null", "[]", `"x"`, `{"error":null}`) {
		for _, status := range []int{200, 400, 429, 500} {
			f.Add(status, "Retry-After: 30", body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, headers, body string) {
		a := Said(status, headers, body)
		for _, step := range []httpx.Step{httpx.Prepare, httpx.Commit, httpx.Find, httpx.FollowUp, httpx.Token} {
			found := table.Sort(step, 1, a)
			switch {
			case found == nil && !a.OK():
				t.Fatal("a failure was taken for a success")
			case found == nil:
			case found.Kind == fault.Unknown && step != httpx.Commit:
				t.Fatalf("unknown at %s", step)
			case found.Kind == fault.Waiting:
				t.Fatal("a refusal is no waiting")
			case found.Wait < 0 || found.Wait > 24*time.Hour:
				t.Fatalf("waits %v", found.Wait)
			case step == httpx.Commit && a.Status >= 500 && found.Kind != fault.Unknown:
				t.Fatalf("a server's failure on commit is %s", found.Kind)
			case found.Code == "" || found.Say == "":
				t.Fatalf("says %q, code %q", found.Say, found.Code)
			}
		}
	})
}
