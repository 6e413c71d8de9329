package network

import (
	"regexp"
	"strings"
	"time"
)

// The description is counted in bytes, the title in UTF-16 units, which are never
// fewer than code points. A channel that has not confirmed a phone number takes 15
// minutes: what the channel says is a setting of the account (video_seconds).
// A project that Google has not audited may publish privately only; the adapter
// reads back what became of the video and says so. A look-up asks the upload
// itself, which is proof; only an upload that Google has forgotten is looked for
// in the channel's list.
var youtube = Network{
	Name:    YouTube,
	Text:    TextRule{Max: 5000, Unit: Bytes, Ellipsis: "…", MayBlank: true, Bars: "<>"},
	Comment: TextRule{Max: 10_000, Unit: UTF16, Ellipsis: "…"},
	Link:    LinkInText,
	Look:    Look{Fold: Fold{At: 157, Lines: 3, More: "more", Source: "observed: 100 to 157 characters below the player; not documented"}, Ink: Ink{true, true, true}},
	Formats: []FormatRule{
		{Format: FormatVideo, Min: 1, Max: 1, Video: youtubeVideo, Cover: youtubeCover, Text: true, Link: true, Comment: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Title", Kind: Write, Required: true, Max: 100, Unit: UTF16,
			Pattern: regexp.MustCompile(`^[^<>]*[^<>\s][^<>]*$`), Hint: "a title without < and >"},
		{Key: OptPrivacy, Label: "Who sees it", Kind: Choose, Required: true, Silences: []string{"private"}, Choices: []Choice{
			{"public", "Everyone"}, {"unlisted", "Everyone who has the link"}, {"private", "Only the channel"}}},
		{Key: OptForKids, Label: "Made for kids", Kind: Switch, Default: "false", Silences: []string{"true"}},
		{Key: OptSynthetic, Label: "Altered or made by a machine, and looks real", Kind: Switch, Default: "false"},
		{Key: OptNotify, Label: "Tell the subscribers", Kind: Switch, Default: "true"},
		{Key: OptCategory, Label: "Category", Kind: Choose, Default: "22", Choices: []Choice{
			{"22", "People & Blogs"}, {"1", "Film & Animation"}, {"2", "Autos & Vehicles"}, {"10", "Music"}, {"15", "Pets & Animals"},
			{"17", "Sports"}, {"19", "Travel & Events"}, {"20", "Gaming"}, {"23", "Comedy"}, {"24", "Entertainment"},
			{"25", "News & Politics"}, {"26", "Howto & Style"}, {"27", "Education"}, {"28", "Science & Technology"}, {"29", "Nonprofits & Activism"}}},
		{Key: OptTags, Label: "Tags", Help: "Separated by commas.", Kind: Write, Max: 500, Length: youtubeTags,
			Pattern: regexp.MustCompile(`^[^<>]*$`), Hint: "words without < and >"},
		{Key: OptLanguage, Label: "Language", Kind: Write, Max: 12, Suggest: languages,
			Pattern: regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$`), Hint: "a language code, as en or pt-BR"},
	},
	Scopes: []Scope{
		{Name: "https://www.googleapis.com/auth/youtube.upload", Or: []string{"https://www.googleapis.com/auth/youtube", "https://www.googleapis.com/auth/youtube.force-ssl"}},
		{Name: "https://www.googleapis.com/auth/youtube.readonly", Or: []string{"https://www.googleapis.com/auth/youtube", "https://www.googleapis.com/auth/youtube.force-ssl"}},
		{Name: "https://www.googleapis.com/auth/youtube.force-ssl", Comment: true},
	},
	Rates:  []Rate{{What: "post", Max: 100, Per: 24 * time.Hour, App: true, Held: true}},
	Media:  true,
	LookUp: Proof,
	Settle: 5 * time.Minute,
	learn: map[string]func(*Network, int64){
		"video_seconds": func(n *Network, v int64) {
			n.each(func(r *FormatRule) { r.Video.MaxTime = min(r.Video.MaxTime, time.Duration(v)*time.Second) })
		},
	},
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "A Google project that has not been audited publishes privately only."},
	},
	GoLive: []string{
		"The project has passed the audit of the YouTube API, or its videos stay private.",
		"The consent screen is in production: in testing, Google ends each sign-in after 7 days.",
		"The channel has confirmed a phone number, for videos over 15 minutes and for covers.",
	},
	Renews:  &Renewal{Life: 180 * 24 * time.Hour, From: FromUse, Source: "Google's documentation: a refresh token ends when it is not used for six months"},
	SignIns: []SignIn{{Label: "Sign in at Google", Help: "Then choose the channel. Google asks which one first, where you have several."}},
}

var (
	youtubeVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime", "video/webm"}, Bytes: 256_000_000_000, MaxTime: 12 * time.Hour,
	}
	// Newer pages say 50 MB, older ones 2 MB.
	youtubeCover = FileRule{
		Types: []string{"image/jpeg", "image/png"}, Bytes: 2_000_000,
		Advice: &FileRule{MinWidth: 1280, MinHeight: 720, MinShape: 16.0 / 9, MaxShape: 16.0 / 9, Shape: "of 16:9"},
	}
)

// youtubeTags counts tags as YouTube does: the commas between them too, and two
// quotes more around a tag that has a space.
func youtubeTags(value string) (length int) {
	for i, tag := range Tags(value) {
		length += utf16Units(tag)
		if i > 0 {
			length++
		}
		if strings.ContainsRune(tag, ' ') {
			length += 2
		}
	}
	return length
}

// Tags are the words of a value that separates them by commas, without a # that
// people write before them.
func Tags(value string) (tags []string) {
	for tag := range strings.SplitSeq(value, ",") {
		if tag = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(tag), "#")); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
