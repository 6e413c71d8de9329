package network

import "time"

// bundle is Bundle.social. A post there is one of a team's, named by a key of ours
// for good, so the look-up is a proof either way (networks-b 12; members of its
// OpenAPI). Boards of Pinterest are chosen by their names, not their numbers.
var bundle = route{
	label:   "Bundle.social",
	keyHelp: "In Bundle.social, under API access: the organisation's key.",
	idHelp:  "the id of the team in Bundle.social that the account is connected in",
	types:   []string{"image/jpeg", "image/png", "image/gif", "video/mp4", "video/quicktime"},
	bytes:   5 << 30,
	key:     true, lookUp: Proof, settle: time.Minute,
	rates: []Rate{{What: "call", Max: 5, Per: time.Second, Held: true, Key: true}, {What: "call", Max: 20, Per: 10 * time.Second, Held: true, Key: true}, {What: "call", Max: 100, Per: time.Minute, Held: true, Key: true}},
	networks: map[Name]reach{
		X: {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, keeps: []string{OptReplies, OptMadeByAI}},
		Facebook: {takes: []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatVideo, FormatReel, FormatStory},
			altImage: true, comments: 8000, keeps: []string{OptFormat, OptPreview, OptTitle}},
		Instagram: {takes: []Format{FormatImage, FormatReel, FormatCarousel, FormatStory},
			altImage: true, comments: 2200, keeps: []string{OptFormat, OptShareToFeed, OptCollaborators, OptThumbOffset}},
		Threads: {takes: []Format{FormatText, FormatLink, FormatImage, FormatVideo, FormatCarousel},
			altImage: true, altVideo: true, comments: 500, keeps: []string{OptReplies, OptTopic}},
		LinkedIn: {takes: []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatVideo},
			comments: 1250, keeps: []string{OptVisibility, OptReshare, OptTitle}, change: wantsText},
		TikTok: {takes: []Format{FormatVideo, FormatImage, FormatImages}, comments: 150,
			keeps: []string{OptPrivacy, OptComments, OptDuet, OptStitch, OptDisclose, OptSynthetic, OptThumbOffset, OptCoverPicture, OptMusic}},
		YouTube:   {takes: []Format{FormatVideo}, comments: 10_000, keeps: []string{OptTitle, OptPrivacy, OptForKids, OptSynthetic, OptLanguage}},
		Pinterest: {takes: []Format{FormatImage, FormatVideo}, altImage: true, altVideo: true, keeps: []string{OptBoard, OptTitle}, change: boardsByName},
		Mastodon: {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, comments: 500,
			keeps: []string{OptVisibility, OptSpoiler}},
		Bluesky: {takes: []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatVideo}, altVideo: true, comments: 300,
			keeps: []string{OptLinkTitle, OptLinkWords, OptLabel}},
	},
}

// wantsText: the text is required even beside media.
func wantsText(n *Network) { n.Text.MayBlank = false }

func boardsByName(n *Network) {
	alter(n, OptBoard, func(o *Option) {
		o.Pattern, o.Hint, o.Max = nil, "", 180
		o.Help = "The name of the board as Pinterest shows it, unless the account is checked and they are listed here."
	})
}
