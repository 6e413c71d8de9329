package networks

import (
	"html"
	"net/url"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// SameText says whether two texts are one to a reader: composed alike, with
// line ends alike, and without the space around them, which networks trim.
func SameText(a, b string) bool { return normal(a) == normal(b) }

func normal(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.TrimSpace(norm.NFC.String(strings.ReplaceAll(s, "\r", "\n")))
}

// Paragraphs is a text as HTML: a blank line parts paragraphs, a line end is a break.
func Paragraphs(text string) string {
	if text == "" {
		return ""
	}
	var list []string
	for p := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		list = append(list, "<p>"+strings.ReplaceAll(html.EscapeString(p), "\n", "<br />")+"</p>")
	}
	return strings.Join(list, "\n\n")
}

// WebOnly is an address that people may be sent to, or "": what a network names
// becomes a link on our pages.
func WebOnly(raw string) string {
	if u, err := url.Parse(raw); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return raw
}
