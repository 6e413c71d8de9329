package network

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Limit is the longest text, in the units of Count; zero if none is stated.
func (n *Network) Limit() int { return n.Text.Max }

// LimitOf is how much text a draft may have: that of its format, where that has less.
func (n *Network) LimitOf(d Draft) int {
	if r, ok := n.Rule(n.FormatOf(d)); ok && r.Words > 0 {
		return r.Words
	}
	return n.Text.Max
}

// Unit is the word for what Count counts.
func (n *Network) Unit() string { return "characters" }

// Count measures a text as the network does. Where the network's own rule
// cannot be known for certain, it counts more, never less.
func (n *Network) Count(text string) int { return n.Text.Count(text) }

// Length measures all that counts towards the limit: the text as sent, of a
// thread its longest post, and a content warning.
func (n *Network) Length(d Draft) int {
	longest := 0
	for _, part := range n.Parts(d) {
		longest = max(longest, n.Count(part))
	}
	return longest + graphemes(n.Value(d, OptSpoiler))
}

// LinkOf is what becomes of a draft's link: where the network has a field for one, a
// writer who wants no card of it has it in the text.
func (n *Network) LinkOf(d Draft) LinkUse {
	if n.Link == LinkBeside && len(d.Media) == 0 && n.Value(d, OptPreview) == "false" {
		return LinkInText
	}
	return n.Link
}

// Body is the text as the network gets it: with the link below it where it does not
// stand beside and the text does not hold it already.
func (n *Network) Body(d Draft) string {
	switch {
	case n.LinkOf(d) != LinkInText || d.Link == "" || strings.Contains(d.Text, d.Link):
		return d.Text
	case Blank(d.Text):
		return d.Link
	}
	return d.Text + "\n\n" + d.Link
}

// Count measures a text by this rule. Where bytes are bounded too, a text that is
// nearer to that bound counts as much of Max as it has of Bytes, so that it is
// too long for either exactly when it counts more than Max.
func (r TextRule) Count(text string) int {
	if r.Bytes == 0 {
		return r.count(text)
	}
	return max(r.count(text), (len(text)*r.Max+r.Bytes-1)/r.Bytes)
}

func (r TextRule) count(text string) int {
	switch r.Unit {
	case UTF16:
		return utf16Units(text)
	case Graphemes:
		return graphemes(r.counted(text))
	case Weighted:
		return r.weighed(text)
	case Pictures:
		return pictured(text)
	case Little:
		return little(text)
	case Entities:
		return entitled(text)
	case Bytes:
		return len(text)
	}
	return utf8.RuneCountInString(text)
}

// counted is the text with each address and remote mention replaced by what
// counts in its place.
func (r TextRule) counted(text string) string {
	found := r.spans(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range found {
		if s.replaced {
			b.WriteString(text[at:s.start])
			b.WriteString(s.as)
			at = s.end
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

// span is a stretch of text that is not cut. If it is replaced, as is counted
// in its place.
type span struct {
	start, end int
	replaced   bool
	as         string
}

func (r TextRule) spans(text string) []span {
	if r.Unit == Weighted {
		return r.priced(text)
	}
	var spans []span
	for _, e := range entities(text) {
		s := span{start: e.start, end: e.end}
		switch {
		case r.PerURL == 0 && e.local > 0:
			continue
		case r.PerURL == 0:
		case e.local > 0:
			s.replaced, s.as = true, text[e.start:e.local]
		case e.sure || graphemes(text[e.start:e.end]) < r.PerURL:
			s.replaced, s.as = true, strings.Repeat("x", r.PerURL)
		}
		spans = append(spans, s)
	}
	return spans
}

// price is what one grapheme cluster counts.
func (r TextRule) price(cluster string) int {
	switch r.Unit {
	case UTF16:
		return utf16Units(cluster)
	case Graphemes:
		return 1
	case Weighted:
		return weigh(cluster)
	case Pictures:
		return pictured(cluster)
	case Little:
		return little(cluster)
	case Entities:
		return entitled(cluster)
	case Bytes:
		return len(cluster)
	}
	return utf8.RuneCountInString(cluster)
}

// little counts code points, and the signs that go with a backslash twice.
func little(s string) int {
	n := 0
	for _, r := range s {
		n++
		if strings.ContainsRune(LittleSigns, r) {
			n++
		}
	}
	return n
}

// entitled counts code points, and the signs that go as entities in full.
func entitled(s string) int {
	return utf8.RuneCountInString(s) + len("amp;")*strings.Count(s, "&") + len("lt;")*(strings.Count(s, "<")+strings.Count(s, ">"))
}

func inOrder(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	return spans
}

func utf16Units(s string) int {
	units := 0
	for _, r := range s {
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return units
}

func graphemes(s string) int {
	count := 0
	for range clusters(s) {
		count++
	}
	return count
}

// clusters yields start and end of each grapheme cluster. Plain ASCII, most of
// what is written, does not go through the Unicode tables.
func clusters(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; at < len(s); {
			end := at + 1
			if !plain(s[at:]) {
				cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s[at:], -1)
				end = at + len(cluster)
			}
			if !yield(at, end) {
				return
			}
			at = end
		}
	}
}

// plain says that s starts with an ASCII byte that is a cluster of its own.
func plain(s string) bool {
	return s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf && s[0] != '\r')
}
