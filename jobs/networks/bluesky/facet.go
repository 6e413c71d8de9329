package bluesky

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"herald/db/network"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// facet makes a stretch of the text a link, a mention or a tag. The server makes
// nothing of the text by itself.
type facet struct {
	Index    index     `json:"index"`
	Features []feature `json:"features"`
}

// index is a range of UTF-8 bytes, its end left out.
type index struct {
	Start int `json:"byteStart"`
	End   int `json:"byteEnd"`
}

type feature struct {
	Type string `json:"$type"`
	URI  string `json:"uri,omitempty"`
	DID  string `json:"did,omitempty"`
	Tag  string `json:"tag,omitempty"`
}

const facetType = "app.bsky.richtext.facet#"

// facets are those of a text, from left to right. A name that nobody has stays
// plain text.
func (r run) facets(ctx context.Context, text string) ([]facet, error) {
	all := append(links(text), tags(text)...)
	for _, m := range mentions(text) {
		did, err := r.resolve(ctx, m.DID)
		if err != nil {
			return nil, err
		}
		if did != "" {
			all = append(all, facet{index{m.start, m.end}, []feature{{Type: facetType + "mention", DID: did}}})
		}
	}
	return apart(all), nil
}

// apart puts facets in order and keeps of two that overlap the first.
func apart(all []facet) (list []facet) {
	slices.SortStableFunc(all, func(a, b facet) int { return a.Index.Start - b.Index.Start })
	end := 0
	for _, f := range all {
		if f.Index.Start >= end {
			list, end = append(list, f), f.Index.End
		}
	}
	return list
}

func links(text string) (list []facet) {
	for _, l := range network.Links(text) {
		address := text[l.Start:l.End]
		if l.Bare {
			address = "https://" + address
		}
		list = append(list, facet{index{l.Start, l.End}, []feature{{Type: facetType + "link", URI: address}}})
	}
	return list
}

// mostTag is the longest tag, in graphemes.
const mostTag = 64

// tags finds #words at the start of the text or after a space: to the next
// space, without closing punctuation, and not a number alone.
func tags(text string) (list []facet) {
	before := ' '
	for i, r := range text {
		if (r == '#' || r == '＃') && unicode.IsSpace(before) {
			from := i + utf8.RuneLen(r)
			word := tagOf(text[from:])
			if word != "" && uniseg.GraphemeClusterCount(word) <= mostTag {
				list = append(list, facet{index{i, from + len(word)}, []feature{{Type: facetType + "tag", Tag: word}}})
			}
		}
		before = r
	}
	return list
}

func tagOf(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || r == '#' || r == '＃'
	})
	if end >= 0 {
		s = s[:end]
	}
	s = strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsPunct(r) || r == '\u200d' })
	if strings.HasPrefix(s, "\ufe0f") || strings.HasPrefix(s, "\u20e3") || strings.Trim(s, "0123456789") == "" {
		return ""
	}
	return s
}

// mention is a handle in the text; DID holds the handle until it is resolved.
type mention struct {
	start, end int
	DID        string
}

// mostMentions bounds how many handles one text may ask for.
const mostMentions = 20

// mentions finds @handle.example at the start, after a space or a bracket.
func mentions(text string) (list []mention) {
	before := ' '
	for i, r := range text {
		if r == '@' && (unicode.IsSpace(before) || before == '(') && len(list) < mostMentions {
			end := i + 1
			for end < len(text) && (text[end] == '.' || text[end] == '-' || text[end] < utf8.RuneSelf && alphanumeric(text[end])) {
				end++
			}
			handle := strings.TrimRight(text[i+1:end], ".-")
			if isHandle(handle) {
				list = append(list, mention{i, i + 1 + len(handle), strings.ToLower(handle)})
			}
		}
		before = r
	}
	return list
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// isHandle says whether a handle can be one: a host name with a top-level domain
// that everyone knows.
func isHandle(s string) bool {
	found := network.Links(s)
	return len(found) == 1 && found[0].Bare && found[0].Start == 0 && found[0].End == len(s) && len(s) <= 253 || strings.HasSuffix(s, ".test")
}

// resolve asks whose a handle is; "" if it is nobody's.
func (r run) resolve(ctx context.Context, handle string) (string, error) {
	var whose struct {
		DID string `json:"did"`
	}
	c := rest.Call{Step: httpx.Prepare, Method: http.MethodGet, Path: "xrpc/com.atproto.identity.resolveHandle", Query: url.Values{"handle": {handle}}}
	answer, err := r.do(ctx, r.job, c, &whose)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Validation:
		return "", nil
	case f != nil:
		return "", f
	case !strings.HasPrefix(whose.DID, "did:"):
		return "", httpx.Unparsable(httpx.Prepare, answer)
	}
	return whose.DID, nil
}
