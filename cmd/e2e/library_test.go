package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// crop is what is chosen for a preset.
func (a *agency) crop(t *testing.T, id model.MediaID, preset string) model.Crop {
	t.Helper()
	page, err := a.owner.Asset(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return page.Crops[preset]
}

// one finds the one element of a selector.
func (p *tab) one(selector string) *rod.Element {
	p.t.Helper()
	el, err := p.Timeout(patience).Element(selector)
	if err != nil {
		p.t.Fatalf("%s: %v", selector, err)
	}
	return el
}

// swipe is a finger that goes from the middle of something so far, and rests before
// it leaves: after a fling the browser would swallow the next tap.
func (p *tab) swipe(el *rod.Element, right, down float64) {
	p.t.Helper()
	at, err := p.aim(el)
	if err != nil {
		p.t.Fatal(err)
	}
	const steps = 5
	began := float64(time.Now().Add(-2*time.Second).UnixMilli()) / 1000
	for i := range steps + 2 {
		e := proto.InputDispatchTouchEvent{Type: proto.InputDispatchTouchEventTypeTouchMove, Timestamp: proto.TimeSinceEpoch(began + 0.1*float64(i)), TouchPoints: []*proto.InputTouchPoint{
			{X: at.X + right*float64(i)/steps, Y: at.Y + down*float64(i)/steps}}}
		switch i {
		case 0:
			e.Type = proto.InputDispatchTouchEventTypeTouchStart
		case steps + 1:
			e.Type, e.TouchPoints, e.Timestamp = proto.InputDispatchTouchEventTypeTouchEnd, []*proto.InputTouchPoint{}, proto.TimeSinceEpoch(began+2)
		}
		if err := e.Call(p.Page); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestACropIsChosenByKeyboard(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	coast := a.hang(t, "museum", 3, 900, 600, "coast.jpg", "A coast")
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media/%d/crop?preset=instagram/story", coast.ID)))
	if x, w := p.value("From the left"), p.value("Width"); x != "284" || w != "333" {
		t.Fatalf("it begins at %s, %s wide, want 9:16 in the middle", x, w)
	}
	if err := p.one(".crop-window").Focus(); err != nil {
		t.Fatal(err)
	}
	p.key(input.ArrowLeft, input.ArrowLeft, input.ArrowLeft)
	p.until("the part to move", func() bool { return p.value("From the left") == "257" })
	p.key(input.Minus, input.Minus)
	p.until("the part to shrink", func() bool { return p.value("Height") != "592" && p.value("Height") != "600" })
	p.key(input.ArrowDown)
	p.key(input.Tab, input.Tab, input.Tab, input.Tab, input.Tab, input.Tab, input.Tab)
	p.follow(func() { p.key(input.Enter) })
	p.sees("Cropped for Instagram story.")
	got := a.crop(t, coast.ID, "instagram/story")
	preset, _ := network.PresetFor("instagram/story", network.Image)
	if got.X <= 257 || got.Height >= 592 || !preset.Takes(got.Width, got.Height) {
		t.Errorf("the crop is %+v", got)
	}
	if list, err := a.owner.Library(t.Context(), db.LibraryFilter{}); err != nil || len(list.Assets) != 1 {
		t.Errorf("%d files: a crop is no new one", len(list.Assets))
	}
}

func TestACropIsChosenByTouch(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	coast := a.hang(t, "museum", 4, 900, 600, "coast.jpg", "A coast")
	p := a.member(t, browser.Phone, a.anna())
	p.visit(a.path(fmt.Sprintf("/media/%d/crop?preset=instagram/post", coast.ID)))
	p.fits()
	p.press("box", "4:5")
	p.until("the shape", func() bool { return p.value("Width") == "480" && p.value("Height") == "600" })
	p.swipe(p.one(".crop-edge"), -80, 0)
	p.until("the part to follow the finger", func() bool { return p.value("From the left") == "0" })
	p.swipe(p.one(`.crop-corner[data-corner="se"]`), -40, -50)
	p.until("the corner to follow the finger", func() bool { return len(p.value("Width")) == 3 && p.value("Width") < "480" })
	p.goes("button", "Save the crop")
	p.sees("Cropped for Instagram post.")
	got := a.crop(t, coast.ID, "instagram/post")
	if got.X != 0 || got.Y != 0 || got.Width*5 != got.Height*4 || got.Width >= 480 {
		t.Errorf("the crop is %+v, want 4:5 in the upper left", got)
	}
	p.judge(axeSource(t))
}

// lift drags what a selector finds onto what another finds, with the mouse.
func (p *tab) lift(from, to string) {
	p.t.Helper()
	if err := (proto.InputSetInterceptDrags{Enabled: true}).Call(p.Page); err != nil {
		p.t.Fatal(err)
	}
	start, err := p.aim(p.one(from))
	if err != nil {
		p.t.Fatal(err)
	}
	var lifted proto.InputDragIntercepted
	wait := p.Timeout(patience).WaitEvent(&lifted)
	for _, act := range []func() error{
		func() error { return p.Mouse.MoveTo(start) },
		func() error { return p.Mouse.Down(proto.InputMouseButtonLeft, 1) },
		func() error { return p.Mouse.MoveTo(proto.Point{X: start.X + 5, Y: start.Y + 5}) },
		func() error { return p.Mouse.MoveTo(proto.Point{X: start.X + 20, Y: start.Y + 20}) },
	} {
		if err := act(); err != nil {
			p.t.Fatal(err)
		}
	}
	wait()
	box, err := p.one(to).Shape()
	if err != nil {
		p.t.Fatal(err)
	}
	end := box.OnePointInside()
	for _, kind := range []proto.InputDispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		if err := (proto.InputDispatchDragEvent{Type: kind, X: end.X, Y: end.Y, Data: lifted.Data}).Call(p.Page); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := p.Mouse.Up(proto.InputMouseButtonLeft, 1); err != nil {
		p.t.Fatal(err)
	}
}

func TestFilesAreDraggedFromTheLibraryOntoThePost(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	coast := a.hang(t, "museum", 5, 300, 200, "coast.jpg", "A coast at dusk")
	a.hang(t, "museum", 6, 200, 300, "harbour.jpg", "")
	a.hang(t, "bakery", 7, 200, 300, "loaf.jpg", "")
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.says(".client-head", "1 of 4 chosen")
	p.press("button", "From the library")
	p.says("#picker-found", "harbour.jpg")
	if strings.Contains(p.text(), "loaf.jpg") {
		t.Error("it shows another client's files")
	}
	if _, err := p.Eval(`() => document.querySelector("#composer").addEventListener("input", () => { document.body.dataset.heard = "something" })`); err != nil {
		t.Fatal(err)
	}
	p.fill("Search the library", "dusk")
	p.until("what was looked for", func() bool { return !strings.Contains(p.text(), "harbour.jpg") })
	p.press("box", "coast.jpg")
	p.says("#do-attach", "Attach")
	if heard, _, err := p.Has("body[data-heard]"); err != nil || heard {
		t.Errorf("the networks are asked about what is looked for: %v", err)
	}
	p.lift(".pick label", "#composer-media")
	p.says(".attachments", "coast.jpg")
	p.says("#picker-found", "coast.jpg")
	if got := p.value("Alt text"); got != "A coast at dusk" {
		t.Errorf("the alt text came along as %q", got)
	}
	p.until("the file to be marked as taken", func() bool {
		n, err := p.Elements(".pick[data-mine]")
		return err == nil && len(n) == 1
	})
	p.judge(axeSource(t))
	p.fill("Alt text", "Another sentence for this post")
	p.fill("Text", "Dusk")
	p.goes("button", "Save")
	p.sees("Saved.", "In the library: “A coast at dusk”")
	if got := p.value("Alt text"); got != "Another sentence for this post" {
		t.Errorf("the post's own alt text came back as %q", got)
	}
	asset, err := a.owner.Asset(t.Context(), coast.ID)
	if err != nil || asset.Alt != "A coast at dusk" {
		t.Errorf("the library's alt text became %q, %v", asset.Alt, err)
	}
}

func TestFilesAreAttachedFromTheLibraryOnAPhoneAndWithoutScript(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"with script": false, "without script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			a.hang(t, "museum", 5, 300, 200, "coast.jpg", "A coast at dusk")
			a.hang(t, "museum", 6, 200, 300, "harbour.jpg", "")
			look := browser.Narrow
			look.NoScript = quiet
			p := a.member(t, look, a.anna())
			p.visit(a.path("/posts/new"))
			p.press("box", "Mastodon @museum@social.example")
			if !quiet { // what the networks say moves what is below
				p.says(".client-head", "1 of 4 chosen")
			}
			p.fill("Text", "Dusk")
			p.press("button", "From the library")
			p.says("#picker-found", "harbour.jpg")
			p.press("box", "coast.jpg")
			p.press("box", "harbour.jpg")
			p.fits()
			if !quiet {
				p.judge(axeSource(t))
			}
			p.press("button", "Attach")
			p.says(".attachments", "coast.jpg")
			p.says(".attachments", "harbour.jpg")
			p.says(".attachments", "No alt text")
			if !quiet {
				p.press("button", "Close")
			}
			p.press("button", "From an address")
			p.find("field", "The file's address")
			if got := p.value("Text"); got != "Dusk" {
				t.Errorf("what was typed became %q", got)
			}
			p.fits()
		})
	}
}

