package network

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/language"
)

// pictographs are the characters that Unicode calls emoji, digits and signs
// aside.
var pictographs = &unicode.RangeTable{
	LatinOffset: 2,
	R16: runs16(0xA9, 0xA9, 0xAE, 0xAE, 0x203C, 0x203C, 0x2049, 0x2049, 0x2122, 0x2122, 0x2139, 0x2139, 0x2194, 0x2199, 0x21A9, 0x21AA, 0x231A, 0x231B,
		0x2328, 0x2328, 0x23CF, 0x23CF, 0x23E9, 0x23F3, 0x23F8, 0x23FA, 0x24C2, 0x24C2, 0x25AA, 0x25AB, 0x25B6, 0x25B6, 0x25C0, 0x25C0, 0x25FB, 0x25FE,
		0x2600, 0x2604, 0x260E, 0x260E, 0x2611, 0x2611, 0x2614, 0x2615, 0x2618, 0x2618, 0x261D, 0x261D, 0x2620, 0x2620, 0x2622, 0x2623, 0x2626, 0x2626,
		0x262A, 0x262A, 0x262E, 0x262F, 0x2638, 0x263A, 0x2640, 0x2640, 0x2642, 0x2642, 0x2648, 0x2653, 0x265F, 0x2660, 0x2663, 0x2663, 0x2665, 0x2666,
		0x2668, 0x2668, 0x267B, 0x267B, 0x267E, 0x267F, 0x2692, 0x2697, 0x2699, 0x2699, 0x269B, 0x269C, 0x26A0, 0x26A1, 0x26A7, 0x26A7, 0x26AA, 0x26AB,
		0x26B0, 0x26B1, 0x26BD, 0x26BE, 0x26C4, 0x26C5, 0x26C8, 0x26C8, 0x26CE, 0x26CF, 0x26D1, 0x26D1, 0x26D3, 0x26D4, 0x26E9, 0x26EA, 0x26F0, 0x26F5,
		0x26F7, 0x26FA, 0x26FD, 0x26FD, 0x2702, 0x2702, 0x2705, 0x2705, 0x2708, 0x270D, 0x270F, 0x270F, 0x2712, 0x2712, 0x2714, 0x2714, 0x2716, 0x2716,
		0x271D, 0x271D, 0x2721, 0x2721, 0x2728, 0x2728, 0x2733, 0x2734, 0x2744, 0x2744, 0x2747, 0x2747, 0x274C, 0x274C, 0x274E, 0x274E, 0x2753, 0x2755,
		0x2757, 0x2757, 0x2763, 0x2764, 0x2795, 0x2797, 0x27A1, 0x27A1, 0x27B0, 0x27B0, 0x27BF, 0x27BF, 0x2934, 0x2935, 0x2B05, 0x2B07, 0x2B1B, 0x2B1C,
		0x2B50, 0x2B50, 0x2B55, 0x2B55, 0x3030, 0x3030, 0x303D, 0x303D, 0x3297, 0x3297, 0x3299, 0x3299),
	R32: runs32(0x1F004, 0x1F004, 0x1F0CF, 0x1F0CF, 0x1F170, 0x1F171, 0x1F17E, 0x1F17F, 0x1F18E, 0x1F18E, 0x1F191, 0x1F19A, 0x1F1E6, 0x1F1FF,
		0x1F201, 0x1F202, 0x1F21A, 0x1F21A, 0x1F22F, 0x1F22F, 0x1F232, 0x1F23A, 0x1F250, 0x1F251, 0x1F300, 0x1F64F, 0x1F680, 0x1F6FF, 0x1F7E0, 0x1F7EB,
		0x1F7F0, 0x1F7F0, 0x1F90C, 0x1F9FF, 0x1FA70, 0x1FAFF),
}

// pictured counts code points, but an emoji, with all that it is joined of, as many
// as it has bytes.
func pictured(text string) (total int) {
	for start, end := range clusters(text) {
		c := text[start:end]
		if strings.ContainsFunc(c, func(r rune) bool { return r == keycap || unicode.Is(pictographs, r) }) {
			total += len(c)
			continue
		}
		total += utf8.RuneCountInString(c)
	}
	return total
}

