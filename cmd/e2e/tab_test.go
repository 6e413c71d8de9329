package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
)

// tab is a page as a person uses it: things are found by what they are and what
// they are called, as a screen reader finds them. Whatever is not there within
// patience ends the test, with a picture of the page.
type tab struct {
	*browser.Window
	t       *testing.T
	expects []int // statuses of refusals that the test provokes
	cut     bool  // the test breaks the connection
}

// open opens a window. At the end of the test it must not have complained.
func open(t *testing.T, look browser.Look) *tab {
	t.Helper()
	w, err := here.browser.Open(look)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Shut)
	p := &tab{Window: w, t: t}
	p.watch()
	return p
}

// second opens another tab of the same person.
func (p *tab) second() *tab {
	p.t.Helper()
	w, err := p.Second()
	if err != nil {
		p.t.Fatal(err)
	}
	q := &tab{Window: w, t: p.t}
	q.watch()
	return q
}

func (p *tab) watch() {
	p.t.Cleanup(func() {
		for _, one := range p.Trouble() {
			lost := p.cut && (strings.Contains(one.Say, "net::ERR_INTERNET_DISCONNECTED") || strings.Contains(one.Say, "Failed to fetch"))
			if !slices.Contains(p.expects, one.Status) && !lost {
				p.t.Errorf("the browser complained: %s", one.Say)
			}
		}
		if p.t.Failed() {
			p.shoot()
		}
	})
}

// member opens a window in which somebody of the agency is signed in.
func (a *agency) member(t *testing.T, look browser.Look, email string) *tab {
	t.Helper()
	p := open(t, look)
	p.signs(a, email)
	return p
}

// signs signs somebody of the agency in, in this window.
func (p *tab) signs(a *agency, email string) {
	p.t.Helper()
	c := a.session(p.t, email)
	if err := p.SetCookies([]*proto.NetworkCookieParam{{Name: c.Name, Value: c.Value, URL: here.web.URL, HTTPOnly: true, SameSite: proto.NetworkCookieSameSiteLax}}); err != nil {
		p.t.Fatal(err)
	}
}

// shots is where pictures go.
const shots = "shots"

var unfit = regexp.MustCompile(`[^A-Za-z0-9]+`)

// shoot keeps a picture of the whole page.
func (p *tab) shoot() {
	at, err := p.Screenshot(true, nil)
	if err == nil {
		_ = os.MkdirAll(shots, 0o755)
		name := fmt.Sprintf("failed-%s-%s-%d.png", unfit.ReplaceAllString(p.t.Name(), "-"), p.TargetID[:6], p.Look.Width)
		if os.WriteFile(filepath.Join(shots, name), at, 0o644) == nil {
			p.t.Logf("see cmd/e2e/shots/%s of %s", name, p.address())
		}
	}
}

// address is where the window is.
func (p *tab) address() string {
	info, err := p.Info()
	if err != nil {
		return ""
	}
	return info.URL
}

// visit opens an address, of Herald if it begins with a slash.
func (p *tab) visit(address string) {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = here.web.URL + address
	}
	if err := p.Timeout(patience).Navigate(address); err != nil {
		p.t.Fatalf("%s: %v", address, err)
	}
	p.loaded()
}

// loaded waits until the page is there, its scripts included.
func (p *tab) loaded() {
	p.t.Helper()
	p.until("the page to load", func() bool {
		state, err := p.Eval(`() => document.readyState`)
		return err == nil && state.Value.Str() == "complete"
	})
}

// until waits for ok.
func (p *tab) until(what string, ok func() bool) {
	p.t.Helper()
	p.try(what, func() error {
		if ok() {
			return nil
		}
		return errors.New("not yet")
	})
}

// try does something until it works.
func (p *tab) try(what string, act func() error) {
	p.t.Helper()
	for end, pause := time.Now().Add(patience), 40*time.Millisecond; ; time.Sleep(pause) {
		pause = min(2*pause, 300*time.Millisecond)
		err := act()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("waited in vain at %s for %s (%v); it says: %.900s", p.address(), what, err, p.text())
		}
	}
}

// text is all that can be read on the page.
func (p *tab) text() string {
	said, err := p.Eval(`() => document.body ? document.body.innerText : ""`)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(said.Value.Str()), " ")
}

