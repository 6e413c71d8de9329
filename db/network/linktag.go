package network

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// LinkTags are the campaign parameters that links get, so that a site's statistics tell
// where a visit came from. A tag without a value is not added.
type LinkTags struct {
	Source, Medium, Campaign, Term, Content string
	Hosts                                   []string // whose links are tagged, with all below them
	Everywhere                              bool     // every link, whatever the host; then Hosts say nothing
}

// Tagging is one address, as it was written and as it goes out.
type Tagging struct{ From, To string }

// named are the tags that say something, in the order in which they are added.
func (t LinkTags) named() (list [][2]string) {
	for _, one := range [][2]string{{"utm_source", t.Source}, {"utm_medium", t.Medium}, {"utm_campaign", t.Campaign}, {"utm_term", t.Term}, {"utm_content", t.Content}} {
		if one[1] != "" {
			list = append(list, one)
		}
	}
	return list
}

// Fill puts in for {network} and the like what they stand for, as one lower-case word
// with hyphens. What stands for nothing leaves nothing.
func (t LinkTags) Fill(values map[string]string) LinkTags {
	for _, tag := range []*string{&t.Source, &t.Medium, &t.Campaign, &t.Term, &t.Content} {
		for name, value := range values {
			*tag = strings.ReplaceAll(*tag, "{"+name+"}", slug(value))
		}
		*tag = strings.Trim(strings.TrimSpace(*tag), "-_")
	}
	return t
}

// TagNames are what Fill knows, as people write them.
var TagNames = []string{"network", "client", "campaign"}

// UnknownTag returns the first {word} of a value that stands for nothing; empty if
// there is none.
func UnknownTag(value string) string {
	for rest := value; ; {
		_, after, open := strings.Cut(rest, "{")
		name, more, closed := strings.Cut(after, "}")
		if !open || !closed {
			return ""
		}
		if !slices.Contains(TagNames, name) {
			return "{" + name + "}"
		}
		rest = more
	}
}

// slug makes one word of a name, for an address.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_'
	})
	return strings.Join(words, "-")
}

// Text returns the text with its links tagged. Everything else of it stays as it is,
// byte for byte, and what is tagged already stays too: doing it twice is doing it once.
func (t LinkTags) Text(text string) string {
	var out strings.Builder
	at := 0
	for _, l := range Links(text) {
		from := text[l.Start:l.End]
		to := t.Link(from)
		// Without a scheme it may be a file's name, unless the client names the host.
		if l.Bare && under(hostOf(from), t.Hosts) {
			to = t.add(from)
		}
		if to != from && !ends(to, text[l.End:]) {
			to = from
		}
		out.WriteString(text[at:l.Start] + to)
		at = l.End
	}
	out.WriteString(text[at:])
	return out.String()
}

// ends says whether a reader of the text still sees the address end where it does. A
// fragment goes on with it; other punctuation that was behind it must not.
func ends(address, after string) bool {
	if i := strings.IndexFunc(after, unicode.IsSpace); i >= 0 {
		after = after[:i]
	}
	found := Links(address + after)
	return len(found) > 0 && found[0].Start == 0 && (found[0].End == len(address) || found[0].End > len(address) && after[0] == '#')
}

// Link returns one address with the tags that it does not have yet. What is no web
// address, or of a host that is not asked for, stays as it is.
func (t LinkTags) Link(address string) string {
	if !strings.Contains(address, "://") || !t.covers(address) {
		return address
	}
	return t.add(address)
}

func (t LinkTags) add(address string) string {
	rest, fragment, anchored := strings.Cut(address, "#")
	path, query, asked := strings.Cut(rest, "?")
	for _, tag := range t.named() {
		if !carries(query, tag[0]) {
			if query != "" && !strings.HasSuffix(query, "&") {
				query += "&"
			}
			query, asked = query+tag[0]+"="+escapeTag(tag[1]), true
		}
	}
	if asked {
		path += "?" + query
	}
	if anchored {
		path += "#" + fragment
	}
	return path
}

// carries says whether a query has a parameter, in whatever case.
func carries(query, name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(key); err == nil {
			key = plain
		}
		return strings.EqualFold(key, name)
	})
}