// toned are those whose skin may have a tone, of what the table of X knows.
var toned = &unicode.RangeTable{
	R16: runs16(0x261D, 0x261D, 0x26F9, 0x26F9, 0x270A, 0x270D),
	R32: runs32(0x1F385, 0x1F385, 0x1F3C2, 0x1F3C4, 0x1F3C7, 0x1F3C7, 0x1F3CA, 0x1F3CC, 0x1F442, 0x1F443, 0x1F446, 0x1F450, 0x1F466, 0x1F469,
		0x1F46E, 0x1F46E, 0x1F470, 0x1F478, 0x1F47C, 0x1F47C, 0x1F481, 0x1F483, 0x1F485, 0x1F487, 0x1F4AA, 0x1F4AA, 0x1F574, 0x1F575, 0x1F57A, 0x1F57A,
		0x1F590, 0x1F590, 0x1F595, 0x1F596, 0x1F645, 0x1F647, 0x1F64B, 0x1F64F, 0x1F6A3, 0x1F6A3, 0x1F6B4, 0x1F6B6, 0x1F6C0, 0x1F6C0, 0x1F6CC, 0x1F6CC,
		0x1F918, 0x1F91C, 0x1F91E, 0x1F91F, 0x1F926, 0x1F926, 0x1F930, 0x1F939, 0x1F93D, 0x1F93E, 0x1F9B5, 0x1F9B6, 0x1F9B8, 0x1F9B9, 0x1F9D1, 0x1F9DD),
}

// gendered are those that a sign makes a woman or a man.
var gendered = &unicode.RangeTable{
	R16: runs16(0x26F9, 0x26F9),
	R32: runs32(0x1F3C3, 0x1F3C4, 0x1F3CA, 0x1F3CC, 0x1F46E, 0x1F46F, 0x1F471, 0x1F471, 0x1F473, 0x1F473, 0x1F477, 0x1F477, 0x1F481, 0x1F482,
		0x1F486, 0x1F487, 0x1F575, 0x1F575, 0x1F645, 0x1F647, 0x1F64B, 0x1F64B, 0x1F64D, 0x1F64E, 0x1F6A3, 0x1F6A3, 0x1F6B4, 0x1F6B6, 0x1F926, 0x1F926,
		0x1F937, 0x1F939, 0x1F93C, 0x1F93E, 0x1F9B8, 0x1F9B9, 0x1F9D6, 0x1F9DF),
}

// employed are what a woman or a man is joined with to have a job, or hair.
var employed = []rune{0x1F33E, 0x1F373, 0x1F393, 0x1F3A4, 0x1F3A8, 0x1F3EB, 0x1F3ED, 0x1F4BB, 0x1F4BC, 0x1F527, 0x1F52C, 0x1F680, 0x1F692, 0x1F9B0, 0x1F9B1, 0x1F9B2, 0x1F9B3}

func runs16(ends ...uint16) (list []unicode.Range16) {
	for i := 0; i < len(ends); i += 2 {
		list = append(list, unicode.Range16{Lo: ends[i], Hi: ends[i+1], Stride: 1})
	}
	return list
}

func runs32(ends ...uint32) (list []unicode.Range32) {
	for i := 0; i < len(ends); i += 2 {
		list = append(list, unicode.Range32{Lo: ends[i], Hi: ends[i+1], Stride: 1})
	}
	return list
}

const (
	joiner   = 0x200D
	coloured = 0xFE0F
	keycap   = 0x20E3
	female   = 0x2640
	male     = 0x2642
	woman    = 0x1F469
	man      = 0x1F468
)

// emoji returns how many runes at the beginning of rs are one emoji to the table
// of emoji that X's own library has, which is that of Unicode 11: what was joined
// since is not one to it, but several. Zero if rs does not begin with one.
func emoji(rs []rune) int {
	switch {
	case len(rs) == 0:
		return 0
	case '0' <= rs[0] && rs[0] <= '9' || rs[0] == '#' || rs[0] == '*':
		return keyed(rs)
	case 0x1F1E6 <= rs[0] && rs[0] <= 0x1F1FF:
		return flagged(rs)
	case rs[0] < 0x2000 && !begins(rs[1:], coloured), !unicode.Is(pictographs, rs[0]):
		return 0
	}
	return max(joinedAs(rs), plainly(rs))
}