// sees waits until all words can be read.
func (p *tab) sees(words ...string) {
	p.t.Helper()
	for _, w := range words {
		p.until("“"+w+"”", func() bool { return strings.Contains(p.text(), w) })
	}
}

// misses waits until none of the words can be read any more.
func (p *tab) misses(words ...string) {
	p.t.Helper()
	for _, w := range words {
		p.until("“"+w+"” to go", func() bool { return !strings.Contains(p.text(), w) })
	}
}

// says waits until what a selector finds says the words.
func (p *tab) says(selector, words string) {
	p.t.Helper()
	p.until(selector+" to say “"+words+"”", func() bool {
		said, err := p.Eval(`(s) => [...document.querySelectorAll(s)].map((e) => e.innerText).join(" ")`, selector)
		return err == nil && strings.Contains(strings.Join(strings.Fields(said.Value.Str()), " "), words)
	})
}

// roles are what a person would call something, as the browser's accessibility
// tree calls it.
var roles = map[string][]string{
	"button": {"button", "DisclosureTriangle"},
	"link":   {"link"},
	"box":    {"checkbox", "radio"},
	"option": {"option"},
	"field":  {"textbox", "combobox", "Date", "InputTime", "DateTime", "searchbox", "spinbutton"},
}

// find returns the one thing of a role that is called name, or called name and
// then something else.
func (p *tab) find(role, name string) *rod.Element {
	p.t.Helper()
	var found *rod.Element
	p.until(role+" “"+name+"”", func() bool {
		found = p.look(role, name)
		return found != nil
	})
	return found
}

// look is find without waiting.
func (p *tab) look(role, name string) *rod.Element {
	root, err := p.Timeout(patience).ElementByJS(rod.Eval(`() => document.querySelector("dialog:modal") ?? document.body`))
	if err != nil {
		return nil // a modal dialog leaves nothing of the page around it
	}
	var begins *proto.AccessibilityAXNode
	for _, r := range roles[role] {
		list, err := proto.AccessibilityQueryAXTree{ObjectID: root.Object.ObjectID, Role: r}.Call(p.Page)
		if err != nil {
			return nil
		}
		for _, n := range list.Nodes {
			if n.Ignored || n.Name == nil {
				continue
			}
			called := strings.Join(strings.Fields(n.Name.Value.Str()), " ")
			if called == name {
				return p.element(n)
			}
			if begins == nil && strings.HasPrefix(called, name) {
				begins = n
			}
		}
	}
	return p.element(begins)
}

func (p *tab) element(n *proto.AccessibilityAXNode) *rod.Element {
	if n == nil {
		return nil
	}
	el, err := p.ElementFromNode(&proto.DOMNode{BackendNodeID: n.BackendDOMNodeID})
	if err != nil {
		return nil
	}
	return el
}

// press clicks, or taps where fingers do it, whatever has the role and the name.
// It tries again while the page is being replaced.
func (p *tab) press(role, name string) {
	p.t.Helper()
	p.try(role+" “"+name+"” to be pressed", func() error {
		el := p.look(role, name)
		if el == nil {
			return errors.New("not there")
		}
		return p.hit(el)
	})
}

// aim scrolls to an element and returns the middle of it. It refuses what a person
// could not press because something else lies over it.
func (p *tab) aim(el *rod.Element) (proto.Point, error) {
	answer, err := el.Timeout(10 * time.Second).Eval(aimJS)
	if err != nil {
		return proto.Point{}, err
	}
	var at struct {
		X, Y  float64
		Under string
	}
	if err := answer.Value.Unmarshal(&at); err != nil {
		return proto.Point{}, err
	}
	if at.Under != "" {
		return proto.Point{}, errors.New("it lies under " + at.Under)
	}
	return proto.Point{X: at.X, Y: at.Y}, nil
}

const aimJS = `() => {
	this.scrollIntoView({ block: "center", behavior: "instant" })
	const box = this.getClientRects()[0]
	if (!box) return { under: "nothing: it does not show" }
	const x = box.x + box.width / 2, y = box.y + box.height / 2
	const top = document.elementFromPoint(x, y)
	const mine = top && (this.contains(top) || top.contains(this) || [...(this.labels ?? [])].some((l) => l.contains(top)))
	return { x, y, under: mine ? "" : top ? top.outerHTML.slice(0, 80) : "the edge of the window" }
}`

