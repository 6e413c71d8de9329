// Package network is the catalogue: what each network is called, what it takes,
// how it counts text, and what is wrong with a draft for it. Composer, import,
// approval and publisher all read it, so they cannot disagree. One file per
// network holds its data; start with Network.
package network

import "time"

// Name is a network's canonical lower-case name.
type Name string

// The networks known so far.
const (
	Facebook  Name = "facebook"
	Instagram Name = "instagram"
	Mastodon  Name = "mastodon"
	Webhook   Name = "webhook"
)

// MediaKind is what a file is to a network.
type MediaKind string

// The kinds of media.
const (
	Image MediaKind = "image"
	Video MediaKind = "video"
)

// Media is one attachment, as far as rules care.
type Media struct {
	Kind     MediaKind
	Type     string // sniffed MIME type, as image/jpeg
	Bytes    int64
	Width    int // pixels, upright
	Height   int
	Duration time.Duration // zero if not known or not a video
	Alt      string
}

// Draft is what one account would get: everything that reaches the network.
type Draft struct {
	Text         string
	Link         string // an address attached beside the text; empty for none
	FirstComment string
	Media        []Media
	Options      map[string]string // per-target options, keys as in Network.Options
}

// Format is the shape of a post, which decides the calls that make it.
type Format string

// The formats.
const (
	FormatText     Format = "text"
	FormatLink     Format = "link"
	FormatImage    Format = "image"
	FormatImages   Format = "images"
	FormatVideo    Format = "video"
	FormatReel     Format = "reel"
	FormatStory    Format = "story"
	FormatCarousel Format = "carousel"
)

// Problem is one thing a network would refuse, in a sentence for the writer.
type Problem struct {
	Field string // text, link, first_comment, media, media.2 (its third file), options.KEY
	Code  string // short and stable: text_too_long, media_missing, ...
	Say   string
	Warn  bool // true if the post goes out all the same
}
