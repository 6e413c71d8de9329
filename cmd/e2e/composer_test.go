package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

func containsFolded(all, words string) bool {
	return strings.Contains(strings.ToLower(all), strings.ToLower(words))
}

func TestOfTwoTabsTheSecondIsToldWhatChangedAndKeepsItsWords(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.write(t, "Open from nine", a.account(t, "museum", network.Mastodon))
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	first := a.member(t, browser.Desktop, a.anna())
	first.visit(post)
	second := a.member(t, browser.Desktop, a.ben())
	second.visit(post)
	first.fill("Text", "Open from ten")
	first.goes("button", "Save")
	first.sees("Saved.")

	second.refuses(stale)
	second.fill("Text", "Open from eleven")
	second.goes("button", "Save")
	second.sees("This post changed while you had it open", "Version 2 is by Anna Berger.", "Open from ten", "Open from eleven")
	if got := second.value("Text"); got != "Open from eleven" {
		t.Errorf("what was typed became %q", got)
	}
	second.goes("button", "Save mine over it")
	second.sees("Saved.")
	if got := second.value("Text"); got != "Open from eleven" {
		t.Errorf("what was saved reads %q", got)
	}
}

// twice presses a button as an impatient person does.
func (p *tab) twice(name string) {
	p.t.Helper()
	at, err := p.aim(p.find("button", name))
	if err == nil {
		err = p.Mouse.MoveTo(at)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	for range 2 {
		if err := p.Mouse.Click(proto.InputMouseButtonLeft, 1); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestADoubleClickPublishesOnce(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"with script": false, "without script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			look := browser.Desktop
			look.NoScript = quiet
			p := a.member(t, look, a.anna())
			p.visit(a.path("/posts/new"))
			p.press("box", "Mastodon @museum@social.example")
			p.fill("Text", "The mammoth has a name")
			p.press("button", "More ways")
			p.follow(func() { p.twice("Publish now") })
			p.until("the post's page", func() bool { return strings.Contains(p.text(), "Where it goes") })
			a.once(t, "museum", network.Mastodon)
			p.visit(a.path("/posts"))
			if n := strings.Count(p.text(), "The mammoth has a name"); n != 1 {
				t.Errorf("%d posts in the list", n)
			}
		})
	}
}

func TestAPostForTwoClientsNamesEachBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Phone, a.anna())
	p.refuses(invalid)
	p.visit(a.path("/posts/new"))
	if p.look("button", "All accounts") != nil {
		t.Error("a button chooses accounts across clients")
	}
	p.press("box", "Mastodon @bakery@social.example")
	p.press("box", "Mastodon @museum@social.example")
	p.fill("Text", "Cake at the museum")
	p.goes("button", "Save")
	p.sees("This post goes to accounts of several clients", "Nothing was saved yet.")
	if got := p.value("Text"); got != "Cake at the museum" {
		t.Errorf("what was typed became %q", got)
	}
	p.press("box", "Yes, it goes to Bakery")
	p.goes("button", "Confirm and save")
	p.sees("Confirm each client by name.")
	p.press("box", "Yes, it goes to Museum")
	p.goes("button", "Confirm and save")
	p.sees("Saved.")
	p.fits()
}

// changes finds the next gap and the next repeated hour of a zone, each as the
// wall time in the middle of it.
func changes(t *testing.T, zone string) (gap, overlap time.Time) {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(24 * time.Hour).Truncate(time.Hour)
	for gap.IsZero() || overlap.IsZero() {
		_, before := at.In(location).Zone()
		next := at.Add(time.Hour)
		_, after := next.In(location).Zone()
		wall := time.Unix(next.Unix()+int64(min(before, after)), 0).UTC().Add(30 * time.Minute)
		if after > before && gap.IsZero() {
			gap = wall
		}
		if after < before && overlap.IsZero() {
			overlap = wall
		}
		at = next
	}
	return gap, overlap
}

func TestATimeThatDoesNotExistIsRefusedAndOneThatComesTwiceIsAsked(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	gap, overlap := changes(t, "America/New_York")
	p := a.member(t, browser.Phone, a.anna())
	p.refuses(invalid)
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.fill("Text", "The clock room")
	p.until("the museum's zone", func() bool { return p.value("Time zone") == "America/New_York" })
	p.set("Day", gap.Format(time.DateOnly))
	p.set("Time", gap.Format("15:04"))
	p.says("#composer-when-says", "Use ")
	p.goes("button", "Schedule")
	p.says("#composer-when-says", "Use ")
	if n := len(a.posts("museum", network.Mastodon)); n != 0 {
		t.Fatalf("%d posts", n)
	}
	after := time.Date(gap.Year(), gap.Month(), gap.Day(), 3, 0, 0, 0, time.UTC)
	p.press("button", "Use "+after.Format("15:04"))
	p.until("the suggestion to be taken", func() bool { return p.value("Time") == "03:00" })

	p.set("Day", overlap.Format(time.DateOnly))
	p.set("Time", overlap.Format("15:04"))
	p.says("#composer-when-says", "it comes twice. Which one?")
	p.press("box", "The later")
	p.fits()
	p.goes("button", "Schedule")
	p.sees("Scheduled for " + overlap.Format("Mon 2 Jan 2006, 15:04"))
	var id int64
	if _, err := fmt.Sscanf(p.address(), here.web.URL+a.path("/posts/%d"), &id); err != nil {
		t.Fatal(err)
	}
	page, err := a.owner.Post(t.Context(), postID(id))
	if err != nil {
		t.Fatal(err)
	}
	if want := overlap.Add(5 * time.Hour); !page.Targets[0].DueAt.Equal(want) {
		t.Errorf("planned for %s, the later one is %s", page.Targets[0].DueAt, want)
	}
}
