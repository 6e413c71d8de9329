package network

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// weigh counts a text without addresses as X does: in its composed form, an
// emoji is two, other characters one or two by their script.
func weigh(text string) (total int) {
	if ascii(text) && !strings.ContainsRune(text, keycap) {
		return len(text)
	}
	rs := []rune(norm.NFC.String(text))
	for at := 0; at < len(rs); {
		if n := emoji(rs[at:]); n > 0 {
			total, at = total+2, at+n
			continue
		}
		total, at = total+weightOf(rs[at]), at+1
	}
	return total
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func weightOf(r rune) int {
	switch {
	case r <= 4351, 8192 <= r && r <= 8205, 8208 <= r && r <= 8223, 8242 <= r && r <= 8247:
		return 1
	}
	return 2
}

// weighed is a whole text, its addresses at their price.
func (r TextRule) weighed(text string) (total int) {
	at := 0
	for _, s := range r.spans(text) {
		if s.replaced {
			total += weigh(text[at:s.start]) + r.PerURL
			at = s.end
		}
	}
	return total + weigh(text[at:])
}

// priced are the addresses that X replaces by its own. Some with a top-level
// domain outside of the Latin alphabet may be taken for one or not: the larger
// of both counts.
func (r TextRule) priced(text string) []span {
	var spans []span
	for _, l := range Links(text) {
		spans = append(spans, span{start: l.Start, end: l.End, replaced: true, as: strings.Repeat("x", r.PerURL)})
	}
	for _, e := range entities(text) {
		host := text[e.start:e.end]
		odd := e.local == 0 && (!ascii(host) || strings.Contains(strings.ToLower(host), ".xn--"))
		if odd && !e.sure && weigh(host) < r.PerURL && !overlaps(spans, e) {
			spans = append(spans, span{start: e.start, end: e.end, replaced: true, as: strings.Repeat("x", r.PerURL)})
		}
	}
	return inOrder(spans)
}

func overlaps(spans []span, e entity) bool {
	for _, s := range spans {
		if e.start < s.end && s.start < e.end {
			return true
		}
	}
	return false
}
