package network

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const (
	family   = "👩‍👩‍👧‍👦" // 4 people, 3 joiners
	flag     = "🇩🇪"
	thumb    = "👍🏽"
	accented = "e\u0301"
	devanag  = "नि"
	zalgo    = "Z\u0351\u036b\u0343\u036a"
)

func get(t testing.TB, name Name) *Network {
	t.Helper()
	n, ok := Get(name)
	if !ok {
		t.Fatalf("no network %s", name)
	}
	return n
}

func TestCountCountsAsEachNetworkDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                                   string
		facebook, instagram, mastodon, webhook int
	}{
		{"", 0, 0, 0, 0},
		{"hello", 5, 5, 5, 5},
		{"a\nb", 3, 3, 3, 3},
		{"a\r\nb", 4, 4, 3, 4},
		{family, 11, 11, 1, 7},
		{flag, 4, 4, 1, 2},
		{flag + flag, 8, 8, 2, 4},
		{thumb, 4, 4, 1, 2},
		{accented, 2, 2, 1, 2},
		{zalgo, 5, 5, 1, 5},
		{devanag, 2, 2, 1, 2},
		{"日本語", 3, 3, 3, 3},
		{"שלום עולם", 9, 9, 9, 9},
		{"𝒜𝓃", 4, 4, 2, 2},
		{"𠮷野家", 4, 4, 3, 3},
		{"각", 1, 1, 1, 1},
		{"\u1100\u1161\u11a8", 3, 3, 1, 3},
		{"☺️", 2, 2, 1, 2},
	} {
		for name, want := range map[Name]int{Facebook: c.facebook, Instagram: c.instagram, Mastodon: c.mastodon, Webhook: c.webhook} {
			if got := get(t, name).Count(c.text); got != want {
				t.Errorf("%s counts %q as %d, want %d", name, c.text, got, want)
			}
		}
	}
}

func TestMastodonCountsAddressesAs23AndRemoteMentionsByTheirLocalPart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("b", 30)
	for text, want := range map[string]int{
		"http://" + long + ".com/example":                         23,
		strings.Repeat("a", 476) + " http://" + long + ".com/e":   500,
		strings.Repeat("a", 475) + " @alice@" + long + ".com":     475 + 1 + 6,
		"https://example.com":                                     23, // shorter ones count no less
		"http://a.de":                                             23,
		"see https://example.com/a?b=c#d, and go":                 4 + 23 + 8,
		"(https://example.com/a)":                                 25,
		"(https://en.wikipedia.org/wiki/Primer_(film))":           25,
		"https://example.com.":                                    24,
		"https://example.com/a/b.":                                24,
		"https://example.com?q=1!":                                24,
		"https://example.com:8443/x":                              23,
		"https://example.comです":                                   25,
		"https://example.com/日本語のページ":                             23,
		"https://sub.example.co.uk/path/" + long + " x":           25,
		"https://example.com https://example.org":                 47,
		"HTTPS://EXAMPLE.COM/" + long + long:                      23,
		"「https://example.com/" + long + "」":                      25,
		"example.com/" + long:                                     12 + 30, // no scheme: counts as written
		"https://localhost/" + long:                               18 + 30, // no top-level domain
		"https://intranet.corp/" + long:                           22 + 30,
		"https://t.co/" + long:                                    13 + 30, // only part of it is an address to a server
		"xhttps://example.com/" + long:                            21 + 30,
		"foo.com/https://example.com/" + long:                     28 + 30, // one address without a scheme
		"foo.com, https://example.com/" + long:                    9 + 23,
		"#https://example.com/" + long:                            21 + 30,
		"https://münchen.de/" + long:                              23,
		"https://example.museumx/" + long:                         24 + 30,
		"https://-example.com/" + long:                            21 + 30,
		"ipfs://example.com/" + long:                              23,
		"@alice@example.com":                                      6,
		"@alice":                                                  6,
		"hi @alice.b-c@social.example.org, you":                   3 + 10 + 5,
		"@alice@example.com@x":                                    20,
		"mail alice@example.com":                                  22, // no mention: a word stands before the @
		"x/@alice@example.com":                                    20,
		"@a@b @c@d.e":                                             5,
		"@alice@example.com://":                                   21,
		"https://example.com/@alice@example.org/" + long + " end": 27,
	} {
		if got := get(t, Mastodon).Count(text); got != want {
			t.Errorf("%q counts %d, want %d", text, got, want)
		}
	}
}

