package network

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

var shop = LinkTags{Source: "facebook", Medium: "social", Campaign: "spring-sale", Hosts: []string{"acme.com", "xn--bcker-gra.de"}}

const added = "utm_source=facebook&utm_medium=social&utm_campaign=spring-sale"

func TestTagsGoToTheLinksOfTheirHostsOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"See https://acme.com/bread.":                "See https://acme.com/bread?" + added + ".",
		"(https://www.acme.com/bread)":               "(https://www.acme.com/bread?" + added + ")",
		"Seen https://acme.com/bread?":               "Seen https://acme.com/bread?" + added + "?",
		"https://acme.com":                           "https://acme.com?" + added,
		"https://acme.com#top":                       "https://acme.com?" + added + "#top",
		"https://acme.com/a#top?x":                   "https://acme.com/a?" + added + "#top?x",
		"https://acme.com/a?b=c%20d&e#f":             "https://acme.com/a?b=c%20d&e&" + added + "#f",
		"HTTP://ACME.COM:8080/A":                     "HTTP://ACME.COM:8080/A?" + added,
		"https://bäcker.de/brot":                     "https://bäcker.de/brot?" + added,
		"https://acme.com/?utm_source=mail":          "https://acme.com/?utm_source=mail&utm_medium=social&utm_campaign=spring-sale",
		"https://acme.com/?UTM%5Fsource=mail&utm_id": "https://acme.com/?UTM%5Fsource=mail&utm_id&utm_medium=social&utm_campaign=spring-sale",
		"acme.com/bread, twice: acme.com/bread":      "acme.com/bread?" + added + ", twice: acme.com/bread?" + added,
		"https://acme.com.evil.org/":                 "https://acme.com.evil.org/",
		"https://notacme.com/":                       "https://notacme.com/",
		"https://bit.ly/3abc":                        "https://bit.ly/3abc",
		"mail us@acme.com or mailto:us@acme.com":     "mail us@acme.com or mailto:us@acme.com",
		"ftp://acme.com/x":                           "ftp://acme.com/x",
		"no link":                                    "no link",
	} {
		if got := shop.Text(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	all := LinkTags{Source: "x", Everywhere: true}
	for text, want := range map[string]string{
		"https://anywhere.org/":      "https://anywhere.org/?utm_source=x",
		"https://bit.ly/3abc":        "https://bit.ly/3abc", // it would drop them
		"read README.md, or acme.io": "read README.md, or acme.io",
	} {
		if got := all.Text(text); got != want {
			t.Errorf("everywhere: %q became %q, want %q", text, got, want)
		}
	}
	for link, want := range map[string]string{"mailto:us@acme.com": "", "javascript:acme.com": "", "https://acme.com/a?": "https://acme.com/a?" + added, "https://acme.com/?a=1&": "https://acme.com/?a=1&" + added, "": ""} {
		if want == "" {
			want = link
		}
		if got := shop.Link(link); got != want {
			t.Errorf("link %q became %q, want %q", link, got, want)
		}
	}
}

func TestTagsFillWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	got := LinkTags{Source: "{network}", Medium: "social", Campaign: "{client}-{campaign}", Term: "{campaign}", Content: "Größe 5"}.
		Fill(map[string]string{"network": "google_business", "client": "Bäcker & Söhne", "campaign": ""})
	if want := (LinkTags{Source: "google_business", Medium: "social", Campaign: "bäcker-söhne", Content: "Größe 5"}); got.Source != want.Source || got.Campaign != want.Campaign || got.Term != "" || got.Content != want.Content {
		t.Errorf("filled %+v", got)
	}
	if link := got.withHosts("acme.com").Link("https://acme.com/"); link != "https://acme.com/?utm_source=google_business&utm_medium=social&utm_campaign=b%C3%A4cker-s%C3%B6hne&utm_content=Gr%C3%B6%C3%9Fe%205" {
		t.Error(link)
	}
	for value, want := range map[string]string{"{network}": "", "{netwrok}": "{netwrok}", "a{client}{x}": "{x}", "{": "", "{}": "{}"} {
		if got := UnknownTag(value); got != want {
			t.Errorf("unknown in %q: %q", value, got)
		}
	}
	hosts, wrong := ParseHosts("www.Acme.com, https://shop.acme.org/x *.bäcker.de\nacme.com")
	if wrong != "" || !slices.Equal(hosts, []string{"acme.com", "shop.acme.org", "xn--bcker-gra.de"}) {
		t.Errorf("hosts %q, wrong %q", hosts, wrong)
	}
	if _, wrong := ParseHosts("acme.com localhost"); wrong != "localhost" {
		t.Errorf("taken: %q", wrong)
	}
}

