package sim

import (
	"slices"
	"strings"
	"sync"
	"time"

	"herald/db/network"
)

// Account declares an account of a simulated network.
type Account struct {
	ID      string    // what the network calls it in paths: page id, IG user id, account id, webhook name
	Token   string    // the access token, or a webhook's secret; empty leaves the account open to any token
	Refresh string    // the refresh token, where the network has one
	Handle  string    // as people write it, with or without @
	Name    string    // as the page shows it
	Scopes  []string  // what Token may do; nil for everything
	App     string    // the client id that Token was made for, shown as the author's application
	Former  string    // Telegram: the number of the group that became this supergroup
	Expires time.Time // of Token; zero for never
	Issued  time.Time // of Token; two days ago if zero
}

// account is an account and what it holds.
type account struct {
	network network.Name
	id      string

	label    sync.RWMutex // guards what it is called; taken last, so a holder of mu may take it
	declared bool
	locked   bool // takes only its own tokens
	secret   string
	handle   string
	name     string
	former   string
	aliases  []string

	mu    sync.Mutex // guards what it holds
	posts []*entry
	keys  map[string]keyed       // client keys and delivery ids
	made  []time.Time            // Instagram containers
	sent  []time.Time            // Instagram publishes, Facebook reels
	calls window                 // calls in the current rate window
	hits  map[string][]time.Time // calls of late, by what they count as
	daily window                 // X posts in the current day's window
}

// keyed is what a client key led to.
type keyed struct {
	id   string
	when time.Time
}

// window counts calls since its start.
type window struct {
	start time.Time
	n     int
}

func newAccount(name network.Name, id string) *account {
	return &account{network: name, id: id, keys: map[string]keyed{}, hits: map[string][]time.Time{}}
}

// describe takes over what d says.
func (a *account) describe(d Account) {
	a.label.Lock()
	defer a.label.Unlock()
	a.declared = true
	a.locked = a.locked || d.Token != ""
	if d.Token != "" {
		a.secret = d.Token
	}
	if d.Handle != "" {
		a.handle = strings.TrimPrefix(d.Handle, "@")
	}
	if d.Name != "" {
		a.name = d.Name
	}
	if d.Former != "" {
		a.former = d.Former
	}
}

// emptied returns the account as it was declared, without its history.
func (a *account) emptied() *account {
	a.label.Lock()
	defer a.label.Unlock()
	b := newAccount(a.network, a.id)
	b.declared, b.locked, b.secret, b.handle, b.name, b.former = a.declared, a.locked, a.secret, a.handle, a.name, a.former
	return b
}

// wasOnce is the number that the account had before it moved, or "".
func (a *account) wasOnce() string {
	a.label.RLock()
	defer a.label.RUnlock()
	return a.former
}

func (a *account) addAlias(id string) {
	a.label.Lock()
	defer a.label.Unlock()
	a.aliases = append(a.aliases, id)
}

// answersTo says whether name is an id, the handle or the name of a.
func (a *account) answersTo(name string) bool {
	if a.id == name {
		return true
	}
	a.label.Lock()
	defer a.label.Unlock()
	return slices.Contains(a.aliases, name) ||
		a.handle != "" && strings.EqualFold(strings.TrimPrefix(name, "@"), a.handle) ||
		a.name != "" && strings.EqualFold(name, a.name)
}

// Handle returns what people call the account.
func (a *account) Handle() string {
	a.label.Lock()
	defer a.label.Unlock()
	if a.handle != "" {
		return a.handle
	}
	return string(a.network) + "_" + a.id
}

// Name returns what the account is shown as.
func (a *account) Name() string {
	a.label.Lock()
	name, handle := a.name, a.handle
	a.label.Unlock()
	switch {
	case name != "":
		return name
	case handle != "":
		return handle
	}
	if strings.Trim(a.id, "0123456789") != "" {
		return a.id
	}
	return "Account " + a.id
}

// count adds one call to the window of length d and returns how many it holds
// and when it ends.
func (a *account) count(now time.Time, d time.Duration) (int, time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls.roll(now, d)
	a.calls.n++
	return a.calls.n, a.calls.start.Add(d)
}

// roll begins a new window if the last one of length d has ended.
func (w *window) roll(now time.Time, d time.Duration) {
	if w.n == 0 || now.Sub(w.start) >= d {
		*w = window{start: now}
	}
}

// pace is how many calls a network takes in any stretch of a time.
type pace struct {
	most int
	in   time.Duration
}

// room counts a call as kind, unless one of the paces, the longest of which is last,
// is reached.
func (a *account) room(kind string, now time.Time, most ...pace) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	hits := recent(a.hits[kind], now.Add(-most[len(most)-1].in))
	a.hits[kind] = hits
	for _, s := range most {
		if n := len(hits); n >= s.most && hits[n-s.most].After(now.Add(-s.in)) {
			return false
		}
	}
	a.hits[kind] = append(hits, now)
	return true
}

// recent drops the times before since and returns the rest. mu is held.
func recent(times []time.Time, since time.Time) []time.Time {
	return slices.DeleteFunc(times, func(t time.Time) bool { return !t.After(since) })
}