func (p *tab) hit(el *rod.Element) error {
	at, err := p.aim(el)
	if err != nil {
		return err
	}
	if p.Look.Touch {
		return p.tap(at)
	}
	if err := p.Mouse.MoveTo(at); err != nil {
		return err
	}
	return p.Mouse.Click(proto.InputMouseButtonLeft, 1)
}

// tap is a finger's. It does not wait for the page to repaint, which a page
// without script never says.
func (p *tab) tap(at proto.Point) error {
	finger := []*proto.InputTouchPoint{{X: at.X, Y: at.Y}}
	if err := (proto.InputDispatchTouchEvent{Type: proto.InputDispatchTouchEventTypeTouchStart, TouchPoints: finger}).Call(p.Page); err != nil {
		return err
	}
	return proto.InputDispatchTouchEvent{Type: proto.InputDispatchTouchEventTypeTouchEnd, TouchPoints: []*proto.InputTouchPoint{}}.Call(p.Page)
}

// unfold presses the first thing that a selector finds.
func (p *tab) unfold(selector string) {
	p.t.Helper()
	p.until(selector+" to be pressed", func() bool {
		el, err := p.Timeout(patience).Element(selector)
		return err == nil && p.hit(el) == nil
	})
}

// goes presses a button or link and waits for the page that it leads to.
func (p *tab) goes(role, name string) {
	p.t.Helper()
	p.follow(func() { p.press(role, name) })
}

// follow waits for the page that act leads to.
func (p *tab) follow(act func()) {
	p.t.Helper()
	before := p.document()
	act()
	p.until("another page", func() bool {
		now := p.document()
		return now != "" && now != before
	})
	p.loaded()
}

// document tells two pages at one address apart.
func (p *tab) document() string {
	at, err := p.Eval(`() => String(performance.timeOrigin)`)
	if err != nil {
		return ""
	}
	return at.Value.Str()
}

// fill replaces what a field says, as typing does.
func (p *tab) fill(name, text string) {
	p.t.Helper()
	p.try("field “"+name+"” to take “"+text+"”", func() error {
		el := p.find("field", name).Timeout(10 * time.Second)
		if _, err := el.Eval(`() => { this.focus(); this.select() }`); err != nil {
			return err
		}
		if err := p.InsertText(text); err != nil {
			return err
		}
		if got := p.value(name); strings.ReplaceAll(got, "\r", "") != text {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
}

// set gives a field of a kind that has a picker its value.
func (p *tab) set(name, value string) {
	p.t.Helper()
	p.until("field “"+name+"” to be "+value, func() bool {
		_, err := p.find("field", name).Eval(`(v) => {
			this.value = v
			this.dispatchEvent(new Event("input", { bubbles: true }))
			this.dispatchEvent(new Event("change", { bubbles: true }))
		}`, value)
		return err == nil && p.value(name) == value
	})
}

// value is what a field holds.
func (p *tab) value(name string) string {
	p.t.Helper()
	v, err := p.find("field", name).Property("value")
	if err != nil {
		return ""
	}
	return v.Str()
}

// key presses keys.
func (p *tab) key(keys ...input.Key) {
	p.t.Helper()
	if err := p.Keyboard.Type(keys...); err != nil {
		p.t.Fatal(err)
	}
}

// upload puts files into a field for files.
func (p *tab) upload(selector string, paths ...string) {
	p.t.Helper()
	el, err := p.Timeout(patience).Element(selector)
	if err == nil {
		err = el.SetFiles(paths)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// href is where a link leads.
func (p *tab) href(name string) string {
	p.t.Helper()
	v, err := p.find("link", name).Property("href")
	if err != nil {
		p.t.Fatal(err)
	}
	return v.Str()
}

// fits fails the test if the page scrolls sideways.
func (p *tab) fits() {
	p.t.Helper()
	wide, err := p.Wide()
	if err != nil {
		p.t.Fatal(err)
	}
	if len(wide) > 0 {
		p.t.Errorf("%s scrolls sideways at %d px: %s", p.address(), p.Look.Width, strings.Join(wide, ", "))
	}
}

// refuses lets pages answer with a status that would otherwise be trouble.
func (p *tab) refuses(statuses ...int) { p.expects = append(p.expects, statuses...) }

// The refusals that people meet.
const (
	stale   = http.StatusConflict
	invalid = http.StatusUnprocessableEntity
)
