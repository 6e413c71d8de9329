package graph_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/graph/graphtest"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	graphtest.Walk(t, graph.NewTable("Facebook"), graph.NewTable("Facebook").Rows, nettest.File(t, "errors.txt"))
}

func TestARefusalOfItsOwnWinsOverTheSharedOne(t *testing.T) {
	t.Parallel()
	table := graph.NewTable("Facebook", graph.Row{Code: 100, Kind: fault.Permission, Say: "ours"})
	if f := table.Sort(httpx.Prepare, 1, answer(400, `{"error":{"code":100}}`, nil)); f.Say != "ours" {
		t.Errorf("got %q", f.Say)
	}
}

func TestADocumentedErrorKeepsItsTrace(t *testing.T) {
	t.Parallel()
	f := graph.NewTable("Facebook").Sort(httpx.Commit, 1, answer(400, nettest.File(t, "error.json"), nil))
	if f.Kind != fault.Auth || f.Code != "190/463" || f.RequestID != "AbC123" || f.Status != 400 {
		t.Errorf("got %+v", f)
	}
}

func TestWaitsComeFromTheHeaders(t *testing.T) {
	t.Parallel()
	business := `{"1001":[{"type":"pages","call_count":99,"estimated_time_to_regain_access":17}],"1002":[{"estimated_time_to_regain_access":3}]}`
	for _, c := range []struct {
		name    string
		body    string
		headers map[string]string
		want    time.Duration
	}{
		{"business minutes", `{"error":{"code":80001}}`, map[string]string{"X-Business-Use-Case-Usage": business, "X-App-Usage": `{"call_count":100}`}, 17 * time.Minute},
		{"app over its limit", `{"error":{"code":4}}`, map[string]string{"X-App-Usage": `{"call_count":100,"total_cputime":1,"total_time":2}`}, 15 * time.Minute},
		{"app under its limit", `{"error":{"code":4}}`, map[string]string{"X-App-Usage": `{"call_count":99}`}, 0},
		{"nothing said", `{"error":{"code":32}}`, nil, 0},
		{"broken headers", `{"error":{"code":32}}`, map[string]string{"X-Business-Use-Case-Usage": "{", "X-App-Usage": "[]"}, 0},
		{"blocked", `{"error":{"code":368}}`, nil, 3 * time.Hour},
		{"absurd", `{"error":{"code":32}}`, map[string]string{"X-Business-Use-Case-Usage": `{"1":[{"estimated_time_to_regain_access":1e300}]}`}, 24 * time.Hour},
		{"an edge before Graph", `<html>`, map[string]string{"Retry-After": "90"}, 90 * time.Second},
	} {
		status := 400
		if c.body[0] == '<' {
			status = 429
		}
		f := graph.NewTable("Facebook").Sort(httpx.Prepare, 1, answer(status, c.body, c.headers))
		if f.Kind != fault.RateLimited || f.Wait != c.want {
			t.Errorf("%s: got %s for %v, want %v", c.name, f.Kind, f.Wait, c.want)
		}
	}
}

func TestAnAnswerThatIsNotGraphsProvesNothingOnCommit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status         int
		body           string
		before, commit fault.Kind
	}{
		{400, "<html>bad gateway</html>", fault.Validation, fault.Unknown},
		{403, "<html>", fault.Permission, fault.Unknown},
		{502, "<html>", fault.Transient, fault.Unknown},
		{500, "", fault.Transient, fault.Unknown},
		{404, `{"detail":"nothing here"}`, fault.Validation, fault.Unknown},
		{302, "", fault.Validation, fault.Unknown},
		{429, "<html>", fault.RateLimited, fault.RateLimited},
		{400, `{"error":"a string"}`, fault.Validation, fault.Unknown},
		{400, `{"error":{}}`, fault.Validation, fault.Unknown},
		{200, `{"error":{"code":190}}`, fault.Auth, fault.Unknown},
	} {
		table := graph.NewTable("Facebook")
		if f := table.Sort(httpx.Prepare, 1, answer(c.status, c.body, nil)); f.Kind != c.before {
			t.Errorf("%d %s before: got %s, want %s", c.status, c.body, f.Kind, c.before)
		}
		if f := table.Sort(httpx.Commit, 1, answer(c.status, c.body, nil)); f.Kind != c.commit {
			t.Errorf("%d %s on commit: got %s, want %s", c.status, c.body, f.Kind, c.commit)
		}
	}
}

func TestTheNetworksOwnWordsAreQuotedSafely(t *testing.T) {
	t.Parallel()
	body := `{"error":{"code":100,"error_user_msg":"Your link is blocked, see https://x.example/?access_token=EAABsbCS1iHgBAKZC"}}`
	f := graph.NewTable("Facebook").Sort(httpx.Prepare, 1, answer(400, body, nil))
	if !strings.Contains(f.Say, "Your link is blocked") || strings.Contains(f.Say, "EAAB") {
		t.Errorf("says %q", f.Say)
	}
}

func TestAnErrorToldInWordsIsSorted(t *testing.T) {
	t.Parallel()
	table := graph.NewTable("Instagram", graph.Row{Code: 352, Subcode: 2207026, Kind: fault.Validation, Say: "format"},
		graph.Row{Code: graph.Any, Subcode: 2207077, Kind: fault.Transient, Say: "again"})
	for text, want := range map[string]string{
		"Error: Media upload has failed with error code 2207026": "validation 352/2207026",
		"Error: 2207077":      "transient 2207077",
		"Error: of 1234567 x": "transient status_error",
	} {
		if f := table.Told(1, text); string(f.Kind)+" "+f.Code != want {
			t.Errorf("%q: got %s %s, want %s", text, f.Kind, f.Code, want)
		}
	}
	if f := table.Told(3, "Error: strange"); f.Kind != fault.Validation || !strings.Contains(f.Say, "strange") {
		t.Errorf("third attempt: got %s %q", f.Kind, f.Say)
	}
}

func answer(status int, body string, headers map[string]string) *httpx.Answer {
	h := http.Header{}
	for name, value := range headers {
		h.Set(name, value)
	}
	return &httpx.Answer{Status: status, Header: h, Body: []byte(body)}
}

func FuzzSort(f *testing.F) {
	f.Add(400, `{"error":{"message":"m","code":190,"error_subcode":463,"is_transient":false}}`, `{"1":[{"estimated_time_to_regain_access":17}]}`)
	f.Add(200, `{"debug_info":{"type":"OffsetInvalidError","retriable":true}}`, `{}`)
	f.Add(500, `<html>`, ``)
	f.Fuzz(func(t *testing.T, status int, body, usage string) {
		a := answer(status, body, map[string]string{"X-Business-Use-Case-Usage": usage, "X-App-Usage": usage})
		for _, step := range []httpx.Step{httpx.Prepare, httpx.Commit} {
			found := graph.NewTable("Facebook").Sort(step, 1, a)
			switch {
			case found == nil && !a.OK():
				t.Fatal("a failure was taken for a success")
			case found != nil && found.Kind == fault.Unknown && step != httpx.Commit:
				t.Fatal("unknown before the commit")
			case found != nil && (found.Wait < 0 || found.Wait > 24*time.Hour):
				t.Fatalf("waits %v", found.Wait)
			case found != nil && step == httpx.Commit && a.Status >= 500 && found.Kind != fault.Unknown:
				t.Fatalf("a server's failure on commit is %s", found.Kind)
			}
		}
	})
}
