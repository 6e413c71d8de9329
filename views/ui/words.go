package ui

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func orElse(s, otherwise string) string { return cmp.Or(s, otherwise) }

func rows(n int) string { return strconv.Itoa(cmp.Or(n, 4)) }

// describedBy names the notes that exist, the problem first.
func describedBy(id, help, problem string) string {
	var ids []string
	if problem != "" {
		ids = append(ids, id+"-problem")
	}
	if help != "" {
		ids = append(ids, id+"-help")
	}
	return strings.Join(ids, " ")
}

// initials takes the first letters of the first and the last word.
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return "?"
	}
	first := firstLetter(words[0])
	if len(words) == 1 {
		return first
	}
	return first + firstLetter(words[len(words)-1])
}

func firstLetter(word string) string {
	r, _ := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r))
}

// tint gives a name one of eight tints, always the same one.
func tint(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return strconv.Itoa(int(h.Sum32() % 8))
}

// humanise makes words of a constant: "late_reject" becomes "Late reject".
func humanise(s string) string {
	s = strings.ReplaceAll(s, "_", " ")
	if s == "" {
		return ""
	}
	return firstLetter(s) + s[utf8.RuneLen([]rune(s)[0]):]
}
