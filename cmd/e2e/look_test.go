package e2e

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/network"
)

// logo is a picture with a ground that shows through.
func logo(t *testing.T) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 240, 80))
	draw.Draw(img, image.Rect(20, 20, 220, 60), image.NewUniform(color.NRGBA{0x1a, 0x4f, 0x9c, 0xff}), image.Point{}, draw.Src)
	path := filepath.Join(t.TempDir(), "logo.png")
	f, err := os.Create(path)
	if err == nil {
		err = png.Encode(f, img)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAClientSeesTheAgencysLook sets name, logo and colour at a desk, then reads the
// review page on a phone, in light and in dark, under a host name of the agency's own.
func TestAClientSeesTheAgencysLook(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a := newAgency(t)
	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.path("/settings/look"))
	desk.fill("Name", "Tide & Sons, makers of fine words")
	desk.refuses(invalid)
	desk.fill("Colour", "teal")
	desk.goes("button", "Save")
	desk.sees("six digits")
	desk.fill("Colour", "#fc0")
	desk.upload("[name=file]", logo(t))
	desk.goes("button", "Save")
	desk.sees("so that it can be read", "Shown in place of the name")
	desk.judge(source)
	desk.fits()

	host := "review-" + strings.ToLower(a.slug) + ".localhost"
	desk.fill("Host name", host)
	desk.goes("button", "Use this name")
	desk.sees("_herald."+host, "Not shown to be yours yet")
	desk.judge(source)
	desk.fits()
	if err := a.owner.CheckedReviewHost(t.Context(), 0, db.HostFinding{Host: host, Owned: true, Live: true}); err != nil {
		t.Fatal(err)
	}

	a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	link, err := url.Parse(a.link(t, 0))
	if err != nil || link.Hostname() != host {
		t.Fatalf("the mail leads to %s, %v", link, err)
	}
	for _, look := range []browser.Look{browser.Phone, browser.Narrow} {
		client := open(t, look)
		client.refuses(404)
		eventually(t, "the host is known", func() bool {
			client.visit(fmt.Sprintf("http://%s/signin", link.Host))
			return !containsFolded(client.text(), "Password")
		})
		client.visit(link.String())
		client.sees("Buns at noon")
		client.misses("Sent with Herald")
		if _, err := client.Timeout(patience).Element(`img.plain-logo[alt^="Tide & Sons"]`); err != nil {
			t.Fatal(err)
		}
		client.judge(source)
		client.fits()
	}
	client := open(t, browser.Phone)
	client.visit(link.String())
	client.goes("button", "Approve")
	client.sees("Approved. Thank you!")
	client.goes("link", "Calendar")
	client.judge(source)
}
