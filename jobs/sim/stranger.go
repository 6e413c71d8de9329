package sim

import "herald/db/network"

// foreign puts a post on an account that no call made. name says what a network
// calls its n-th thing, and where people read it.
func (s *Sim) foreign(st *state, on network.Name, accountID, text string, name func(a *account, n int64) (id, path string)) *entry {
	a, n, now := st.at(on).open(accountID), s.next(), s.opts.Now()
	id, path := name(a, n)
	e := &entry{
		Post: Post{ID: id, Kind: "post", Text: text, Time: now, Stranger: true, seq: n, path: path},
		born: now, private: map[string]string{},
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}
