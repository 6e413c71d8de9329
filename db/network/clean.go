package network

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Clean makes of a submitted text the one that is kept: line ends as browsers
// send them (CRLF) become single ones, so that a line break counts once, and
// blanks at the end go. What is published is exactly the result.
func Clean(text string) string {
	return strings.TrimRight(newlines.Replace(text), " \t\n")
}

// Fingerprint brings a text into the form in which two are compared, to find a
// post again in a network's list: composed characters, single line ends, no
// blanks around.
func Fingerprint(text string) string {
	return strings.TrimSpace(norm.NFC.String(newlines.Replace(text)))
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")
