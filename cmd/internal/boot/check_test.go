package boot

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/connect"
	"herald/jobs"
	"herald/jobs/sim"
)

// TestATokenIsCheckedByTheNetworksOwnAdapter asks the simulated Mastodon.
func TestATokenIsCheckedByTheNetworksOwnAdapter(t *testing.T) {
	t.Parallel()
	s := sim.New(sim.Options{Now: time.Now})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	s.AddAccount(network.Mastodon, sim.Account{ID: "77", Token: "right", Handle: "bakery"})
	c := Config{Pipeline: jobs.Defaults(), PrivateTargets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	check := tokenChecker(c.Adapters(time.Now), c.Aggregators(time.Now))
	ask := func(name network.Name, address, token string) (string, string) {
		learned, err := check(t.Context(), connect.Connection{Network: name, Address: address, Token: secret.NewToken(token)})
		if no, ok := model.Refused(err); ok && no.Field == "token" {
			return learned.RemoteID, no.Say
		} else if err != nil {
			t.Errorf("%s: %v is no refusal of the token", name, err)
		}
		return learned.RemoteID, ""
	}
	at := server.URL + "/mastodon"
	if id, say := ask(network.Mastodon, at, "right"); id != "77" || say != "" {
		t.Errorf("a good token: %q, %q", id, say)
	}
	if err := s.Fault(sim.Fault{Network: network.Mastodon, Step: sim.Check, Kind: sim.ExpiredToken, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if _, say := ask(network.Mastodon, at, "right"); !strings.Contains(say, "Mastodon does not accept this token") {
		t.Errorf("a token that is not taken: %q", say)
	}
	if _, say := ask(network.Webhook, "https://hooks.example", "a secret"); say != "" {
		t.Errorf("a network that has nothing to ask: %q", say)
	}
	server.Close()
	if _, say := ask(network.Mastodon, at, "right"); !strings.Contains(say, "could not be reached") || !strings.Contains(say, "nothing was saved") {
		t.Errorf("a server that is away: %q", say)
	}
}
