package demo

import (
	"fmt"
	"net/http"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

// trouble is what a network does to one post when it is due.
type trouble struct {
	Network network.Name
	Kind    string
}

// troubles by their names in posts.yaml, as faults of the account.
var troubles = map[string][]sim.Fault{
	"hiccup":     {{Kind: sim.Refuse, Step: sim.Prepare, Status: http.StatusServiceUnavailable, Times: 1}}, // works the second time
	"down":       {{Kind: sim.Refuse, Step: sim.Prepare, Status: http.StatusServiceUnavailable, Times: 5}}, // uses every attempt up
	"permission": {{Kind: sim.MissingPermission, Step: sim.Commit, Times: 1}},
	"refused":    {{Kind: sim.Invalid, Step: sim.Prepare, Times: 1}},
	"expired":    {{Kind: sim.ExpiredToken, Times: 1}},                                      // the account needs a reconnect from then on
	"limit":      {{Kind: sim.RateLimit, Step: sim.Commit, Times: 1, Delay: 5 * time.Hour}}, // waits beyond now
	"lost":       {{Kind: sim.StoreThenClose, Times: 1}},                                    // live, but nobody said so; a look-up finds it
	"twin":       {{Kind: sim.StoreThenClose, Times: 1}},                                    // the same, with a stranger's equal post beside it: a person must look
	// Live, but nobody said so, and the network answers no look-up until the fault is taken away.
	"silent": {{Kind: sim.StoreThenClose, Times: 1}, {Kind: sim.Refuse, Step: sim.Find, Status: http.StatusServiceUnavailable}},
}

// strike tells the networks what to do to the post that is due in a moment.
func (h *history) strike(p *post, t trouble) error {
	faults, known := troubles[t.Kind]
	remote, ok := h.remote[p.client+"/"+string(t.Network)]
	if !known || !ok {
		return fmt.Errorf("posts.yaml: there is no trouble %q, or no account %s/%s", t.Kind, p.client, t.Network)
	}
	if t.Kind == "twin" {
		h.sim.AddStranger(t.Network, remote, p.Text)
	}
	for _, f := range faults {
		f.Network, f.Account = t.Network, remote
		if err := h.sim.Fault(f); err != nil {
			return err
		}
	}
	return nil
}
