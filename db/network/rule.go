package network

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Unit is what a network counts as one character.
type Unit string

// The units.
const (
	CodePoints Unit = "code_points"
	UTF16      Unit = "utf16"     // never fewer than code points, so it also stands for "the larger of the two"
	Graphemes  Unit = "graphemes" // what the eye sees as one; with PerURL as Mastodon: addresses and remote mentions shortened
	Pictures   Unit = "pictures"  // as Threads: code points, but an emoji as many as its bytes
	Little     Unit = "little"    // as LinkedIn: code points, and a sign of its markup two
	Entities   Unit = "entities"  // as Slack: code points, and each of & < > as many as its entity has
	Weighted   Unit = "weighted"  // as X: addresses count PerURL, emoji and most scripts of Asia two
	Bytes      Unit = "bytes"     // of UTF-8
)

// TextRule bounds a text. A zero bound means that the network states none.
type TextRule struct {
	Max      int // in Unit
	Unit     Unit
	PerURL   int // what an address counts under Graphemes and Weighted; zero: as it is written
	Bytes    int // bound on the UTF-8 bytes as well
	Ellipsis string
	Hashtags int
	Mentions int
	Links    int    // different addresses
	MayBlank bool   // a post of media alone needs no text
	Bars     string // characters that are refused anywhere in it
}

// AltRule says for which kinds a network takes a description, and how long. Max
// counts code points.
type AltRule struct {
	Image, Video bool
	Max          int
}

// TakesAlt says whether the network has a place for an alt text of such a file in a
// post of the format.
func (n *Network) TakesAlt(f Format, kind MediaKind) bool {
	rule, _ := n.Rule(f)
	return rule.Alt && (kind == Image && n.Alt.Image || kind == Video && n.Alt.Video)
}

// LinkUse is what becomes of Draft.Link.
type LinkUse string

// The uses of a link.
const (
	LinkNone   LinkUse = "none"   // the network has no links beside the text
	LinkBeside LinkUse = "beside" // sent as a field of its own
	LinkInText LinkUse = "text"   // put below the text, and counted with it
)

// FormatRule is what one format takes.
type FormatRule struct {
	Format   Format
	Min, Max int      // files
	Image    FileRule // without Types: pictures are not taken
	Video    FileRule
	Document FileRule // without Types: documents are not taken
	Cover    FileRule // a picture that may stand beside the one video, as its cover; without Types: none may
	Text     bool     // the text is shown
	Words    int      // a bound on the text below that of the network; zero: none
	Link     bool     // Draft.Link is taken
	Comment  bool     // a first comment is possible
	Alt      bool     // descriptions are taken
}

// FileRule is what one file has to be. A zero bound means that none is stated.
type FileRule struct {
	Types              []string // MIME types
	Bytes              int64
	Pixels             int64
	MinWidth, MaxWidth int
	MinHeight          int
	MinShape, MaxShape float64 // width divided by height
	Shape              string  // the same in words, "between 4:5 and 1.91:1"
	MinTime, MaxTime   time.Duration
	Frames             int64     // of a picture that moves; of a document: pages
	Codecs             []string  // of a video's picture, as ffprobe calls them
	Sound              []string  // of its sound
	MinFPS, MaxFPS     float64   // frames a second
	BitRate            int64     // bits a second, picture and sound together
	GIF                *FileRule // what holds for GIFs instead; nil: the same
	Advice             *FileRule // what is better kept to: a warning, not a refusal
}

// OptionKind is how an option is asked for.
type OptionKind string

// The kinds of option.
const (
	Choose OptionKind = "choice"
	Switch OptionKind = "bool" // "true" or "false"
	Write  OptionKind = "text"
	Moment OptionKind = "moment" // a day, as 2026-05-01, with or without a time, as 2026-05-01 18:30
	Many   OptionKind = "many"   // several of Choices, parted by commas
)

// Option is one thing to choose per target.
type Option struct {
	Key      string
	Label    string
	Help     string
	Kind     OptionKind
	Choices  []Choice // of Choose
	Default  string   // what an absent or empty value means
	Required bool
	Max      int                    // characters of Write, in Unit
	Unit     Unit                   // of Max; what the eye sees as one if empty
	Length   func(value string) int // in place of Unit, where the network counts by a rule of its own
	Pattern  *regexp.Regexp         // of Write; the whole value
	Hint     string                 // what Pattern wants: "a two-letter code, as en"
	Formats  []Format               // where it matters; empty for everywhere
	When     map[string][]string    // choices among other options under which it matters; empty for always
	Learned  string                 // the account's setting that lists, parted by commas, which of Choices it has; of Write and Many, what there is to choose (see Offer); of Switch, "false" if it may not be on
	Suggest  []Choice               // of Write: what people mostly mean
	After    string                 // of Moment: the option whose moment comes first
	Fixed    bool                   // the account leaves no choice: only Default is taken
	Silences []string               // values under which no first comment is possible
}

