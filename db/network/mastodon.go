package network

import (
	"regexp"
	"time"
)

// Every server sets its own limits; these are the defaults of the software, and
// an account's settings carry what its server said (With). "direct" is not
// among the visibilities: a post that nobody sees is no publication. Nothing bounds a
// thread; the bound is that of the other networks, and each of its posts goes out
// with the same visibility and content warning.
var mastodon = Network{
	Name:    Mastodon,
	Text:    TextRule{Max: 500, Unit: Graphemes, PerURL: 23, Ellipsis: "…", MayBlank: true},
	Comment: TextRule{Max: 500, Unit: Graphemes, PerURL: 23, Ellipsis: "…"},
	Alt:     AltRule{Image: true, Video: true, Max: 1500},
	Link:    LinkInText,
	Thread:  25,
	Look:    Look{Fold: Fold{Lines: 32, More: "Read more", Source: "the web app's own 706 pixels of height, which are 32 lines; other apps show all"}, Ink: Ink{true, true, true}, Grid: 4, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: mastodonImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 4, Image: mastodonImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: mastodonVideo, Text: true, Link: true, Comment: true, Alt: true},
	},
	Options: []Option{
		threadOption,
		{Key: OptVisibility, Label: "Who sees it", Kind: Choose, Default: "public", Choices: []Choice{
			{"public", "Everyone"}, {"unlisted", "Everyone, not in timelines"}, {"private", "Followers"}}},
		{Key: OptSpoiler, Label: "Content warning", Help: "Counts towards the limit.", Kind: Write, Max: 500},
		{Key: OptSensitive, Label: "Hide the media behind a click", Kind: Switch, Default: "false"},
		{Key: OptLanguage, Label: "Language", Kind: Write, Max: 3, Suggest: languages,
			Pattern: regexp.MustCompile(`^[a-z]{2,3}$`), Hint: "a language code, as en"},
	},
	Scopes: []Scope{
		{Name: "write:statuses", Or: []string{"write"}},
		{Name: "write:media", Or: []string{"write"}, Formats: []Format{FormatImage, FormatImages, FormatVideo}},
		{Name: "read:statuses", Or: []string{"read"}},
	},
	Rates: []Rate{
		{What: "call", Max: 300, Per: 5 * time.Minute},
		{What: "media", Max: 30, Per: 30 * time.Minute},
		{What: "post", Max: 300, Per: 3 * time.Hour},
	},
	Key:      true,
	KeyHolds: time.Hour,
	LookUp:   Proof,
	Settle:   2 * time.Minute,

	Address: "the server, as https://mastodon.social",
	Origin:  true,
	learn: map[string]func(*Network, int64){
		"max_characters": func(n *Network, v int64) { n.Text.Max, n.Comment.Max = int(v), int(v) },
		"characters_reserved_per_url": func(n *Network, v int64) {
			n.Text.PerURL, n.Comment.PerURL = int(v), int(v)
		},
		"max_media_attachments": func(n *Network, v int64) {
			n.each(func(r *FormatRule) {
				if r.Format == FormatImages {
					r.Max = int(v)
				}
			})
		},
		"description_limit":  func(n *Network, v int64) { n.Alt.Max = int(v) },
		"image_size_limit":   func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Image.Bytes = v }) },
		"image_matrix_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Image.Pixels = v }) },
		"video_size_limit":   func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Video.Bytes = v }) },
		"video_matrix_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Video.Pixels = v }) },
	},
	GoLive: []string{
		"The server reads the account's limits to Herald when it is checked; check it once after it was connected.",
	},
	SignIns: []SignIn{{Label: "Sign in at the server", Help: "The account that you are signed in with there."}},
	Entries: []Entry{{Key: "token", Label: "Access token", Fields: []Field{
		{Name: "handle", Label: "What people call it", Hint: "@bakery"},
		{Name: "address", Label: "Server", Hint: "https://mastodon.social"},
		{Name: "token", Label: "Access token", Help: "On the server, under Preferences, Development: a new application with read, write:statuses and write:media.", Secret: true},
		{Name: "remote_id", Label: "The account's number there", Optional: true},
	}}},
}

var (
	mastodonImage = FileRule{
		Types: []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/heic", "image/heif", "image/avif"},
		Bytes: 16_777_216, Pixels: 33_177_600,
	}
	mastodonVideo = FileRule{
		Types: []string{"video/mp4", "video/webm", "video/quicktime", "video/ogg"},
		Bytes: 103_809_024, Pixels: 8_294_400, MaxFPS: 120,
	}
)
