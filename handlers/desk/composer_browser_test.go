package desk_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"

	"herald/db/network"
	"herald/static"
)

// page opens an address in a browser in which the owner is signed in.
func (s *studio) page(t *testing.T, path string) *rod.Page {
	t.Helper()
	if err := static.Check(); err != nil {
		t.Fatal(err)
	}
	bin, ok := launcher.LookPath()
	if !ok {
		t.Fatal("Chromium is missing: run `go tool task setup`.")
	}
	l := launcher.New().Bin(bin).NoSandbox(true).Leakless(false)
	t.Cleanup(l.Kill)
	b := rod.New().ControlURL(l.MustLaunch()).MustConnect()
	p := b.MustPage("about:blank").Timeout(90 * time.Second)
	at, _ := url.Parse(s.server.URL)
	for _, c := range s.owner.Jar.Cookies(at) {
		p.MustSetCookies(&proto.NetworkCookieParam{Name: c.Name, Value: c.Value, URL: s.server.URL})
	}
	return p.MustNavigate(s.server.URL + path).MustWaitLoad()
}

// TestTheComposerInABrowser does what only a browser can show: counters that
// follow the typing, files that go up one by one, and that none of it disturbs
// what is being written.
func TestTheComposerInABrowser(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	hook := s.agency.Account(t, s.client, network.Webhook)
	defer s.develop(t)()
	p := s.page(t, "/w/north/posts/new")
	shows := func(selector, words string) {
		t.Helper()
		if _, err := p.Timeout(15*time.Second).ElementR(selector, words); err != nil {
			t.Fatalf("%s never said %q: %v", selector, words, err)
		}
	}
	p.MustElement(fmt.Sprintf("#account-%d", s.account)).MustClick()
	p.MustElement("#text").MustInput("Fresh bread from seven")
	shows("#composer-check", "Mastodon would take this")
	shows("#composer-check .counter", "22")
	shows(".client-head", "1 of 2 chosen")
	p.MustElementR("button", "All of Client bakery").MustClick()
	shows(".client-head", "all 2 accounts chosen")
	if !p.MustElement(fmt.Sprintf("#account-%d", hook)).MustProperty("checked").Bool() {
		t.Error("the box is not ticked")
	}

	dir := t.TempDir()
	var files []string
	for name, b := range map[string][]byte{"a.jpg": photo(t, 30, 20, 1), "b.jpg": photo(t, 30, 20, 2), "c.zip": []byte("PK\x03\x04")} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.MustElement("#file").MustSetFiles(files...)
	shows("#composer-uploads", "is a ZIP archive")
	p.MustWait(`() => document.querySelectorAll(".attachment").length === 2`)
	p.MustElementR("button", "Customise for Mastodon").MustClick()
	shows(".variant", "Back to the shared text")
	if got := p.MustElement("#text").MustProperty("value").Str(); got != "Fresh bread from seven" {
		t.Errorf("the text became %q", got)
	}

	gone := p.MustWaitNavigation()
	p.MustElement(`#composer-foot button[value="save"]`).MustClick()
	gone()
	shows("#notices", "Saved.")
	if n := s.count(t, "post_versions"); n != 1 {
		t.Errorf("%d versions", n)
	}
	if n := s.count(t, "version_media"); n != 2 {
		t.Errorf("%d files", n)
	}
}
