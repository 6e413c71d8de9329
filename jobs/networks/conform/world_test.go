package conform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/sim"
)

// noon is when every test begins.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// world is one network's simulator behind a real server, its adapter, a clock
// for both, and what passed between them.
type world struct {
	t       *testing.T
	place   place
	sim     *sim.Sim
	server  *httptest.Server
	adapter networks.Adapter

	mu    sync.Mutex
	now   time.Time
	calls []httpx.Call // evidence of all calls
	said  []string     // every error and sentence that came back
	seen  int          // requests that reached the server
	body  string       // of the last one, if it was JSON
	cut   func(n int) cut
}

// cut is what becomes of a request on its way.
type cut string

const (
	through cut = ""
	never   cut = "never arrives" // the connection ends before the network hears of it
	unheard cut = "answer lost"   // the network does it, the answer is lost
)

func newWorld(t *testing.T, p place, change ...func(*sim.Options)) *world {
	t.Helper()
	w := &world{t: t, place: p, now: noon}
	opts := sim.Options{Now: w.clock, Closed: true}
	for _, f := range change {
		f(&opts)
	}
	w.sim = sim.New(opts)
	w.sim.AddAccount(p.Name, sim.Account{ID: accountID, Token: token, Refresh: renewal, Handle: "bakery", Name: "The bakery", App: appID})
	w.sim.AddAccount(p.Name, sim.Account{ID: "2002", Token: "another", Handle: "cafe"})
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	t.Cleanup(w.sim.Reset) // ends what stalls
	w.adapter = p.make(w.env())
	return w
}

// env is what the configuration would give the adapter.
func (w *world) env() networks.Env {
	o := httpx.Options{Timeout: 20 * time.Second, Now: w.clock}
	return networks.Env{
		Base: w.server.URL + "/" + string(w.place.Name), ClientID: appID, ClientSecret: "app-secret", Now: w.clock,
		HTTP: httpx.New(o), Guarded: httpx.NewGuarded(o, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}),
	}
}

// serve is the road to the simulator, with its holes.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen++
	fate := through
	if w.cut != nil {
		fate = w.cut(w.seen)
	}
	w.mu.Unlock()
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		w.listen(r)
	}
	switch fate {
	case never:
		panic(http.ErrAbortHandler)
	case unheard:
		w.sim.Handler().ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	w.sim.Handler().ServeHTTP(rw, r)
}

// listen keeps the request's body and leaves it to be read again.
func (w *world) listen(r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body = string(raw)
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Add keeps evidence.
func (w *world) Add(c httpx.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

func (w *world) evidence() []httpx.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// fault tells the simulator to fail.
func (w *world) fault(f sim.Fault) {
	w.t.Helper()
	f.Network = w.place.Name
	if err := w.sim.Fault(f); err != nil {
		w.t.Fatal(err)
	}
}

// public is what the account shows, without a stranger's posts.
func (w *world) public() []sim.Post {
	return slices.DeleteFunc(w.sim.Posts(w.place.Name, accountID), func(p sim.Post) bool { return p.Stranger })
}

// wantPublic checks how many posts of ours the public sees.
func (w *world) wantPublic(n int) {
	w.t.Helper()
	if got := w.public(); len(got) != n {
		w.t.Errorf("the public sees %d posts, want %d: %+v", len(got), n, got)
	}
}

// steps are the calls of a step that the simulator wrote down.
func (w *world) steps(step sim.Step) (list []sim.Call) {
	for _, c := range w.sim.Calls(w.place.Name, "") {
		if c.Step == step {
			list = append(list, c)
		}
	}
	return list
}

func (w *world) get(path string) int {
	resp, err := http.Get(w.server.URL + path)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// job is a first attempt at a post of a format.
func (w *world) job(f network.Format) networks.Job { return w.jobOf(w.place.post(w, f)) }

func (w *world) jobOf(p networks.Post) networks.Job {
	return networks.Job{Key: "tenant:1:target:2:version:3", Attempt: 1, Account: w.place.account(), Post: p, Trail: w}
}

// kept are handles as the pipeline keeps them: what was noted is lost with the
// process, until something is written.
type kept struct {
	mu      sync.Mutex
	values  map[string]string
	durable map[string]string                           // what the database has
	hook    func(name, value string, save func()) error // around each save, if set
	saved   func()                                      // of each save, if set
}

func newKept() *kept { return &kept{values: map[string]string{}, durable: map[string]string{}} }

// Get returns a handle.
func (k *kept) Get(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.values[name]
}

// Save keeps one.
func (k *kept) Save(_ context.Context, name, value string) error {
	save := func() {
		k.merge(map[string]string{name: value})
		if k.saved != nil {
			k.saved()
		}
	}
	if k.hook != nil {
		return k.hook(name, value, save)
	}
	save()
	return nil
}

// Note keeps one in memory.
func (k *kept) Note(name, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values[name] = value
}

// Checkpoint keeps one while the caller goes on: it may be written by the time of its
// return, or lost with what was noted, and nobody waits for it.
func (k *kept) Checkpoint(_ context.Context, name, value string) error {
	k.Note(name, value)
	if k.hook == nil {
		k.merge(nil)
	} else if err := k.hook(name, value, func() { k.merge(nil) }); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not keep how far it is.", Cause: err}
	}
	return nil
}

// merge writes handles, and with them what was noted: of a Save, of a Ready with the
// move to in flight, none with a result.
func (k *kept) merge(more map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.Copy(k.values, more)
	k.durable = maps.Clone(k.values)
}

// lose forgets what was only noted.
func (k *kept) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values = maps.Clone(k.durable)
}

// late is a deadline that a test lets pass when it wants: the context of a call
// to a network that does not answer.
type late struct {
	context.Context
	over chan struct{}
	once sync.Once
}

func newLate(parent context.Context) *late { return &late{Context: parent, over: make(chan struct{})} }

func (l *late) pass()                 { l.once.Do(func() { close(l.over) }) }
func (l *late) Done() <-chan struct{} { return l.over }
func (l *late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// untilHeard is a context that runs out once the simulator has got a call of a
// step: the network did its part and no answer came.
func (w *world) untilHeard(ctx context.Context, step sim.Step) context.Context {
	l, had := newLate(ctx), len(w.steps(step))
	go func() {
		for ctx.Err() == nil && len(w.steps(step)) == had {
			time.Sleep(time.Millisecond)
		}
		l.pass()
	}()
	return l
}

// secretly are the words that no evidence may hold.
func (w *world) secretly(job networks.Job) []string {
	list := []string{token, renewal, "app-secret", "hooks.bakery.example"}
	for _, text := range []string{job.Post.Text, job.Post.FirstComment} {
		if text != "" {
			list = append(list, text)
		}
	}
	for _, m := range job.Post.Media {
		if _, query, signed := strings.Cut(m.URL, "?"); signed {
			list = append(list, query)
		}
	}
	return list
}

// echo makes the network refuse a step once with words of ours.
func (w *world) echo(step string, words string) {
	w.t.Helper()
	if step == "find" {
		if w.place.LookUp == network.NoLook {
			return
		}
		w.fault(sim.Fault{Kind: sim.StoreThenClose, Step: sim.Commit, Times: 1})
	}
	w.fault(sim.Fault{Kind: sim.Refuse, Step: sim.Step(step), Status: 400, Body: fmt.Sprintf(w.place.refusal, words), Times: 1})
}

// lastBody is the last request as it came, for networks whose simulator does not
// show all of it.
func (w *world) lastBody() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body
}
