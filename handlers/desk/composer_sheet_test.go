package desk_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"herald/db/model"
)

// over asks as htmx does for the composer in a dialog: for all of it, or for what is in
// it.
func over(r *http.Request, target string) *http.Request {
	r.Header.Set("HX-Request", "true")
	r.Header.Set("HX-Target", target)
	return r
}

func (s *studio) sheet(t *testing.T, path string) answer {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+path, nil)
	return s.do(t, s.owner, over(r, "compose-dialog#compose"))
}

func (s *studio) sendSheet(t *testing.T, path string, form url.Values) answer {
	t.Helper()
	return s.do(t, s.owner, over(s.request(t, path, form), "div#compose-body"))
}

func TestTheComposerComesAsADialogAndIsAnsweredInIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	a := s.sheet(t, "/w/north/posts/new?day=2026-03-20&clock=15:00").want(t, 200, "New post", "Open as page")
	for _, part := range []string{`<dialog id="compose-sheet"`, `hx-post="/w/north/posts"`, `href="/w/north/posts/new?day=2026-03-20&amp;clock=15:00"`, "css/preview.css", "js/kept-form.js", `value="2026-03-20"`} {
		if !strings.Contains(a.body, part) {
			t.Errorf("no %s in the dialog", part)
		}
	}
	if strings.Contains(a.body, "<html") {
		t.Error("a whole page comes")
	}
	form := a.form(t)
	form.Set("text", "Fresh bread from seven")
	form.Set("do", "schedule")
	again := s.sendSheet(t, "/w/north/posts", form).want(t, 422, "Choose at least one account.", "Fresh bread from seven")
	if strings.Contains(again.body, "<dialog id=") && strings.Contains(again.body, "compose-sheet") || strings.Contains(again.body, "<html") || s.count(t, "posts") != 0 {
		t.Error("what is refused is not answered inside the dialog")
	}
	form = again.form(t)
	form.Set("account", fmt.Sprint(int64(s.account)))
	form.Set("do", "save")
	done := s.sendSheet(t, "/w/north/posts", form).want(t, 200, "Saved.", "Open the post")
	if !strings.Contains(done.body, "data-done") || !strings.Contains(done.body, `hx-target="#notices"`) || s.count(t, "posts") != 1 {
		t.Errorf("the dialog hears %s", done.body)
	}
}

func TestADialogBeginsAnewOnceItsWordsAreDropped(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.sheet(t, "/w/north/posts/new").form(t)
	form.Set("drop", form.Get("copy"))
	form.Set("text", "Unwanted words")
	a := s.sendSheet(t, "/w/north/posts/copies/removals", form).want(t, 200)
	if now := a.form(t); now.Get("text") != "" || now.Get("copy") == form.Get("copy") || strings.Contains(a.body, "<html") {
		t.Errorf("it goes on with %q", now.Get("text"))
	}
}

func TestOnlyWhoMayWriteBeginsOverTheCalendar(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	viewer := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))
	for _, view := range []string{"month", "week", "day", "list"} {
		path := "/w/north/calendar?view=" + view
		if body := s.get(t, s.owner, path).want(t, 200).body; !strings.Contains(body, `<compose-dialog id="compose" hx-get="/w/north/posts/new"`) {
			t.Errorf("nothing begins over %s", view)
		}
		if strings.Contains(s.get(t, viewer, path).want(t, 200).body, "compose-dialog") {
			t.Errorf("who may not write begins over %s", view)
		}
	}
}
