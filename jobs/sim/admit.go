package sim

import "strings"

// admit finds the account that a path names and checks the token for it and for
// one of the scopes.
func (c *call) admit(id, token string, scopes ...string) (*account, *grant, verdict) {
	sh := c.st.at(c.place.name)
	a := sh.find(id)
	c.account, c.who = a, id
	g, v := sh.look(token, !c.sim.opts.Closed && (a == nil || !a.isLocked()), c.now)
	switch {
	case v != good:
		return a, g, v
	case g.account != "" && g.account != id, a == nil && c.sim.opts.Closed:
		return a, g, elsewhere
	}
	a = sh.open(id)
	c.account = a
	if !g.may(scopes...) {
		return a, g, noScope
	}
	return a, g, good
}

// admitByToken finds the account that a token belongs to, for networks whose
// paths do not name one.
func (c *call) admitByToken(token string, scopes ...string) (*account, *grant, verdict) {
	sh := c.st.at(c.place.name)
	g, v := sh.look(token, !c.sim.opts.Closed, c.now)
	id := ""
	if g != nil {
		id = g.account
	}
	if id == "" {
		id = ownerOf(token)
	}
	c.who = id
	if g == nil {
		return nil, nil, v
	}
	a := sh.find(id)
	if a != nil && a.isLocked() && g.account == "" && v == good {
		return a, g, badToken
	}
	if v != good {
		c.account = a
		return a, g, v
	}
	a = sh.open(id)
	c.account = a
	if !g.may(scopes...) {
		return a, g, noScope
	}
	return a, g, good
}

// reached lists the accounts that a token is good for: of a person all that there
// are, else its own, which is a as well.
func (c *call) reached(scopes ...string) (list []*account, a *account, v verdict) {
	sh := c.st.at(c.place.name)
	if g, v := sh.look(c.bearer(), !c.sim.opts.Closed, c.now); v == good && g.user {
		if !g.may(scopes...) {
			return nil, nil, noScope
		}
		return sh.all(), nil, good
	}
	if a, _, v = c.admitByToken(c.bearer(), scopes...); v == good {
		list = []*account{a}
	}
	return list, a, v
}

// ownerOf is the account of a token that nobody declared: what stands before
// the colon, else a number made from the token.
func ownerOf(token string) string {
	if id, _, ok := strings.Cut(token, ":"); ok && id != "" {
		return id
	}
	if token == "" {
		return ""
	}
	return numberOf(token)
}

func (a *account) isLocked() bool {
	a.label.RLock()
	defer a.label.RUnlock()
	return a.locked
}
