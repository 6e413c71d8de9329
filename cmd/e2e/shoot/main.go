// Command shoot takes a picture of every screen of the demo, on a desk, a tablet
// and a phone, in light and in dark, into cmd/e2e/shots. It is for looking: run
// it as `go tool task shots`. Names of screens as arguments leave out the others.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/cmd/internal/demo"
	"herald/jobs/darkroom"
)

func main() {
	darkroom.Serve()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// folder is where the pictures go, from the top of the repository.
const folder = "cmd/e2e/shots"

// run makes a demo of its own, which is gone afterwards.
func run(ctx context.Context, out io.Writer, only []string) error {
	if _, err := os.Stat("cmd/e2e"); err != nil {
		return errors.New("run this from the top of the repository")
	}
	data, err := os.MkdirTemp("", "herald-shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	d, err := demo.Start(ctx, demo.Options{Addr: "127.0.0.1:0", Data: filepath.Join(data, "demo"), Environ: os.Environ()})
	if err != nil {
		return err
	}
	defer d.Stop()
	b, err := browser.Launch()
	if err != nil {
		return err
	}
	defer b.Close()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return shootAll(ctx, out, only, b, d)
}

// looks are how each screen is looked at.
var looks = map[string]browser.Look{"1440": browser.Desktop, "820": browser.Tablet, "390": browser.Phone}

func shootAll(ctx context.Context, out io.Writer, only []string, b *browser.Browser, d *demo.Demo) error {
	w, err := b.Open(browser.Desktop)
	if err != nil {
		return err
	}
	defer w.Shut()
	c := &camera{Window: w, base: d.URL, said: map[string]bool{}}
	screens, err := c.walk(d)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range screens {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		for size, look := range looks {
			for _, look.Dark = range []bool{false, true} {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := c.shoot(s, size, look); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				n++
			}
		}
	}
	fmt.Fprintf(out, "%d pictures are in %s\n", n, folder)
	for say := range c.said {
		fmt.Fprintln(out, say)
	}
	return nil
}

// screen is a place with the name of its pictures.
type screen struct {
	name, address string
	act           string // script, for what only shows once somebody did something
}

// camera is a window in which the demo's owner is signed in.
type camera struct {
	*browser.Window
	base string
	said map[string]bool // what else was noticed
}

// visit opens an address and waits for what is loaded lazily.
func (c *camera) visit(address string) error {
	if strings.HasPrefix(address, "/") {
		address = c.base + address
	}
	p := c.Timeout(time.Minute)
	if err := p.Navigate(address); err != nil {
		return err
	}
	return p.WaitLoad()
}

// first is where the first link that a selector finds leads; empty for none.
func (c *camera) first(selector string) (string, error) {
	answer, err := c.Eval(`(s) => document.querySelector(s)?.href ?? ""`, selector)
	if err != nil {
		return "", err
	}
	return answer.Value.Str(), nil
}

// shoot takes one picture of a screen.
func (c *camera) shoot(s screen, size string, look browser.Look) error {
	if err := c.Show(look); err != nil {
		return err
	}
	if err := c.visit(s.address); err != nil {
		return err
	}
	if s.act != "" {
		if _, err := c.Eval(`async () => { ` + s.act + `; await new Promise((done) => setTimeout(done, 1500)) }`); err != nil {
			return err
		}
	}
	_, err := c.Eval(`async () => {
		for (const img of document.images) img.loading = "eager"
		await Promise.all([document.fonts.ready, ...[...document.images].map((i) => i.decode().catch(() => {}))])
	}`)
	if err != nil {
		return err
	}
	if wide, err := c.Wide(); err == nil && len(wide) > 0 {
		c.said[fmt.Sprintf("%s scrolls sideways at %s: %s", s.name, size, strings.Join(wide, ", "))] = true
	}
	picture, err := c.Screenshot(true, &proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng})
	if err != nil {
		return err
	}
	light := "light"
	if look.Dark {
		light = "dark"
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%s-%s.png", unfit.ReplaceAllString(s.name, "-"), size, light)), picture, 0o644)
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)
