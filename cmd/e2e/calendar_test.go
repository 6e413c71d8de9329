package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// planned is a post two days ahead, with its card on the month's page and a day
// beside it, both to be moved to.
type planned struct {
	a    *agency
	page db.PostPage
	card string // selectors
	day  string
	date string // of that day
}

func (a *agency) planned(t *testing.T, p *tab) planned {
	t.Helper()
	page := a.plan(t, "A coast at dusk", 50*time.Hour)
	one := planned{a: a, page: page}
	due := one.due(t)
	p.visit(a.path("/calendar?date=" + due.Format("2006-01")))
	for _, by := range []int{1, -1} {
		day := due.AddDate(0, 0, by)
		if n, err := p.Eval(`(id) => document.getElementById(id) ? 1 : 0`, "day-"+day.Format(time.DateOnly)); err == nil && n.Value.Int() == 1 && one.day == "" {
			one.date = day.Format(time.DateOnly)
			one.day = "#day-" + one.date
		}
	}
	one.card = "#day-" + due.Format(time.DateOnly) + " .plan"
	return one
}

// due is the time as the calendar's clocks, the workspace's, show it.
func (o planned) due(t *testing.T) time.Time {
	t.Helper()
	target, err := o.a.owner.Target(t.Context(), o.page.Targets[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := model.LoadZone(o.a.owner.Workspace.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return target.DueAt.In(zone)
}

func (p *tab) point(selector string) (at proto.Point) {
	p.t.Helper()
	p.try(selector, func() error {
		el, err := p.Timeout(patience).Element(selector)
		if err != nil {
			return err
		}
		at, err = p.aim(el)
		return err
	})
	return at
}

// haul takes what is at from with the mouse and lets it go at to.
func (p *tab) haul(from, to string) {
	p.t.Helper()
	start, err := p.point(from), error(nil)
	end := p.at(to)
	err = errors.Join(p.Mouse.MoveTo(start), p.Mouse.Down(proto.InputMouseButtonLeft, 1), p.Mouse.MoveLinear(end, 8), p.Mouse.Up(proto.InputMouseButtonLeft, 1))
	if err != nil {
		p.t.Fatal(err)
	}
}

// at is a free spot near the bottom of what a selector finds, wherever it is now.
func (p *tab) at(selector string) proto.Point {
	p.t.Helper()
	answer, err := p.Eval(`(s) => { const b = document.querySelector(s).getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.bottom - 8 } }`, selector)
	if err != nil {
		p.t.Fatal(err)
	}
	return proto.Point{X: answer.Value.Get("x").Num(), Y: answer.Value.Get("y").Num()}
}

// wantDay waits until the post is planned for a day, at the time of day it had.
func (o planned) wantDay(p *tab, date, clock string) {
	p.t.Helper()
	p.until("the post on "+date, func() bool { return o.due(p.t).Format("2006-01-02 15:04") == date+" "+clock })
}

func TestACardIsDraggedToAnotherDayAndTakenBack(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	post := a.planned(t, p)
	was := post.due(t)
	before := p.document()
	p.haul(post.card, post.day)
	p.sees("Moved to", was.Format("2006"))
	post.wantDay(p, post.date, was.Format("15:04"))
	p.says(post.day, "A coast at dusk")
	if err := p.KeyActions().Press(input.ControlLeft).Type(input.KeyZ).Release(input.ControlLeft).Do(); err != nil {
		t.Fatal(err)
	}
	p.sees("One post moved back.")
	post.wantDay(p, was.Format(time.DateOnly), was.Format("15:04"))
	p.says(post.card, "A coast at dusk")
	if p.document() != before {
		t.Error("the page was loaded again")
	}
}

func TestARefusedDragLeavesTheCardAndSaysWhy(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.refuses(422)
	post := a.planned(t, p)
	id := a.account(t, "museum", network.Facebook)
	card, err := a.owner.Account(t.Context(), id)
	if err == nil {
		_, err = a.owner.SwitchAccount(t.Context(), id, card.Revision, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.haul(post.card, post.day)
	p.sees("is switched off")
	p.says(post.card, "A coast at dusk")
	if n, err := p.Eval(`() => document.querySelectorAll(".plan[aria-busy], .ghost, [data-over], [data-dragging]").length`); err != nil || n.Value.Int() != 0 {
		t.Errorf("%v traces of the drag are left, %v", n, err)
	}
}

func TestALongPressDragsAndASwipeScrolls(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Phone, a.anna())
	post := a.planned(t, p)
	was := post.due(t)
	touch := func(kind proto.InputDispatchTouchEventType, at ...proto.Point) {
		t.Helper()
		points := []*proto.InputTouchPoint{}
		for _, one := range at {
			points = append(points, &proto.InputTouchPoint{X: one.X, Y: one.Y})
		}
		if err := (proto.InputDispatchTouchEvent{Type: kind, TouchPoints: points}).Call(p.Page); err != nil {
			t.Fatal(err)
		}
	}
	start := p.point(post.card)
	touch(proto.InputDispatchTouchEventTypeTouchStart, start)
	p.until("the card to be picked up", func() bool {
		n, err := p.Eval(`() => document.querySelectorAll("plan-board[data-dragging]").length`)
		return err == nil && n.Value.Int() == 1
	})
	end := p.point(post.day) // the empty days have come up, and moved the others
	touch(proto.InputDispatchTouchEventTypeTouchMove, proto.Point{X: end.X, Y: end.Y - 4})
	touch(proto.InputDispatchTouchEventTypeTouchMove, end)
	touch(proto.InputDispatchTouchEventTypeTouchEnd)
	p.sees("Moved to")
	post.wantDay(p, post.date, was.Format("15:04"))
	if at := p.address(); !strings.Contains(at, "/calendar") {
		t.Errorf("dropping led to %s", at)
	}
	start = p.point(post.day + " .plan")
	touch(proto.InputDispatchTouchEventTypeTouchStart, start)
	touch(proto.InputDispatchTouchEventTypeTouchMove, proto.Point{X: start.X, Y: start.Y - 60})
	touch(proto.InputDispatchTouchEventTypeTouchMove, proto.Point{X: start.X, Y: start.Y - 120})
	touch(proto.InputDispatchTouchEventTypeTouchEnd)
	if n, err := p.Eval(`() => document.querySelectorAll("[data-dragging], .ghost").length`); err != nil || n.Value.Int() != 0 {
		t.Errorf("a swipe picked the card up: %v, %v", n, err)
	}
}

func TestACardIsMovedByKeyboardAndKeepsTheFocus(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	post := a.planned(t, p)
	was := post.due(t)
	way := input.ArrowRight
	if post.date < was.Format(time.DateOnly) {
		way = input.ArrowLeft
	}
	if _, err := p.Eval(`(s) => document.querySelector(s).focus()`, post.card); err != nil {
		t.Fatal(err)
	}
	p.key(input.KeyM)
	p.says("[data-say]", "Picked up.")
	p.key(input.Escape)
	p.says("[data-say]", "Left where it was")
	p.key(input.KeyM, way, input.Enter)
	p.sees("Moved to")
	post.wantDay(p, post.date, was.Format("15:04"))
	p.until("the focus on the card", func() bool {
		at, err := p.Eval(`(s) => document.activeElement?.closest(s) ? 1 : 0`, post.day+" .plan")
		return err == nil && at.Value.Int() == 1
	})
}

func TestAClickOnAnEmptyHourBeginsAPostThere(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	day := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	p.visit(a.path("/calendar?view=day&date=" + day))
	at := p.point(`.slot[data-clock="15:00"]`)
	if err := errors.Join(p.Mouse.MoveTo(at), p.Mouse.Click(proto.InputMouseButtonLeft, 1)); err != nil {
		t.Fatal(err)
	}
	p.until("the composer with that time", func() bool {
		said, err := p.Eval(`() => document.querySelector("#compose-sheet [name=date]")?.value + " " + document.querySelector("#compose-sheet [name=clock]")?.value`)
		return err == nil && strings.HasPrefix(said.Value.Str(), day+" 15:")
	})
}
