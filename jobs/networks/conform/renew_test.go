package conform

import (
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
)

// resting is a connection that nobody uses: it is renewed when the catalogue says so.
type resting struct {
	*world
	account networks.Account
	expires time.Time // of the token
	ends    time.Time // of the refresh token
}

// rest connects the account of the suite, by a sign-in where there is one.
func (w *world) rest() *resting {
	w.t.Helper()
	r := &resting{world: w, account: w.place.account()}
	r.account.Settings = w.place.renewed
	c, ok := w.adapter.(networks.Connector)
	if !ok {
		r.renew()
		return r
	}
	consent := w.consent("")
	all, err := c.Connect(w.t.Context(), consent, w.code(consent))
	if err != nil {
		w.t.Fatal(err)
	}
	one := w.chosen(all)
	r.account.RemoteID, r.account.Refresh = one.RemoteID, one.Tokens.Refresh
	r.keep(one.Tokens)
	return r
}

func (r *resting) renew() {
	r.t.Helper()
	got, err := r.adapter.(networks.Refresher).Refresh(r.t.Context(), r.account)
	if err != nil {
		r.t.Fatalf("not renewed on %v, with a token until %v and a refresh token until %v: %v", r.clock(), r.expires, r.ends, err)
	}
	r.keep(got)
}

func (r *resting) keep(t networks.Tokens) {
	fresh := r.ends.IsZero() || !t.Refresh.Empty() && t.Refresh.Reveal() != r.account.Refresh.Reveal()
	r.ends = r.place.Renews.RefreshEnds(r.clock(), t.Expires, t.RefreshExpires, r.ends, fresh)
	r.account.Token, r.expires = t.Access, t.Expires
	if !t.Refresh.Empty() {
		r.account.Refresh = t.Refresh
	}
}

func TestAConnectionThatRestsLastsAsLongAsTheNetworkLetsIt(t *testing.T) {
	t.Parallel()
	const long = 400 * 24 * time.Hour
	everywhere(t, check{"renew: a connection that nobody uses is kept", place.cannotRenew, func(t *testing.T, p place) {
		if p.Renews == nil {
			t.Fatalf("the catalogue does not say how connections of %s are renewed", p.label())
		}
		w := newWorld(t, p)
		r, began, renewed := w.rest(), w.clock(), 0
		for w.clock().Sub(began) < long {
			at := p.Renews.RenewAt(w.clock(), r.expires, r.ends)
			if at.IsZero() {
				break
			}
			w.pass(at.Sub(w.clock()))
			r.renew()
			renewed++
		}
		lasts := max(r.expires.Sub(began), r.ends.Sub(began))
		switch {
		case p.Renews.From == network.FromConsent && lasts != p.Renews.Life:
			t.Errorf("it lasts %v, and nothing could prolong it beyond %v", lasts, p.Renews.Life)
		case p.Renews.From != network.FromConsent && lasts < long:
			t.Errorf("it lasts %v", lasts)
		case renewed > 20:
			t.Errorf("renewed %d times, which nobody needs", renewed)
		}
		if !w.clock().Before(r.expires) {
			r.renew()
		}
		job := w.job(p.simple())
		job.Account.RemoteID, job.Account.Token, job.Account.Settings = r.account.RemoteID, r.account.Token, networks.With(job.Account.Settings, p.renewed)
		finish(t, newCourier(w, job), "")
	}}, check{"renew: the catalogue knows of it", func(p place) string {
		if p.Renews != nil {
			return ""
		}
		return p.label() + " has no renewal (catalogue: Renews)"
	}, func(t *testing.T, p place) {
		if why := p.cannotRenew(); why != "" {
			t.Error(why)
		}
	}})
}
