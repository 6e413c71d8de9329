package sim_test

import (
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/sim"
)

const gb = "/google_business/v4/accounts/1/locations/1001/localPosts"

// gbFail checks a refusal of Google's.
func (g got) gbFail(t *testing.T, status int, words string) {
	t.Helper()
	if g.want(t, status); !strings.Contains(g.raw, words) {
		t.Errorf("got %s, want %s", g.raw, words)
	}
}

func TestGoogleWorksOnAPostAndMayTurnItDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.json(gb, `{"topicType":"STANDARD","summary":"Bread","callToAction":{"actionType":"BOOK","url":"https://a.example"}}`, bearer...).want(t, 200)
	if g.str("state") != "PROCESSING" || g.str("searchUrl") != "" || !strings.HasPrefix(g.str("name"), "accounts/1/locations/1001/localPosts/") {
		t.Errorf("made %s", g.raw)
	}
	if now := w.get("/google_business/v4/"+g.str("name"), bearer...).want(t, 200); now.str("state") != "LIVE" || now.str("searchUrl") == "" || now.str("callToAction.url") != "https://a.example" {
		t.Errorf("it is %s", now.raw)
	}
	w.fault(sim.Fault{Network: network.GoogleBusiness, Kind: sim.AsyncError, Times: 1})
	for range 2 {
		if now := w.get("/google_business/v4/"+g.str("name"), bearer...).want(t, 200); now.str("state") != "REJECTED" {
			t.Errorf("it is %s", now.raw)
		}
	}
	w.wantPosts(network.GoogleBusiness, "", 0)
	if at := w.json(gb, `{"topicType":"STANDARD","summary":"Call +491234567890"}`, bearer...).want(t, 200); at.str("state") != "REJECTED" {
		t.Errorf("a number: %s", at.raw)
	}
	w.wantPosts(network.GoogleBusiness, "", 0)
}

func TestGoogleWantsWhatAPostIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"summary":"a"}`: "topic_type", `{"topicType":"EVENT","summary":"a"}`: "event", `{"topicType":"STANDARD"}`: "summary",
		`{"topicType":"STANDARD","summary":"` + strings.Repeat("a", 1501) + `"}`:                                                             "STRING_TOO_LONG",
		`{"topicType":"STANDARD","summary":"a","callToAction":{"actionType":"CALL","url":"https://a.example"}}`:                              "call_to_action",
		`{"topicType":"STANDARD","summary":"a","offer":{"couponCode":"b"}}`:                                                                  "offer",
		`{"topicType":"STANDARD","summary":"a","colour":1}`:                                                                                  "Invalid JSON",
		`{"topicType":"STANDARD","media":[{"mediaFormat":"PHOTO","sourceUrl":"` + w.media + `/none.jpg"}]}`:                                  "PHOTO_FETCH_FAILED",
		`{"topicType":"STANDARD","media":[{"mediaFormat":"PHOTO","sourceUrl":"` + w.media + `/wide.jpg"}]}`:                                  "PHOTO_UPLOAD_FAILED",
		`{"topicType":"EVENT","event":{"title":"` + strings.Repeat("a", 59) + `","schedule":{"startDate":{"year":1},"endDate":{"year":1}}}}`: "event.title",
	} {
		w.json(gb, body, bearer...).gbFail(t, 400, want)
	}
	w.json(gb, `{"topicType":"OFFER","event":{"title":"Rolls","schedule":{"startDate":{"year":2026},"endDate":{"year":2026}}},"offer":{"couponCode":"R"}}`, bearer...).want(t, 200)
	if g := w.json("/google_business/v4/locations/1001/localPosts", `{}`, bearer...); g.status != 404 || !strings.Contains(g.raw, "<html>") {
		t.Errorf("a path without its account: %d %s", g.status, g.raw)
	}
}
