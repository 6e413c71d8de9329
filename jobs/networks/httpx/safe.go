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
	bearers  = regexp.MustCompile(`(?i)\b(bearer|basic|oauth|bot)\s+[^\s"',;]{8,}`)
	named    = regexp.MustCompile(`(?i)\b([a-z_-]*(?:token|secret|password|signature|api[_-]?key|authorization|code))["']?\s*[=:]\s*["']?[^\s"'&,;]{6,}`)
	longRuns = regexp.MustCompile(`[A-Za-z0-9_+=~|%-]{24,}`)
	userinfo = regexp.MustCompile(`(https?://)[^\s/@]+@`)
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
	s = named.ReplaceAllString(s, "$1=***")
	s = bearers.ReplaceAllString(s, "$1 ***")
	s = longRuns.ReplaceAllStringFunc(s, hideRun)
	return cut(s, safeRunes)
}

func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// hideRun hides a long run of token characters unless it is a plain number or a
// plain word, as ids and compound words are.
func hideRun(run string) string {
	if strings.ContainsAny(run, "0123456789") && strings.ContainsFunc(run, unicode.IsLetter) {
		return "***"
	}
	if strings.ContainsFunc(run, unicode.IsUpper) && strings.ContainsFunc(run, unicode.IsLower) && len(run) >= 32 {
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

func lower(s string) string { return strings.ToLower(s) }
