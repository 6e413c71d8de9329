package network

import (
	"strings"
	"unicode"
)

// Blank says whether a reader would see nothing of a text: spaces, and characters
// that Unicode gives no shape, such as the zero-width space, the byte order mark,
// variation selectors and Hangul fillers.
func Blank(text string) bool { return strings.IndexFunc(text, visible) < 0 }

func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != blankBraille
}

// blankBraille is a pattern without a dot.
const blankBraille = '\u2800'
