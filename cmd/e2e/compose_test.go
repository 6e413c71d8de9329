package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
)

// begun opens the calendar of one day, and on it a post at three in the afternoon.
func (a *agency) begun(t *testing.T, look browser.Look, email, account string) (p *tab, day string) {
	t.Helper()
	p = a.member(t, look, email)
	day = time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	p.visit(a.path("/calendar?view=day&date=" + day))
	p.begins()
	p.press("box", account)
	return p, day
}

// begins opens the dialog, without leaving the page.
func (p *tab) begins() {
	p.t.Helper()
	at := p.point(`.slot[data-clock="15:00"]`)
	if p.Look.Touch {
		if err := p.tap(at); err != nil {
			p.t.Fatal(err)
		}
	} else if err := errors.Join(p.Mouse.MoveTo(at), p.Mouse.Click(proto.InputMouseButtonLeft, 1)); err != nil {
		p.t.Fatal(err)
	}
	p.opened(true)
}

// opened waits until the dialog is open, or shut.
func (p *tab) opened(open bool) {
	p.t.Helper()
	p.until("the dialog", func() bool {
		n, err := p.Eval(`() => document.querySelectorAll("#compose-sheet:modal").length`)
		return err == nil && (n.Value.Int() == 1) == open
	})
}

// rests waits until something that a selector finds has the focus.
func (p *tab) rests(selector string) {
	p.t.Helper()
	p.until("the focus on "+selector, func() bool {
		at, err := p.Eval(`(s) => document.activeElement?.matches(s)`, selector)
		return err == nil && at.Value.Bool()
	})
}

func TestAPostBegunOnTheCalendarStandsThereOnceItIsSaved(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	for name, look := range map[string]browser.Look{"at a desk": browser.Desktop, "on a phone": browser.Phone, "in the dark": {Width: browser.Tablet.Width, Height: browser.Tablet.Height, Dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			p, day := a.begun(t, look, a.anna(), "Mastodon @bakery@social.example")
			before := p.document()
			p.refuses(invalid)
			if !strings.Contains(p.address(), "/posts/new?") || !strings.Contains(p.address(), day) {
				t.Errorf("the address is %s", p.address())
			}
			p.fill("Text", "The mammoth has a name")
			p.says(".check", "Mastodon")
			p.fits()
			p.judge(source)
			p.set("Time", "")
			p.press("button", "Save")
			p.sees("Choose a time of day as well.")
			p.opened(true)
			p.set("Time", "15:30")
			p.press("button", "Save")
			p.opened(false)
			p.sees("Saved.", "The mammoth has a name")
			p.says(`.slot[data-clock="15:00"]`, "The mammoth has a name")
			p.rests(`.slot[data-clock="15:00"]`)
			if p.document() != before {
				t.Error("the calendar was loaded anew")
			}
			if !strings.Contains(p.address(), "/calendar?") {
				t.Errorf("the address is left at %s", p.address())
			}
		})
	}
}

// TestClosingADialogKeepsTheWordsAndSaysSo closes by Escape, by Back and by Close.
func TestClosingADialogKeepsTheWordsAndSaysSo(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p, _ := a.begun(t, browser.Desktop, a.anna(), "Mastodon @bakery@social.example")
	before := p.document()
	p.fill("Text", "Half a mammoth")
	p.key(input.Escape)
	p.opened(false)
	p.sees("What you typed is kept for you, and nobody else sees it.")
	p.rests(`.slot[data-clock="15:00"]`)
	p.press("link", "Go on with it")
	p.opened(true)
	p.holds("Text", "Half a mammoth")
	p.fill("Text", "Half a mammoth and more")
	if err := p.NavigateBack(); err != nil {
		t.Fatal(err)
	}
	p.opened(false)
	p.sees("What you typed is kept for you")
	if !strings.Contains(p.address(), "/calendar?") {
		t.Errorf("Back leads to %s", p.address())
	}
	p.begins()
	p.sees("You began posts and did not save them", "Half a mammoth and more")
	p.press("link", "Half a mammoth and more")
	p.sees("Here is what you typed and did not save")
	p.holds("Text", "Half a mammoth and more")
	p.press("button", "Discard it")
	p.until("an empty form", func() bool { return p.value("Text") == "" })
	p.misses("Half a mammoth and more")
	p.press("button", "Discard")
	p.misses("You began")
	p.press("button", "Close")
	p.opened(false)
	if got := p.text(); strings.Contains(got, "What you typed is kept") {
		t.Error("nothing was typed, and it is said to be kept")
	}
	if p.document() != before {
		t.Error("the calendar was loaded anew")
	}
}

