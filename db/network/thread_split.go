package network

import (
	"regexp"
	"strings"
)

// Lengths measure each of a thread's Pieces as Length does: with a content warning,
// and the last one that says something with the link that goes below it.
func (n *Network) Lengths(d Draft) []int {
	pieces := Pieces(d.Text)
	lengths, last := make([]int, len(pieces)), len(pieces)-1
	for last > 0 && Blank(pieces[last]) {
		last--
	}
	for i, piece := range pieces {
		lengths[i] = n.Length(n.piece(d, strings.Trim(piece, "\n"), i == last))
	}
	return lengths
}

// piece is one post of a thread by itself.
func (n *Network) piece(d Draft, text string, last bool) Draft {
	one := Draft{Text: text, Options: d.Options}
	if last && !strings.Contains(d.Text, d.Link) {
		one.Link = d.Link
	}
	return one
}

// Split is a text as posts of a thread that each fit. What is too long is cut where a
// paragraph, a sentence or a word ends; an address stays whole where one fits, and
// what the eye sees as one character always does.
func (n *Network) Split(d Draft) (pieces []string) {
	all := split(d.Text)
	for i, rest := range all {
		for n.tooLong(d, rest, i == len(all)-1) {
			head, tail := n.cutPiece(d, rest, i == len(all)-1)
			if head == "" || tail == "" {
				break
			}
			pieces, rest = append(pieces, head), tail
		}
		pieces = append(pieces, rest)
	}
	return pieces
}

func (n *Network) tooLong(d Draft, text string, last bool) bool {
	one := n.piece(d, text, last)
	limit := n.LimitOf(one)
	return limit > 0 && n.Length(one) > limit
}

// cutPiece cuts off the first post of what is too long for one. Where only the link
// below has no room, the cut leaves it some.
func (n *Network) cutPiece(d Draft, text string, last bool) (head, tail string) {
	one := n.piece(d, text, false)
	room := n.LimitOf(one) - (n.Length(one) - n.Count(text))
	if n.Count(text) <= room && last {
		room -= n.Length(n.piece(d, text, true)) - n.Length(one)
	}
	for try := room; try > 0; {
		end := n.Text.place(text, try)
		head = strings.TrimSpace(text[:end])
		over := n.Count(head) - room
		if over <= 0 {
			return head, strings.TrimSpace(text[end:])
		}
		try -= over
	}
	return "", text
}

var sentence = regexp.MustCompile(`[.!?…。！？]["')\]»”’]*\s`)

// place is where a text is best cut so that what is before it takes at most room:
// behind a paragraph, a sentence, a line or a word, whichever comes first that leaves
// no more than half of the room.
func (r TextRule) place(text string, room int) int {
	stop := len(text)
	if r.Bytes > 0 {
		stop = min(stop, max(0, room*r.Bytes/r.Max))
	}
	end := r.cut(text, r.spans(text), room, stop)
	within := text[:end]
	if end < len(text) && (text[end] == ' ' || text[end] == '\n') {
		within = text[:end+1]
	}
	ends := []int{strings.LastIndex(within, "\n\n"), -1, strings.LastIndex(within, "\n")}
	if all := sentence.FindAllStringIndex(within, -1); len(all) > 0 {
		ends[1] = all[len(all)-1][1] - 1
	}
	for _, at := range ends {
		if at > 0 && r.Count(strings.TrimSpace(text[:at]))*2 >= room {
			return at
		}
	}
	return end
}
