package conform

import (
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// odd are 2xx answers that no documentation promises.
func (p place) odd() map[string]string {
	list := map[string]string{
		"html": html, "cut short": `{"id":"77`, "an empty object": `{}`, "null": `null`, "a word": `"ok"`, "blank": " ",
		"an error inside": `{"error":{"message":"An unknown error occurred","type":"OAuthException","code":1,"fbtrace_id":"A"}}`,
		"a plain error":   `{"error":"This action is not allowed"}`,
		"success false":   `{"success":false}`,
	}
	if p.foreign != "" {
		list["another account's"] = p.foreign
	}
	return list
}

func (p place) namesNobody() string {
	if p.foreign == "" {
		return p.label() + ": " + p.nobody
	}
	return ""
}

func TestOddAnswers(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"odd: another account's id as the answer to a commit", place.namesNobody, func(t *testing.T, p place) {
			oddCommit(t, p, p.foreign)
		}},
		check{"odd: any other 2xx as the answer to a commit", nil, func(t *testing.T, p place) {
			for name, body := range p.odd() {
				t.Run(name, func(t *testing.T) { oddCommit(t, p, body) })
			}
		}},
		check{"odd: any 2xx as the answer to a preparation", place.preparesNothing, func(t *testing.T, p place) {
			for name, body := range p.odd() {
				if body != p.foreign {
					t.Run(name, func(t *testing.T) { oddPrepare(t, p, body) })
				}
			}
		}},
		check{"odd: any 2xx as the answer to a look-up", place.cannotBeAsked, func(t *testing.T, p place) {
			for name, body := range p.odd() {
				p.formats(t, func(t *testing.T, f network.Format) { oddFind(t, p, f, name, body) })
			}
		}},
		check{"odd: an object that never gets ready", place.hasNoSlowObject, endless},
		check{"odd: a token revoked half-way", nil, revokedHalfway},
		check{"odd: a token revoked before the look-up", place.cannotBeAsked, revokedBeforeFind},
		check{"odd: an account without its id or secret", nil, func(t *testing.T, p place) {
			w := newWorld(t, p)
			job := w.job(p.simple())
			job.Account.RemoteID, job.Account.Token = "", secret.Token{}
			c := newCourier(w, job)
			c.run(t.Context())
			c.wantState(t, reconnect)
			w.wantPublic(0)
		}},
	)
}

// oddCommit: the post is live, the answer cannot be used: unknown, and then
// found under its right id. A receiver's 2xx is a 2xx.
func oddCommit(t *testing.T, p place, body string) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.simple()))
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.fault(sim.Fault{Kind: sim.StoreThenGarbage, Step: sim.Commit, Body: body, Times: 1})
	err = c.commit(t.Context(), r)
	if f := fault.Of(err); p.LookUp != network.NoLook && (f == nil || f.Kind != fault.Unknown) {
		t.Errorf("got %v, want unknown", err)
	}
	finish(t, c, "")
	if c.receipt.ExternalID != w.public()[0].ID {
		t.Errorf("published as %s, and the public sees %s", c.receipt.ExternalID, w.public()[0].ID)
	}
}

func oddPrepare(t *testing.T, p place, body string) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.prepared))
	w.fault(sim.Fault{Kind: sim.StoreThenGarbage, Step: sim.Prepare, Body: body, Times: 1})
	r, err := c.prepare(t.Context())
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
		t.Errorf("got %v, %v; want transient", r, err)
	}
	finish(t, c, "")
}

// oddFind: neither found nor absent may come of an answer that is no list.
func oddFind(t *testing.T, p place, format network.Format, name, body string) {
	w := newWorld(t, p)
	c := uncertain(t, w, w.job(format))
	w.fault(sim.Fault{Kind: sim.StoreThenGarbage, Step: sim.Find, Body: body})
	if f, err := c.find(t.Context()); err == nil || fault.Of(err).Kind != fault.Transient && fault.Of(err).Kind != fault.Validation {
		t.Errorf("%s: got %+v, %v; want a fault", name, f, err)
	}
	finish(t, c, "")
}

// endless: an object that is processed for ever ends in an error, not in a loop,
// and the next attempt makes a new one.
func endless(t *testing.T, p place) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.slow))
	w.fault(sim.Fault{Kind: sim.AsyncPending, Step: sim.Prepare})
	began := w.clock()
	for range most {
		c.attempt(t.Context())
		if c.last == nil || c.last.Kind != fault.Waiting {
			break
		}
	}
	if waited := w.clock().Sub(began); c.state == ready && (c.last.Kind != fault.Transient || waited > 2*time.Hour) {
		t.Errorf("after %v: %v", waited, c.last)
	}
	if c.state == published { // it need not be processed to be public
		w.sim.ClearFaults()
		c = uncertain(t, w, networks.Job{Key: "2", Account: c.job.Account, Post: c.job.Post, Trail: w})
		w.fault(sim.Fault{Kind: sim.AsyncPending})
		c.run(t.Context())
		c.wantState(t, manual)
		w.wantPublic(2)
		return
	}
	finish(t, c, "")
}

