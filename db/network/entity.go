package network

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// entity is an address or a remote mention (@user@host) in a text.
type entity struct {
	start, end int
	local      int  // of a mention: where its @user part ends; zero for an address
	sure       bool // of an address: every server takes it for one
}

// entities finds addresses and remote mentions as Mastodon does, in one pass. An
// address that some server might read otherwise is returned as not sure.
func entities(text string) []entity {
	var found []entity
	f := finder{text: text}
	for at := 0; ; {
		i := strings.IndexAny(text[at:], ":@")
		if i < 0 {
			return found
		}
		e, ok := f.at(at + i)
		if !ok {
			at += i + 1
			continue
		}
		found = append(found, e)
		at, f.floor, f.seen, f.dotted = e.end, e.end, e.end, false
	}
}

// finder remembers what lies before the place it looks at.
type finder struct {
	text   string
	floor  int  // where the last entity ended
	seen   int  // up to where dotted is known
	dotted bool // the word so far has a dot, so it may be an address without a scheme
}

func (f *finder) at(i int) (entity, bool) {
	if f.text[i] == '@' {
		return f.mention(i)
	}
	if !strings.HasPrefix(f.text[i:], "://") {
		return entity{}, false
	}
	return f.address(i)
}

var schemes = []string{"https", "http", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "gemini"}

// address reads the address whose scheme ends at i.
func (f *finder) address(i int) (entity, bool) {
	start := i
	for start > f.floor && i-start < 8 && alphanumeric(f.text[start-1]) {
		start--
	}
	if !oneOf(schemes, f.text[start:i]) || !f.mayPrecede(start) {
		return entity{}, false
	}
	host := i + len("://")
	end, sure := readHost(f.text, host)
	if end == host {
		return entity{}, false
	}
	end = readRest(f.text, end)
	return entity{start: start, end: end, sure: sure && !f.glued(start) && end-start <= 4096}, true
}

func (f *finder) mayPrecede(start int) bool {
	r, size := utf8.DecodeLastRuneInString(f.text[:start])
	return size == 0 || !strings.ContainsRune("@＠$#＃\uFFFE\uFEFF\uFFFF", r) && !(r < utf8.RuneSelf && alphanumeric(byte(r)))
}

// glued says whether the word before start has a dot: a server may take it for
// an address without a scheme, which would swallow this one.
func (f *finder) glued(start int) bool {
	for _, r := range f.text[f.seen:start] {
		switch {
		case unicode.IsSpace(r):
			f.dotted = false
		case r == '.':
			f.dotted = true
		}
	}
	f.seen = start
	return f.dotted
}

// readHost reads host and port at from and returns where they end. It is sure
// if the host ends in a top-level domain that everyone knows.
func readHost(text string, from int) (end int, sure bool) {
	clean, labels, loose := true, 0, from
	for at := from; ; {
		label := readLabel(text[at:])
		if label == "" {
			break
		}
		if top := topLevel(label, text[at:]); labels > 0 && clean && top > 0 {
			end, sure = at+top, true
		}
		clean = clean && cleanLabel(label)
		labels++
		at += len(label)
		loose = at
		if at >= len(text) || text[at] != '.' {
			break
		}
		at++
	}
	if !sure {
		end = loose
	}
	if strings.EqualFold(text[from:end], "t.co") {
		sure = false
	}
	return readPort(text, end), sure
}

// readLabel returns what stands before the next dot of a host.
func readLabel(s string) string {
	for i, r := range s {
		if !hostRune(r) {
			return s[:i]
		}
	}
	return s
}

func hostRune(r rune) bool {
	switch {
	case r == '-' || r == '_':
		return true
	case r < utf8.RuneSelf:
		return alphanumeric(byte(r))
	}
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && !strings.ContainsRune("\uFFFE\uFEFF\uFFFF", r)
}

// topLevel returns how many bytes of label are a known top-level domain that
// ends there; rest is the text from the label on.
func topLevel(label, rest string) int {
	size := 0
	for size < len(label) && letter(label[size]) {
		size++
	}
	if size < 2 || size < len(rest) && (alphanumeric(rest[size]) || strings.IndexByte("@+-_", rest[size]) >= 0) {
		return 0
	}
	if _, known := publicsuffix.PublicSuffix("a." + strings.ToLower(label[:size])); !known {
		return 0
	}
	return size
}

