package network

import "time"

// The limits are those of an account without Premium. Longer texts and videos
// are settings of the account (max_characters, video_seconds); how X counts a
// long text is not published, so it is weighed here all the same, and X decides.
// The list of an account's posts is behind by seconds and leaves out what is
// withheld, so absence is weak.
var x = Network{
	Name:    X,
	Text:    TextRule{Max: 280, Unit: Weighted, PerURL: 23, Ellipsis: "...", MayBlank: true},
	Comment: TextRule{Max: 280, Unit: Weighted, PerURL: 23, Ellipsis: "..."},
	Alt:     AltRule{Image: true, Max: 1000},
	Link:    LinkInText,
	Thread:  25,
	Look:    Look{Fold: Fold{At: 280, More: "Show more", Source: "the length that accounts without Premium have; longer posts are cut there"}, Ink: Ink{true, true, true}, Grid: 4, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: xPicture, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 4, Image: xImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: xVideo, Text: true, Link: true, Comment: true},
	},
	Options: []Option{
		threadOption,
		{Key: OptReplies, Label: "Who can reply", Kind: Choose, Default: "everyone", Choices: []Choice{
			{"everyone", "Everyone"}, {"following", "Accounts you follow"}, {"mentionedUsers", "Only accounts you mention"},
			{"subscribers", "Subscribers"}, {"verified", "Verified accounts"}}},
		{Key: OptMadeByAI, Label: "Made with AI", Kind: Switch, Default: "false"},
		{Key: OptPaid, Label: "Paid partnership", Kind: Switch, Default: "false"},
	},
	Scopes: []Scope{
		{Name: "tweet.write"},
		{Name: "tweet.read"},
		{Name: "users.read"},
		{Name: "media.write", Formats: []Format{FormatImage, FormatImages, FormatVideo}},
	},
	Rates: []Rate{
		{What: "post", Max: 100, Per: 15 * time.Minute, Held: true},
		{What: "post", Max: 10_000, Per: 24 * time.Hour, App: true, Held: true},
		{What: "media", Max: 1875, Per: 15 * time.Minute},
	},
	LookUp: Weak,
	Settle: 2 * time.Minute,
	learn: map[string]func(*Network, int64){
		"max_characters": func(n *Network, v int64) { n.Text.Max, n.Comment.Max = int(v), int(v) },
		"video_seconds": func(n *Network, v int64) {
			n.each(func(r *FormatRule) { r.Video.MaxTime = time.Duration(v) * time.Second })
		},
		"video_size_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Video.Bytes = v }) },
	},
	GoLive: []string{
		"The app has credits: X is paid by the post, and a post with a link costs more.",
		"The app may read and write, and asks for media.write and offline.access.",
		"Since February 2026 X may refuse replies of apps on its self-serve plans; a first comment or a thread is such a reply.",
	},
	Renews:  &Renewal{Life: 180 * 24 * time.Hour, From: FromIssue, Source: "observed by users of the API: about six months, and a renewal brings another; not documented"},
	SignIns: []SignIn{{Label: "Sign in at X", Help: "The account that you are signed in with there."}},
}

var (
	xImage   = FileRule{Types: []string{"image/jpeg", "image/png", "image/webp"}, Bytes: 5_000_000}
	xPicture = FileRule{Types: []string{"image/jpeg", "image/png", "image/webp", "image/gif"}, Bytes: 5_000_000, // a GIF stands alone
		GIF: &FileRule{Types: []string{"image/gif"}, Bytes: 15_000_000, MaxWidth: 1280, Pixels: 1280 * 1080, Frames: 350}}
	xVideo = FileRule{
		Types: []string{"video/mp4"}, Bytes: 512_000_000, MaxWidth: 1280,
		MinShape: 1.0 / 3, MaxShape: 3, Shape: "between 1:3 and 3:1",
		MinTime: 500 * time.Millisecond, MaxTime: 140 * time.Second,
		Codecs: []string{"h264"}, Sound: []string{"aac"}, MaxFPS: 60,
	}
)
