package mastodon

import (
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

func document(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// prepare runs Prepare and keeps what a Ready holds, as the move to in flight does.
func prepare(t *testing.T, a *Adapter, job networks.Job, h networks.Handles) (networks.Ready, error) {
	t.Helper()
	ready, err := a.Prepare(t.Context(), job, h)
	if kept, ok := h.(*handles); ok && err == nil {
		maps.Copy(kept.kept, ready.Handles)
	}
	return ready, err
}

// publish runs Prepare, waiting where it says so, and Commit.
func publish(t *testing.T, s *server, a *Adapter, job networks.Job, h networks.Handles) (networks.Receipt, error) {
	t.Helper()
	for range 20 {
		ready, err := prepare(t, a, job, h)
		if f := fault.Of(err); f != nil && f.Kind == fault.Waiting {
			s.pass(f.Wait)
			continue
		}
		if err != nil {
			return networks.Receipt{}, err
		}
		return a.Commit(t.Context(), ready)
	}
	t.Fatal("still waiting after 20 looks")
	return networks.Receipt{}, nil
}

func mustPublish(t *testing.T, s *server, a *Adapter, job networks.Job, h networks.Handles) networks.Receipt {
	t.Helper()
	r, err := publish(t, s, a, job, h)
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
	return r
}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) *fault.Fault {
	t.Helper()
	f := fault.Of(err)
	if f == nil || f.Kind != kind || f.Code != code {
		t.Fatalf("got %v, want %s (%s)", err, kind, code)
	}
	return f
}

func TestTextIsPublishedWithItsOptionsAndLink(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Post.Link = "https://bakery.example/cake"
	job.Post.Options = map[string]string{network.OptVisibility: "unlisted", network.OptSpoiler: "food", network.OptLanguage: "de", network.OptSensitive: "true"}
	r := mustPublish(t, s, a, job, newHandles())
	if want := (networks.Receipt{ExternalID: "100", Permalink: "https://m.example/@a/100", RequestID: "req-100"}); r != want {
		t.Errorf("receipt %+v, want %+v", r, want)
	}
	p := s.posts[0]
	if p.text != "Hello, world\n\nhttps://bakery.example/cake" || p.spoiler != "food" || p.visibility != "unlisted" {
		t.Errorf("the server got %+v", p)
	}
	if p.key == "" || strings.Contains(p.key, job.Key) {
		t.Errorf("client key %q", p.key)
	}
}

func TestPicturesAreUploadedWithTheirDescriptionsAndKeptOneByOne(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job, h := withPictures(job, 3), newHandles()
	s.hook = func(w http.ResponseWriter, r *http.Request) bool {
		if s.count("POST /api/v2/media") != 2 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		fail(w, 503, "busy")
		return true
	}
	_, err := publish(t, s, a, job, h)
	wantKind(t, err, fault.Transient, "http_503")
	if n := s.count("POST /api/v2/media"); n != 2 || s.count("POST /api/v1/statuses") != 0 {
		t.Fatalf("%d uploads although the second was refused", n)
	}
	s.hook = nil
	mustPublish(t, s, a, job, h)
	if n := s.count("POST /api/v2/media"); n != 4 {
		t.Errorf("%d uploads in all, want 4: the first must not be sent again", n)
	}
	if got := s.posts[0].media; !slices.Equal(got, []string{"11", "12", "13"}) {
		t.Errorf("attached %v", got)
	}
	if f := s.files["13"]; f.description != "picture 3" || f.content != "pixels" || f.name != "cake.png" {
		t.Errorf("the third file came as %+v", f)
	}
}

func TestMediaInProcessingAreWaitedForWithoutHoldingAWorker(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	s.busy = 2
	job, h := withPictures(job, 1), newHandles()
	_, err := a.Prepare(t.Context(), job, h)
	if f := wantKind(t, err, fault.Waiting, "media_processing"); f.Wait <= 0 {
		t.Error("no time to wait")
	}
	mustPublish(t, s, a, job, h)
	if s.count("POST /api/v2/media") != 1 || len(s.posts) != 1 {
		t.Errorf("calls: %v", s.calls)
	}
}

func TestMediaThatNeverFinishAreSentAgain(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	s.busy = 1000
	job, h := withPictures(job, 1), newHandles()
	_, err := a.Prepare(t.Context(), job, h)
	wantKind(t, err, fault.Waiting, "media_processing")
	s.pass(patience + time.Second)
	_, err = a.Prepare(t.Context(), job, h)
	wantKind(t, err, fault.Transient, "media_stuck")
	s.busy = 0
	mustPublish(t, s, a, job, h)
	if n := s.count("POST /api/v2/media"); n != 2 {
		t.Errorf("%d uploads, want 2", n)
	}
}

// Each handle that Prepare saves is a durable commit that the post waits for. None
// is needed: claim, in flight and result are all.
func TestAPostSavesNothingBeforeItsCommit(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	four := newHandles()
	if _, err := a.Prepare(t.Context(), withPictures(job, 4), four); err != nil || four.saves != 0 || len(four.kept) != 4 {
		t.Errorf("saved %d times, has %v, %v", four.saves, four.kept, err)
	}
	h := newHandles()
	ready, err := a.Prepare(t.Context(), job, h)
	if err != nil || len(h.kept) != 0 {
		t.Fatalf("has %v, %v", h.kept, err)
	}
	began := ready.Handles[firstCommit]
	if at, ok := parseStamp(began); !ok || !at.Equal(s.now) {
		t.Errorf("the key begins to count at %q", began)
	}
	h.kept[firstCommit] = began
	s.pass(time.Minute)
	if ready, err = a.Prepare(t.Context(), job, h); err != nil || ready.Handles[firstCommit] != began {
		t.Errorf("a later attempt begins anew: %v, %v", ready.Handles, err)
	}
}

func TestMediaThatTheServerDroppedAreUploadedAgain(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job, h := withPictures(job, 1), newHandles()
	ready, err := a.Prepare(t.Context(), job, h)
	if err != nil {
		t.Fatal(err)
	}
	delete(s.files, "11")
	s.files["gone"] = &file{}
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Transient, "media_gone")
	job.Attempt = 2
	mustPublish(t, s, a, job, h)
	if got := s.posts[0].media; !slices.Equal(got, []string{"12"}) {
		t.Errorf("attached %v, want the second upload", got)
	}
}