// cleanLabel says that no server doubts a label: ASCII or Latin letters, digits
// and inner hyphens.
func cleanLabel(label string) bool {
	if len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, r := range label {
		if r != '-' && !(r < utf8.RuneSelf && alphanumeric(byte(r))) && !(0xDF <= r && r <= 0x24F && r != 0xF7) {
			return false
		}
	}
	return true
}

func readPort(text string, from int) int {
	end := from + 1
	if from >= len(text) || text[from] != ':' {
		return from
	}
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	if end == from+1 {
		return from
	}
	return end
}

// readRest reads path and query at from and returns where they end.
func readRest(text string, from int) int {
	end := readPath(text, from)
	if end < len(text) && text[end] == '?' {
		return readQuery(text, end)
	}
	return end
}

// readPath leaves out closing punctuation, and takes brackets only in pairs.
func readPath(text string, from int) int {
	if from >= len(text) || text[from] != '/' {
		return from
	}
	end := from + 1
	for at := end; at < len(text); {
		if text[at] == '(' {
			next, firm := readBrackets(text, at, 2)
			if next < 0 {
				break
			}
			if at = next; firm {
				end = at
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !pathRune(r) {
			break
		}
		at += size
		if !strings.ContainsRune("!*\"'「」;:=,.$%[]~&|@", r) {
			end = at
		}
	}
	return end
}

func pathRune(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("<>()?", r) }

// readBrackets reads "(...)" with at most depth levels and returns where it
// ends, or -1. It is firm if even an address may end with it.
func readBrackets(text string, from, depth int) (end int, firm bool) {
	firm = true
	at, nested := from+1, false
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == ')':
			return orNone(at+1, at > from+1), firm
		case r == '(' && depth > 1 && !nested:
			inner, innerFirm := readBrackets(text, at, depth-1)
			if inner < 0 {
				return -1, false
			}
			at, nested, firm = inner, true, firm && innerFirm
			continue
		case !pathRune(r):
			return -1, false
		}
		firm = firm && (r < utf8.RuneSelf || unicode.In(r, unicode.Latin, unicode.Cyrillic))
		at += size
	}
	return -1, false
}

func orNone(end int, ok bool) int {
	if !ok {
		return -1
	}
	return end
}

func readQuery(text string, from int) int {
	end := from
	for i, r := range text[from+1:] {
		if !queryRune(r) {
			break
		}
		if r >= utf8.RuneSelf || alphanumeric(byte(r)) || strings.ContainsRune("_&=#/-", r) {
			end = from + 1 + i + utf8.RuneLen(r)
		}
	}
	return end
}

func queryRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return alphanumeric(byte(r)) || strings.ContainsRune("!?*'();:&=+$/%#[]-_.,~|@^", r)
	case r == utf8.RuneError:
		return false
	}
	return r >= 0xA0 && !unicode.IsSpace(r)
}

// mention reads @user@host at i.
func (f *finder) mention(i int) (entity, bool) {
	before, _ := utf8.DecodeLastRuneInString(f.text[:i])
	if i > 0 && (before == '=' || before == '/' || word(before)) {
		return entity{}, false
	}
	local := readRun(f.text, i+1, func(r rune) bool { return r < utf8.RuneSelf && word(r) })
	if local == i+1 || local >= len(f.text) || f.text[local] != '@' {
		return entity{}, false
	}
	end := readRun(f.text, local+1, word)
	rest := f.text[end:]
	if end == local+1 || strings.HasPrefix(rest, "@") || strings.HasPrefix(rest, "＠") || strings.HasPrefix(rest, "://") {
		return entity{}, false
	}
	return entity{start: i, end: end, local: local}, true
}

// readRun reads runes that are in, with dots and hyphens between them.
func readRun(text string, from int, in func(rune) bool) int {
	end := from
	for i, r := range text[from:] {
		switch {
		case in(r):
			end = from + i + max(utf8.RuneLen(r), 1)
		case r != '.' && r != '-' || end == from:
			return end
		}
	}
	return end
}

func word(r rune) bool {
	return r != utf8.RuneError && (unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc))
}

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func alphanumeric(b byte) bool { return letter(b) || '0' <= b && b <= '9' }

func oneOf(words []string, s string) bool {
	for _, w := range words {
		if strings.EqualFold(w, s) {
			return true
		}
	}
	return false
}
