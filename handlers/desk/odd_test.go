package desk_test

import (
	"net/url"
	"testing"
)

// TestOddBytesAndNumbersAreAnsweredInWords: what Postgres cannot hold, in an
// address or a form, is a sentence and not a fault of ours.
func TestOddBytesAndNumbersAreAnsweredInWords(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for path, want := range map[string]int{
		"/w/north/calendar?q=%00": 422, "/w/north/posts?q=%ff": 422, "/w/%00/calendar": 422,
		"/w/north/posts/1/versions/9223372036854775807": 404,
	} {
		resp, err := s.owner.Get(s.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if a := s.post(t, s.owner, "/w/north/approvals/1/decisions", url.Values{"stage": {"9223372036854775807"}, "verdict": {"approve"}}); a.status >= 500 {
		t.Errorf("a huge stage: %d", a.status)
	}
}
