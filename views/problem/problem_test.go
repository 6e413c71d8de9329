package problem

import (
	"net/http"
	"strings"
	"testing"
)

func TestEveryProblemHasTitleWordsAndIcon(t *testing.T) {
	t.Parallel()
	titles := map[string]int{}
	for _, status := range []int{403, 404, 409, 410, 413, 422, 429, 500} {
		p := For(status, "")
		if p.Title == "" || p.Say == "" || p.Icon == "" {
			t.Errorf("%d: %+v", status, p)
		}
		if other := titles[p.Title]; other != 0 {
			t.Errorf("%d and %d share a title", status, other)
		}
		titles[p.Title] = status
	}
}

func TestTheRefusalsOwnWordsWin(t *testing.T) {
	t.Parallel()
	if p := For(http.StatusConflict, "Mia moved it to Friday."); p.Say != "Mia moved it to Friday." {
		t.Errorf("got %q", p.Say)
	}
}

func TestAFaultShowsItsReferenceAndEscapesEverything(t *testing.T) {
	t.Parallel()
	p := For(http.StatusInternalServerError, "<b>boom</b>")
	p.Reference, p.Back, p.BackLabel = "K3QF7TZA", "javascript:alert(1)", "<i>Back</i>"
	var b strings.Builder
	if err := Page(p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if !strings.Contains(out, "<code>K3QF7TZA</code>") || !strings.Contains(out, "<!doctype html>") {
		t.Errorf("no page with a reference: %s", out)
	}
	for _, bad := range []string{"<b>boom", "<i>Back", "javascript:"} {
		if strings.Contains(out, bad) {
			t.Errorf("%s came through", bad)
		}
	}
}