// escapeTag writes a value so that no reader of the text takes its end for
// punctuation: nothing but letters, digits, hyphens and what stands for the rest.
func escapeTag(value string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(value) {
		if alphanumeric(c) || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// shorteners lead elsewhere and drop what is added to their addresses; they are
// tagged only where a client names one.
var shorteners = []string{"bit.ly", "buff.ly", "cutt.ly", "dlvr.it", "fb.me", "goo.gl", "is.gd", "lnkd.in", "ow.ly", "rb.gy", "rebrand.ly", "s.id", "shorturl.at", "t.co", "t.ly", "tiny.cc", "tinyurl.com", "wp.me"}

// covers says whether links to an address are to be tagged.
func (t LinkTags) covers(address string) bool {
	host := hostOf(address)
	if host == "" {
		return false
	}
	if t.Everywhere {
		return !under(host, shorteners)
	}
	return under(host, t.Hosts)
}

func under(host string, hosts []string) bool {
	return slices.ContainsFunc(hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// hostOf is the host of a web address, with a scheme or without, as machines write
// it; empty for anything else.
func hostOf(address string) string {
	if strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return ""
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "https", address
	}
	if !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndex(rest, "@")+1:]
	host, _, _ := strings.Cut(rest, ":")
	return asciiHost(host)
}

// asciiHost is a host as machines write it; empty if it is none.
func asciiHost(host string) string {
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(host), "."))
	if err != nil || !strings.Contains(ascii, ".") {
		return ""
	}
	return ascii
}

// ParseHosts reads hosts as people write them, parted by blanks or commas, an address
// among them. wrong is the first that is none.
func ParseHosts(text string) (hosts []string, wrong string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }) {
		host := strings.TrimPrefix(hostOf(strings.TrimPrefix(word, "*.")), "www.")
		if host == "" {
			return nil, word
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts, ""
}

// Untag puts addresses back as they were written.
func Untag(text string, done []Tagging) string {
	var out strings.Builder
	at := 0
	for _, l := range Links(text) {
		i := slices.IndexFunc(done, func(one Tagging) bool { return one.wrote(text[l.Start:l.End]) })
		out.WriteString(text[at:l.Start])
		if at = l.Start; i >= 0 {
			out.WriteString(done[i].From)
			at += len(done[i].To)
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

// Retag is what Untag undoes: the links of a text that were tagged, as they go out.
func Retag(text string, done []Tagging) string {
	var out strings.Builder
	at := 0
	for _, l := range Links(text) {
		out.WriteString(text[at:l.Start])
		at = l.Start
		if i := slices.IndexFunc(done, func(one Tagging) bool { return one.From == text[l.Start:l.End] }); i >= 0 {
			out.WriteString(done[i].To)
			at = l.End
		}
	}
	return out.String() + text[at:]
}

// SplitTagged is Split for a text whose links get tags on their way: each post fits with
// them, and stands as it was written. Where no post has room for a link with its tags,
// the text is split as it was written.
func (n *Network) SplitTagged(d Draft, done []Tagging) (pieces []string) {
	tagged := d
	tagged.Text, tagged.Link = Retag(d.Text, done), Retag(d.Link, done)
	for _, piece := range n.Split(tagged) {
		pieces = append(pieces, Untag(piece, done))
	}
	if words(pieces) != words(split(d.Text)) {
		return n.Split(d)
	}
	return pieces
}

// words are what posts say, whatever blanks are between.
func words(posts []string) string { return strings.Join(strings.Fields(strings.Join(posts, " ")), "") }

// wrote says whether an address is what was written. A fragment that followed it
// belongs to it only since there is a query before it.
func (one Tagging) wrote(address string) bool {
	rest, is := strings.CutPrefix(address, one.To)
	return is && (rest == "" || rest[0] == '#')
}

// Taggings are the links of a text that were tagged, given the text before and after.
func Taggings(before, after string) (done []Tagging) {
	from, to := Links(before), Links(after)
	if len(from) != len(to) {
		return nil
	}
	for i, l := range from {
		one := Tagging{before[l.Start:l.End], after[to[i].Start:to[i].End]}
		if path, anchor, anchored := strings.Cut(one.To, "#"); anchored && !strings.Contains(one.From, "#") && strings.HasPrefix(before[l.End:], "#"+anchor) {
			one.To = path // the fragment was behind the address, and is still
		}
		if one.From != one.To {
			done = append(done, one)
		}
	}
	return done
}
