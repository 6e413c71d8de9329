package network

import (
	"regexp"
	"time"
)

// The text has two bounds, graphemes and bytes. Links, mentions and tags count as
// they are written; the server links nothing by itself. The limits of videos are
// set by the video service and may be settings of the account. A record's key is
// chosen by Herald, so a repeated commit is harmless for good. Nothing bounds a
// thread there; the bound is that of the other networks.
var bluesky = Network{
	Name:    Bluesky,
	Text:    TextRule{Max: 300, Unit: Graphemes, Bytes: 3000, Ellipsis: "...", MayBlank: true},
	Comment: TextRule{Max: 300, Unit: Graphemes, Bytes: 3000, Ellipsis: "..."},
	Alt:     AltRule{Image: true, Video: true, Max: 1000},
	Link:    LinkBeside,
	Thread:  25,
	Look:    Look{Ink: Ink{true, true, true}, Grid: 4},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatLink, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: blueskyImage, Text: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 4, Image: blueskyImage, Text: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: blueskyVideo, Text: true, Comment: true, Alt: true},
	},
	Options: []Option{
		threadOption,
		{Key: OptLanguage, Label: "Languages", Help: "Up to three language codes, separated by commas.", Kind: Write, Max: 40,
			Pattern: regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*(\s*,\s*[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*){0,2}$`),
			Hint:    "up to three language codes, as en, de"},
		{Key: OptLinkTitle, Label: "Title of the link's card", Help: "Bluesky does not read the page itself; without a title the card shows the host.", Kind: Write, Max: 300, Formats: []Format{FormatLink}},
		{Key: OptLinkWords, Label: "Description on the link's card", Kind: Write, Max: 1000, Formats: []Format{FormatLink}},
		{Key: OptLabel, Label: "Content warning", Kind: Choose, Default: "none", Formats: []Format{FormatImage, FormatImages, FormatVideo}, Choices: []Choice{
			{"none", "None"}, {"sexual", "Suggestive"}, {"nudity", "Nudity"}, {"porn", "Adult"}, {"graphic-media", "Graphic"}}},
	},
	Rates: []Rate{
		{What: "post", Max: 1666, Per: time.Hour, Held: true},
		{What: "media", Max: 1000, Per: 24 * time.Hour},
		{What: "call", Max: 3000, Per: 5 * time.Minute},
	},
	Key:    true,
	LookUp: Proof,
	Settle: 2 * time.Minute,
	learn: map[string]func(*Network, int64){
		"image_size_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Image.Bytes = v }) },
		"video_size_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Video.Bytes = v }) },
		"video_seconds": func(n *Network, v int64) {
			n.each(func(r *FormatRule) { r.Video.MaxTime = time.Duration(v) * time.Second })
		},
	},
	GoLive: []string{
		"The account has confirmed its e-mail address, or videos are refused.",
		"The token is an app password, not the password of the account.",
	},
	Renews: &Renewal{Life: 90 * 24 * time.Hour, From: FromIssue, Source: "the lifetimes of the reference server: a refresh token of 90 days, which rotates"},
	Entries: []Entry{{Key: "password", Label: "App password", Fields: []Field{
		{Name: "handle", Label: "Handle", Hint: "@bakery.bsky.social"},
		{Name: "token", Label: "App password", Hint: "xxxx-xxxx-xxxx-xxxx", Help: "At Bluesky, under Settings, Privacy and security, App passwords. Not the password of the account itself.", Secret: true},
		{Name: "address", Label: "Server", Hint: "https://bsky.social", Help: "Only for an account that lives on a server of its own.", Optional: true},
	}}},
}

var (
	blueskyImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/webp", "image/gif"}, Bytes: 2_000_000}
	blueskyVideo = FileRule{
		Types: []string{"video/mp4"}, Bytes: 300_000_000,
		MaxTime: 3 * time.Minute,
		Codecs:  []string{"h264"}, Sound: []string{"aac"},
	}
)
