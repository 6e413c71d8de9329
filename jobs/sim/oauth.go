package sim

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"
)

// grant is what one access token may do.
type grant struct {
	account string // "" for a user's token that is good for every account
	token   string
	refresh string   // the renewal that came with it
	scopes  []string // nil for everything
	issued  time.Time
	expires time.Time // zero for never
	ends    time.Time // of the refresh token, or of the one that stays; zero for never
	app     string    // the client id it was made for, if known
	user    bool      // a person's token, not an account's
	revoked bool
	spent   bool // refresh was used
	family  *family
}

// family is all grants that grew out of one sign-in. A replayed refresh token
// ends them all.
type family struct{ dead bool }

// code is an authorisation code that waits to be exchanged.
type code struct {
	client, redirect string
	challenge        string // PKCE, S256
	account          string
	scopes           []string
	expires          time.Time
}

// verdict is what a network finds about a token.
type verdict string

const (
	good      verdict = ""
	noToken   verdict = "no token"
	badToken  verdict = "unknown token"
	expired   verdict = "expired"
	revoked   verdict = "revoked"
	noScope   verdict = "scope"
	elsewhere verdict = "another account's token"
)

// readOnly is what a token that begins with "noscope" may do.
var readOnly = []string{
	"read", "pages_read_engagement", "pages_show_list", "instagram_basic", "instagram_business_basic",
	"https://www.googleapis.com/auth/youtube.readonly",
}

// look finds the grant of a token. open makes one up if nobody knows the token.
func (sh *shelf) look(token string, open bool, now time.Time) (*grant, verdict) {
	if token == "" {
		return nil, noToken
	}
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	g := sh.grants[token]
	switch {
	case g == nil && !open:
		return nil, badToken
	case g == nil:
		return invented(token)
	case g.revoked || g.family.dead:
		return g, revoked
	case !g.expires.IsZero() && !now.Before(g.expires):
		return g, expired
	}
	return g, good
}

// invented is the grant of a token that nobody declared.
func invented(token string) (*grant, verdict) {
	g := &grant{token: token, family: new(family)}
	switch {
	case strings.HasPrefix(token, "expired"):
		return g, expired
	case strings.HasPrefix(token, "revoked"):
		return g, revoked
	case strings.HasPrefix(token, "noscope"):
		g.scopes = readOnly
	}
	return g, good
}

// may says whether the grant has one of the scopes. A scope "write:statuses" is
// part of "write".
func (g *grant) may(anyOf ...string) bool {
	if g.scopes == nil || len(anyOf) == 0 {
		return true
	}
	return slices.ContainsFunc(anyOf, func(want string) bool {
		whole, _, _ := strings.Cut(want, ":")
		return slices.Contains(g.scopes, want) || slices.Contains(g.scopes, whole)
	})
}

// issue makes a grant with a fresh token.
func (sh *shelf) issue(accountID string, scopes []string, now time.Time, life time.Duration, renewable bool) *grant {
	g := &grant{account: accountID, token: "T-" + rand.Text(), scopes: scopes, issued: now, family: new(family)}
	if life > 0 {
		g.expires = now.Add(life)
	}
	if renewable {
		g.refresh = "R-" + rand.Text()
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.keep(g)
	return g
}

// keep indexes a grant. mu is held.
func (sh *shelf) keep(g *grant) {
	sh.grants[g.token] = g
	if g.refresh != "" {
		sh.renewals[g.refresh] = g
	}
}

// renewal is what a refresh token led to.
type renewal string

const (
	renewed     renewal = ""
	unavailable renewal = "unavailable" // nothing happened; try again
	unknown     renewal = "unknown"
	replayed    renewal = "replayed" // spent before: the whole family is dead now
)

// hold is how long a refresh token is good: from each renewal on, or from the sign-in
// if fixed, and then no access token outlives it. Zero: for good.
type hold struct {
	life  time.Duration
	fixed bool
}

// ends is when a refresh token ends that came with a sign-in.
func (h hold) ends(now time.Time) time.Time {
	if h.life == 0 {
		return time.Time{}
	}
	return now.Add(h.life)
}

// renew exchanges a refresh token. mode is Knobs.Refresh: "rotate" hands out a
// new refresh token and spends the old one, "omit" keeps the old one and does
// not repeat it, "unavailable" does nothing.
func (sh *shelf) renew(refresh, mode string, now time.Time, life time.Duration, h hold) (*grant, renewal) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old := sh.renewals[refresh]
	switch {
	case mode == "unavailable":
		return nil, unavailable
	case old == nil || old.family.dead || old.revoked || !old.ends.IsZero() && !now.Before(old.ends):
		return nil, unknown
	case old.spent:
		old.family.dead = true
		return nil, replayed
	}
	g := &grant{
		account: old.account, token: "T-" + rand.Text(), scopes: old.scopes,
		issued: now, expires: now.Add(life), ends: old.ends, family: old.family, user: old.user, app: old.app,
	}
	switch {
	case !h.fixed:
		g.ends = h.ends(now)
	case !g.ends.IsZero() && g.expires.After(g.ends):
		g.expires = g.ends
	}
	if old.ends = g.ends; mode != "omit" {
		old.spent = true
		g.refresh = "R-" + rand.Text()
	}
	sh.keep(g)
	return g, renewed
}

const codeLife = 10 * time.Minute

// offer keeps an authorisation code for a while.
func (sh *shelf) offer(c code, now time.Time) string {
	text := "C-" + rand.Text()
	c.expires = now.Add(codeLife)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.codes[text] = &c
	return text
}

// redeem takes a code; it works once, and for the client and address it was
// made for. A code that begins with "code" works without a page in open mode.
func (sh *shelf) redeem(text, client, redirect string, open bool, now time.Time) (*code, bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	c := sh.codes[text]
	delete(sh.codes, text)
	if c == nil && open && strings.HasPrefix(text, "code") {
		return &code{client: client, redirect: redirect}, true
	}
	if c == nil || c.client != client || c.redirect != redirect || now.After(c.expires) {
		return nil, false
	}
	return c, true
}

// revoke ends a token. With a refresh token all ends that grew out of its sign-in.
func (sh *shelf) revoke(token string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if g := sh.grants[token]; g != nil {
		g.revoked = true
	}
	if g := sh.renewals[token]; g != nil {
		g.family.dead = true
	}
}
