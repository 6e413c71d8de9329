package sim

import (
	"maps"
	"slices"
	"sync"
	"time"

	"herald/db/network"
)

// state is everything that Reset forgets.
type state struct {
	shelves map[network.Name]*shelf
	calls   *callLog
	media   *mediaStore
	over    chan struct{} // closed by Reset, so that no answer stalls beyond it
}

func newState(names []network.Name, opts Options) *state {
	st := &state{
		shelves: map[network.Name]*shelf{}, calls: newCallLog(opts.Quiet),
		media: newMediaStore(opts.Keep), over: make(chan struct{}),
	}
	for _, name := range names {
		st.shelves[name] = newShelf(name)
	}
	return st
}

func (st *state) at(name network.Name) *shelf { return st.shelves[name] }

// shelf is what one network holds.
type shelf struct {
	name    network.Name
	objects sync.Map // id -> *entry, *photo, *container, ...
	pages   sync.Map // path of a post's page -> *entry

	mu       sync.RWMutex
	accounts map[string]*account // by id and by every other id it has
	grants   map[string]*grant   // by access token
	renewals map[string]*grant   // by refresh token, spent ones too
	codes    map[string]*code    // authorisation codes not used yet
	apps     map[string]string   // registered client ids and their secrets
	moved    map[string]string   // former ids of accounts and what they are now
	daily    map[string]*window  // X posts of each app in the current day's window
}

func newShelf(name network.Name) *shelf {
	return &shelf{
		name: name, accounts: map[string]*account{}, grants: map[string]*grant{},
		renewals: map[string]*grant{}, codes: map[string]*code{}, apps: map[string]string{}, moved: map[string]string{}, daily: map[string]*window{},
	}
}

// adopt takes over the declared accounts and their tokens, not their history.
func (sh *shelf) adopt(old *shelf) {
	old.mu.RLock()
	defer old.mu.RUnlock()
	for id, a := range old.accounts {
		if a.declared && id == a.id {
			sh.accounts[id] = a.emptied()
			sh.move(sh.accounts[id])
		}
	}
	for token, g := range old.grants {
		if a := sh.accounts[g.account]; a != nil {
			sh.grants[token] = g
		}
	}
	for token, g := range old.renewals {
		if a := sh.accounts[g.account]; a != nil {
			sh.renewals[token] = g
		}
	}
}

// find returns the account that has id, or nil.
func (sh *shelf) find(id string) *account {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.accounts[id]
}

// open returns the account that has id, made on the spot if there is none.
func (sh *shelf) open(id string) *account {
	if a := sh.find(id); a != nil {
		return a
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if a := sh.accounts[id]; a != nil {
		return a
	}
	a := newAccount(sh.name, id)
	sh.accounts[id] = a
	return a
}

// alias gives a another id, unless somebody has it.
func (sh *shelf) alias(a *account, id string) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.accounts[id] != nil {
		return false
	}
	sh.accounts[id] = a
	a.addAlias(id)
	return true
}

// all returns the accounts by id.
func (sh *shelf) all() []*account {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	var out []*account
	for _, id := range slices.Sorted(maps.Keys(sh.accounts)) {
		if a := sh.accounts[id]; a.id == id {
			out = append(out, a)
		}
	}
	return out
}

// declare makes or changes an account and its tokens.
func (sh *shelf) declare(d Account, now time.Time) {
	a := sh.open(d.ID)
	a.describe(d)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.move(a)
	if d.Token == "" {
		return
	}
	for token, g := range sh.grants {
		if g.account == d.ID {
			delete(sh.grants, token)
		}
	}
	issued := d.Issued
	if issued.IsZero() {
		issued = now.Add(-48 * time.Hour)
	}
	g := &grant{
		account: d.ID, token: d.Token, refresh: d.Refresh, scopes: d.Scopes,
		expires: d.Expires, app: d.App, issued: issued, family: new(family),
	}
	sh.grants[d.Token] = g
	if d.Refresh != "" {
		sh.renewals[d.Refresh] = g
	}
}

// appOf is the client id that a token was made for, or "".
func (sh *shelf) appOf(token string) string {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	if g := sh.grants[token]; g != nil {
		return g.app
	}
	return ""
}

// move notes what a's former id is now. mu is held, or nobody else has sh yet.
func (sh *shelf) move(a *account) {
	if old := a.wasOnce(); old != "" {
		sh.moved[old] = a.id
	}
}

// movedTo is what a former id is now, or "".
func (sh *shelf) movedTo(id string) string {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.moved[id]
}

// thing returns an object by id if it is a T.
func thing[T any](sh *shelf, id string) (T, bool) {
	v, _ := sh.objects.Load(id)
	t, ok := v.(T)
	return t, ok
}

// page returns the post whose page has path.
func (sh *shelf) page(path string) (*entry, bool) {
	v, _ := sh.pages.Load(path)
	e, ok := v.(*entry)
	return e, ok
}
