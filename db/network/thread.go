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
	var part []string
	end := func() {
		if s := strings.Trim(strings.Join(part, "\n"), "\n"); !Blank(s) {
			parts = append(parts, s)
		}
		part = nil
	}
	for line := range strings.SplitSeq(newlines.Replace(text), "\n") {
		if strings.TrimSpace(line) == threadMark {
			end()
			continue
		}
		part = append(part, line)
	}
	end()
	return parts
}

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
		d.Text = strings.Join(parts, "\n"+threadMark+"\n")
	}
	return d, any
}

// threadOption is how a writer chooses a thread.
var threadOption = Option{Key: OptThread, Label: "Post as a thread", Help: "A line with nothing but --- begins the next post. Files go with the first.", Kind: Switch, Default: "false"}
