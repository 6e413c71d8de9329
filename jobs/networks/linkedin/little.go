package linkedin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"herald/db/network"
)

// escape writes a text as little text that reads as the text: each sign of its
// markup goes with a backslash, but for the # of a hashtag, which stays one. What
// is not escaped and means nothing would cut the text there, silently.
func escape(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		if strings.ContainsRune(network.LittleSigns, r) && !(r == '#' && !wordly(before) && startsTag(text[i+1:])) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func startsTag(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

var (
	tagged    = regexp.MustCompile(`\{hashtag\|\\?#\|([^{}|]*)\}`)
	mentioned = regexp.MustCompile(`@\[((?:[^\[\]\\]|\\.)*)\]\([^()]*\)`)
	escaped   = regexp.MustCompile(`\\([|{}@\[\]()<>#\\*_~])`)
)

// plain is the text that little text reads as.
func plain(little string) string {
	s := tagged.ReplaceAllString(little, "#$1")
	s = mentioned.ReplaceAllString(s, "$1")
	return escaped.ReplaceAllString(s, "$1")
}
