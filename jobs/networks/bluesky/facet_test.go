package bluesky

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/db/network"
	"herald/jobs/networks"
)

// shown writes facets as their words and what they are.
func shown(text string, all []facet) string {
	var list []string
	for _, f := range all {
		what := f.Features[0]
		list = append(list, fmt.Sprintf("%s=%s%s%s", text[f.Index.Start:f.Index.End], what.URI, what.DID, what.Tag))
	}
	return strings.Join(list, " ")
}

func TestFacetsAreFoundByTheirBytes(t *testing.T) {
	t.Parallel()
	_, h, a, _ := setup(t)
	for text, want := range map[string]string{
		"":                              "",
		"plain":                         "",
		"see https://bakery.com/a?b=c.": "https://bakery.com/a?b=c=https://bakery.com/a?b=c",
		"👩‍👩‍👧‍👦 é https://bakery.com!":                "https://bakery.com=https://bakery.com",
		"go to bakery.com/menu, now":                   "bakery.com/menu=https://bakery.com/menu",
		"(https://en.wikipedia.org/wiki/A_(b))":        "https://en.wikipedia.org/wiki/A_(b)=https://en.wikipedia.org/wiki/A_(b)",
		"mail a@bakery.com":                            "",
		"hi @cafe.example.com and @nobody.example.com": "@cafe.example.com=did:plc:cafe",
		"hi (@cafe.example.com).":                      "@cafe.example.com=did:plc:cafe",
		"@cafe":                                        "",
		"x@cafe.example.com":                           "",
		"#bread #Brot! #パン #1 #2nd #a#b":               "#bread=bread #Brot=Brot #パン=パン #2nd=2nd #a=a",
		"a#b ＃全角 #️⃣ # ##x":                            "＃全角=全角",
		"#🥐 #🏳️‍🌈":                                     "#🥐=🥐 #🏳️‍🌈=🏳️‍🌈",
		"#" + strings.Repeat("a", 65):                  "",
		"https://bakery.com/#x #y":                     "https://bakery.com/#x=https://bakery.com/#x #y=y",
	} {
		all, err := run{Adapter: a, job: jobOf(networks.Post{}), h: h.Handles()}.facets(t.Context(), text)
		if got := shown(text, all); err != nil || got != want {
			t.Errorf("%q has %q, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzFacetsLieBetweenLetters(f *testing.F) {
	for _, s := range []string{"see https://a.com/é #é @a.com", "#", "@@a.com", "＃", "a.com.b.de/(", "\xff#\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := append(links(text), tags(text)...)
		for _, m := range mentions(text) {
			all = append(all, facet{index{m.start, m.end}, []feature{{DID: m.DID}}})
		}
		end := 0
		for _, x := range apart(all) {
			if x.Index.Start < end || x.Index.End <= x.Index.Start || x.Index.End > len(text) {
				t.Fatalf("%q holds %+v after %d", text, x, end)
			}
			end = x.Index.End
			if utf8.ValidString(text) && (!utf8.RuneStart((text + "x")[x.Index.Start]) || !utf8.RuneStart((text + "x")[end])) {
				t.Fatalf("%q is cut by %+v", text, x)
			}
		}
	})
}

func TestKeysSortByTimeAndHoldIt(t *testing.T) {
	t.Parallel()
	last := ""
	for i := range 200 {
		at := noon.Add(time.Duration(i) * 1717 * time.Microsecond)
		key := tid(at, "k")
		if len(key) != 13 || key <= last || strings.Trim(key, letters) != "" || key[0] > 'j' {
			t.Fatalf("%s after %s", key, last)
		}
		if got := made(key); got != at.Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("%s holds %s, want %s", key, got, at)
		}
		last = key
	}
	if tid(noon, "a") == tid(noon, "b") {
		t.Error("two posts of one microsecond share a key")
	}
}

func TestEveryFormatOfTheCatalogueFits(t *testing.T) {
	t.Parallel()
	n, _ := network.Get(network.Bluesky)
	for _, rule := range n.Formats {
		job := jobOf(networks.Post{Format: rule.Format})
		for i := range rule.Min {
			job.Post.Media = append(job.Post.Media, picture(i))
		}
		if err := networks.Fits(job); err != nil {
			t.Errorf("%s: %v", rule.Format, err)
		}
		job.Post.Media = append(job.Post.Media, make([]networks.Media, 5)...)
		if err := networks.Fits(job); err == nil {
			t.Errorf("%s takes %d files", rule.Format, len(job.Post.Media))
		}
	}
}
