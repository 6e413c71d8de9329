package desk_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"herald/db/network"
)

var cardPicture = regexp.MustCompile(`src="(/w/north/cards/[0-9a-f]{64})"`)

// A link's page is read by us, once, while nobody waits for it; its picture comes from
// us, too.
func TestALinkIsShownAsItsPageSaysAndReadOnce(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	var asked atomic.Int32
	site := http.NewServeMux()
	site.HandleFunc("/menu", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<meta property="og:title" content="The &lt;b&gt;menu"><meta property="og:description" content="What we bake"><meta property="og:image" content="/pic.png">`))
	})
	site.HandleFunc("/pic.png", func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_ = png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 80, 40)))
		_, _ = w.Write(b.Bytes())
	})
	host := httptest.NewServer(site)
	t.Cleanup(host.Close)
	form := s.fresh(t)
	form.Set("text", "Look")
	form.Set("link", host.URL+"/menu")
	form["account"] = []string{fmt.Sprint(int64(s.agency.Account(t, s.client, network.Facebook)))}
	check := func() answer { return s.post(t, s.owner, "/w/north/posts/check", form).want(t, 200) }
	if page := check(); !strings.Contains(page.body, `hx-post="/w/north/cards"`) || asked.Load() != 0 {
		t.Fatalf("the page waits for what it links to (%d), or never asks: %s", asked.Load(), page.body)
	}
	read := func(address string) {
		t.Helper()
		form.Set("card", address)
		if got := s.post(t, s.owner, "/w/north/cards", form).want(t, 200); !strings.Contains(got.body, "/posts/check") {
			t.Errorf("nothing is drawn again: %s", got.body)
		}
	}
	read(host.URL + "/menu")
	read(host.URL + "/menu")
	page := check()
	if !strings.Contains(page.body, "The &lt;b&gt;menu") || !strings.Contains(page.body, "What we bake") || asked.Load() != 1 {
		t.Errorf("asked %d times: %s", asked.Load(), page.body)
	}
	link := cardPicture.FindStringSubmatch(page.body)
	if link == nil || strings.Contains(page.body, "pic.png") {
		t.Fatalf("the picture is not ours: %s", page.body)
	}
	picture := s.get(t, s.owner, link[1]).want(t, 200)
	if c, kind, err := image.DecodeConfig(strings.NewReader(picture.body)); err != nil || kind != "jpeg" || c.Width != 80 {
		t.Errorf("%s of %d, %v", kind, c.Width, err)
	}

	form.Set("link", "http://169.254.169.254/latest")
	check()
	read("http://169.254.169.254/latest")
	check().want(t, 200, "Herald could not read the page.")
}
