package e2e

import (
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// photo makes a picture file.
func photo(t *testing.T, name string) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 600, 600))
	for y := range 600 {
		for x := range 600 {
			img.Set(x, y, color.RGBA{uint8(200 - y/8), uint8(120 + x/10), 90, 255})
		}
	}
	at := filepath.Join(t.TempDir(), name)
	f, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := jpeg.Encode(f, img, nil); err != nil {
		t.Fatal(err)
	}
	return at
}

// everywhere are the networks of the story.
var everywhere = []network.Name{network.Facebook, network.Instagram, network.Mastodon, network.Webhook}

const (
	storyText = "Rye from the new oven: three hundred loaves, and the first one is yours."
	storyToot = "Rye from the new oven. First loaf is yours!"
	storyAlt  = "A dark round loaf on a wooden board"
)

// TestTheWholeStory is what Herald is for: an agency writes a post for four
// networks, the client approves it on a phone from the mailed link, it is
// scheduled or sent, and it appears on each network exactly once, with evidence.
func TestTheWholeStory(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]browser.Look{"at a desk": browser.Desktop, "on a phone": browser.Phone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{t: t, agency: newAgency(t)}
			s.desk = open(t, look)
			s.signIn()
			s.write()
			s.submit()
			s.approve()
			if look.Touch {
				s.publishNow()
			} else {
				s.schedule()
			}
			s.evidence()
		})
	}
}

// story is one run of it.
type story struct {
	t      *testing.T
	agency *agency
	desk   *tab
	post   string // path of its page
}

func (s *story) signIn() {
	p := s.desk
	p.visit("/signin")
	p.fill("E-mail address", s.agency.anna())
	p.fill("Password", password)
	p.goes("button", "Sign in")
	p.until("the calendar", func() bool { return strings.Contains(p.address(), s.agency.path("/calendar")) })
}

// write composes the post and watches counters and problems come and go.
func (s *story) write() {
	p := s.desk
	p.press("link", "Create post")
	p.opened(true)
	p.goes("link", "Open as page")
	p.press("button", "All of Bakery")
	p.says("#composer-networks", "Mastodon") // its tab, not the account
	p.press("box", "Mastodon")
	p.says("#composer-networks", "Customise for Mastodon")
	long := storyText + strings.Repeat(" And another loaf.", 30)
	p.fill("Text", long)
	p.says("#composer-check", "things need fixing") // Mastodon takes 500, Instagram wants a picture
	p.says("#composer-check [data-verdict=bad]", "Mastodon")
	p.fill("Text", storyText)
	p.says("#composer-check", "One thing needs fixing.")
	p.says("#composer-check [data-verdict=bad]", "Instagram")
	p.upload("#file", photo(s.t, "rye.jpg"))
	p.says("#composer-media", "rye.jpg")
	p.fill("Alt text", storyAlt)
	p.says("#composer-check", "Every network would take this.")
	p.press("button", "Customise for Mastodon")
	p.fill("Text for Mastodon", storyToot)
	p.says("#composer-check", "43") // what Mastodon now counts
	p.goes("button", "Save")
	p.sees("Saved.")
	s.post = strings.TrimPrefix(p.address(), here.web.URL)
	if got := p.value("Text for Mastodon"); got != storyToot {
		s.t.Errorf("Mastodon's own text came back as %q", got)
	}
	if got := p.value("Alt text"); got != storyAlt {
		s.t.Errorf("the description came back as %q", got)
	}
	p.fits()
}

func (s *story) submit() {
	p := s.desk
	p.goes("button", "Submit for approval")
	p.sees("Sent for approval by Bakery.")
	for _, name := range everywhere {
		if n := len(s.agency.posts("bakery", name)); n > 0 {
			s.t.Errorf("%s has %d posts that nobody approved", name, n)
		}
	}
}

