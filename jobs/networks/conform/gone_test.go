package conform

import (
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// away is what a network answers once an account is no longer there: deleted,
// suspended, or taken from whoever connected it.
type away struct {
	status int
	body   string
}

// graphGone is how Graph speaks of an object that is not there for the caller.
const graphGone = `{"error":{"message":"Unsupported post request. Object with ID '1001' does not exist, cannot be loaded due to missing permissions, or does not support this operation.","type":"GraphMethodException","code":100,"error_subcode":33,"fbtrace_id":"A1"}}`

// gone are the answers by network, from the error tables of networks-a and networks-b.
var gone = map[network.Name][]away{
	network.Bluesky: {{401, `{"error":"AccountTakedown","message":"Account has been taken down"}`}, {401, `{"error":"AccountDeactivated","message":"Account is deactivated"}`},
		{400, `{"error":"InvalidRequest","message":"Could not find repo: did:plc:x"}`}},
	network.Discord:        {{404, `{"message":"Unknown Webhook","code":10015}`}, {404, `{"message":"Unknown Channel","code":10003}`}, {403, `{"message":"Missing Access","code":50001}`}},
	network.Facebook:       {{400, graphGone}, {400, `{"error":{"message":"The user must be an administrator of the page.","type":"OAuthException","code":190,"error_subcode":492,"fbtrace_id":"A1"}}`}},
	network.Instagram:      {{400, graphGone}, {400, `{"error":{"message":"The account is restricted.","type":"OAuthException","code":25,"error_subcode":2207050,"fbtrace_id":"A1"}}`}},
	network.Threads:        {{400, graphGone}, {400, `{"error":{"message":"Restricted","type":"OAuthException","code":10,"error_subcode":4279013,"fbtrace_id":"A1"}}`}},
	network.GHLBlog:        {{401, `{"statusCode":401,"message":"Invalid JWT","error":"Unauthorized"}`}, {404, `{"statusCode":404,"message":"Blog not found"}`}},
	network.GoogleBusiness: {{404, `{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}`}},
	network.LinkedIn:       {{403, `{"message":"Organization permissions must be used when using organization as author","status":403,"code":"ACCESS_DENIED"}`}},
	network.Mailchimp:      {{403, `{"type":"about:blank","title":"User Disabled","status":403,"detail":"This account has been deactivated."}`}, {404, `{"type":"about:blank","title":"Resource Not Found","status":404,"detail":"The requested resource could not be found."}`}},
	network.Mastodon:       {{401, `{"error":"The access token was revoked"}`}, {403, `{"error":"Your login is currently disabled"}`}},
	network.Medium:         {{401, `{"errors":[{"message":"Token was invalid.","code":6003}]}`}, {404, `{"errors":[{"message":"User not found","code":2004}]}`}},
	network.Pinterest:      {{401, `{"code":2,"message":"Authentication failed."}`}, {404, `{"code":40,"message":"Board not found."}`}},
	network.Slack:          {{200, `{"ok":false,"error":"account_inactive"}`}, {200, `{"ok":false,"error":"is_archived"}`}, {200, `{"ok":false,"error":"channel_not_found"}`}},
	network.Telegram:       {{403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked from the channel chat"}`}, {400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`}},
	network.TikTok:         {{401, `{"data":{},"error":{"code":"access_token_invalid","message":"The access token is invalid","log_id":"L1"}}`}, {403, `{"data":{},"error":{"code":"spam_risk_user_banned_from_posting","message":"banned","log_id":"L1"}}`}},
	network.Webhook:        {{410, `gone`}},
	network.WordPress:      {{401, `{"code":"invalid_username","message":"Unknown username.","data":{"status":401}}`}, {403, `{"code":"rest_cannot_create","message":"Sorry, you are not allowed to create posts as this user.","data":{"status":403}}`}},
	network.X:              {{403, `{"title":"Forbidden","detail":"The user is suspended","type":"https://api.x.com/2/problems/user-suspended","status":403}`}, {401, `{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}`}},
	network.YouTube: {{403, `{"error":{"code":403,"message":"The channel has been closed.","errors":[{"reason":"channelClosed","message":"The channel has been closed."}],"status":"PERMISSION_DENIED"}}`},
		{401, `{"error":{"code":401,"message":"The account is suspended.","errors":[{"reason":"authenticatedUserAccountSuspended","message":"The account is suspended."}],"status":"UNAUTHENTICATED"}}`}},
	network.Name(network.Blotato): {{401, `{"message":"Unauthorized"}`}},
	network.Name(network.Bundle):  {{404, `{"statusCode":404,"message":"Social account not found"}`}},
	network.Name(network.GHL):     {{404, `{"statusCode":404,"message":"Account not found"}`}, {401, `{"statusCode":401,"message":"The user does not exist.","error":"Unauthorized"}`}},
}

// TestAnAccountThatIsNoLongerThere: what the account was to publish ends at once with
// a sentence that says what somebody has to do, wherever the network comes to say so.
func TestAnAccountThatIsNoLongerThere(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"odd: an account removed at the network, told by the commit", nil, func(t *testing.T, p place) { p.eachGone(t, sim.Commit, p.simple()) }},
		check{"odd: an account removed at the network, told by a preparation", place.preparesNothing, func(t *testing.T, p place) { p.eachGone(t, sim.Prepare, p.prepared) }},
	)
}

func (p place) eachGone(t *testing.T, step sim.Step, f network.Format) {
	if len(gone[p.Name]) == 0 {
		t.Fatal("nobody says what the network answers then")
	}
	for _, answer := range gone[p.Name] {
		w := newWorld(t, p)
		w.fault(sim.Fault{Kind: sim.Refuse, Step: step, Status: answer.status, Body: answer.body})
		c := newCourier(w, w.job(f))
		c.run(t.Context())
		if c.state != reconnect && c.state != failed {
			t.Errorf("%s: it ended %s, want an end that a person sees", answer.body, c.state)
			continue
		}
		if c.claims != 1 || !acts(c.last) {
			t.Errorf("%s: after %d attempts %s: %q", answer.body, c.claims, c.last.Kind, c.last.Say)
		}
		w.wantPublic(0)
		w.wantQuiet(t, c.job)
	}
}

// deeds are the words that tell somebody what to do.
var deeds = []string{"reconnect", "make it ", "look ", "look at", "check ", "connect ", "enter ", "choose", "make a new", "give ", "correct ", "ask ", "has to", "have it", "switch it on"}

// acts says whether a fault is the account's and tells what to do.
func acts(f *fault.Fault) bool {
	say := strings.ToLower(f.Say)
	for _, word := range deeds {
		if strings.Contains(say, word) {
			return sentence(f.Say)
		}
	}
	return false
}

// saysItsAddress says why an address need not be read.
func (p place) saysItsAddress() string {
	if p.followsNothing() != "" {
		return p.followsNothing()
	}
	switch p.Name {
	case network.Facebook, network.Instagram, network.Threads:
		return ""
	}
	return p.label() + " gives the address with the post, or it is made of its id"
}

func TestAnAddressThatNeverComes(t *testing.T) {
	t.Parallel()
	everywhere(t, check{"follow: an address that never comes", place.saysItsAddress, func(t *testing.T, p place) {
		for _, f := range []sim.Fault{{Kind: sim.Refuse, Status: 400, Body: graphGone}, {Kind: sim.StoreThenGarbage, Body: `{"id":"77"}`}, {Kind: sim.Refuse, Status: 500}} {
			w := newWorld(t, p)
			c := newCourier(w, w.job(p.simple()))
			c.run(t.Context())
			c.wantState(t, published)
			f.Step = sim.FollowUp
			w.fault(f)
			f.Step = sim.Find
			w.fault(f)
			for range 20 {
				// Where a refusal is plain, the address may be made of the id.
				err := c.follow(t.Context(), 1)
				if made := strings.HasPrefix(c.receipt.Permalink, "http"); made != (err == nil) || err != nil && (fault.Of(err).Kind == fault.Unknown || !sentence(fault.Of(err).Say)) {
					t.Fatalf("%s %d: %q, %v", f.Kind, f.Status, c.receipt.Permalink, err)
				}
			}
			if c.state != published || len(w.steps(sim.Commit)) != 1 {
				t.Errorf("%s: %q, %s after %d commits", f.Kind, c.receipt.Permalink, c.state, len(w.steps(sim.Commit)))
			}
			w.wantPublic(1)
			w.wantQuiet(t, c.job)
		}
	}})
}
