package network

import "time"

// The API states no unit for the limit and no bound on files; UTF-16 is the
// strictest reading, ten pictures what other tools keep to. Videos are not
// held to publish_video: one page of the documentation names it, publishing
// works without.
var facebook = Network{
	Name:    Facebook,
	Text:    TextRule{Max: 63206, Unit: UTF16, Ellipsis: "…", MayBlank: true},
	Comment: TextRule{Max: 8000, Unit: UTF16, Ellipsis: "…"},
	Alt:     AltRule{Image: true},
	Link:    LinkBeside,
	Look:    Look{Fold: Fold{At: 477, Lines: 5, More: "See more", Source: "observed by several guides to the feed, 2024 to 2026; not documented"}, Ink: Ink{Links: true, Tags: true}, Grid: 5, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatLink, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: facebookImage, Text: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 10, Image: facebookImage, Text: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: facebookVideo, Text: true, Comment: true},
		{Format: FormatReel, Min: 1, Max: 1, Video: facebookReel, Text: true, Comment: true},
		{Format: FormatStory, Min: 1, Max: 1, Image: facebookImage, Video: facebookStory},
	},
	Options: []Option{
		{Key: OptFormat, Label: "Show as", Kind: Choose, Default: "post", Choices: []Choice{
			{"post", "Post"}, {"reel", "Reel"}, {"story", "Story"}}},
		{Key: OptPreview, Label: "Show a preview of the link", Help: "Without it the address stands in the text, and Facebook is asked for no card.", Kind: Switch, Default: "true", Formats: []Format{FormatText, FormatLink}},
		{Key: OptTitle, Label: "Video title", Kind: Write, Max: 255, Formats: []Format{FormatVideo, FormatReel}},
	},
	Scopes: []Scope{
		{Name: "pages_manage_posts"},
		{Name: "pages_read_engagement"},
		{Name: "pages_manage_engagement", Comment: true},
	},
	Rates:  []Rate{{What: "reel", Max: 30, Per: 24 * time.Hour, Held: true}},
	Pulls:  true,
	LookUp: Weak,
	Settle: 5 * time.Minute,
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "Meta reviews an app before it may post to Pages of people who have no role in it: pages_manage_posts and pages_read_engagement."},
	},
	Versions: graphVersions,
	GoLive: []string{
		"The app has been reviewed for its scopes, and the business behind it verified.",
		"A Page of which Meta asks Page Publishing Authorization has it, and its people have two-factor sign-in.",
		"HERALD_FACEBOOK_VERSION is a version of the Graph API that Meta still serves: each ends some two years after it came.",
	},
	SignIns: []SignIn{{Label: "Sign in at Facebook", Help: "Then choose among the Pages for which you may create content."}},
}

var (
	facebookImage = FileRule{
		Types:  []string{"image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff"},
		Bytes:  10_000_000,
		Advice: &FileRule{Bytes: 4_000_000},
	}
	facebookVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 10_000_000_000,
		MinTime: time.Second, MaxTime: 4 * time.Hour,
	}
	facebookReel = FileRule{
		Types: []string{"video/mp4"}, Bytes: 10_000_000_000, MinWidth: 540, MinHeight: 960,
		MinTime: 3 * time.Second, MaxTime: 90 * time.Second,
		MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16",
		Codecs: []string{"h264", "hevc", "vp9", "av1"}, Sound: []string{"aac"}, MinFPS: 24, MaxFPS: 60,
	}
	facebookStory = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 10_000_000_000,
		MinTime: time.Second, MaxTime: 60 * time.Second,
		Advice: &FileRule{MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16"},
	}
)