// revokedHalfway: what was prepared is kept over the reconnect.
func revokedHalfway(t *testing.T, p place) {
	for _, rule := range p.Formats {
		if rule.Format == p.unsigned {
			continue
		}
		w := newWorld(t, p)
		c := newCourier(w, w.job(rule.Format))
		r, err := c.prepare(t.Context())
		for err != nil && fault.Of(err).Kind == fault.Waiting {
			c.settle(fault.Of(err))
			r, err = c.prepare(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		prepared := len(w.steps(sim.Prepare))
		w.sim.AddAccount(p.Name, sim.Account{ID: accountID, Token: "EAAG8the0next4ZAtoken", App: appID})
		if f := fault.Of(c.commit(t.Context(), r)); f == nil || f.Kind != fault.Auth {
			t.Errorf("%s: got %v, want auth", rule.Format, f)
		}
		c.wantState(t, reconnect)
		w.wantPublic(0)
		c.job.Account.Token = secret.NewToken("EAAG8the0next4ZAtoken")
		c.state = ready
		c.run(t.Context())
		c.wantState(t, published)
		w.wantPublic(1)
		for _, call := range w.steps(sim.Prepare)[prepared:] {
			if call.Method != "GET" {
				t.Errorf("%s: prepared again after the reconnect: %s %s", rule.Format, call.Method, call.Path)
			}
		}
	}
}

// revokedBeforeFind: who may not ask knows nothing.
func revokedBeforeFind(t *testing.T, p place) {
	w := newWorld(t, p)
	c := uncertain(t, w, w.job(p.simple()))
	w.sim.AddAccount(p.Name, sim.Account{ID: accountID, Token: "EAAG8the0next4ZAtoken"})
	f, err := c.find(t.Context())
	if got := fault.Of(err); got == nil || got.Kind != fault.Auth || f.Verdict != "" {
		t.Errorf("got %+v, %v; want auth", f, err)
	}
	c.run(t.Context())
	c.wantState(t, manual)
	w.wantPublic(1)
}

func TestPrepareKeepsToItsWord(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"prepare: straight formats make no call", place.claimsNothing, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				w := newWorld(t, p)
				a, ok := w.adapter.(networks.Straight)
				straight := ok && a.Straight(rule.Format) || p.prepared == ""
				_, err := w.adapter.Prepare(t.Context(), w.job(rule.Format), newKept())
				if calls := len(w.evidence()); straight && (calls != 0 || err != nil) {
					t.Errorf("%s is said to be straight and makes %d calls, %v", rule.Format, calls, err)
				}
			}
		}},
		check{"prepare: goes on where it stopped", place.preparesNothing, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				goesOn(t, p, rule.Format)
			}
		}},
		check{"prepare: makes nothing public, twice", nil, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				w := newWorld(t, p)
				job, kept := w.job(rule.Format), newKept()
				for range 6 {
					_, err := w.adapter.Prepare(t.Context(), job, kept)
					if f := fault.Of(err); f != nil && f.Kind != fault.Waiting {
						t.Errorf("%s: %v", rule.Format, err)
					}
					job.Attempt++
				}
				w.wantPublic(0)
			}
		}},
	)
}

// goesOn: what one run of Prepare sent and saved, the next does not send again,
// in a process of its own. A kill between two saves of one answer costs that one
// call; a run that came to its end costs nothing.
func goesOn(t *testing.T, p place, f network.Format) {
	whole := newWorld(t, p)
	c := prepareWhole(t, newCourier(whole, whole.job(f)))
	want := len(whole.uploads())
	prepareWhole(t, c)
	if got := whole.uploads(); len(got) != want {
		t.Errorf("%s, prepared twice: sent %v, want %d of them", f, got, want)
	}
	_, saves := measure(t, p, f)
	for n := 1; n <= saves; n++ {
		w := newWorld(t, p)
		c := newCourier(w, w.job(f))
		c.kept.at(n, func(save func()) error { save(); panic(killed{}) })
		prepareWhole(t, c)
		if got := w.uploads(); len(got) > want+1 {
			t.Errorf("%s, killed after save %d: sent %v, want %d and one again", f, n, got, want)
		}
	}
}

// prepareWhole runs Prepare, each time in a new process, until it is done.
func prepareWhole(t *testing.T, c *courier) *courier {
	t.Helper()
	for range most {
		done := false
		c.adapter = c.w.place.make(c.w.env())
		c.surviving(func() {
			_, err := c.prepare(t.Context())
			if done = err == nil; !done {
				c.settle(fault.Of(err))
			}
		})
		if done || c.state != ready {
			break
		}
	}
	return c
}

// uploads are the calls of Prepare that left something at the network.
func (w *world) uploads() (list []string) {
	for _, call := range w.steps(sim.Prepare) {
		if call.Method == "POST" && call.Status/100 == 2 {
			list = append(list, call.Path)
		}
	}
	return list
}

func (p place) claimsNothing() string {
	if _, ok := p.make(networks.Env{}).(networks.Straight); !ok && p.prepared != "" {
		return p.label() + " says of no format that it is straight"
	}
	return ""
}
