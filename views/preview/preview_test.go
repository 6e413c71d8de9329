package preview

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herald/db/model"
	"herald/db/network"
	"herald/static"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is text that would break out of anything that does not escape it.
const hostile = `"><script>alert(1)</script>{{.}}&amp;`

func drawn(t *testing.T, p Props) string {
	t.Helper()
	var b strings.Builder
	if err := Post(p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), static.URL(""), "/static/HASH/"), "><", ">\n<") + "\n"
}

const words = "Fresh #bread from seven, says @harbour. More at https://harbour.org/menu\n\nTwo loaves for one until noon, and a long tail of words that no feed shows at once: " +
	"rye, spelt, wheat and oats, baked in the stone oven that our great-grandmother built in the year when the harbour froze."

// sample is a post with what its network takes: files in the most usual format, the
// options that a reader sees, a first comment where there is one.
func sample(n *network.Network) Props {
	d := network.Draft{Text: words, Link: "https://harbour.example/menu", Options: map[string]string{}}
	picture, film := network.Media{Kind: network.Image, Type: "image/jpeg", Width: 1080, Height: 1350, Alt: "A loaf"}, network.Media{Kind: network.Video, Type: "video/mp4", Width: 1080, Height: 1920}
	for _, f := range []network.Format{network.FormatImage, network.FormatImages, network.FormatVideo} {
		if _, has := n.Rule(f); has {
			d.Media = map[network.Format][]network.Media{network.FormatImage: {picture}, network.FormatImages: {picture, picture, picture}, network.FormatVideo: {film}}[f]
		}
		if len(d.Media) == 3 {
			break
		}
	}
	if n.Comment.Max > 0 {
		d.FirstComment = "Which one is yours?"
	}
	for key, value := range map[string]string{network.OptTitle: "Bread at seven", network.OptExcerpt: "Two for one", network.OptTags: "bread, rye", network.OptCategories: "News",
		network.OptCollaborators: "@mill", network.OptPrivacy: "unlisted", network.OptBoard: "42", network.OptTopic: "baking", network.OptForum: "Menu", network.OptDisclose: "own", network.OptSpoiler: "Bread", network.OptSensitive: "true"} {
		if _, has := n.Option(key); has {
			d.Options[key] = value
		}
	}
	p := Of(n, d)
	p.Handles, p.When = []string{"@harbour", "@mill"}, "4 Nov, 09:30"
	for i, m := range d.Media {
		one := Media{Video: m.Kind == network.Video, Source: "/m/thumb", Alt: m.Alt, TakesAlt: n.TakesAlt(p.Format, m.Kind), Width: m.Width, Height: m.Height, Facts: "1080 × 1350, JPEG", Crop: "/crop"}
		if i == 0 && !one.Video {
			one.Whole, one.Part = model.Crop{Width: 2000, Height: 1500}, model.Crop{X: 400, Width: 1200, Height: 1500}
		}
		p.Media = append(p.Media, one)
	}
	return p
}

// looks are every network's post, and the shapes that a network has beside it.
func looks() map[string]Props {
	all := map[string]Props{}
	for _, n := range network.All() {
		all[string(n.Name)] = sample(n)
	}
	x, _ := network.Get(network.X)
	thread := Of(x, network.Draft{Text: "One\n---\nTwo\n---\nThree", Options: map[string]string{network.OptThread: "true", network.OptReplies: "following"}})
	thread.Handles = []string{"@harbour"}
	all["x-thread"] = thread
	facebook, _ := network.Get(network.Facebook)
	link := Of(facebook, network.Draft{Text: "Short", Link: "https://www.harbour.example/menu"})
	link.Handles, link.Card = []string{"Harbour"}, &Card{Title: "The menu", Words: "What we bake", Picture: "/cards/1"}
	all["facebook-link"] = link
	unread := Of(facebook, network.Draft{Text: "Short", Link: "https://www.harbour.example/menu?utm_source=facebook"})
	unread.Handles = []string{"Harbour"}
	all["facebook-unread"] = unread
	linkedin, _ := network.Get(network.LinkedIn)
	sent := Of(linkedin, network.Draft{Text: "Short", Link: "https://www.harbour.example/menu", Options: map[string]string{network.OptLinkTitle: "The menu, as we say it"}})
	sent.Card = &Card{Title: "What the page says", Words: "is not what LinkedIn shows"}
	all["linkedin-link"] = sent
	document := Of(linkedin, network.Draft{Text: "Short", Options: map[string]string{network.OptDocTitle: "The menu"}, Media: []network.Media{{Kind: network.Document, Type: "application/pdf", Frames: 12}}})
	document.Media = []Media{{Document: true, Pages: 12, Source: "/m/thumb", Href: "/m/menu.pdf", Facts: "12 pages, PDF"}}
	all["linkedin-document"] = document
	story := Of(facebook, network.Draft{Text: "Not shown", Options: map[string]string{network.OptFormat: "story"}, Media: []network.Media{{Kind: network.Image}}})
	story.Media = []Media{{Source: "/m/thumb", Waits: "Still being made"}}
	all["facebook-story"] = story
	google, _ := network.Get(network.GoogleBusiness)
	all["google_business-offer"] = Of(google, network.Draft{Text: "Two for one", Link: "https://harbour.example", Options: map[string]string{network.OptKind: "OFFER", network.OptEvent: "Loaves",
		network.OptStarts: "2026-05-01", network.OptEnds: "2026-05-02", network.OptCoupon: "RYE", network.OptTerms: "While there are any"}})
	return all
}

func TestEveryNetworkLooksAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	for name, p := range looks() {
		path := filepath.Join("testdata", name+".html")
		got := drawn(t, p)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s; look at it, then go test -update\n%s", name, path, got)
		}
	}
}

func TestNothingInAPostBecomesMarkup(t *testing.T) {
	t.Parallel()
	for _, n := range network.All() {
		p := sample(n)
		for key := range p.Options {
			p.Options[key] = hostile
		}
		p.Parts, p.Link, p.Comment, p.Handles, p.When = []string{hostile + " #x", "javascript:alert(1)"}, "javascript:alert(1)", hostile, []string{hostile}, hostile
		p.Card, p.Board, p.Says = &Card{Title: hostile, Words: hostile, Say: hostile}, hostile, []Say{{hostile, hostile}}
		doc, err := html.Parse(strings.NewReader(drawn(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		for e := range doc.Descendants() {
			if e.Type == html.ElementNode && e.Data == "script" {
				t.Errorf("%s: a script came through", n.Name)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", n.Name, e.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestALongTextIsFoldedAndStaysWhole(t *testing.T) {
	t.Parallel()
	for _, n := range network.All() {
		if n.Look.Fold == (network.Fold{}) {
			continue
		}
		p := Of(n, network.Draft{Text: strings.Repeat("A line of a long text.\n", 60)})
		got := drawn(t, p)
		if !strings.Contains(got, `class="look-fold"`) || strings.Count(got, "A line of a long text.") < 60 {
			t.Errorf("%s: %s", n.Name, got)
		}
	}
}
