package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"herald/db"
	"herald/db/model"
)

// Hosts knows the names of agencies' own under which review pages are answered, and
// nothing else. Names that nobody holds are answered as Herald's own is.
type Hosts struct {
	Held func(context.Context) ([]db.HeldHost, error)
	Own  string // the address of this Herald
	Log  *slog.Logger

	mu    sync.Mutex
	known map[string]db.HeldHost
	read  time.Time // of this machine's clock: it is about load, not about rules
}

// hostsFresh is how long a list of names is believed.
const hostsFresh = 5 * time.Second

// At is who holds the name that a request was sent to, and whether anybody does.
// Herald's own name is nobody else's, whatever somebody managed to enter.
func (h *Hosts) At(r *http.Request) (db.HeldHost, bool) {
	if h == nil || h.Held == nil {
		return db.HeldHost{}, false
	}
	name := model.HostOf(r.Host)
	if name == h.own() {
		return db.HeldHost{}, false
	}
	held, ok := h.list(r.Context())[name]
	return held, ok
}

func (h *Hosts) own() string {
	u, err := url.Parse(h.Own)
	if err != nil {
		return ""
	}
	return model.HostOf(u.Host)
}

// hostsPatience is how long a list of names is waited for.
const hostsPatience = 2 * time.Second

// list is what is known, read again where that is old. Requests wait for the first
// reading alone: while a later one takes its time, and while the database is away, what
// was known still holds.
func (h *Hosts) list(ctx context.Context) map[string]db.HeldHost {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.read) < hostsFresh {
		return h.known
	}
	h.read = time.Now()
	if h.known == nil {
		h.known = h.reading(ctx, nil)
		return h.known
	}
	go h.renew(ctx, h.known)
	return h.known
}

// renew reads the names over what is known.
func (h *Hosts) renew(ctx context.Context, known map[string]db.HeldHost) {
	known = h.reading(ctx, known)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = known
}

// reading reads the names, or returns those that are known. It outlives the request that
// began it, since others are served by what it reads.
func (h *Hosts) reading(ctx context.Context, known map[string]db.HeldHost) map[string]db.HeldHost {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hostsPatience)
	defer cancel()
	all, err := h.Held(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "names of review pages not read", "err", err)
		return known
	}
	read := make(map[string]db.HeldHost, len(all))
	for _, one := range all {
		read[one.Host] = one
	}
	return read
}

// ofReview are the paths that are answered under somebody's own name.
var ofReview = []string{"/review/", "/reminders/", "/looks/", "/static/", "/m/", HostChallenge}

// HostChallenge is where a name shows that it leads to this Herald.
const HostChallenge = db.HostChallenge

// Only keeps what is not of review pages from being answered under somebody's own name.
func (h *Hosts) Only(next, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, held := h.At(r); held && !reviewed(r.URL.Path) {
			otherwise.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func reviewed(path string) bool {
	for _, p := range ofReview {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// Answer says which name this is, for whoever looks whether it leads here.
func (h *Hosts) Answer(w http.ResponseWriter, r *http.Request) error {
	held, ok := h.At(r)
	if !ok { // it may have come to be held this very moment, which is when one looks
		h.renew(r.Context(), h.list(r.Context()))
		held, ok = h.At(r)
	}
	if !ok {
		return model.Refuse(model.NotFound, "There is nothing at this address.")
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(held.Token)) // the reader left
	return nil
}

// Ask answers a proxy that asks whether it may get a certificate for a name: 200 for one
// that is held, else 404.
func (h *Hosts) Ask(w http.ResponseWriter, r *http.Request) error {
	if h == nil || h.Held == nil {
		return errNoHost
	}
	if _, ok := h.list(r.Context())[model.HostOf(r.URL.Query().Get("domain"))]; !ok {
		return errNoHost
	}
	_, _ = w.Write([]byte("ok\n"))
	return nil
}

var errNoHost = model.Refuse(model.NotFound, "No review pages are answered under this name.")
