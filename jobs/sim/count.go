package sim

import (
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// units counts UTF-16 code units.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

var (
	// An address counts as one only with a dotted host; anything else counts in full.
	linkShape    = regexp.MustCompile(`(?i)https?://[^\s/?#<>"]+\.[\p{L}\p{N}-]{2,}(:\d+)?([/?#][^\s<>"]*)?`)
	mentionShape = regexp.MustCompile(`(^|[^/\w])@(\w+(?:[\w.-]*\w)?)@[\w.-]*\w`)
	tagShape     = regexp.MustCompile(`#[\p{L}\p{M}\p{N}_]+`)
	atShape      = regexp.MustCompile(`(^|[^\w@.])@[\w](?:[\w.]*\w)?`)
)

// tootLength counts a text as Mastodon does: grapheme clusters, an address as
// 23, a mention without its host.
func tootLength(s string) int {
	s = linkShape.ReplaceAllStringFunc(s, func(link string) string {
		bare := strings.TrimRight(link, `.,;:!?)]}'`)
		return strings.Repeat("x", 23) + link[len(bare):]
	})
	s = mentionShape.ReplaceAllString(s, "$1@$2")
	return uniseg.GraphemeClusterCount(s)
}

// hashtags counts #words.
func hashtags(s string) int { return len(tagShape.FindAllString(s, -1)) }

// mentions counts @names.
func mentions(s string) int { return len(atShape.FindAllString(s, -1)) }
