package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
)

// oldFilm is a video that no browser plays, long enough for its conversion to be
// seen.
func oldFilm(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reel.mp4")
	out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=20", "-c:v", "mpeg4", "-q:v", "8", path).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg is needed; .tools/setup.sh installs it: %v: %s", err, out)
	}
	return path
}

// A file's page follows its conversion by itself, from waiting to done.
func TestAConversionIsFollowedOnTheFilesPage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	p.drag("#main", oldFilm(t))
	p.one(".asset-play")
	href, err := p.Eval(`() => document.querySelector("a[href*='/media/'].asset-open, .asset a[href*='/media/'], li a[href*='/media/']").href`)
	if err != nil {
		t.Fatal(err)
	}
	p.visit(href.Value.Str())
	if _, err := p.Eval(`() => { window.stayed = true }`); err != nil {
		t.Fatal(err)
	}
	under := false
	p.until("the conversion to be done", func() bool {
		text := p.text()
		under = under || strings.Contains(text, "Being made") || strings.Contains(text, "Waits to be made")
		return strings.Contains(text, "MP4, 1280 × 720") && !strings.Contains(text, "Being made") && !strings.Contains(text, "Waits to be made")
	})
	if !under {
		t.Error("it was not seen on its way, so that this proves nothing")
	}
	if stayed, err := p.Eval(`() => window.stayed === true && document.querySelectorAll("#asset-made").length === 1`); err != nil || !stayed.Value.Bool() {
		t.Errorf("the page was loaded again, or has the part twice: %v", err)
	}
	if asks, err := p.Eval(`() => document.querySelector("#asset-made").hasAttribute("hx-get")`); err != nil || asks.Value.Bool() {
		t.Errorf("it asks on once all is made: %v", err)
	}
}
