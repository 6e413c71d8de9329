package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func TestPiecesComeBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{{""}, {"one"}, {"one", "two"}, {"one", "", "two"}, {"", ""}, {"one\n\nand more\n", "two"}} {
		if got := Pieces(Together(pieces)); !slices.Equal(got, pieces) {
			t.Errorf("%q came back as %q", pieces, got)
		}
	}
	if got := Pieces("one\n ---\r\ntwo"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("a mark between line ends: %q", got)
	}
	if got := Written([]string{"one", " ", "", "two", ""}); got != "one\n---\ntwo" {
		t.Errorf("without the blank ones: %q", got)
	}
}

func TestLengthsAreThoseOfEachPost(t *testing.T) {
	t.Parallel()
	n := get(t, Mastodon)
	d := Draft{Text: "four\n---\n\n---\n👨‍👩‍👧‍👦", Link: "https://example.com/a/very/long/address/that/counts/twenty-three", Options: map[string]string{OptThread: "true", OptSpoiler: "warn"}}
	if got := n.Lengths(d); !slices.Equal(got, []int{8, 4, 1 + 4 + 2 + 23}) {
		t.Errorf("lengths %v", got)
	}
	d.Text += "\n---\n"
	if got := n.Lengths(d); !slices.Equal(got, []int{8, 4, 30, 4}) {
		t.Errorf("with a blank one behind: %v", got)
	}
}

func TestALongTextIsSplitWhereItEnds(t *testing.T) {
	t.Parallel()
	x := get(t, X)
	a, b := strings.Repeat("bread ", 30), strings.Repeat("salt ", 30) // 180 and 150
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"fits":         {"short", []string{"short"}},
		"paragraph":    {a + "\n\n" + b + "end.", []string{strings.TrimSpace(a), b + "end."}},
		"sentence":     {a + "now. " + b, []string{a + "now.", strings.TrimSpace(b)}},
		"word":         {a + b, []string{a + strings.TrimSpace(strings.Repeat("salt ", 20)), strings.TrimSpace(strings.Repeat("salt ", 10))}},
		"its own mark": {"one\n---\n" + a + "now. " + b, []string{"one", a + "now.", strings.TrimSpace(b)}},
	} {
		if got := x.Split(Draft{Text: c.text}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestASplitLeavesRoomForTheTagsOfLinks(t *testing.T) {
	t.Parallel()
	n := get(t, Bluesky)
	text := strings.Repeat("bread ", 40) + "https://acme.com/a and " + strings.Repeat("salt ", 30) + "https://acme.com/b"
	done := Taggings(text, shop.Text(text))
	pieces := n.SplitTagged(Draft{Text: text}, done)
	if got := strings.Join(pieces, " "); got != text {
		t.Errorf("the words became %q", got)
	}
	for _, piece := range pieces {
		if sent := Retag(piece, done); n.Count(sent) > 300 {
			t.Errorf("%q goes out as %d", piece, n.Count(sent))
		}
	}
	if plain := n.Split(Draft{Text: text}); len(plain) >= len(pieces) {
		t.Errorf("%d posts without tags and %d with: the tags made no difference here", len(plain), len(pieces))
	}
	// Tags that no post has room for are no reason to cut what was written.
	long := LinkTags{Source: strings.Repeat("s", 300), Hosts: shop.Hosts}
	done = Taggings(text, long.Text(text))
	if got := strings.Join(n.SplitTagged(Draft{Text: text}, done), " "); got != text {
		t.Errorf("with endless tags the words became %q", got)
	}
}

// splits checks what Split promises of any text: each piece fits, no character that
// the eye sees is cut, and nothing but blanks is lost.
func splits(n *Network, d Draft) error {
	pieces := n.Split(d)
	for i, piece := range pieces {
		one := n.piece(d, piece, i == len(pieces)-1)
		if n.Length(one) > n.LimitOf(one) && uniseg.GraphemeClusterCount(piece) > 1 {
			return fmt.Errorf("%q takes %d of %d", piece, n.Length(one), n.LimitOf(one))
		}
	}
	text, at := strings.Join(split(d.Text), " "), 0
	for _, piece := range pieces {
		i := strings.Index(text[at:], piece)
		if i < 0 || strings.TrimSpace(text[at:at+i]) != "" {
			return fmt.Errorf("between pieces is %q", text[at:at+max(i, 0)])
		}
		if !boundary(text, at+i) || !boundary(text, at+i+len(piece)) {
			return fmt.Errorf("%q is cut within a character", piece)
		}
		at += i + len(piece)
	}
	if strings.TrimSpace(text[at:]) != "" {
		return fmt.Errorf("lost %q", text[at:])
	}
	return nil
}

func TestSplitCutsNoCharacterAndLosesNothing(t *testing.T) {
	t.Parallel()
	seeds := []string{"👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "👍🏽", "日本", "word ", "a. ", "\n\n", "https://example.com/a?b=c ", "@ann ", "#tag ", "한국"}
	for _, name := range []Name{X, Threads, Bluesky, Mastodon} {
		n := get(t, name)
		for i, seed := range seeds {
			for j := i; j < len(seeds); j += 3 {
				d := Draft{Text: strings.Repeat(seed+seeds[j], 100), Link: map[int]string{0: "https://example.com/shop"}[j%2], Options: map[string]string{OptThread: "true"}}
				if err := splits(n, d); err != nil {
					t.Errorf("%s, %q with %q: %.300v", name, seeds[i], seeds[j], err)
				}
			}
		}
	}
}