// Clash is two choices that a network does not take together.
type Clash struct {
	Key, With   string   // options; the problem stands at Key
	Values, And []string // their values
	Say         string
}

// Choice is one answer to an Option.
type Choice struct{ Value, Label string }

// The keys of options. They reach adapters in Post.Options.
const (
	OptFormat        = "format"         // facebook, instagram: post, reel, story
	OptTitle         = "title"          // facebook videos, webhook, youtube, tiktok photos
	OptDocTitle      = "document_title" // linkedin
	OptShareToFeed   = "share_to_feed"  // instagram reels
	OptCollaborators = "collaborators"  // instagram: user names, comma separated
	OptThumbOffset   = "thumb_offset"   // instagram reels, tiktok videos: milliseconds
	OptVisibility    = "visibility"     // mastodon, linkedin: each its own words
	OptSpoiler       = "spoiler_text"   // mastodon; counts towards the limit
	OptSensitive     = "sensitive"      // mastodon, threads, telegram
	OptLanguage      = "language"       // mastodon, youtube; bluesky takes several
	OptLinkTitle     = "link_title"     // of the card that a link is shown as
	OptLinkWords     = "link_words"     // the card's description
	OptThread        = "thread"         // bluesky, mastodon, threads, x: several posts, each an answer to the one before
	OptReplies       = "replies"        // who may answer; x, threads
	OptTopic         = "topic"          // threads
	OptMadeByAI      = "made_by_ai"     // x
	OptPreview       = "preview"        // of the link: telegram, discord, slack, facebook
	OptProtect       = "protect"        // telegram
	OptBoard         = "board"          // pinterest: its number
	OptForum         = "forum"          // discord: names the post that a forum begins with
	OptKind          = "kind"           // wordpress: post or page; google_business: update, event or offer
	OptExcerpt       = "excerpt"        // wordpress, mailchimp, ghl_blog
	OptAuthor        = "author"         // ghl_blog: the id of one
	OptSlug          = "slug"           // wordpress, ghl_blog
	OptCategories    = "categories"     // wordpress, ghl_blog: names, comma separated
	OptButton        = "button"         // google_business: what the link is
	OptEvent         = "event_title"    // google_business
	OptStarts        = "starts"         // google_business: a day, with or without a time
	OptEnds          = "ends"           // google_business
	OptCoupon        = "coupon"         // google_business
	OptTerms         = "terms"          // google_business
	OptReshare       = "reshare"        // linkedin: whether people may
	OptPaid          = "paid"           // a paid partnership; x
	OptLabel         = "label"          // bluesky: a warning before the media
	OptPrivacy       = "privacy"        // youtube, tiktok: each its own words
	OptTags          = "tags"           // youtube, wordpress: comma separated
	OptCategory      = "category"       // youtube: its number
	OptForKids       = "made_for_kids"  // youtube
	OptSynthetic     = "synthetic"      // youtube, tiktok: altered or made by a machine
	OptNotify        = "notify"         // youtube, telegram: tell subscribers
	OptComments      = "comments"       // tiktok, wordpress: whether people may
	OptDuet          = "duet"           // tiktok videos: whether people may
	OptStitch        = "stitch"         // tiktok videos: whether people may
	OptDisclose      = "disclose"       // tiktok: whom the post advertises
	OptMusic         = "music"          // tiktok photos: add some
	OptCoverPicture  = "cover_picture"  // tiktok photos: which one, from 1
)

// Scope is one permission that publishing needs.
type Scope struct {
	Name    string
	Or      []string // names that say the same where a network has several ways to sign in
	Formats []Format // which formats need it; empty for all
	Comment bool     // needed only for a first comment, and for a thread
}

// Rate is one limit a network states on how often, of one account unless App or Key
// says otherwise.
type Rate struct {
	What string // post, reel, container, call, media, comment
	Max  int
	Per  time.Duration
	App  bool // of the operator's app, over all its accounts
	Key  bool // of a publisher's key, over all accounts and networks that it reaches
	// Held: Herald keeps to it by itself. The others are met when the network says so:
	// they are not documented, differ by account or server, or are read from the network.
	Held bool
}

// Held are the rates that Herald keeps to by itself for posts of a format.
func (n *Network) Held(f Format) (list []Rate) {
	for _, r := range n.Rates {
		if r.Held && (r.What == "post" || r.What == string(f) || r.Key) {
			list = append(list, r)
		}
	}
	return list
}

// Words is the limit, as "100 posts in 15 min".
func (r Rate) Words() string { return number(r.Max) + " " + r.What + "s in " + length(r.Per) }

// Strength is how far a look-up of recent posts can be trusted.
type Strength string

// The strengths. Presence always proves; they differ in what absence says.
const (
	Proof  Strength = "proof" // not in a complete list: not published
	Weak   Strength = "weak"  // the list leaves things out
	NoLook Strength = "none"  // there is nothing to ask
)

