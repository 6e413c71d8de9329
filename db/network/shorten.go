package network

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shorten returns the text cut to the network's limit, and whether it was cut.
// A text that fits is returned as it is. Otherwise it is a beginning of the text
// and an ellipsis: up to the last word that fits, or through the word where
// going back would cost more than half of the room. It never exceeds the limit
// in the network's own units, never splits what the eye sees as one character,
// and keeps addresses whole and apart from the ellipsis.
func (n *Network) Shorten(text string) (short string, cut bool) {
	if n.Text.Max == 0 {
		return text, false
	}
	return n.Text.shorten(text, n.Text.Max)
}

// Fit shortens the draft's text so that all that counts with it (a link, a
// content warning) fits too, and says whether it did. What cannot fit even
// without text is left to Check.
func (n *Network) Fit(d Draft) (Draft, bool) {
	if n.LimitOf(d) == 0 || n.Length(d) <= n.LimitOf(d) {
		return d, false
	}
	if n.threaded(d) {
		return n.fitThread(d)
	}
	return n.fit(d)
}

func (n *Network) fit(d Draft) (Draft, bool) {
	limit := n.LimitOf(d)
	if n.Length(d) <= limit {
		return d, false
	}
	whole, room := d.Text, limit-(n.Length(d)-n.Count(d.Text))
	for {
		d.Text, _ = n.Text.shorten(whole, max(room, 0))
		over := n.Length(d) - limit
		if over <= 0 || room <= 0 {
			return d, d.Text != whole
		}
		room -= over
	}
}

func (r TextRule) shorten(text string, limit int) (string, bool) {
	if r.Count(text) <= limit {
		return text, false
	}
	spans, stop := r.spans(text), len(text)
	if r.Bytes > 0 {
		stop = min(stop, max(0, limit*r.Bytes/r.Max-len(r.Ellipsis)))
	}
	room := limit - r.Count(r.Ellipsis)
	for room >= 0 {
		end, back := r.apart(text, r.cut(text, spans, room, stop))
		if back >= 0 {
			stop = back
			continue
		}
		short := text[:end] + r.Ellipsis
		over := r.Count(short) - limit
		if over <= 0 {
			return short, true
		}
		room -= over
	}
	return "", true
}

// apart keeps the ellipsis from becoming part of an address that text[:end]
// ends with: by the space that follows in the text, or, where none follows, by
// going back to where the address starts. It returns the new end, or that start.
func (r TextRule) apart(text string, end int) (int, int) {
	found, shift := r.addresses(text[max(0, end-4096):end]+r.Ellipsis), max(0, end-4096)
	if len(found) == 0 {
		return end, -1
	}
	last := found[len(found)-1]
	if last.end+shift <= end {
		return end, -1
	}
	space, size := utf8.DecodeRuneInString(text[end:])
	if size > 0 && unicode.IsSpace(space) {
		return end + size, -1
	}
	return end, last.start + shift
}

// addresses are what the network takes for one.
func (r TextRule) addresses(text string) []entity {
	found := entities(text)
	if r.Unit != Weighted {
		return found
	}
	found = nil
	for _, l := range Links(text) {
		found = append(found, entity{start: l.Start, end: l.End})
	}
	return found
}

// cut returns where to cut the text so that at most room is used, nothing after
// stop is kept and no blank stands at the end.
func (r TextRule) cut(text string, spans []span, room, stop int) int {
	var used, solid int
	var hard, word, inner mark
	for start, end := range clusters(text) {
		for len(spans) > 0 && spans[0].end <= start {
			spans = spans[1:]
		}
		within := len(spans) > 0 && end > spans[0].start
		used += r.step(text, start, end, spans, within)
		if end > stop || used > room {
			break
		}
		switch here := (mark{end, used}); {
		case within && end < spans[0].end:
			inner = here
		default:
			if strings.TrimSpace(text[start:end]) != "" {
				solid = end
			}
			if hard = (mark{solid, used}); solid == end && spaceAt(text, end) {
				word = here
			}
		}
	}
	if hard.used*2 < room && inner.at > hard.at {
		return inner.at // one address longer than half of the room: nothing else to keep
	}
	if word.used*2 >= room {
		return word.at
	}
	return hard.at
}

// mark is a place in a text and what is used up to it.
type mark struct{ at, used int }

// step is what the cluster at start adds: a replaced span is paid for where it
// begins.
func (r TextRule) step(text string, start, end int, spans []span, within bool) int {
	switch {
	case !within || !spans[0].replaced:
		return r.price(text[start:end])
	case start <= spans[0].start:
		return graphemes(spans[0].as)
	}
	return 0
}

func spaceAt(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	return size == 0 || unicode.IsSpace(r)
}
