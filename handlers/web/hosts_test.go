package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"herald/db"
)

func hosts(held ...string) *Hosts {
	return &Hosts{Own: "https://herald.example", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Held: func(context.Context) (list []db.HeldHost, _ error) {
		for _, h := range held {
			list = append(list, db.HeldHost{Host: h, WorkspaceID: 1, Token: "of-" + h})
		}
		return list, nil
	}}
}

// TestUnderAnAgencysNameOnlyReviewPagesAreAnswered tries what may be said in a Host
// header, Herald's own name among it, which nobody holds even if the table says so.
func TestUnderAnAgencysNameOnlyReviewPagesAreAnswered(t *testing.T) {
	t.Parallel()
	h := hosts("review.agency.example", "xn--mller-kva.example", "herald.example")
	site := h.Only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }), http.NotFoundHandler())
	ask := func(host, path string) int {
		r := httptest.NewRequest("GET", "https://herald.example/", nil)
		r.Host, r.URL.Path = host, path
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		return w.Code
	}
	mine := []string{"review.agency.example", "REVIEW.Agency.example", "review.agency.example:8443", "review.agency.example.", "xn--mller-kva.example", "review.agency.example.:443"}
	for _, host := range mine {
		for path, want := range map[string]int{
			"/review/1.x": 200, "/reminders/x": 200, "/static/x/css/app.css": 200, "/m/x": 200, "/looks/1f6feb.css": 200, HostChallenge: 200,
			"/": 404, "/signin": 404, "/w/north/calendar": 404, "/review": 404, "/reviewx/1": 404, "/static": 404, "/healthz": 404, "/hosts": 404, HostChallenge + "/x": 404, "//review/x": 404, "/oauth/x/callback": 404, "/connect/x": 404,
		} {
			if got := ask(host, path); got != want {
				t.Errorf("%s%s: %d, want %d", host, path, got, want)
			}
		}
	}
	for _, host := range []string{"herald.example", "herald.example:443", "HERALD.example.", "127.0.0.1:8080", "[::1]:8080", "", "other.example", "x.review.agency.example", "review.agency.example@evil.example", "review.agency.example, herald.example"} {
		if got := ask(host, "/signin"); got != 200 {
			t.Errorf("%q, which nobody holds: %d", host, got)
		}
	}
}

func TestAProxyIsToldWhichNamesAreHeld(t *testing.T) {
	t.Parallel()
	h := hosts("review.agency.example")
	for domain, held := range map[string]bool{"review.agency.example": true, "Review.agency.example.": true, "agency.example": false, "": false, "review.agency.example.evil": false} {
		w := httptest.NewRecorder()
		if err := h.Ask(w, httptest.NewRequest("GET", "/hosts?domain="+domain, nil)); (err == nil) != held {
			t.Errorf("%q: %v", domain, err)
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "https://review.agency.example"+HostChallenge, nil)
	if err := h.Answer(w, r); err != nil || w.Body.String() != "of-review.agency.example" {
		t.Errorf("it says %q, %v", w.Body, err)
	}
	h.Held = hosts("review.agency.example", "new.example").Held
	if err := h.Answer(httptest.NewRecorder(), httptest.NewRequest("GET", "https://new.example"+HostChallenge, nil)); err != nil {
		t.Error("a name that just came to be held does not answer")
	}
	if err := h.Answer(w, httptest.NewRequest("GET", "https://herald.example"+HostChallenge, nil)); err == nil {
		t.Error("Herald's own name says to be somebody's")
	}
}

func TestNamesOutliveADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(context.Context) ([]db.HeldHost, error){
		"away":  func(context.Context) ([]db.HeldHost, error) { return nil, errors.New("away") },
		"stuck": func(ctx context.Context) ([]db.HeldHost, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		h := hosts("review.agency.example")
		var asked atomic.Int32
		there := h.Held
		h.Held = func(ctx context.Context) ([]db.HeldHost, error) {
			if asked.Add(1) == 1 {
				return there(ctx)
			}
			return away(ctx)
		}
		r := httptest.NewRequest("GET", "https://review.agency.example/", nil)
		if _, ok := h.At(r); !ok {
			t.Fatal("not held")
		}
		h.mu.Lock()
		h.read = time.Time{}
		h.mu.Unlock()
		before := time.Now()
		if _, ok := h.At(r); !ok || time.Since(before) > hostsPatience/2 {
			t.Errorf("while the database is %s a name is held: %t, after %v", name, ok, time.Since(before))
		}
		h.renew(t.Context(), h.list(t.Context()))
		if _, ok := h.At(r); !ok || asked.Load() < 2 {
			t.Errorf("once the database was %s a name is held: %t, after %d readings", name, ok, asked.Load())
		}
	}
}
