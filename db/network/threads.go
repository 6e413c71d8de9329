package network

import (
	"regexp"
	"time"
)

// Emoji are counted by their bytes, as the documentation says; how everything
// else is counted it does not say as plainly, and some clients count all bytes.
// A container says what became of it, which is proof; where Threads has forgotten
// it, the list decides.
var threads = Network{
	Name:    Threads,
	Text:    TextRule{Max: 500, Unit: Pictures, Ellipsis: "…", Links: 5, MayBlank: true},
	Comment: TextRule{Max: 500, Unit: Pictures, Ellipsis: "…"},
	Alt:     AltRule{Image: true, Video: true, Max: 1000},
	Link:    LinkBeside,
	Thread:  25,
	Look:    Look{Ink: Ink{true, true, true}, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatLink, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: threadsImage, Text: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: threadsVideo, Text: true, Comment: true, Alt: true},
		{Format: FormatCarousel, Min: 2, Max: 20, Image: threadsImage, Video: threadsVideo, Text: true, Comment: true, Alt: true},
	},
	Options: []Option{
		threadOption,
		{Key: OptReplies, Label: "Who can reply", Kind: Choose, Default: "everyone", Choices: []Choice{
			{"everyone", "Everyone"}, {"accounts_you_follow", "Profiles you follow"}, {"mentioned_only", "Only profiles you mention"},
			{"followers_only", "Followers"}}},
		{Key: OptTopic, Label: "Topic", Help: "Without one, the first hashtag in the text becomes the topic.", Kind: Write, Max: 50,
			Pattern: regexp.MustCompile(`^[^.&#@!?,;:\s][^.&#@!?,;:]*$`), Hint: "words without punctuation"},
		{Key: OptSensitive, Label: "Hide the media behind a click", Kind: Switch, Default: "false", Formats: []Format{FormatImage, FormatVideo, FormatCarousel}},
	},
	Scopes: []Scope{
		{Name: "threads_basic"},
		{Name: "threads_content_publish"},
		{Name: "threads_manage_replies", Comment: true},
	},
	Rates:  []Rate{{What: "post", Max: 250, Per: 24 * time.Hour, Held: true}, {What: "comment", Max: 1000, Per: 24 * time.Hour}},
	Pulls:  true,
	LookUp: Proof,
	Settle: 2 * time.Minute,
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "Meta reviews an app before it may post to profiles of people who are not its testers."},
	},
	GoLive: []string{
		"The Threads app has an id and a secret of its own, apart from those of the Facebook app.",
		"HERALD_PROVIDER_URL_TTL covers the time that Threads takes to fetch a video and to work on it.",
	},
	Renews:  &Renewal{From: FromToken, Source: "Meta's documentation: a token of 60 days is renewed once it is a day old and while it lives"},
	SignIns: []SignIn{{Label: "Sign in at Threads", Help: "The profile that you are signed in with there. The connection renews itself."}},
}

var (
	threadsImage = FileRule{
		Types: []string{"image/jpeg", "image/png"}, Bytes: 8_000_000, MaxWidth: 1440,
		MinShape: 0.1, MaxShape: 10, Shape: "between 1:10 and 10:1",
		Advice: &FileRule{MinWidth: 320},
	}
	threadsVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 1_000_000_000, MaxWidth: 1920,
		MinShape: 0.01, MaxShape: 10, Shape: "between 0.01:1 and 10:1",
		MaxTime: 5 * time.Minute,
		Codecs:  []string{"h264", "hevc"}, Sound: []string{"aac"}, MinFPS: 23, MaxFPS: 60, BitRate: 100_000_000,
		Advice: &FileRule{MinShape: 9.0 / 16, MaxShape: 9.0 / 16, Shape: "of 9:16"},
	}
)
