package httpx

import (
	"regexp"
	"strings"
	"unicode"
)

// safeRunes is the length at which SafeText cuts.
const safeRunes = 200

var (
	queries  = regexp.MustCompile(`(https?://[^\s?#"'<>]*)[?#][^\s"'<>]*`)
	userinfo = regexp.MustCompile(`(https?://)[^\s/@]+@`)
	bearers  = regexp.MustCompile(`(?i)\b(bearer|basic|oauth)\s+[^\s"',;]{16,}`)
	named    = regexp.MustCompile(`(?i)\b([a-z_-]*(?:token|secret|password|signature|api[_-]?key|authorization))["']?\s*[=:]\s*["']?[^\s"'&,;]{12,}`)
	webToken = regexp.MustCompile(`\beyJ[A-Za-z0-9_.-]{10,}`)
	longRuns = regexp.MustCompile(`[A-Za-z0-9_+=~|%-]{24,}`)
)

// SafeText makes a network's own message fit for evidence: one line, at most
// 200 characters, without queries of addresses and without whatever looks like
// a credential. It takes too much rather than too little.
func SafeText(s string) string {
	if len(s) > 16*safeRunes {
		s = s[:16*safeRunes]
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), blank), " ")
	s = userinfo.ReplaceAllString(s, "$1")
	s = queries.ReplaceAllString(s, "$1")
	s = webToken.ReplaceAllString(s, "***")
	s = bearers.ReplaceAllString(s, "$1 ***")
	s = named.ReplaceAllString(s, "$1=***")
	s = longRuns.ReplaceAllStringFunc(s, hideRun)
	return cut(s, safeRunes)
}

func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// hideRun hides a long run of token characters unless it is a plain number or a
// plain word, as ids and compound words are.
func hideRun(run string) string {
	var digits, upper, small int
	for _, r := range run {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			small++
		}
	}
	if (digits > 0 && upper+small > 0) || (upper > 2 && small > 2) {
		return "***"
	}
	return run
}

// printable keeps the printable ASCII of s, at most n characters.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), n)]
}

func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
