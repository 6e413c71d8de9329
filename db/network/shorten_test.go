package network

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestShortenFollowsTheWordBoundaryRule(t *testing.T) {
	t.Parallel()
	u := strings.Repeat("u", 40)
	for _, c := range []struct {
		name, text, want string
		limit            int
		rule             TextRule
	}{
		{"fits", "hello world", "hello world", 11, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"one over", "hello world!", "hello…", 11, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"ends at a word", "hello world again", "hello world…", 12, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"ascii ellipsis", "hello world again", "hello...", 12, TextRule{Unit: CodePoints, Ellipsis: "..."}},
		{"long word", "hi aaaaaaaaaaaaaaaaaaaaaaaa", "hi aaaaaaaaaaaaaaaa…", 20, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"many spaces", "a" + strings.Repeat(" ", 12) + "bbbbbbbbbb", "a" + strings.Repeat(" ", 12) + "bbbbbb…", 20, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"one word", strings.Repeat("a", 30), strings.Repeat("a", 19) + "…", 20, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"family stays whole", "aaaaaa" + family + "bbbb", "aaaaaa…", 12, TextRule{Unit: UTF16, Ellipsis: "…"}},
		{"flags stay whole", flag + flag + flag, flag + "…", 8, TextRule{Unit: UTF16, Ellipsis: "…"}},
		{"address stays whole", "see https://example.com/" + u + " now and then", "see…", 30, TextRule{Unit: Graphemes, PerURL: 30, Ellipsis: "…"}},
		{"address apart from the ellipsis", "see https://example.com/" + u + " now and then", "see https://example.com/" + u + " …", 29, TextRule{Unit: Graphemes, PerURL: 23, Ellipsis: "…"}},
		{"no room for the space after an address", "see https://example.com/" + u + " now and then", "see…", 28, TextRule{Unit: Graphemes, PerURL: 23, Ellipsis: "…"}},
		{"a word boundary before the middle", "aaaaaaaa " + u, "aaaaaaaa uuuuuuuuuu…", 20, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"a word boundary behind the middle", "aaaaaaaaaa " + u, "aaaaaaaaaa…", 20, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"mention stays whole", "hello @alice@example.com there", "hello…", 12, TextRule{Unit: Graphemes, PerURL: 23, Ellipsis: "…"}},
		{"address longer than the room", "https://example.com/" + u, "https://example.com…", 20, TextRule{Unit: UTF16, Ellipsis: "…"}},
		{"nothing fits", "hello", "", 0, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"only the ellipsis fits", "hello", "…", 1, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"empty", "", "", 10, TextRule{Unit: CodePoints, Ellipsis: "…"}},
		{"right to left", "שלום עולם שלום", "שלום עולם…", 11, TextRule{Unit: Graphemes, Ellipsis: "…"}},
		{"without spaces", strings.Repeat("日本", 10), strings.Repeat("日本", 4) + "日…", 10, TextRule{Unit: Graphemes, Ellipsis: "…"}},
	} {
		got, cut := c.rule.shorten(c.text, c.limit)
		if got != c.want || cut != (got != c.text) {
			t.Errorf("%s: got %q (cut %v), want %q", c.name, got, cut, c.want)
		}
	}
}

func TestSixHundredCharactersFitMastodonWithAnEllipsis(t *testing.T) {
	t.Parallel()
	m := get(t, Mastodon)
	short, cut := m.Shorten(strings.Repeat("a", 600))
	if !cut || m.Count(short) != 500 || short != strings.Repeat("a", 499)+"…" {
		t.Errorf("without words: got %d characters, %q…", m.Count(short), short[:20])
	}
	short, cut = m.Shorten(strings.Repeat("words ", 100))
	if !cut || m.Count(short) != 6*83-1+1 || !strings.HasSuffix(short, "words…") {
		t.Errorf("with words: got %d characters ending in %q", m.Count(short), short[len(short)-12:])
	}
	for _, n := range []*Network{get(t, Facebook), get(t, Instagram), get(t, Webhook)} {
		if same, cut := n.Shorten(strings.Repeat("a", 600)); cut || len(same) != 600 {
			t.Errorf("%s cut 600 characters", n.Name)
		}
	}
}

func TestShortenLeavesTheLimitItselfAlone(t *testing.T) {
	t.Parallel()
	for _, n := range All() {
		for _, piece := range []string{"a", "é", "日", "𝒜", family} {
			each := n.Count(piece)
			text := strings.Repeat(piece, n.Limit()/each)
			for n.Count(text+piece) <= n.Limit() { // what counts together may count less
				text += piece
			}
			for _, s := range []string{text[:len(text)-len(piece)], text} {
				if short, cut := n.Shorten(s); cut || short != s {
					t.Errorf("%s cut %d × %q, which fits", n.Name, strings.Count(s, piece), piece)
				}
			}
			if short, cut := n.Shorten(text + piece); !cut || n.Count(short) > n.Limit() || n.Count(short) < n.Limit()-2*each {
				t.Errorf("%s cut one over with %q to %d of %d", n.Name, piece, n.Count(short), n.Limit())
			}
		}
	}
}

