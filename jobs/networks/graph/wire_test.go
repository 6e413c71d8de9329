package graph_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

type token string

func (t token) Reveal() string { return string(t) }

func door(h *nettest.Host) *graph.Door {
	return &graph.Door{HTTP: h.Client, Base: h.URL + "/v25.0", Table: graph.NewTable("Facebook")}
}

func TestTheTokenTravelsInTheHeaderOnly(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `{}`} })
	_, err := door(h).Do(t.Context(), graph.Call{Step: httpx.Find, Token: token("PT"), Method: "GET", Path: "1001/feed"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := h.Last()
	if c.Header.Get("Authorization") != "Bearer PT" || strings.Contains(c.Path+c.Query.Encode(), "PT") {
		t.Errorf("got %v", c)
	}
}

func TestValuesAreReadInEveryDocumentedForm(t *testing.T) {
	t.Parallel()
	var v struct {
		A, B     graph.ID
		N, M     graph.Int
		T, U, At graph.Time
	}
	err := json.Unmarshal([]byte(`{"a":"1001_5001","b":178414,"n":"12","m":3.7,"t":"2026-05-01T10:00:00+0000","u":1777629600,"at":"2026-05-01T12:00:00+02:00"}`), &v)
	noon := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	if err != nil || v.A != "1001_5001" || v.B != "178414" || v.N != 12 || v.M != 3 || !v.T.Equal(noon) || !v.U.Equal(noon) || !v.At.Equal(noon) {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestPagesAreReadToTheEndThroughEmptyOnes(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"":  `{"data":[{"id":"1"}],"paging":{"cursors":{"after":"a"},"next":"https://elsewhere.example/?access_token=PT&after=a"}}`,
		"a": `{"data":[],"paging":{"cursors":{"after":"b"},"next":"https://elsewhere.example/"}}`,
		"b": `{"data":[{"id":"2"}],"paging":{"next":"https://elsewhere.example/?after=c&access_token=PT"}}`,
		"c": `{"data":[{"id":"3"}],"paging":{"cursors":{"after":"d"}}}`,
	}
	h := nettest.New(t, func(c nettest.Call) nettest.Answer { return nettest.Answer{Body: pages[c.Query.Get("after")]} })
	var seen string
	complete, err := graph.Pages(t.Context(), door(h), graph.Call{Step: httpx.Find, Method: "GET", Path: "1/posts"}, func(x struct{ ID graph.ID }) bool {
		seen += string(x.ID)
		return true
	})
	if !complete || err != nil || seen != "123" {
		t.Errorf("complete %v, seen %q, %v", complete, seen, err)
	}
}

func TestAListWithoutEndIsNotComplete(t *testing.T) {
	t.Parallel()
	n := 0
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		n++
		return nettest.Answer{Body: `{"data":[{}],"paging":{"cursors":{"after":"` + strconv.Itoa(n) + `"},"next":"x"}}`}
	})
	complete, err := graph.Pages(t.Context(), door(h), graph.Call{Step: httpx.Find, Method: "GET", Path: "1/posts"}, func(struct{}) bool { return true })
	if complete || err != nil || n != 50 {
		t.Errorf("complete %v after %d pages, %v", complete, n, err)
	}
}

func TestASuccessThatCannotBeReadIsUnknownOnCommitOnly(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `<html>ok</html>`} })
	for step, want := range map[httpx.Step]fault.Kind{httpx.Commit: fault.Unknown, httpx.Prepare: fault.Transient, httpx.Find: fault.Transient} {
		var into struct{ ID graph.ID }
		_, err := door(h).Do(t.Context(), graph.Call{Step: step, Method: http.MethodPost, Path: "1/feed"}, &into)
		if f := fault.Of(err); f == nil || f.Kind != want {
			t.Errorf("%s: got %v, want %s", step, err, want)
		}
	}
}

func TestTextsAreComparedAsReadersDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Café\r\nopen ", "Cafe\u0301\nopen", true},
		{"Hi", "Hi!", false},
		{"Hi", "hi", false},
		{" \n", "", true},
	} {
		if networks.SameText(c.a, c.b) != c.same {
			t.Errorf("%q and %q: want same %v", c.a, c.b, c.same)
		}
	}
}

func TestASpanIsWidenedToWholeSecondsAndEndsAfterAPageOfOlderItems(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 5, 1, 10, 0, 0, 700, time.UTC)
	s := graph.Span{Since: since, Until: since.Add(time.Minute)}
	for at, want := range map[time.Duration]bool{-700: true, -701: false, time.Minute: true, time.Minute + 2*time.Second: false} {
		if in, more := s.See(graph.Time{Time: since.Add(at)}); in != want || !more {
			t.Errorf("%v: in %v, more %v", at, in, more)
		}
	}
	s = graph.Span{Since: since}
	for i := range 25 {
		if _, more := s.See(graph.Time{Time: since.Add(-time.Hour)}); more != (i < 24) {
			t.Fatalf("after %d older items: more %v", i+1, more)
		}
	}
}