func TestMediaAttachedByALostAttemptStopTheNextOne(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	s.noKeys = true // a look-alike that ignores the client key
	job, h := withPictures(job, 1), newHandles()
	ready, err := prepare(t, a, job, h)
	if err != nil {
		t.Fatal(err)
	}
	late := ready // the first attempt's commit, which arrives after the second Prepare
	job.Attempt = 2
	second, err := prepare(t, a, job, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	_, err = a.Commit(t.Context(), second)
	wantKind(t, err, fault.Unknown, "media_gone")

	job.Attempt = 3
	_, err = publish(t, s, a, job, h)
	wantKind(t, err, fault.Unknown, "already_published")
	f, err := a.Find(t.Context(), job, h, networks.Window{Since: noon.Add(-time.Minute), Until: noon.Add(time.Hour)})
	if err != nil || f.Verdict != networks.Found || f.Receipt.ExternalID != "100" || len(s.posts) != 1 {
		t.Errorf("%+v, %v with %d posts", f, err, len(s.posts))
	}
}

func TestTheClientKeyIsTheSameOverAttemptsAndKeepsASecondPostAway(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	h := newHandles()
	s.after = func(w http.ResponseWriter, _ *http.Request) bool { fail(w, 504, "timeout"); return true }
	_, err := publish(t, s, a, job, h)
	wantKind(t, err, fault.Unknown, "http_504")
	s.after = nil
	job.Attempt = 2
	r := mustPublish(t, s, a, job, h)
	if len(s.posts) != 1 || r.ExternalID != "100" {
		t.Errorf("%d posts, receipt %+v", len(s.posts), r)
	}
	other := job
	other.Key = "job-2"
	mustPublish(t, s, a, other, newHandles())
	if len(s.posts) != 2 || s.posts[0].key == s.posts[1].key {
		t.Error("two jobs share a key")
	}
}

func TestOnceTheKeyIsOldPrepareLooksBeforeItRepeats(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	h := newHandles()
	s.after = func(w http.ResponseWriter, _ *http.Request) bool { fail(w, 504, "timeout"); return true }
	_, err := publish(t, s, a, job, h)
	wantKind(t, err, fault.Unknown, "http_504")
	s.after = nil
	s.keys = map[string]string{} // an hour has passed
	s.pass(keyHolds)
	job.Attempt = 2
	_, err = publish(t, s, a, job, h)
	wantKind(t, err, fault.Unknown, "already_published")
	if len(s.posts) != 1 {
		t.Fatalf("%d posts", len(s.posts))
	}
	s.posts[0].text = "somebody deleted it"
	s.posts[0].id = "1"
	r := mustPublish(t, s, a, job, h)
	if len(s.posts) != 2 || r.ExternalID != "101" {
		t.Errorf("the noted post is gone, yet: %+v, %d posts", r, len(s.posts))
	}
}

func TestAProvenAbsenceIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	h := newHandles()
	if _, err := prepare(t, a, job, h); err != nil {
		t.Fatal(err)
	}
	id := s.add(post{text: job.Post.Text}) // another target's, published at the same time
	s.pass(keyHolds)
	f, err := a.Find(t.Context(), job, h, networks.Window{Since: noon.Add(-time.Minute), Until: s.now, Taken: []string{id}})
	if err != nil || f.Verdict != networks.Absent {
		t.Fatalf("%+v, %v", f, err)
	}
	job.Attempt = 2
	if r := mustPublish(t, s, a, job, h); r.ExternalID == id {
		t.Error("took another target's post for its own")
	}
}

