// Package networks draws what each network can do, from the catalogue alone.
package networks

import (
	"cmp"
	"fmt"
	"strings"

	"herald/db/network"
	"herald/views/ui"
)

// icons are the shapes of the answers.
var icons = map[network.Support]string{
	network.Supported: "circle-check", network.NeedsReview: "shield-alert", network.Configurable: "settings-2", network.Impossible: "minus",
}

func columns() []ui.Column {
	list := []ui.Column{{Label: "Network"}}
	for _, f := range network.Shapes() {
		list = append(list, ui.Column{Label: shapeWord(f)})
	}
	return append(list, ui.Column{Label: "Alt text"}, ui.Column{Label: "First comment"}, ui.Column{Label: "Look-up"})
}

func shapeWord(f network.Format) string {
	switch f {
	case network.FormatImage:
		return "Picture"
	case network.FormatImages:
		return "Pictures"
	case network.FormatCarousel:
		return "Mixed"
	}
	return capital(string(f))
}

func yes(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}

func altWords(n Entry) string { return capital(cmp.Or(n.Alt.Files(), "none")) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// lookUp says what an absent post proves, since a present one always does.
func lookUp(s network.Strength) string {
	switch s {
	case network.Proof:
		return "Proof"
	case network.Weak:
		return "Weak"
	}
	return "None"
}

func lookUpSay(s network.Strength) string {
	switch s {
	case network.Proof:
		return "Proof: a lost answer is cleared up either way, without a person."
	case network.Weak:
		return "Weak: a post that is found is proof; one that is not found may still be there, so a person decides."
	}
	return "None: after a lost answer a person looks."
}

func brief(n Entry) string {
	return cmp.Or(n.Text.Limit(), "No text") + ", " + filesWords(n.Most())
}

func filesWords(n int) string {
	switch n {
	case 0:
		return "no files"
	case 1:
		return "one file"
	}
	return fmt.Sprintf("up to %d files", n)
}

func facts(n Entry) []ui.Fact {
	list := []ui.Fact{
		{Name: "Text", Value: ui.Text(cmp.Or(n.Text.Limit(), "None"))},
		{Name: "Files", Value: ui.Text(capital(filesWords(n.Most())))},
		{Name: "Video", Value: ui.Text(videoWords(n))},
		{Name: "Alt text", Value: ui.Text(altLimit(n))},
		{Name: "First comment", Value: ui.Text(commentWords(n))},
		{Name: "Look-up", Value: ui.Text(lookUpSay(n.LookUp))},
	}
	if n.Thread > 0 {
		list = append(list, ui.Fact{Name: "Threads", Value: ui.Text(fmt.Sprintf("Up to %d posts, each an answer to the one before", n.Thread))})
	}
	if often := oftenWords(n); often != "" {
		list = append(list, ui.Fact{Name: "How often", Value: ui.Text(often)})
	}
	if by := n.By(); len(by) > 0 {
		list = append(list, ui.Fact{Name: "Also by", Value: ui.Text(publishers(by))})
	}
	if n.Version != "" {
		list = append(list, ui.Fact{Name: "API version", Value: ui.Text(n.Version)})
	}
	return list
}

// oftenWords are the limits that Herald keeps to by itself.
func oftenWords(n Entry) string {
	var list []string
	for _, r := range n.Rates {
		switch {
		case !r.Held:
		case r.App:
			list = append(list, r.Words()+" of all accounts together")
		default:
			list = append(list, r.Words()+" of an account")
		}
	}
	return strings.Join(list, ", ")
}

func videoWords(n Entry) string {
	if s, _ := n.Supports(network.FormatVideo); s == network.Impossible {
		return "None"
	}
	return cmp.Or(n.VideoLimit(), "No limit is stated")
}

func altLimit(n Entry) string {
	if n.Alt.Max == 0 {
		return altWords(n)
	}
	return fmt.Sprintf("%s, up to %d characters", altWords(n), n.Alt.Max)
}

func commentWords(n Entry) string {
	if !n.TakesComment() {
		return "None"
	}
	return "Up to " + n.Comment.Limit()
}

func publishers(by []network.Publisher) string {
	var names []string
	for _, p := range by {
		names = append(names, network.PublisherLabel(p))
	}
	return strings.Join(names, ", ")
}

// condition is what stands before some formats, said once for all of them.
type condition struct {
	support      network.Support
	formats, say string
}

func conditions(n Entry) (list []condition) {
	for _, h := range n.Hurdles {
		c := condition{support: h.Support, say: h.Say}
		for i, f := range h.Formats {
			c.formats += strings.Repeat(", ", min(i, 1)) + shapeWord(f)
		}
		c.formats = cmp.Or(c.formats, "All posts") + ":"
		list = append(list, c)
	}
	return list
}
