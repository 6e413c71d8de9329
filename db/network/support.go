package network

import (
	"slices"
	"strings"
	"time"
)

// Support is how far a kind of post can be used on a network.
type Support string

// The answers.
const (
	Supported    Support = "supported"
	NeedsReview  Support = "review"       // once the network has looked at the operator's app
	Configurable Support = "configurable" // depends on how the account is connected
	Impossible   Support = "impossible"   // there is no way to it by the network's API
)

// Supports lists the answers in the order of a legend.
func Supports() []Support { return []Support{Supported, NeedsReview, Configurable, Impossible} }

// supportWords are what a table of text has for an answer, and what a legend says.
var supportWords = map[Support]struct{ short, long string }{
	Supported:    {"yes", "Supported"},
	NeedsReview:  {"review", "Needs the network's review of the app"},
	Configurable: {"depends", "Depends on how the account is connected"},
	Impossible:   {"–", "Not possible"},
}

// Short is the answer in a table of text.
func (s Support) Short() string { return supportWords[s].short }

// Long says what the answer means.
func (s Support) Long() string { return supportWords[s].long }

// Files names the files that take an alt text; empty where none do.
func (a AltRule) Files() string {
	switch {
	case a.Image && a.Video:
		return "all files"
	case a.Image:
		return "pictures"
	case a.Video:
		return "videos"
	}
	return ""
}

// Hurdle stands before some of a network's formats, or before all of them.
type Hurdle struct {
	Support Support
	Formats []Format // empty for all that the network has
	Say     string   // what it takes, or what happens without
}

// Shapes lists the formats in the order in which a table shows them.
func Shapes() []Format {
	return []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatCarousel, FormatVideo, FormatReel, FormatStory, FormatDocument}
}

// Supports says how far a format can be used, and in a sentence why not without
// more ado; empty where it just works.
func (n *Network) Supports(f Format) (Support, string) {
	instead, say := n.instead(f)
	_, has := n.Rule(instead)
	for _, h := range n.Hurdles {
		if slices.Contains(h.Formats, f) || has && (len(h.Formats) == 0 || slices.Contains(h.Formats, instead)) {
			return h.Support, h.Say
		}
	}
	if !has {
		return Impossible, "It has no such posts."
	}
	return Supported, say
}

// instead is the format that does what another would, where a network has one
// for both.
func (n *Network) instead(f Format) (Format, string) {
	if _, has := n.Rule(f); has {
		return f, ""
	}
	switch f {
	case FormatLink:
		if n.Link == LinkInText {
			return FormatText, "The link stands in the text."
		}
	case FormatImages:
		return FormatCarousel, "They are a carousel."
	case FormatVideo:
		return FormatReel, "It is a reel."
	}
	return f, ""
}

// Longest is the longest video that any format takes; zero where none is stated,
// or there are none.
func (n *Network) Longest() (longest time.Duration) {
	for _, r := range n.Formats {
		longest = max(longest, r.Video.MaxTime)
	}
	return longest
}

// Most is how many files one post may have.
func (n *Network) Most() (files int) {
	for _, r := range n.Formats {
		files = max(files, r.Max)
	}
	return files
}

// TakesComment says whether a first comment is possible in some format.
func (n *Network) TakesComment() bool {
	return n.Comment.Max > 0 && slices.ContainsFunc(n.Formats, func(r FormatRule) bool { return r.Comment })
}

// Limit says how long a text may be, as "2,200 characters"; empty where there is
// no such text.
func (r TextRule) Limit() string {
	if r.Max == 0 {
		return ""
	}
	return number(r.Max) + " " + r.Unit.words()
}

// words is what a limit counts, for people.
func (u Unit) words() string {
	switch u {
	case Weighted:
		return "units as X counts them"
	case Bytes:
		return "bytes"
	case Graphemes:
		return "characters as the eye sees them"
	}
	return "characters"
}

// VideoLimit says how long and how large a video may be; empty where none is
// stated.
func (n *Network) VideoLimit() string {
	var bounds []string
	if longest := n.Longest(); longest > 0 {
		bounds = append(bounds, length(longest))
	}
	if most := n.largest(); most > 0 {
		bounds = append(bounds, size(most))
	}
	return strings.Join(bounds, ", ")
}

// size writes a bound on bytes, in GB where that is what people say.
func size(bound int64) string {
	if gigabyte := int64(1_000_000_000); bound >= gigabyte && bound%gigabyte == 0 {
		return number(int(bound/gigabyte)) + " GB"
	}
	return bytes(bound, bound)
}

func (n *Network) largest() (most int64) {
	for _, r := range n.Formats {
		most = max(most, r.Video.Bytes)
	}
	return most
}

// By lists the publishers besides direct that reach the network.
func (n *Network) By() (list []Publisher) {
	for _, p := range Aggregators() {
		if Reaches(n.Name, p) {
			list = append(list, p)
		}
	}
	return list
}
