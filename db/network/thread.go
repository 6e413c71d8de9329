package network

import "strings"

// threadMark is a line that begins the next post of a thread.
const threadMark = "---"

// Parts are the texts of the posts that a draft becomes: one, or, where the
// writer chose a thread, those between lines of three hyphens. The first is the
// post, the others answer one another below it.
func (n *Network) Parts(d Draft) []string {
	body := n.Body(d)
	if !n.threaded(d) {
		return []string{body}
	}
	parts := split(body)
	if len(parts) == 0 {
		return []string{""}
	}
	return parts
}

func (n *Network) threaded(d Draft) bool { return n.Thread > 0 && n.Value(d, OptThread) == "true" }

func split(text string) (parts []string) {
	for _, piece := range Pieces(text) {
		if s := strings.Trim(piece, "\n"); !Blank(s) {
			parts = append(parts, s)
		}
	}
	return parts
}

// Pieces are the posts of a thread as they are written, blank ones among them. There
// is always one.
func Pieces(text string) (pieces []string) {
	var piece []string
	for line := range strings.SplitSeq(newlines.Replace(text), "\n") {
		if strings.TrimSpace(line) == threadMark {
			pieces, piece = append(pieces, strings.Join(piece, "\n")), nil
			continue
		}
		piece = append(piece, line)
	}
	return append(pieces, strings.Join(piece, "\n"))
}

// Together is the text that has these pieces.
func Together(pieces []string) string { return strings.Join(pieces, "\n"+threadMark+"\n") }

// Written is Together without the blank pieces, which nobody would see.
func Written(pieces []string) string { return Together(split(Together(pieces))) }

// fitThread shortens the posts of a thread one by one.
func (n *Network) fitThread(d Draft) (Draft, bool) {
	parts, any := split(d.Text), false
	for i := range parts {
		one := Draft{Text: parts[i], Options: d.Options}
		if i == len(parts)-1 {
			one.Link = d.Link
		}
		fitted, cut := n.fit(one)
		parts[i], any = fitted.Text, any || cut
	}
	if any {
		d.Text = Together(parts)
	}
	return d, any
}

// threadOption is how a writer chooses a thread.
var threadOption = Option{Key: OptThread, Label: "Post as a thread", Help: "A line with nothing but --- begins the next post. Files go with the first.", Kind: Switch, Default: "false"}
