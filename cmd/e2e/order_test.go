package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// strip is a post of the museum with three pictures.
func (a *agency) strip(t *testing.T) (post string, id model.PostID) {
	t.Helper()
	form := db.PostForm{Content: model.Content{Text: "Three rooms", Accounts: []model.AccountID{a.account(t, "museum", network.Mastodon)}}}
	for i, name := range []string{"one.jpg", "two.jpg", "three.jpg"} {
		file := a.hang(t, "museum", uint64(40+i), 800, 600, name, "Room "+name)
		form.Content.Media = append(form.Content.Media, model.ContentMedia{ID: file.ID, Alt: file.Alt})
	}
	page, err := a.owner.SavePost(t.Context(), 0, form)
	if err != nil {
		t.Fatal(err)
	}
	return a.path(fmt.Sprintf("/posts/%d", page.Post.ID)), page.Post.ID
}

// inOrder waits until the things of a list begin with these words, in this order.
func (p *tab) inOrder(list string, want ...string) {
	p.t.Helper()
	p.until(list+" to be "+strings.Join(want, ", "), func() bool {
		got, err := p.Eval(`(s) => [...document.querySelectorAll(s + " .order-item:not([aria-hidden])")].map((e) => e.querySelector("[data-called], .attachment-name > span, .choice-label")?.innerText ?? e.querySelector("textarea").value).join("|")`, list)
		return err == nil && got.Value.Str() == strings.Join(want, "|")
	})
}

// still waits until nothing is on its way.
func (p *tab) still() {
	p.t.Helper()
	p.until("the page to be still", func() bool {
		n, err := p.Eval(`() => document.querySelectorAll("[aria-busy=true]").length`)
		return err == nil && n.Value.Int() == 0
	})
}

// top is a spot in the upper half of what a selector finds, away from the edge of the
// window, which would scroll.
func (p *tab) top(selector string) proto.Point {
	p.t.Helper()
	at := p.at(selector)
	answer, err := p.Eval(`(s) => { const b = document.querySelector(s).getBoundingClientRect(); return Math.max(b.top + 6, Math.min(b.top + b.height * 0.45, 70)) }`, selector)
	if err != nil {
		p.t.Fatal(err)
	}
	at.Y = answer.Value.Num()
	return at
}

// touches is what a finger does.
func (p *tab) touches(kind proto.InputDispatchTouchEventType, at ...proto.Point) {
	p.t.Helper()
	points := []*proto.InputTouchPoint{}
	for _, one := range at {
		points = append(points, &proto.InputTouchPoint{X: one.X, Y: one.Y})
	}
	if err := (proto.InputDispatchTouchEvent{Type: kind, TouchPoints: points}).Call(p.Page); err != nil {
		p.t.Fatal(err)
	}
}

// presses takes a grip by a long press and lets it go at the top of another thing.
func (p *tab) presses(grip, to string) {
	p.t.Helper()
	start := p.point(grip)
	p.touches(proto.InputDispatchTouchEventTypeTouchStart, start)
	p.until("it to be picked up", func() bool {
		n, err := p.Eval(`() => document.querySelectorAll("order-list[data-dragging]").length`)
		return err == nil && n.Value.Int() == 1
	})
	end := p.top(to)
	p.touches(proto.InputDispatchTouchEventTypeTouchMove, proto.Point{X: end.X, Y: end.Y + 4})
	p.touches(proto.InputDispatchTouchEventTypeTouchMove, end)
	p.touches(proto.InputDispatchTouchEventTypeTouchEnd)
}

// TestFilesArePutInOrderByMouse: the order holds through a working copy, Save and
// another load.
func TestFilesArePutInOrderByMouse(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	post, id := a.strip(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(post)
	p.inOrder(".attachments", "one.jpg", "two.jpg", "three.jpg")
	p.haul(".attachments > :nth-child(1) .order-grip", ".attachments > :nth-child(3)")
	p.inOrder(".attachments", "two.jpg", "three.jpg", "one.jpg")
	p.says("#composer-moved", "one.jpg is number 3 of 3 now.")
	p.sees("Kept for you.")
	p.visit(post)
	p.sees("Here is what you typed and did not save")
	p.inOrder(".attachments", "two.jpg", "three.jpg", "one.jpg")
	p.goes("button", "Save")
	p.sees("Saved.")
	p.inOrder(".attachments", "two.jpg", "three.jpg", "one.jpg")
	page, err := a.owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var alts []string
	for _, m := range page.Version.Content.Media {
		alts = append(alts, m.Alt)
	}
	if want := []string{"Room two.jpg", "Room three.jpg", "Room one.jpg"}; !slices.Equal(alts, want) {
		t.Errorf("stored as %v", alts)
	}
}

// TestFilesArePutInOrderByFinger and by the buttons, which keep the focus.
func TestFilesArePutInOrderByFinger(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	post, _ := a.strip(t)
	p := a.member(t, browser.Phone, a.anna())
	p.visit(post)
	p.presses(".attachments > :nth-child(2) .order-grip", ".attachments > :nth-child(1)")
	p.inOrder(".attachments", "two.jpg", "one.jpg", "three.jpg")
	p.says("#composer-moved", "two.jpg is number 1 of 3 now.")
	p.still()
	if _, err := p.find("button", "Move one.jpg up").Eval(`() => { this.focus(); this.click() }`); err != nil {
		t.Fatal(err)
	}
	p.inOrder(".attachments", "one.jpg", "two.jpg", "three.jpg")
	p.until("the focus beside", func() bool {
		at, err := p.Eval(`() => document.activeElement?.title`)
		return err == nil && at.Value.Str() == "Move one.jpg down"
	})
	p.fits()
	p.judge(axeSource(t))
}

// TestANetworksFilesArePutInOrder of their own.
func TestANetworksFilesArePutInOrder(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	post, id := a.strip(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(post)
	p.press("button", "Customise for Mastodon")
	p.inOrder(".order-rows", "one.jpg", "two.jpg", "three.jpg")
	p.haul(".order-rows > :nth-child(1) .order-grip", ".order-rows > :nth-child(2)")
	p.inOrder(".order-rows", "two.jpg", "one.jpg", "three.jpg")
	p.sees("In an order of their own")
	p.still()
	p.press("button", "Move three.jpg for Mastodon up")
	p.inOrder(".order-rows", "two.jpg", "three.jpg", "one.jpg")
	p.inOrder(".attachments", "one.jpg", "two.jpg", "three.jpg")
	p.judge(axeSource(t))
	p.goes("button", "Save")
	p.inOrder(".order-rows", "two.jpg", "three.jpg", "one.jpg")
	page, err := a.owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if own := page.Version.Content.Variants["mastodon"]; own.Media == nil || (*own.Media)[0].Alt != "Room two.jpg" || page.Version.Content.Media[0].Alt != "Room one.jpg" {
		t.Errorf("stored as %+v", page.Version.Content)
	}
}
