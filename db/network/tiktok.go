package network

import (
	"regexp"
	"time"
)

// Who may see a post is chosen each time, from what the creator's account allows:
// an account's settings carry that (privacy_options), as they do the longest video
// (video_seconds). Photos may have 4,000 units of text; 2,200, what videos have,
// holds for all. Pictures of more than 1080p fail TikTok's check and are scaled
// down. Videos are sent as bytes, whose last piece publishes, unless the account's
// setting video_source is "pull"; photos are pulled only, and if the answer to that
// one call is lost, only a public list may tell.
var tiktok = Network{
	Name: TikTok,
	Text: TextRule{Max: 2200, Unit: UTF16, Ellipsis: "...", MayBlank: true},
	Link: LinkNone,
	Look: Look{Fold: Fold{At: 100, Lines: 2, More: "more", Source: "observed: 100 to 150 characters over a video; not documented"}, Ink: Ink{Tags: true, Mentions: true}},
	Formats: []FormatRule{
		{Format: FormatVideo, Min: 1, Max: 1, Video: tiktokVideo, Text: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: tiktokPhoto, Text: true},
		{Format: FormatImages, Min: 2, Max: 35, Image: tiktokPhoto, Text: true},
	},
	Options: []Option{
		{Key: OptPrivacy, Label: "Who sees it", Kind: Choose, Required: true, Learned: "privacy_options", Choices: []Choice{
			{"PUBLIC_TO_EVERYONE", "Everyone"}, {"MUTUAL_FOLLOW_FRIENDS", "Friends"}, {"FOLLOWER_OF_CREATOR", "Followers"}, {"SELF_ONLY", "Only the creator"}}},
		{Key: OptTitle, Label: "Title", Kind: Write, Max: 90, Unit: UTF16, Formats: []Format{FormatImage, FormatImages}},
		{Key: OptComments, Label: "People may comment", Kind: Switch, Default: "true", Learned: "may_comment"},
		{Key: OptDuet, Label: "People may make duets", Kind: Switch, Default: "true", Learned: "may_duet", Formats: []Format{FormatVideo}},
		{Key: OptStitch, Label: "People may stitch", Kind: Switch, Default: "true", Learned: "may_stitch", Formats: []Format{FormatVideo}},
		{Key: OptDisclose, Label: "Advertises", Kind: Choose, Default: "none", Choices: []Choice{
			{"none", "Nobody"}, {"own", "The creator's own business"}, {"paid", "Somebody who pays for it"}, {"both", "Both"}}},
		{Key: OptSynthetic, Label: "Made by a machine", Kind: Switch, Default: "false", Formats: []Format{FormatVideo}},
		{Key: OptThumbOffset, Label: "Cover", Help: "The moment of the video to show as its cover, in milliseconds.", Kind: Write, Max: 6,
			Pattern: regexp.MustCompile(`^[0-9]{1,6}$`), Hint: "a number of milliseconds", Formats: []Format{FormatVideo}},
		{Key: OptCoverPicture, Label: "Cover", Help: "Which of the pictures is the cover; the first one if nothing is said.", Kind: Write, Max: 2,
			Pattern: regexp.MustCompile(`^([1-9]|[12][0-9]|3[0-5])$`), Hint: "a number from 1 to 35", Formats: []Format{FormatImages}},
		{Key: OptMusic, Label: "Add music", Kind: Switch, Default: "false", Formats: []Format{FormatImage, FormatImages}},
	},
	Clashes: []Clash{{Key: OptDisclose, Values: []string{"paid", "both"}, With: OptPrivacy, And: []string{"SELF_ONLY"},
		Say: "TikTok shows paid content to more people than the creator: choose who else sees it, or that it advertises nobody."}},
	Scopes: []Scope{{Name: "video.publish"}},
	Rates:  []Rate{{What: "post", Max: 15, Per: 24 * time.Hour}, {What: "call", Max: 6, Per: time.Minute}},
	Media:  true,
	Pulls:  true,
	LookUp: Weak,
	Settle: 5 * time.Minute,
	learn: map[string]func(*Network, int64){
		"video_seconds": func(n *Network, v int64) {
			n.each(func(r *FormatRule) { r.Video.MaxTime = min(r.Video.MaxTime, time.Duration(v)*time.Second) })
		},
	},
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "An app that TikTok has not audited posts to private accounts only, for five people a day."},
	},
	GoLive: []string{
		"The domain of the media store, or of HERALD_BASE_URL, is verified in the TikTok app: photos are fetched from there, and videos of accounts set to be pulled.",
		"The app has passed the audit of the Content Posting API.",
	},
	Renews:  &Renewal{Life: 180 * 24 * time.Hour, From: FromIssue, Source: "TikTok's documentation of 2026: 180 days, and a renewal brings another; older pages say 365"},
	SignIns: []SignIn{{Label: "Sign in at TikTok", Help: "The account that you are signed in with there. Grant everything that is asked."}},
}

var (
	tiktokVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime", "video/webm"}, Bytes: 4_000_000_000,
		MinWidth: 360, MinHeight: 360, MaxWidth: 4096, MinTime: 3 * time.Second, MaxTime: 10 * time.Minute,
		Codecs: []string{"h264", "hevc", "vp8", "vp9"}, MinFPS: 23, MaxFPS: 60,
	}
	tiktokPhoto = FileRule{Types: []string{"image/jpeg", "image/webp"}, Bytes: 20_000_000, Pixels: 1080 * 1920}
)
