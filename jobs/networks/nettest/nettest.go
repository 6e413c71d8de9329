// Package nettest is a scripted host and a place for handles, for the tests of
// adapters. Both write into one log, so that a test can see that an id was saved, or
// only noted, before the next call was made. Walk reads a table of refusals.
package nettest

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Call is one request as the host saw it.
type Call struct {
	Method, Path string
	Query, Form  url.Values
	Header       http.Header
	File         string // the bytes of an uploaded file, or of a raw body
}

// Name is the call without the first part of its path, which is a version, or
// stands for the path that a base address may carry: "POST 1001/feed".
func (c Call) Name() string {
	_, path, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
	return c.Method + " " + path
}

// Answer is what the host does with a call.
type Answer struct {
	Status int // 200 if zero
	Body   string
	Header map[string]string
	Close  bool // closes the connection instead of answering
}

// Host is the scripted host.
type Host struct {
	*httptest.Server
	Client *httpx.Client

	mu    sync.Mutex
	calls []Call
	log   []string
}

// New starts a host that answers by answer.
func New(t testing.TB, answer func(Call) Answer) *Host {
	h := &Host{Client: httpx.New(httpx.Options{Timeout: 5 * time.Second})}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := read(r)
		h.mu.Lock()
		h.calls = append(h.calls, c)
		h.log = append(h.log, c.Name())
		a := answer(c)
		h.mu.Unlock()
		write(w, a)
	}))
	t.Cleanup(h.Close)
	return h
}

func read(r *http.Request) Call {
	c := Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header}
	switch kind := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "multipart/form-data"):
		_ = r.ParseMultipartForm(1 << 20)
		c.Form = r.PostForm
		if r.MultipartForm != nil {
			for _, files := range r.MultipartForm.File {
				f, _ := files[0].Open()
				b, _ := io.ReadAll(f)
				c.File = string(b)
			}
		}
	case kind == "application/x-www-form-urlencoded":
		_ = r.ParseForm()
		c.Form = r.PostForm
	default:
		b, _ := io.ReadAll(r.Body)
		c.File = string(b)
	}
	return c
}

func write(w http.ResponseWriter, a Answer) {
	if a.Close {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
		return
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

// Calls returns the calls so far.
func (h *Host) Calls() []Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Call(nil), h.calls...)
}

// Last returns the last call.
func (h *Host) Last() Call {
	calls := h.Calls()
	if len(calls) == 0 {
		return Call{}
	}
	return calls[len(calls)-1]
}

// Log returns calls, saves and notes in their order, one a line.
func (h *Host) Log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.log, "\n")
}

// Count says how many calls had a name.
func (h *Host) Count(name string) (n int) {
	for _, c := range h.Calls() {
		if c.Name() == name {
			n++
		}
	}
	return n
}

// Handles keeps ids in memory.
type Handles struct {
	Kept map[string]string
	// FailAt makes the n-th save from now fail, for good: as if the process had
	// died there.
	FailAt int
	host   *Host
}

// Handles returns an empty place for ids that writes into the host's log.
func (h *Host) Handles() *Handles { return &Handles{Kept: map[string]string{}, host: h} }

// ErrDead is what a save that fails returns.
var ErrDead = errors.New("died")

// Get returns a handle or "".
func (k *Handles) Get(name string) string { return k.Kept[name] }

// Save keeps a handle.
func (k *Handles) Save(_ context.Context, name, value string) error {
	return k.write("save ", name, value)
}

func (k *Handles) write(how, name, value string) error {
	if k.FailAt > 0 {
		k.FailAt--
		if k.FailAt == 0 {
			k.FailAt = -1
		}
	}
	if k.FailAt < 0 {
		return ErrDead
	}
	k.Kept[name] = value
	k.host.mu.Lock()
	defer k.host.mu.Unlock()
	k.host.log = append(k.host.log, how+name)
	return nil
}

// Note keeps a handle that nobody waits for.
func (k *Handles) Note(name, value string) {
	k.Kept[name] = value
	k.host.mu.Lock()
	defer k.host.mu.Unlock()
	k.host.log = append(k.host.log, "note "+name)
}

// Checkpoint keeps a handle while the caller goes on.
func (k *Handles) Checkpoint(_ context.Context, name, value string) error {
	if err := k.write("checkpoint ", name, value); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Cause: err}
	}
	return nil
}

// Copy returns handles with the same ids.
func (k *Handles) Copy() *Handles { return &Handles{Kept: maps.Clone(k.Kept), host: k.host} }

// File reads a documented example.
func File(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
