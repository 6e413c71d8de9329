package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/browser"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/sim"
)

// target is the path of a post's evidence on a network.
func (a *agency) target(t *testing.T, id model.PostID, name network.Name) string {
	t.Helper()
	page, err := a.owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range page.Targets {
		if one.Network == name {
			return a.path(fmt.Sprintf("/targets/%d", one.ID))
		}
	}
	t.Fatalf("post %d goes nowhere on %s", id, name)
	return ""
}

// once waits for exactly one public post, and for whatever would make another.
func (a *agency) once(t *testing.T, client string, name network.Name) sim.Post {
	t.Helper()
	eventually(t, "a post on "+string(name), func() bool { return len(a.posts(client, name)) > 0 })
	time.Sleep(700 * time.Millisecond)
	posts := a.posts(client, name)
	if len(posts) != 1 {
		t.Errorf("%s has %d posts", name, len(posts))
	}
	return posts[0]
}

func TestAFailureIsSaidPlainlyAndARetryWorksOnceTheCauseIsGone(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.fault(t, "museum", sim.Fault{Network: network.Mastodon, Kind: sim.Invalid, Step: sim.Commit, Times: 1})
	page := a.published(t, "Free entry on Sunday", network.Facebook, network.Mastodon)
	p := a.member(t, browser.Desktop, a.anna())
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	p.until("the post to have gone out in part", func() bool {
		p.visit(post)
		return strings.Contains(p.text(), "Partly failed")
	})
	p.goes("link", "Evidence for @museum@social.example")
	p.says("#target-status", "The network refused the post. Nothing was published.")
	p.says("#target-status", "Correct the post and have it approved again, or retry")
	p.visit(post)
	p.goes("button", "Retry 1 failure")
	p.sees("One account is tried again now.")
	a.once(t, "museum", network.Mastodon)
	a.once(t, "museum", network.Facebook)
	p.until("the post to be published", func() bool {
		p.visit(post)
		return !strings.Contains(p.text(), "failed") && strings.Count(p.text(), "See it live") == 2
	})
}

// TestAnUnknownOutcomeIsNeverSentAgainBeforeLooking watches the evidence page,
// which says where things stand and follows what Herald finds out by itself.
func TestAnUnknownOutcomeIsNeverSentAgainBeforeLooking(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.fault(t, "museum", sim.Fault{Network: network.Mastodon, Kind: sim.StoreThenClose, Times: 1})
	a.fault(t, "museum", sim.Fault{Network: network.Mastodon, Kind: sim.RateLimit, Step: sim.Find, Times: 1, Delay: 8 * time.Second})
	page := a.published(t, "The whale hangs again", network.Mastodon)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.target(t, page.Post.ID, network.Mastodon))
	p.says("#target-status", "It may be live or not.")
	p.says("#target-status", "There are two safe ways out.")
	p.sees("It is live")
	p.says("#target-status", "It is live. The answer of Mastodon was lost on the way, so Herald looked and found the post there.")
	if at := a.once(t, "museum", network.Mastodon).Address; p.href(at) != at {
		t.Errorf("the page leads to %s and not to %s", p.href(at), at)
	}
}

// TestAPersonSettlesWhatTheNetworkCannotTell gives each of the two answers once.
func TestAPersonSettlesWhatTheNetworkCannotTell(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	blind := func(name network.Name, kind sim.Kind) string {
		a.fault(t, "museum", sim.Fault{Network: name, Kind: kind, Step: sim.Commit, Times: 1})
		a.fault(t, "museum", sim.Fault{Network: name, Kind: sim.MissingPermission, Step: sim.Find})
		path := a.target(t, a.published(t, "Night at the museum, "+string(name), name).Post.ID, name)
		p.until("a person to be asked", func() bool {
			p.visit(path)
			return strings.Contains(p.text(), "There are two safe ways out: if the post is there, give its address")
		})
		return path
	}

	blind(network.Facebook, sim.StoreThenClose)
	letter(t, a.anna(), 0)
	p.refuses(invalid, http.StatusBadRequest)
	p.fill("Address of the live post", "not an address")
	p.press("button", "It is live")
	live := a.posts("museum", network.Facebook)[0].Address
	p.fill("Address of the live post", live)
	p.goes("button", "It is live")
	p.sees("Recorded as published.", "A person saw it on Facebook and gave its address.")
	a.once(t, "museum", network.Facebook)

	blind(network.Mastodon, sim.CloseBefore)
	if n := len(a.posts("museum", network.Mastodon)); n != 0 {
		t.Fatalf("%d posts before anybody looked", n)
	}
	p.press("box", "I looked at @museum@social.example")
	p.goes("button", "It is not there, send it again")
	p.sees("Recorded. It is on its way again.")
	a.once(t, "museum", network.Mastodon)
	p.says("#target-status", "It is live on Mastodon.")
}

func TestALostConnectionIsMarkedAndItsPostsGoOutAfterReconnecting(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.fault(t, "museum", sim.Fault{Network: network.Mastodon, Kind: sim.ExpiredToken, Times: 1})
	page := a.published(t, "Dinosaurs are back", network.Mastodon)
	p := a.member(t, browser.Phone, a.anna())
	p.until("the account to be marked", func() bool {
		p.visit(a.path("/accounts"))
		return strings.Contains(p.text(), "Needs reconnecting")
	})
	p.sees("1 post could not go out and waits here.")
	p.fits()
	if m := letter(t, a.anna(), 0); !strings.Contains(m.Text, "/accounts") {
		t.Errorf("the mail does not lead to the accounts: %s", m.Text)
	}
	p.visit(a.target(t, page.Post.ID, network.Mastodon))
	p.says("#target-status", "Reconnect the account under Accounts, then retry here.")
	p.visit(a.path("/accounts"))
	p.goes("link", "Reconnect")
	p.fill("Access token", a.remote("museum", network.Mastodon)+":another")
	p.goes("button", "Reconnect")
	p.sees("is connected again. One post is waiting for a retry.")
	p.goes("button", "Retry the affected post")
	p.sees("on the way again.")
	a.once(t, "museum", network.Mastodon)
	p.visit(a.path("/accounts"))
	p.misses("Needs reconnecting")
}

func TestACancelledTargetNeverGoesOutAndItsSiblingDoes(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.submitted(t, "Closed for the floor", a.account(t, "museum", network.Facebook), a.account(t, "museum", network.Mastodon))
	when, err := model.At(time.Now().Add(20*time.Second), "America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when); err != nil {
		t.Fatal(err)
	}
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.target(t, page.Post.ID, network.Mastodon))
	p.sees("Until then it can be moved or cancelled.")
	p.goes("button", "Cancel this target")
	p.sees("Cancelled.")
	p.says("#target-status", "It was cancelled. Nothing was published.")
	a.once(t, "museum", network.Facebook)
	if n := len(a.posts("museum", network.Mastodon)); n != 0 {
		t.Errorf("%d posts of what was cancelled", n)
	}
}
