package network

import (
	"regexp"
	"strings"
	"time"
)

// Captions are counted in UTF-16 units, which are never fewer than code
// points. The 5 hashtags that the press reported are a setting of the account
// (max_hashtags) until the API says so. Absence is proof only where container
// and list agree; the adapter says so.
var instagram = Network{
	Name:    Instagram,
	Text:    TextRule{Max: 2200, Unit: UTF16, Ellipsis: "…", Hashtags: 30, Mentions: 20, MayBlank: true},
	Comment: TextRule{Max: 2200, Unit: UTF16, Ellipsis: "…", Hashtags: 30},
	Alt:     AltRule{Image: true, Max: 1000},
	Link:    LinkNone,
	Look:    Look{Fold: Fold{At: 125, Lines: 2, More: "more", Source: "observed by many guides and named by Meta's for ads; not documented for posts"}, Ink: Ink{Tags: true, Mentions: true}},
	Formats: []FormatRule{
		{Format: FormatImage, Min: 1, Max: 1, Image: instagramImage, Text: true, Comment: true, Alt: true},
		{Format: FormatReel, Min: 1, Max: 1, Video: instagramReel, Text: true, Comment: true},
		{Format: FormatCarousel, Min: 2, Max: 10, Image: instagramImage, Video: instagramReel, Text: true, Comment: true, Alt: true},
		{Format: FormatStory, Min: 1, Max: 1, Image: instagramStoryImage, Video: instagramStoryVideo},
	},
	Options: []Option{
		{Key: OptFormat, Label: "Show as", Kind: Choose, Default: "post", Choices: []Choice{
			{"post", "Post or reel"}, {"story", "Story"}}},
		{Key: OptShareToFeed, Label: "Also show the reel in the feed", Kind: Switch, Default: "true", Formats: []Format{FormatReel}},
		{Key: OptCollaborators, Label: "Collaborators", Help: "Up to three user names, separated by commas.", Kind: Write, Max: 100,
			Pattern: regexp.MustCompile(`^@?[A-Za-z0-9._]{1,30}(\s*,\s*@?[A-Za-z0-9._]{1,30}){0,2}$`),
			Hint:    "up to three user names, separated by commas",
			Formats: []Format{FormatImage, FormatReel, FormatCarousel}},
		{Key: OptThumbOffset, Label: "Cover", Help: "The moment of the video to show as its cover, in milliseconds.", Kind: Write, Max: 6,
			Pattern: regexp.MustCompile(`^[0-9]{1,6}$`), Hint: "a number of milliseconds", Formats: []Format{FormatReel}},
	},
	Scopes: []Scope{
		{Name: "instagram_basic", Or: []string{"instagram_business_basic"}},
		{Name: "instagram_content_publish", Or: []string{"instagram_business_content_publish"}},
		{Name: "instagram_manage_comments", Or: []string{"instagram_business_manage_comments"}, Comment: true},
	},
	Rates:  []Rate{{What: "post", Max: 100, Per: 24 * time.Hour}, {What: "container", Max: 400, Per: 24 * time.Hour}},
	Media:  true,
	Pulls:  true,
	LookUp: Proof,
	Settle: 2 * time.Minute,
	learn: map[string]func(*Network, int64){
		"max_hashtags": func(n *Network, v int64) { n.Text.Hashtags = int(v) },
	},
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "Meta reviews an app before it may post to accounts of people who have no role in it. The account has to be a business or a creator."},
	},
	Versions: graphVersions,
	GoLive: []string{
		"HERALD_PROVIDER_URL_TTL covers the time that Instagram takes to fetch a video and to work on it.",
		"The media store, or HERALD_BASE_URL, answers Instagram over HTTPS without a sign-in.",
		"The account is a professional one, and Page Publishing Authorization or two-factor sign-in is done where Meta asks for it.",
	},
	Renews:  &Renewal{From: FromToken, Source: "Meta's documentation: a token of 60 days is renewed once it is a day old and while it lives"},
	SignIns: []SignIn{{Label: "Sign in at Instagram", Help: "A professional account, business or creator. The connection renews itself."}},
}

var (
	instagramImage = FileRule{
		Types: []string{"image/jpeg"}, Bytes: 8 << 20,
		MinShape: 0.8, MaxShape: 1.91, Shape: "between 4:5 and 1.91:1",
		Advice: &FileRule{MinWidth: 320},
	}
	instagramStoryImage = FileRule{
		Types: []string{"image/jpeg"}, Bytes: 8_000_000,
		Advice: &FileRule{MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16"},
	}
	instagramReel = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 300_000_000, MaxWidth: 1920,
		MinShape: 0.01, MaxShape: 10, Shape: "between 0.01:1 and 10:1",
		MinTime: 3 * time.Second, MaxTime: 15 * time.Minute,
		Codecs: []string{"h264", "hevc"}, Sound: []string{"aac"}, MinFPS: 23, MaxFPS: 60, BitRate: 25_000_000,
		Advice: &FileRule{MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16"},
	}
	instagramStoryVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 100_000_000, MaxWidth: 1920,
		MinTime: 3 * time.Second, MaxTime: 60 * time.Second,
		Codecs: []string{"h264", "hevc"}, Sound: []string{"aac"}, MinFPS: 23, MaxFPS: 60, BitRate: 25_000_000,
		Advice: &FileRule{MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16"},
	}
)

// Names are the user names of a value that separates them by commas, without the @
// that people write before them.
func Names(value string) (names []string) {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimPrefix(strings.TrimSpace(name), "@"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