func TestTheLibraryIsUsedByKeyboard(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	for i := range 8 {
		a.hang(t, "museum", uint64(10+i), 120, 90, fmt.Sprintf("%d.jpg", i), "Something")
	}
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/media"))
	if err := p.one(".asset-open").Focus(); err != nil {
		t.Fatal(err)
	}
	p.key(input.Space, input.ArrowRight, input.ArrowRight, input.Space)
	p.says("[data-chosen]", "2 files chosen")
	if err := p.KeyActions().Press(input.ShiftLeft).Type(input.ArrowLeft).Do(); err != nil {
		t.Fatal(err)
	}
	p.says("[data-chosen]", "3 files chosen")
	p.key(input.Space, input.ArrowRight)
	p.says("[data-chosen]", "2 files chosen")
	p.key(input.ArrowDown)
	if at, err := p.Eval(`() => document.activeElement.closest(".asset").querySelector(".asset-name").innerText`); err != nil || at.Value.Str() != "1.jpg" {
		t.Errorf("down from the third of four in a row leads to %s, %v", at.Value, err)
	}
	p.key(input.Enter)
	p.sees("Which networks take it")
	p.key(input.ArrowRight)
	p.says("dialog .dialog-title", "0.jpg")
	p.judge(axeSource(t))
	p.key(input.Escape)
	p.until("the dialog to close", func() bool { return p.look("button", "Tag") != nil })
	p.press("button", "Tag")
	p.fill("Tags", "coast, summer")
	p.follow(func() { p.key(input.Enter) })
	p.sees("Tagged 2 files.")
	if page, err := a.owner.Library(t.Context(), db.LibraryFilter{Tags: []string{"coast", "summer"}}); err != nil || len(page.Assets) != 2 || page.Assets[0].Name != "7.jpg" || page.Assets[1].Name != "5.jpg" {
		t.Errorf("tagged %+v, %v", page.Assets, err)
	}
}