func TestAnEmptyDayOfTheMonthGetsTheFocusBack(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	day := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	p.visit(a.path("/calendar?view=month&date=" + day[:7]))
	at := p.point("#day-" + day + " .day-head")
	at = proto.Point{X: at.X, Y: p.at("#day-" + day).Y}
	if err := errors.Join(p.Mouse.MoveTo(at), p.Mouse.Click(proto.InputMouseButtonLeft, 1)); err != nil {
		t.Fatal(err)
	}
	p.opened(true)
	if got := p.value("Day"); got != day {
		t.Errorf("the post begins on %q", got)
	}
	p.key(input.Escape)
	p.opened(false)
	p.rests("#day-" + day)
}

// TestADialogBecomesAPage goes on with the words in the full page; a reload does, too.
func TestADialogBecomesAPage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p, _ := a.begun(t, browser.Desktop, a.anna(), "Mastodon @bakery@social.example")
	p.fill("Text", "A mammoth for the page")
	p.goes("link", "Open as page")
	p.holds("Text", "A mammoth for the page")
	p.sees("Here is what you typed and did not save")

	p.visit(a.path("/calendar?view=month"))
	p.press("link", "Create post")
	p.opened(true)
	p.follow(func() {
		if err := p.Reload(); err != nil {
			t.Fatal(err)
		}
	})
	p.opened(false)
	if !strings.HasSuffix(p.address(), "/posts/new") || p.look("field", "Text") == nil {
		t.Errorf("the reloaded page is %s", p.address())
	}
}

// TestQuestionsAreAskedInsideTheDialog asks for names, and goes on once they are given.
func TestQuestionsAreAskedInsideTheDialog(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p, _ := a.begun(t, browser.Desktop, a.anna(), "Mastodon @bakery@social.example")
	p.refuses(invalid)
	p.press("box", "Mastodon @museum@social.example")
	p.fill("Text", "Cake at the museum")
	p.says(".check", "@museum") // the foot has settled
	p.press("button", "Save")
	p.sees("This post goes to accounts of several clients")
	p.opened(true)
	p.press("box", "Yes, it goes to Bakery")
	p.press("box", "Yes, it goes to Museum")
	p.press("button", "Confirm and save")
	p.opened(false)
	p.sees("Cake at the museum")
}

// TestWordsInADialogOutliveALostLine closes it while Herald cannot be reached.
func TestWordsInADialogOutliveALostLine(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p, _ := a.begun(t, browser.Desktop, a.anna(), "Mastodon @bakery@social.example")
	p.cut = true
	if _, err := p.Eval(`() => { window.mended = window.fetch; window.fetch = () => Promise.reject(new TypeError("Failed to fetch")) }`); err != nil {
		t.Fatal(err)
	}
	p.fill("Text", "Nobody hears of this mammoth")
	p.key(input.Escape)
	p.opened(false)
	p.sees("What you typed is kept in this browser; begin a post again to bring it back.")
	if _, err := p.Eval(`() => { window.fetch = window.mended }`); err != nil {
		t.Fatal(err)
	}
	p.begins()
	p.sees("This browser has what you typed while Herald could not be reached.")
	p.press("button", "Bring it back")
	p.until("the words", func() bool { return p.value("Text") == "Nobody hears of this mammoth" })
}