// Rule returns what the network says about a format, and false if it has no
// such format.
func (n *Network) Rule(f Format) (FormatRule, bool) {
	for _, r := range n.Formats {
		if r.Format == f {
			return r, true
		}
	}
	return FormatRule{}, false
}

// Option returns the option of a key.
func (n *Network) Option(key string) (Option, bool) {
	i := slices.IndexFunc(n.Options, func(o Option) bool { return o.Key == key })
	if i < 0 {
		return Option{}, false
	}
	return n.Options[i], true
}

// Value returns what the draft chose for key, or the option's default where it
// chose nothing or something that is no choice. A key that the network does not
// have is empty.
func (n *Network) Value(d Draft, key string) string {
	o, ok := n.Option(key)
	v := d.Options[key]
	if !ok || v == "" || o.Kind == Choose && !slices.ContainsFunc(o.Choices, func(c Choice) bool { return c.Value == v }) {
		return o.Default
	}
	return v
}

// Needs names the scopes that publishing the draft takes.
func (n *Network) Needs(d Draft) []string {
	var names []string
	for _, s := range n.needs(d) {
		names = append(names, s.Name)
	}
	return names
}

// NeedsAny is Needs with the other names of each scope, joined by |: one of them
// is enough. The claim's guard compares it with what an account was granted.
func (n *Network) NeedsAny(d Draft) []string {
	var names []string
	for _, s := range n.needs(d) {
		names = append(names, strings.Join(append([]string{s.Name}, s.Or...), "|"))
	}
	return names
}

// Lacks returns those of Needs that granted does not cover, knowing the other
// names a scope has.
func (n *Network) Lacks(d Draft, granted []string) []string {
	var names []string
	for _, s := range n.needs(d) {
		has := func(name string) bool { return slices.Contains(granted, name) }
		if !has(s.Name) && !slices.ContainsFunc(s.Or, has) {
			names = append(names, s.Name)
		}
	}
	return names
}

func (n *Network) needs(d Draft) []Scope {
	format, comment := n.FormatOf(d), !Blank(d.FirstComment) || n.threaded(d)
	var scopes []Scope
	for _, s := range n.Scopes {
		if (len(s.Formats) == 0 || slices.Contains(s.Formats, format)) && (!s.Comment || comment) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// FormatOf says what shape the draft has on this network: one that it has, as
// near to the draft as it can be. Check tells what is wrong with it.
func (n *Network) FormatOf(d Draft) Format {
	switch n.Value(d, OptFormat) {
	case string(FormatReel):
		return FormatReel
	case string(FormatStory):
		return FormatStory
	}
	f := n.shape(d)
	if _, has := n.Rule(f); !has {
		return n.nearest(d.Media)
	}
	return f
}

func (n *Network) shape(d Draft) Format {
	switch {
	case len(d.Media) == 0:
		return n.bare(d)
	case len(d.Media) == 1:
		return n.single(d.Media[0].Kind)
	case n.covered(d.Media):
		return n.single(Video)
	}
	return n.several(d.Media)
}

// covered says that the files are one video and one picture, on a network where
// that is the video's cover.
func (n *Network) covered(media []Media) bool {
	rule, _ := n.Rule(n.single(Video))
	return len(media) == 2 && media[0].Kind != media[1].Kind && len(rule.Cover.Types) > 0
}

// nearest is the format to speak of where the network has none for the files:
// the first that takes such files, else the first that takes any.
func (n *Network) nearest(media []Media) Format {
	files := n.Formats[0].Format
	for _, r := range slices.Backward(n.Formats) {
		if r.Max == 0 {
			continue
		}
		files = r.Format
	}
	for _, r := range n.Formats {
		if len(media) > 0 && len(r.of(media[0].Kind).Types) > 0 {
			return r.Format
		}
	}
	return files
}

func (n *Network) bare(d Draft) Format {
	switch {
	case n.Media:
		return n.Formats[0].Format
	case d.Link != "" && n.LinkOf(d) == LinkBeside:
		return FormatLink
	}
	return FormatText
}

func (n *Network) single(kind MediaKind) Format {
	switch kind {
	case Video:
	case Document:
		return FormatDocument
	default:
		return FormatImage
	}
	if _, ok := n.Rule(FormatVideo); !ok {
		return FormatReel // Instagram shows every single video as a reel
	}
	return FormatVideo
}

// several prefers images for pictures alone, and a carousel where it takes
// videos too.
func (n *Network) several(media []Media) Format {
	video := slices.ContainsFunc(media, func(m Media) bool { return m.Kind == Video })
	_, images := n.Rule(FormatImages)
	_, carousel := n.Rule(FormatCarousel)
	if carousel && (video || !images) {
		return FormatCarousel
	}
	return FormatImages
}
