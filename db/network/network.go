// Package network is the catalogue: what each network is called, what it takes,
// how it counts text, and what is wrong with a draft for it. Composer, import,
// approval and publisher all read it, so they cannot disagree. One file per
// network holds its data; start with Network.
package network

import (
	"cmp"
	"slices"
	"time"
)

// Network is one network's entry: data that everything else reads. Entries are
// shared and never change; With returns a changed copy.
type Network struct {
	Name  Name
	Label string // as people write it, "Facebook"

	Text     TextRule
	Comment  TextRule // the first comment; Max 0 if the network takes none
	Alt      AltRule
	Link     LinkUse
	Look     Look
	Formats  []FormatRule
	Options  []Option
	Clashes  []Clash
	Scopes   []Scope
	Rates    []Rate
	Thread   int           // posts that a thread may have; zero: there are none
	Media    bool          // nothing is published without a file
	Pulls    bool          // fetches media from an address; else it is sent bytes
	Key      bool          // takes a key of ours that makes a repeated commit harmless
	KeyHolds time.Duration // how long it remembers that key; zero for good
	LookUp   Strength
	Settle   time.Duration // until a post that was made is sure to be in the network's list
	Hurdles  []Hurdle      // what stands before formats; the first that fits counts
	GoLive   []string      // what an operator has to see to before the first real post
	Versions *Versions     // of its API; nil if it ends none

	Address string // what the address of an account is, as a person says it; empty where accounts have none
	Origin  bool   // the address is a server alone: scheme and host
	Signs   bool   // the token is a secret that signs what Herald sends: Herald can make one, and the address alone is the account

	Renews  *Renewal // how connections are kept without a person; nil if they cannot be
	SignIns []SignIn // ways to connect accounts by signing in there
	Entries []Entry  // ways to connect one by what a person types

	learn map[string]func(*Network, int64) // account settings that With applies
}

// All returns every network, sorted by name.
func All() []*Network { return slices.Clone(all) }

// AddressOf says what the address of an account on a network is; empty where
// accounts have none of their own, and for a network that is not known.
func AddressOf(name Name) string {
	n, ok := Get(name)
	if !ok {
		return ""
	}
	return n.Address
}

// Get returns the entry of a canonical name. For what people or other services
// write, use Parse first.
func Get(name Name) (*Network, bool) {
	i, ok := slices.BinarySearchFunc(all, name, func(n *Network, name Name) int { return cmp.Compare(n.Name, name) })
	if !ok {
		return nil, false
	}
	return all[i], true
}

var all = []*Network{
	entry(bluesky),
	entry(discord),
	entry(facebook),
	entry(ghlBlog),
	entry(googleBusiness),
	entry(instagram),
	entry(linkedin),
	entry(mailchimp),
	entry(mastodon),
	entry(medium),
	entry(pinterest),
	entry(slack),
	entry(telegram),
	entry(threads),
	entry(tiktok),
	entry(webhook),
	entry(wordpress),
	entry(x),
	entry(youtube),
}

func entry(n Network) *Network {
	n.Label = Label(n.Name)
	return &n
}

// Name is a network's canonical lower-case name.
type Name string

// The networks known so far.
const (
	Bluesky        Name = "bluesky"
	Discord        Name = "discord"
	Facebook       Name = "facebook"
	GHLBlog        Name = "ghl_blog"
	GoogleBusiness Name = "google_business"
	Instagram      Name = "instagram"
	LinkedIn       Name = "linkedin"
	Mailchimp      Name = "mailchimp"
	Mastodon       Name = "mastodon"
	Medium         Name = "medium"
	Pinterest      Name = "pinterest"
	Slack          Name = "slack"
	Telegram       Name = "telegram"
	Threads        Name = "threads"
	TikTok         Name = "tiktok"
	Webhook        Name = "webhook"
	WordPress      Name = "wordpress"
	X              Name = "x"
	YouTube        Name = "youtube"
)

// MediaKind is what a file is to a network.
type MediaKind string

// The kinds of media.
const (
	Image    MediaKind = "image"
	Video    MediaKind = "video"
	Document MediaKind = "document" // a PDF, that readers leaf through
)

// Media is one attachment, as far as rules care.
type Media struct {
	Kind     MediaKind
	Type     string // sniffed MIME type, as image/jpeg
	Bytes    int64
	Width    int // pixels, upright; of a document the points of its first page
	Height   int
	Duration time.Duration // zero if not known or not a video
	Frames   int64         // of a picture that moves, zero if it does not; of a document its pages; zero if nobody knows
	Alt      string

	// Pending: nobody has looked at the file yet, so no rule is held against it.
	Pending bool

	// Of a video, as ffprobe says; zero where nobody has looked.
	VideoCodec string
	AudioCodec string
	FPS        float64
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
	FormatDocument Format = "document"
)

// Problem is one thing a network would refuse, in a sentence for the writer.
type Problem struct {
	Field string // text, link, first_comment, media, media.2 (its third file), options.KEY
	Code  string // short and stable: text_too_long, media_missing, ...
	Say   string
	Warn  bool // true if the post goes out all the same
	Part  int  `json:",omitempty"` // which post of a thread, from 1; zero: all of it
}
