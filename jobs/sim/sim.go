package sim

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"herald/db/network"
)

// DefaultSecret signs the deliveries to a webhook account that nobody declared.
const DefaultSecret = "secret"

// Options is what a Sim may be given; the zero value works.
type Options struct {
	Now    func() time.Time // time.Now if nil
	Base   string           // own public address without a trailing slash; the request's host if empty
	Fetch  *http.Client     // gets media that networks pull; a plain client with a time limit if nil
	Closed bool             // refuse accounts that nobody declared
	Quiet  bool             // for benchmarks: keep only the last calls, and no parameters
	Keep   int64            // bytes of media kept for the pages, 256 MiB if 0
	Knobs  Knobs            // where the networks leave a choice
}

// Sim is all simulated networks. It is safe for concurrent use.
type Sim struct {
	opts   Options
	places map[network.Name]*place
	order  []network.Name
	ids    atomic.Int64
	state  atomic.Pointer[state]
	faults faults
	handle http.Handler

	mu    sync.Mutex
	knobs Knobs
}

// New makes the networks, empty.
func New(opts Options) *Sim {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Fetch == nil {
		opts.Fetch = &http.Client{Timeout: 20 * time.Second}
	}
	opts.Keep = cmp.Or(opts.Keep, 256<<20)
	s := &Sim{opts: opts, places: map[network.Name]*place{}, knobs: opts.Knobs.filled()}
	// Ids grow with the clock, so that a restarted simulator never hands one out again.
	s.ids.Store(opts.Now().UnixMilli() * 1000)
	for _, p := range []*place{
		newBlotato(s),
		newBluesky(s),
		newDiscord(s),
		newBundle(s),
		newFacebook(s),
		newGHL(s),
		newGHLBlog(s),
		newGoogleBusiness(s),
		newInstagram(s),
		newLinkedIn(s),
		newMailchimp(s),
		newMastodon(s),
		newMedium(s),
		newPinterest(s),
		newSlack(s),
		newTelegram(s),
		newThreads(s),
		newTikTok(s),
		newWebhook(s),
		newWordPress(s),
		newX(s),
		newYouTube(s),
	} {
		s.places[p.name] = p
		s.order = append(s.order, p.name)
	}
	s.state.Store(newState(s.order, opts))
	s.handle = s.routes()
	return s
}

// Handler serves the networks, the control API and the pages.
func (s *Sim) Handler() http.Handler { return s.handle }

// Reset forgets posts, calls, faults and objects, puts the knobs back to
// Options.Knobs, and ends every stalled answer. Declared accounts stay.
func (s *Sim) Reset() {
	s.ClearFaults()
	s.Turn(func(k *Knobs) { *k = s.opts.Knobs })
	fresh := newState(s.order, s.opts)
	old := s.state.Load()
	for _, name := range s.order {
		fresh.at(name).adopt(old.at(name))
	}
	s.state.Store(fresh)
	close(old.over)
}

// AddAccount declares an account of a network, or changes what it is called and
// which tokens are good for it.
func (s *Sim) AddAccount(name network.Name, a Account) {
	s.state.Load().at(name).declare(a, s.opts.Now())
}

// AddStranger puts a post on an account that did not come through this API, as
// if somebody else had written it on the network itself. It returns its id.
func (s *Sim) AddStranger(name network.Name, accountID, text string) string {
	return s.places[name].stranger(s.state.Load(), accountID, text).ID
}

// Knobs returns the choices in force.
func (s *Sim) Knobs() Knobs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.knobs
}

// Turn changes the knobs.
func (s *Sim) Turn(change func(*Knobs)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.knobs)
	s.knobs = s.knobs.filled()
}

// Posts returns what the public sees now, oldest first. Empty names match all.
func (s *Sim) Posts(name network.Name, accountID string) []Post {
	return s.posts(name, accountID, s.opts.Base)
}

func (s *Sim) posts(name network.Name, accountID, base string) []Post {
	st, now, out := s.state.Load(), s.opts.Now(), []Post{}
	for _, n := range s.order {
		if name != "" && n != name {
			continue
		}
		for _, a := range st.at(n).all() {
			if accountID == "" || a.answersTo(accountID) {
				out = append(out, a.public(now, base)...)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Post) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.seq, b.seq))
	})
	return out
}

// next returns a number no one has had.
func (s *Sim) next() int64 { return s.ids.Add(1) }
