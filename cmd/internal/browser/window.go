package browser

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"
)

// Window is one page with its own cookies.
type Window struct {
	*rod.Page
	Look Look

	private *rod.Browser
	mu      sync.Mutex
	trouble []Trouble
}

// Trouble is one complaint of the browser: an error of a script, a breach of the
// page's policy, a request that failed.
type Trouble struct {
	Say    string
	Status int // of an answer that is an error; 0 for anything else
}

// Show makes the window show pages by look.
func (w *Window) Show(look Look) error {
	w.Look = look
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	for _, one := range []interface{ Call(proto.Client) error }{
		proto.EmulationSetDeviceMetricsOverride{Width: look.Width, Height: look.Height, DeviceScaleFactor: 1, Mobile: look.Touch},
		proto.EmulationSetTouchEmulationEnabled{Enabled: look.Touch},
		proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}},
		proto.EmulationSetScriptExecutionDisabled{Value: look.NoScript},
		proto.EmulationSetTimezoneOverride{TimezoneID: look.Zone},
		proto.EmulationSetFocusEmulationEnabled{Enabled: true},
	} {
		if err := one.Call(w.Page); err != nil {
			return err
		}
	}
	return nil
}

// Second opens another tab with the same cookies and storage.
func (w *Window) Second() (*Window, error) {
	page, err := w.private.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		return nil, err
	}
	second := &Window{Page: page, private: w.private}
	second.listen()
	return second, second.Show(w.Look)
}

// Shut closes the window, its other tabs too, and forgets its cookies. A page that
// would ask whether to leave is not asked.
func (w *Window) Shut() { _ = w.private.Close() }

// Trouble lists what the browser complained about since the window was opened.
func (w *Window) Trouble() []Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Trouble(nil), w.trouble...)
}

func (w *Window) complain(format string, args ...any) {
	say := fmt.Sprintf(format, args...)
	one := Trouble{Say: say}
	if m := statusShape.FindStringSubmatch(say); m != nil {
		one.Status, _ = strconv.Atoi(m[1])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = append(w.trouble, one)
}

// statusShape is how Chromium says that an answer was an error.
var statusShape = regexp.MustCompile(`server responded with a status of (\d+)`)

func (w *Window) listen() {
	go w.EachEvent(
		func(e *proto.RuntimeExceptionThrown) {
			say := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				say += " " + e.ExceptionDetails.Exception.Description
			}
			w.complain("exception: %s", say)
		},
		func(e *proto.RuntimeConsoleAPICalled) {
			if e.Type == proto.RuntimeConsoleAPICalledTypeError || e.Type == proto.RuntimeConsoleAPICalledTypeAssert {
				w.complain("console: %s", words(e.Args))
			}
		},
		func(e *proto.LogEntryAdded) {
			if e.Entry.Level == proto.LogLogEntryLevelError || e.Entry.Source == proto.LogLogEntrySourceSecurity {
				w.complain("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
			}
		},
	)()
}

func words(args []*proto.RuntimeRemoteObject) string {
	var list []string
	for _, a := range args {
		if a.Description != "" {
			list = append(list, a.Description)
		} else {
			list = append(list, a.Value.String())
		}
	}
	return strings.Join(list, " ")
}

// Wide says what sticks out to the right of the window, as CSS-like names of at
// most five elements; nothing if the page does not scroll sideways.
func (w *Window) Wide() (list []string, err error) {
	answer, err := w.Eval(wideJS, w.Look.Width)
	if err != nil {
		return nil, err
	}
	return list, answer.Value.Unmarshal(&list)
}

const wideJS = `(width) => {
	const root = document.documentElement
	if (Math.max(root.scrollWidth, document.body.scrollWidth) <= width) return []
	const scrolls = (e) => {
		for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) {
			if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(p).overflowX)) return true
		}
		return false
	}
	const out = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > width + 0.5 && !scrolls(e))
	const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + [...e.classList].map((c) => "." + c).join("") + " " + Math.round(e.getBoundingClientRect().right)
	return ["page is " + root.scrollWidth + " wide", ...out.slice(0, 5).map(name)]
}`
