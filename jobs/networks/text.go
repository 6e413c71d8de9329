package networks

import (
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