// approve is the client's part, in a browser that has never been here.
func (s *story) approve() {
	link := s.agency.link(s.t, 0)
	client := open(s.t, browser.Phone)
	for range 2 { // a mail scanner first, then the person: looking decides nothing
		client.visit(link)
		client.sees("One post waits for your approval", storyText, storyToot)
	}
	s.desk.visit(s.post)
	s.desk.sees("Waiting for approval by Bakery.")
	client.fits()
	client.goes("button", "Approve")
	client.sees("Nothing more waits for you here", "You approved this.")
	s.desk.visit(s.post)
	s.desk.sees("Approved.")
}

func (s *story) publishNow() {
	p := s.desk
	p.press("button", "More ways")
	p.goes("button", "Publish now")
	p.sees("On its way to 4 accounts now.")
}

// schedule plans for the next minute and finds the post on the calendar.
func (s *story) schedule() {
	p := s.desk
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		s.t.Fatal(err)
	}
	due := time.Now().Add(3 * time.Second).In(berlin).Truncate(time.Minute).Add(time.Minute)
	p.set("Day", due.Format(time.DateOnly))
	p.set("Time", due.Format("15:04"))
	p.goes("button", "Schedule")
	p.sees("Scheduled for " + due.Format("Mon 2 Jan 2006, 15:04"))
	p.visit(s.agency.path("/calendar?view=list&date=" + due.Format("2006-01-02")))
	p.sees(due.Format("15:04"), "Rye from the new oven")
	for _, name := range everywhere {
		if n := len(s.agency.posts("bakery", name)); n > 0 && time.Now().Before(due) {
			s.t.Errorf("%s has a post before its time", name)
		}
	}
	time.Sleep(time.Until(due))
	p.visit(s.post)
}

// evidence follows each target to its page, its request ids and the public post.
func (s *story) evidence() {
	p := s.desk
	p.until("all four to be published", func() bool {
		n := 0
		for _, name := range everywhere {
			n += len(s.agency.posts("bakery", name))
		}
		return n == len(everywhere)
	})
	p.until("the post's page to say so", func() bool {
		p.visit(s.post)
		return strings.Count(p.text(), "See it live") == len(everywhere)-1 // a webhook has no address to see
	})
	for name, handle := range map[network.Name]string{
		network.Facebook: "Bakery", network.Instagram: "bakery.insta", network.Mastodon: "@bakery@social.example", network.Webhook: "bakery screens",
	} {
		p.visit(s.post)
		p.goes("link", "Evidence for "+handle)
		p.says("#target-status", "It is live on")
		p.says(".trail", "Published")
		p.unfold(".trail-calls summary")
		p.says(".trail-calls [data-label=Answer]", "20")
		if said, err := p.Eval(`() => document.querySelector(".trail-calls tbody tr:last-child [data-label='Request id'] code")?.innerText ?? ""`); err != nil || said.Value.Str() == "" {
			s.t.Errorf("%s: the last request has no id (%v)", name, err)
		}
		if at := s.agency.posts("bakery", name)[0].Address; name != network.Webhook && strings.TrimSuffix(p.href(at), "/") != at {
			s.t.Errorf("%s: the evidence leads to %s and not to %s", name, p.href(at), at)
		}
		p.visit(s.agency.posts("bakery", name)[0].Address)
		s.public(p, name)
	}
	time.Sleep(time.Second) // whatever would publish again has had its time
	for _, name := range everywhere {
		if posts := s.agency.posts("bakery", name); len(posts) != 1 {
			s.t.Errorf("%s has %d posts: %+v", name, len(posts), posts)
		}
	}
}

// public is the network's own page.
func (s *story) public(p *tab, name network.Name) {
	if name == network.Mastodon {
		p.sees(storyToot)
	} else {
		p.sees(storyText)
	}
	alt, err := p.Eval(`() => document.querySelector(".media img")?.alt`)
	if err != nil {
		s.t.Fatal(err)
	}
	if name != network.Facebook && alt.Value.Str() != storyAlt {
		s.t.Errorf("%s describes the picture as %q", name, alt.Value.Str())
	}
}