func TestLengthTakesInWhatGoesWithTheText(t *testing.T) {
	t.Parallel()
	m := get(t, Mastodon)
	link := "https://example.com/" + strings.Repeat("x", 50)
	d := Draft{Text: "hello", Link: link, Options: map[string]string{OptSpoiler: "food " + family}}
	if got := m.Length(d); got != 5+2+23+6 {
		t.Errorf("got %d, want 36", got)
	}
	d.Text = "hello " + link
	if got := m.Body(d); got != d.Text {
		t.Errorf("a link that the text holds is sent twice: %q", got)
	}
	if got := get(t, Facebook).Length(Draft{Text: "hello", Link: link, Options: d.Options}); got != 5 {
		t.Errorf("Facebook has a field for links and no warning: got %d, want 5", got)
	}
}

// pieces are what texts are drawn from: everything that was ever hard to count.
var pieces = []string{"word", "a", " ", "  ", "\n", "\r\n", "\t", family, flag, thumb, accented, zalgo, devanag, "日本語", "שלום", "مرحبا", "𝒜", "🇩",
	"\u200d", "\ufe0f", "\u0301", "\u0600", "\u1100", "\u1161", "\u11a8", "#tag", "@alice", "@alice@example.com", "@", "@@", ".", ",", "(", ")", "…", "...",
	"https://example.com", "https://example.com/a/b?c=d#e", "http://", "https://x.y/" + "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "https://en.wikipedia.org/wiki/A_(b)",
	"example.com/", "://", ":", "/", "?", "=", "\xff", "\xe2\x80", "\x00", "longwordlongwordlongwordlongwordlongword"}

func drawText(t *rapid.T) string {
	var b strings.Builder
	for _, s := range rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 60).Draw(t, "pieces") {
		b.WriteString(s)
	}
	return b.String()
}

func TestCountAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		if got, want := (TextRule{Unit: UTF16}).Count(s), len(utf16.Encode([]rune(s))); got != want {
			t.Fatalf("%q has %d UTF-16 units, want %d", s, got, want)
		}
		if got, want := (TextRule{Unit: CodePoints}).Count(s), utf8.RuneCountInString(s); got != want {
			t.Fatalf("%q has %d code points, want %d", s, got, want)
		}
	})
}

func FuzzCount(f *testing.F) {
	for _, s := range pieces {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range All() {
			if got := n.Count(s); got < 0 || s != "" && got == 0 {
				t.Errorf("%s counts %q as %d", n.Name, s, got)
			}
		}
		end := 0
		for _, e := range entities(s) {
			if e.start < end || e.end <= e.start || e.end > len(s) || e.local != 0 && (e.local <= e.start || e.local >= e.end) {
				t.Errorf("%q holds %+v after %d", s, e, end)
			}
			end = e.end
		}
	})
}

var texts = map[string]string{
	"plain":    strings.Repeat("the quick brown fox jumps over the lazy dog. ", 1404),
	"emoji":    strings.Repeat(family+" ", 2500),
	"links":    strings.Repeat("https://example.com/a/b ", 2632),
	"mentions": strings.Repeat("@a@b.c ", 9000),
	"brackets": "https://example.com/" + strings.Repeat("(", 63000),
	"schemes":  strings.Repeat("http://", 9000),
	"dots":     strings.Repeat("a.http://?", 6300),
	"marks":    "a" + strings.Repeat("\u0301", 31000),
	"ats":      strings.Repeat("@a", 31500),
}

func BenchmarkCountOf63kText(b *testing.B) {
	m := get(b, Mastodon)
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Count(text)
			}
		})
	}
}

func BenchmarkShortenOf63kText(b *testing.B) {
	m := get(b, Mastodon)
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.Shorten(text)
			}
		})
	}
}
