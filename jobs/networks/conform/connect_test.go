package conform

import (
	stdhtml "html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// signsIn says why nobody signs in at the place.
func signsIn(p place) string {
	if _, ok := p.make(networks.Env{}).(networks.Connector); !ok {
		return p.label() + " is connected by what a person types"
	}
	return ""
}

// givesBack says why no token is given back.
func givesBack(p place) string {
	if _, ok := p.make(networks.Env{}).(networks.Revoker); !ok {
		return p.label() + " has no call that ends a token of ours"
	}
	return signsIn(p)
}

func (w *world) connector() networks.Connector { return w.adapter.(networks.Connector) }

// consent is a sign-in, at a server that knows our app where there are many.
func (w *world) consent(way string) networks.Consent {
	w.t.Helper()
	c := networks.Consent{Way: way, Address: w.place.Address, Redirect: "https://herald.example/oauth/" + string(w.place.Name) + "/callback",
		State: "1.a-state-that-nobody-guesses", Verifier: "a-verifier-that-is-long-enough-for-RFC-7636-0123456789"}
	if r, ok := w.adapter.(networks.Registrar); ok {
		app, err := r.Register(w.t.Context(), c.Address, c.Redirect)
		if err != nil {
			w.t.Fatal(err)
		}
		c.App = app
	}
	return c
}

var consentLink = regexp.MustCompile(`href="(\?[^"]+)"`)

// grant opens the network's page, follows the link of an answer, and returns where
// the person is sent.
func (w *world) grant(c networks.Consent, said string) url.Values {
	w.t.Helper()
	address := w.connector().Authorize(c)
	page := w.fetch(address, http.StatusOK)
	body, _ := io.ReadAll(page.Body)
	path, _, _ := strings.Cut(address, "?")
	for _, m := range consentLink.FindAllStringSubmatch(string(body), -1) {
		if link := stdhtml.UnescapeString(m[1]); strings.Contains(link, "sim_answer="+url.QueryEscape(said)) {
			back, err := url.Parse(w.fetch(path+link, http.StatusFound).Header.Get("Location"))
			if err != nil || !strings.HasPrefix(back.String(), c.Redirect+"?") || back.Query().Get("state") != c.State {
				w.t.Fatalf("sent to %v, %v", back, err)
			}
			return back.Query()
		}
	}
	w.t.Fatalf("no answer %s on %s", said, body)
	return nil
}

func (w *world) fetch(address string, status int) *http.Response {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != status {
		body, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s: %s: %s", address, resp.Status, body)
	}
	return resp
}

// code is what a person brings back who lets us in.
func (w *world) code(c networks.Consent) string {
	w.t.Helper()
	for _, said := range []string{"allow:" + accountID, "allow:"} {
		address := w.connector().Authorize(c)
		body, _ := io.ReadAll(w.fetch(address, http.StatusOK).Body)
		if strings.Contains(string(body), "sim_answer="+url.QueryEscape(said)+"&") || strings.Contains(string(body), "sim_answer="+url.QueryEscape(said)+`"`) {
			return w.grant(c, said).Get("code")
		}
	}
	w.t.Fatal("nobody can let us in")
	return ""
}

// chosen is the choice that is the account of the suite.
func (w *world) chosen(all []networks.Choice) networks.Choice {
	w.t.Helper()
	i := slices.IndexFunc(all, func(c networks.Choice) bool { return strings.HasSuffix(c.RemoteID, accountID) && c.Lacks == "" })
	if i < 0 {
		w.t.Fatalf("the account is not among %+v", all)
	}
	return all[i]
}

func TestSigningInLeadsToWhatCanBeConnected(t *testing.T) {
	t.Parallel()
	everywhere(t, check{"connect: what a sign-in grants can publish", signsIn, func(t *testing.T, p place) {
		w := newWorld(t, p)
		c := w.consent("")
		all, err := w.connector().Connect(t.Context(), c, w.code(c))
		if err != nil {
			t.Fatal(err)
		}
		one := w.chosen(all)
		if one.Kind == "" || one.Handle == "" || one.Tokens.Access.Empty() {
			t.Errorf("got %+v", one)
		}
		job := w.jobOf(p.post(w, p.simple()))
		job.Account.RemoteID, job.Account.Token, job.Account.Refresh = one.RemoteID, one.Tokens.Access, one.Tokens.Refresh
		job.Account.Settings = networks.With(job.Account.Settings, one.Settings)
		run := newCourier(w, job)
		run.run(t.Context())
		w.wantPublic(1)
		if n, _ := network.Get(p.Network.Name); one.Tokens.Scopes != nil && p.Network == n {
			if missing := n.Missing(one.Tokens.Scopes); len(missing) > 0 {
				t.Errorf("a sign-in does not ask for %v", missing)
			}
		}
	}}, check{"connect: a code is good once, for its address and its verifier", signsIn, func(t *testing.T, p place) {
		w := newWorld(t, p)
		c := w.consent("")
		refused := func(c networks.Consent, code, why string) {
			t.Helper()
			_, err := w.connector().Connect(t.Context(), c, code)
			if f := fault.Of(err); f == nil || f.Kind != fault.Auth || !sentence(f.Say) {
				t.Errorf("%s: %v", why, err)
			}
		}
		code := w.code(c)
		if _, err := w.connector().Connect(t.Context(), c, code); err != nil {
			t.Fatal(err)
		}
		refused(c, code, "used twice")
		refused(c, "C-guessed", "guessed")
		elsewhere := c
		elsewhere.Redirect += "/elsewhere"
		refused(elsewhere, w.code(c), "of another address")
		if strings.Contains(w.connector().Authorize(c), "code_challenge=") {
			other := c
			other.Verifier += "x"
			refused(other, w.code(c), "of another verifier")
		}
		if denied := w.grant(c, "deny"); denied.Get("error") != "access_denied" || denied.Has("code") {
			t.Errorf("denied: %v", denied)
		}
	}}, check{"connect: an endpoint that is away ends nothing for good", signsIn, func(t *testing.T, p place) {
		for name, f := range map[string]sim.Fault{
			"away": {Step: sim.Token, Kind: sim.Refuse, Status: 503}, "a page of HTML": {Step: sim.Token, Kind: sim.Refuse, Status: 502, Body: "<html>bad gateway</html>"},
			"garbage": {Step: sim.Token, Kind: sim.StoreThenGarbage},
		} {
			w := newWorld(t, p)
			c := w.consent("")
			code := w.code(c)
			w.fault(f)
			_, err := w.connector().Connect(t.Context(), c, code)
			if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
				t.Errorf("%s: %v", name, err)
			}
		}
	}}, check{"connect: a token that was given back is worth nothing", givesBack, func(t *testing.T, p place) {
		w := newWorld(t, p)
		c := w.consent("")
		all, err := w.connector().Connect(t.Context(), c, w.code(c))
		if err != nil {
			t.Fatal(err)
		}
		one := w.chosen(all)
		job := w.jobOf(p.post(w, p.simple()))
		job.Account.RemoteID, job.Account.Token, job.Account.Refresh = one.RemoteID, one.Tokens.Access, one.Tokens.Refresh
		job.Account.Settings = networks.With(job.Account.Settings, one.Settings)
		if err := w.adapter.(networks.Revoker).Revoke(t.Context(), c.App, job.Account); err != nil {
			t.Fatal(err)
		}
		run := newCourier(w, job)
		run.run(t.Context())
		w.wantPublic(0)
	}})
}
