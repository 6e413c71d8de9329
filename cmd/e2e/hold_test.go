package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/browser"
	"herald/db/model"
	"herald/db/network"
)

// TestAClientHoldsAPostOnAPhoneAndTheAgencyLetsItGo goes from the mailed link over the
// hold to the evidence, with the calendar and the times of somebody elsewhere.
func TestAClientHoldsAPostOnAPhoneAndTheAgencyLetsItGo(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.submitted(t, "Pretzels at dawn", a.account(t, "bakery", network.Mastodon))
	client := open(t, browser.Phone)
	link := a.link(t, 0)
	client.visit(link)
	client.goes("button", "Approve")
	client.sees("Approved. Thank you!")
	approved, err := a.owner.Post(t.Context(), page.Post.ID)
	if err == nil {
		when, _ := model.At(time.Now().Add(48*time.Hour), "Europe/Berlin")
		_, err = a.owner.SchedulePost(t.Context(), page.Post.ID, approved.Post.Revision, when)
	}
	if err != nil {
		t.Fatal(err)
	}
	client.visit(link)
	client.press("button", "Hold this post")
	client.fill("Why? (can be left empty)", "The price is wrong")
	client.goes("button", "Hold it")
	client.sees("This post is on hold", "The price is wrong")
	client.fits()
	client.judge(axeSource(t))
	client.visit(link + "/calendar")
	if !strings.Contains(client.text(), "Pretzels at dawn") {
		client.follow(func() { client.press("link", "Month after") })
	}
	client.sees("Pretzels at dawn", "On hold")
	client.fits()
	client.judge(axeSource(t))
	client.press("button", "Times in Berlin")
	client.set("Your time zone", "America/New_York")
	client.goes("button", "Show times so")
	client.sees("Times in New York")

	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.target(t, page.Post.ID, network.Mastodon))
	desk.sees("has held this post since", "The price is wrong")
	desk.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
	desk.sees("On hold", "holds this post, so it does not go out.")
	desk.visit(a.target(t, page.Post.ID, network.Mastodon))
	desk.goes("button", "Let it go")
	desk.sees("Let go. It goes out at its time.", "Hold this post")
	client.visit(link)
	client.misses("This post is on hold")
	client.sees("New York")
}