func TestShortenKeepsItsPromisesForAnyText(t *testing.T) {
	t.Parallel()
	rules := []TextRule{{Unit: CodePoints}, {Unit: UTF16}, {Unit: Graphemes, PerURL: 23}}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rules).Draw(t, "rule")
		r.Ellipsis = rapid.SampledFrom([]string{"…", "..."}).Draw(t, "ellipsis")
		text, limit := drawText(t), rapid.IntRange(0, 120).Draw(t, "limit")
		short, cut := r.shorten(text, limit)
		if got := r.Count(short); got > limit {
			t.Fatalf("%q counts %d, over %d", short, got, limit)
		}
		if fits := r.Count(text) <= limit; fits == cut || fits && short != text {
			t.Fatalf("%q fits %v, cut %v to %q", text, fits, cut, short)
		}
		if again, cut := r.shorten(short, limit); cut || again != short {
			t.Fatalf("%q is shortened again to %q", short, again)
		}
		if cut && short != "" {
			kept, ok := strings.CutSuffix(short, r.Ellipsis)
			if !ok || !strings.HasPrefix(text, kept) {
				t.Fatalf("%q is no beginning of %q", short, text)
			}
			if !boundary(text, len(kept)) {
				t.Fatalf("%q cuts through a character of %q", short, text)
			}
			for _, e := range entities(text) {
				if r.Unit == Graphemes && e.sure && e.start < len(kept) && len(kept) < e.end {
					t.Fatalf("%q cuts through an address of %q", short, text)
				}
			}
		}
	})
}

// boundary asks the library, from the start of the text, whether at lies
// between two grapheme clusters.
func boundary(text string, at int) bool {
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		if from, to := g.Positions(); from == at || to == at {
			return true
		}
	}
	return at == 0
}

func TestShortenGivesUpAtMostHalfOfTheRoomForAWordBoundary(t *testing.T) {
	t.Parallel()
	r := TextRule{Unit: CodePoints, Ellipsis: "…"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aaaaaaaaaaaaaaaaaaaaaaaaa ")), 51, 200, -1).Draw(t, "text")
		short, _ := r.shorten(text, 50)
		kept := len(strings.TrimSuffix(short, "…"))
		through := len(strings.TrimRight(text[:49], " "))
		if kept != through && kept*2 < 49 {
			t.Fatalf("%q keeps %d where %d were possible", short, kept, through)
		}
	})
}

func TestFitMakesRoomForLinkAndWarning(t *testing.T) {
	t.Parallel()
	m := get(t, Mastodon)
	d := Draft{Text: strings.Repeat("words ", 90), Link: "https://example.com/" + strings.Repeat("x", 100), Options: map[string]string{OptSpoiler: "food"}}
	fit, cut := m.Fit(d)
	if !cut || m.Length(fit) > 500 || m.Length(fit) < 490 || !strings.HasSuffix(fit.Text, "words…") {
		t.Errorf("got %d characters ending in %q", m.Length(fit), fit.Text[len(fit.Text)-12:])
	}
	if again, cut := m.Fit(fit); cut || again.Text != fit.Text {
		t.Error("what fits was cut again")
	}
	d.Text = strings.Repeat("a ", 300) + d.Link // the link itself is cut off and goes below
	if fit, _ := m.Fit(d); m.Length(fit) > 500 || !strings.HasSuffix(m.Body(fit), d.Link) {
		t.Errorf("with the link at the end of the text: %d characters, %q", m.Length(fit), m.Body(fit))
	}
}

func TestFitNeverExceedsTheLimitWhereTextCanHelp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := mastodon.With(map[string]string{"max_characters": "100"})
		d := Draft{Text: drawText(t), Options: map[string]string{OptSpoiler: rapid.StringN(0, 40, -1).Draw(t, "warning")}}
		if rapid.Bool().Draw(t, "with link") {
			d.Link = rapid.SampledFrom([]string{"https://example.com", "https://example.com/a/b?c=d#e"}).Draw(t, "link")
		}
		fit, cut := m.Fit(d)
		if m.Length(fit) > 100 || cut != (fit.Text != d.Text) {
			t.Fatalf("%+v becomes %+v, %d characters", d, fit, m.Length(fit))
		}
	})
}

func FuzzShorten(f *testing.F) {
	for _, s := range pieces {
		f.Add(strings.Repeat(s, 8), 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		for _, r := range []TextRule{{Unit: CodePoints, Ellipsis: "…"}, {Unit: UTF16, Ellipsis: "..."}, {Unit: Graphemes, PerURL: 23, Ellipsis: "…"}} {
			if short, _ := r.shorten(s, max(limit, 0)); r.Count(short) > max(limit, 0) {
				t.Errorf("%q counts %d, over %d", short, r.Count(short), limit)
			}
		}
	})
}

func TestFingerprintComparesWhatNetworksChange(t *testing.T) {
	t.Parallel()
	if a, b := Fingerprint("cafe\u0301\r\nbar "), Fingerprint("\ncaf\u00e9\nbar"); a != b {
		t.Errorf("%q differs from %q", a, b)
	}
	if Fingerprint("Bar") == Fingerprint("bar") {
		t.Error("case was lost")
	}
	if got := Clean("a\r\nb\rc  \n\n"); got != "a\nb\nc" {
		t.Errorf("got %q", got)
	}
}