func TestEachDocumentedErrorHasItsClass(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(string(document(t, "errors.txt"))) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c := strings.Split(line, "|")
		for i := range c {
			c[i] = strings.TrimSpace(c[i])
		}
		t.Run(c[0]+" "+c[1]+" "+c[5], func(t *testing.T) {
			t.Parallel()
			s, a, job := newServer(t)
			job = withPictures(job, 1)
			path := map[string]string{"commit": "POST /api/v1/statuses", "upload": "POST /api/v2/media", "poll": "GET /api/v1/media/"}[c[0]]
			if c[0] == "poll" {
				s.busy = 1
			}
			s.hook = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.Method+" "+r.URL.Path, path) {
					return false
				}
				_, _ = io.Copy(io.Discard, r.Body) // a server that hangs up on an upload resets the connection
				if name, value, ok := strings.Cut(c[2], ": "); ok {
					w.Header().Set(name, value)
				}
				status, _ := strconv.Atoi(c[1])
				w.WriteHeader(status)
				_, _ = w.Write([]byte(c[3]))
				return true
			}
			_, err := publish(t, s, a, job, newHandles())
			f := wantKind(t, err, fault.Kind(c[4]), c[5])
			if !strings.HasSuffix(f.Say, ".") || strings.Contains(f.Say, "hush") {
				t.Errorf("not a sentence: %q", f.Say)
			}
			if f.Kind == fault.RateLimited && f.Wait < 4*time.Minute {
				t.Errorf("waits %v", f.Wait)
			}
		})
	}
}

func TestALostAnswerIsUnknownOnTheCommitAndTransientBefore(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]fault.Kind{"/api/v1/statuses": fault.Unknown, "/api/v2/media": fault.Transient} {
		s, a, job := newServer(t)
		s.hook = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			panic(http.ErrAbortHandler)
		}
		_, err := publish(t, s, a, withPictures(job, 1), newHandles())
		if f := fault.Of(err); f == nil || f.Kind != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestAServerThatStumblesOverAFileAgainAndAgainIsBelieved(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Attempt = 3
	s.hook = func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		fail(w, 500, "Error processing thumbnail for uploaded media")
		return true
	}
	_, err := publish(t, s, a, withPictures(job, 1), newHandles())
	wantKind(t, err, fault.Validation, "media_failed")
}

func TestAnAddressInsideIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	_, a, job := newServer(t)
	for _, address := range []string{"http://10.0.0.1/", "https://169.254.169.254", "", "ftp://m.example", "https://u:p@m.example"} {
		job.Account.Address = address
		_, err := a.Check(t.Context(), job.Account)
		if f := fault.Of(err); f == nil || f.Kind != fault.Validation {
			t.Errorf("%q: got %v, want Validation", address, err)
		}
	}
}

func TestTheConfiguredBaseStandsForTheAccountsAddress(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	a.base = strings.TrimSuffix(job.Account.Address, "/")
	job.Account.Address = "https://m.example"
	if r := mustPublish(t, s, a, job, newHandles()); r.ExternalID != "100" {
		t.Errorf("receipt %+v", r)
	}
	a.base, job.Account.Address = "", "m.example/"
	if got := a.address(job.Account); got != "https://m.example" {
		t.Errorf("address %q", got)
	}
}

func TestCheckLearnsTheAccountAndTheServersLimits(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	p, err := a.Check(t.Context(), job.Account)
	if err != nil {
		t.Fatal(err)
	}
	if p.RemoteID != "7" || p.Handle != "@a@m.example" || p.Name != "A Bakery" {
		t.Errorf("profile %+v", p)
	}
	m, _ := network.Get(network.Mastodon)
	if own := m.With(p.Settings); own.Limit() != 1000 {
		t.Errorf("the catalogue reads a limit of %d from %v", own.Limit(), p.Settings)
	}
	s.hook = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/api/v2/instance":
			fail(w, 404, "Not found")
		case "/api/v1/instance":
			s.document("instance_v1.json")(w, r)
		default:
			return false
		}
		return true
	}
	if p, err = a.Check(t.Context(), job.Account); err != nil || p.Handle != "@a@old.example" || p.Settings["max_characters"] != "500" {
		t.Errorf("older server: %+v, %v", p, err)
	}
}

func TestTheDocumentedExamplesCanBeRead(t *testing.T) {
	t.Parallel()
	var s status
	if !parse(&httpx.Answer{Body: document(t, "status.json")}, &s) || s.ID != "12" || s.address() != "https://m.example/@a/12" || len(s.Media) != 1 || s.Media[0].ID != "11" || s.ReplyTo != "" || s.Reblog != nil {
		t.Errorf("status read as %+v", s)
	}
	var m attachment
	if !parse(&httpx.Answer{Body: document(t, "media_accepted.json")}, &m) || m.ID != "11" {
		t.Errorf("media read as %+v", m)
	}
}