func TestRetagPutsBackWhatUntagTookAway(t *testing.T) {
	t.Parallel()
	text := "https://acme.com/a#top, acme.com/bread and https://other.org/, then https://acme.com."
	sent := shop.Text(text)
	done := Taggings(text, sent)
	if got := Retag(text, done); got != sent || sent == text {
		t.Errorf("got  %q\nwant %q", got, sent)
	}
	if got := Retag(Untag(sent, done), done); got != sent {
		t.Errorf("there and back: %q", got)
	}
	if got := Retag("https://acme.com/another", done); got != "https://acme.com/another" {
		t.Errorf("another link became %q", got)
	}
}

func (t LinkTags) withHosts(hosts ...string) LinkTags {
	t.Hosts = hosts
	return t
}

// FuzzTagsDamageNothing holds the rewriting to what it promises for any text: twice is
// once, nothing but tags is added, every parameter and fragment stays, and it can be
// undone.
func FuzzTagsDamageNothing(f *testing.F) {
	for _, s := range []string{"https://acme.com/a?b=c#d", "acme.com/x?utm_source=y", "https://acme.com/(a)?b=[c]&d;e.", "https://acme.com#?", "a https://acme.com/?&& b", "https://acme.com/?a=b#c#d acme.com", "https://acme.com?x", "http://acme.com/é?ü=ß#ñ", "https://acme.com/a_(b)", "https://acme.com/?q='x'"} {
		f.Add(s, "spring sale.", "facebook")
	}
	f.Fuzz(func(t *testing.T, text, campaign, source string) {
		for _, tags := range []LinkTags{{Source: source, Medium: "social", Campaign: campaign, Hosts: shop.Hosts}, {Source: source, Content: campaign, Everywhere: true}} {
			once := tags.Text(text)
			done := Taggings(text, once)
			if twice := tags.Text(once); twice != once {
				t.Fatalf("%q: once %q, twice %q", text, once, twice)
			}
			if Untag(once, done) != text && len(unlike(done)) == 0 {
				t.Fatalf("%q is not what %q was: %q", Untag(once, done), once, text)
			}
			rest := once
			for _, one := range done {
				damaged(t, one)
				rest = strings.Replace(rest, one.To, one.From, 1)
			}
			if len(unlike(done)) == 0 && Retag(text, done) != once {
				t.Fatalf("%q goes out as %q, and Retag makes %q of it", text, once, Retag(text, done))
			}
			if len(rest) != len(text) {
				t.Fatalf("%q became %q, and beside its links something changed", text, once)
			}
			if len(Links(once)) != len(Links(text)) {
				t.Fatalf("%q has %d links, %q has %d", text, len(Links(text)), once, len(Links(once)))
			}
		}
	})
}

// unlike are addresses that were written otherwise and go out the same.
func unlike(done []Tagging) (list []Tagging) {
	for _, a := range done {
		for _, b := range done {
			if a.To == b.To && a.From != b.From {
				list = append(list, a)
			}
		}
	}
	return list
}

// damaged fails if an address lost anything, or got more than tags.
func damaged(t *testing.T, one Tagging) {
	t.Helper()
	beforePath, beforeQuery, beforeAnchor := partsOf(one.From)
	path, query, anchor := partsOf(one.To)
	kept, was := slices.DeleteFunc(strings.Split(query, "&"), func(s string) bool { return ours(s) && !slices.Contains(strings.Split(beforeQuery, "&"), s) }), strings.Split(beforeQuery, "&")
	if path != beforePath || anchor != beforeAnchor || strings.Join(kept, "&") != strings.TrimSuffix(strings.Join(was, "&"), "&") && strings.Join(kept, "&") != strings.Join(was, "&") {
		t.Fatalf("%q became %q", one.From, one.To)
	}
	for key, values := range parsed(beforeQuery) {
		if !slices.Equal(parsed(query)[key], values) {
			t.Fatalf("%q: %s was %q and is %q in %q", one.From, key, values, parsed(query)[key], one.To)
		}
	}
}

func ours(pair string) bool { return strings.HasPrefix(pair, "utm_") }

func partsOf(address string) (path, query, fragment string) {
	rest, fragment, _ := strings.Cut(address, "#")
	path, query, _ = strings.Cut(rest, "?")
	return path, query, fragment
}

func parsed(query string) url.Values {
	v, _ := url.ParseQuery(query)
	return v
}