func begins(rs []rune, with ...rune) bool {
	return len(rs) >= len(with) && slices.Equal(rs[:len(with)], with)
}

func keyed(rs []rune) int {
	switch {
	case begins(rs[1:], coloured, keycap):
		return 3
	case begins(rs[1:], keycap):
		return 2
	}
	return 0
}

// flagged knows the flags of countries.
func flagged(rs []rune) int {
	if len(rs) < 2 || rs[1] < 0x1F1E6 || rs[1] > 0x1F1FF {
		return 1
	}
	code := string([]byte{byte('A' + rs[0] - 0x1F1E6), byte('A' + rs[1] - 0x1F1E6)})
	if region, err := language.ParseRegion(code); err != nil || region.String() != code || !region.IsCountry() && code != "EU" && code != "UN" {
		return 1
	}
	return 2
}

// plainly is an emoji with its tone, or with the sign that makes it coloured.
func plainly(rs []rune) int {
	switch {
	case len(rs) > 1 && tone(rs[1]) && unicode.Is(toned, rs[0]):
		return 2
	case begins(rs[1:], coloured) && uniseg.StringWidth(string(rs[0])) < 2:
		return 2
	}
	return 1
}

func tone(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

// nations are England, Scotland and Wales, spelt in tags behind a black flag.
var nations = [][]rune{spelt("gbeng"), spelt("gbsct"), spelt("gbwls")}

func spelt(code string) (list []rune) {
	list = []rune{0x1F3F4}
	for _, r := range code {
		list = append(list, 0xE0000+r)
	}
	return append(list, 0xE007F)
}

// sets are joined emoji that follow no rule.
var sets = [][]rune{
	{0x1F3F3, coloured, joiner, 0x1F308}, {0x1F3F4, joiner, 0x2620, coloured},
	{0x1F441, coloured, joiner, 0x1F5E8, coloured}, {0x1F441, joiner, 0x1F5E8},
}

// joinedAs is an emoji of several joined ones; zero if it is none.
func joinedAs(rs []rune) int {
	for _, set := range slices.Concat(nations, sets) {
		if begins(rs, set...) {
			return len(set)
		}
	}
	if n := person(rs); n > 0 {
		return n
	}
	return household(rs)
}

// person is somebody with a sign of gender or a job.
func person(rs []rune) int {
	at := 1
	if len(rs) > 1 && (tone(rs[1]) || rs[1] == coloured) {
		at = 2
	}
	rest := rs[at:]
	if !begins(rest, joiner) || len(rest) < 2 {
		return 0
	}
	adult := rs[0] == woman || rs[0] == man
	switch what := rest[1]; {
	case unicode.Is(gendered, rs[0]) && (what == female || what == male) && begins(rest[2:], coloured):
		return at + 3
	case adult && (what == 0x2695 || what == 0x2696 || what == 0x2708) && begins(rest[2:], coloured):
		return at + 3
	case adult && slices.Contains(employed, what):
		return at + 2
	}
	return 0
}

// household is a couple or a family.
func household(rs []rune) int {
	if rs[0] != woman && rs[0] != man {
		return 0
	}
	at := 1
	if begins(rs[at:], joiner, 0x2764, coloured, joiner) {
		at += 4
		if begins(rs[at:], 0x1F48B, joiner) {
			at += 2
		}
		if at < len(rs) && (rs[at] == woman || rs[at] == man) {
			return at + 1
		}
		return 0
	}
	if len(rs) > 2 && rs[1] == joiner && (rs[2] == woman || rs[2] == man) {
		at = 3
	}
	children := 0
	for children < 2 && len(rs) > at+1 && rs[at] == joiner && (rs[at+1] == 0x1F466 || rs[at+1] == 0x1F467) {
		at, children = at+2, children+1
	}
	if children == 0 {
		return 0
	}
	return at
}
