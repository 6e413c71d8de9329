package network

import (
	"testing"
	"time"
)

func TestConnectionsAreRenewedWithAThirdOfTheirLifeLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	in := func(days float64) time.Time {
		if days == 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(days * 24 * float64(time.Hour)))
	}
	for _, c := range []struct {
		say           string
		net           Name
		expires, said float64 // days from now; 0: none
		was           float64
		same          bool // the refresh token is the one that was there
		ends, renew   float64
	}{
		{"a token that renews itself", Instagram, 60, 0, 0, false, 60, 40},
		{"one that has no end", Threads, 0, 0, 0, false, 0, 0},
		{"an hour's token is not kept alive, its refresh token is", YouTube, 1.0 / 24, 0, 0, false, 180, 120},
		{"whose life begins anew by each use", GoogleBusiness, 1.0 / 24, 0, 20, true, 180, 120},
		{"what the network says goes before what is known", TikTok, 1.0 / 12, 365, 0, false, 365, 365 * 2 / 3.0},
		{"a long token is there before a post needs it", Pinterest, 30, 60, 0, false, 60, 20},
		{"a refresh token that was not replaced ends when it did", X, 1.0 / 12, 0, 90, true, 90, 60},
		{"another begins anew", X, 1.0 / 12, 0, 90, false, 180, 120},
		{"one of which nothing is known", X, 1.0 / 12, 0, 0, true, 0, 0},
		{"a year that nothing prolongs", LinkedIn, 60, 0, 0, false, 365, 40},
		{"and of which a part has passed", LinkedIn, 60, 0, 100, false, 100, 40},
		{"whose end the token shares", LinkedIn, 30, 30, 30, true, 30, 0},
		{"and that has passed", LinkedIn, 20, 0, -1, true, -1, 0},
	} {
		r := of(t, c.net).Renews
		ends := r.RefreshEnds(now, in(c.expires), in(c.said), in(c.was), !c.same)
		if !ends.Equal(in(c.ends)) {
			t.Errorf("%s: %s ends %v, want in %v days", c.say, c.net, ends, c.ends)
		}
		if at := r.RenewAt(now, in(c.expires), ends); at.Sub(in(c.renew)).Abs() > time.Minute {
			t.Errorf("%s: %s is renewed %v, want in %v days", c.say, c.net, at, c.renew)
		}
	}
}

func of(t *testing.T, name Name) *Network {
	t.Helper()
	n, ok := Get(name)
	if !ok {
		t.Fatalf("no network %s", name)
	}
	return n
}

func TestTheTokensThatRenewThemselvesAreOldEnough(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for _, n := range All() {
		if n.Renews == nil {
			continue
		}
		if n.Renews.Source == "" || n.Renews.From != FromToken && n.Renews.Life == 0 {
			t.Errorf("%s does not say how long a refresh token lives, or who says so", n.Name)
		}
		expires := now.Add(60 * 24 * time.Hour)
		if at := n.Renews.RenewAt(now, expires, expires); n.Renews.From == FromToken && at.Sub(now) < 24*time.Hour {
			t.Errorf("%s is renewed at %v, which is too young for it", n.Name, at)
		}
	}
}
