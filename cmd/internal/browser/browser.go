// Package browser opens pages in a headless Chromium as people see them: at the
// size of a desk or of a phone, in light or dark, with script or without, each
// window with cookies of its own. It keeps whatever the browser complains about.
// It is for the browser tests and for the pictures of the screens. Start with
// Launch.
package browser

import (
	"errors"
	"os"
	"os/exec"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/launcher/flags"
	"github.com/go-rod/rod/lib/proto"
)

// Browser is a running Chromium.
type Browser struct {
	rod  *rod.Browser
	kill func()
}

// off is what a browser does by itself and only costs time here.
var off = []flags.Flag{
	"disable-gpu", "disable-quic", "disable-component-update", "disable-background-networking", "disable-sync",
	"disable-dev-shm-usage", "disable-extensions", "disable-default-apps", "no-first-run", "mute-audio", "force-prefers-reduced-motion",
}

// shell is Chromium without its own windows, which takes half the processor time.
const shell = "chromium-headless-shell"

// program finds the shell, or any other Chromium.
func program() (path string, ok bool) {
	if path, err := exec.LookPath(shell); err == nil {
		return path, true
	}
	return launcher.LookPath()
}

// Launch starts a browser, which ends with Close, or with this process.
func Launch() (*Browser, error) {
	bin, ok := program()
	if !ok {
		return nil, errors.New("Chromium is missing: run `go tool task setup`")
	}
	own, err := os.MkdirTemp("", "herald-browser-*") // rod's own folder belongs to whoever came first
	if err != nil {
		return nil, err
	}
	l := launcher.New().Bin(bin).Headless(true).NoSandbox(os.Geteuid() == 0).UserDataDir(own)
	for _, f := range off {
		l.Set(f)
	}
	at, err := l.Launch()
	if err != nil {
		return nil, err
	}
	b := &Browser{rod: rod.New().ControlURL(at).NoDefaultDevice(), kill: func() { l.Kill(); l.Cleanup() }}
	if err := b.rod.Connect(); err != nil {
		b.kill()
		return nil, err
	}
	return b, nil
}

// Close ends the browser with all its windows.
func (b *Browser) Close() {
	_ = b.rod.Close()
	b.kill()
}

// Look is how a window shows pages.
type Look struct {
	Width, Height int
	Touch         bool
	Dark          bool
	NoScript      bool
	Zone          string // the reader's; empty for the machine's
}

// The sizes that screens are looked at in.
var (
	Desktop = Look{Width: 1440, Height: 900}
	Tablet  = Look{Width: 820, Height: 1180, Touch: true}
	Phone   = Look{Width: 390, Height: 844, Touch: true}
	Narrow  = Look{Width: 360, Height: 740, Touch: true}
)

// Open opens a window that shares nothing with any other.
func (b *Browser) Open(look Look) (*Window, error) {
	private, err := b.rod.Incognito()
	if err != nil {
		return nil, err
	}
	page, err := private.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		return nil, err
	}
	w := &Window{Page: page, Look: look, private: private}
	w.listen()
	return w, w.Show(look)
}
