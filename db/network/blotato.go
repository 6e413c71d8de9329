package network

import "time"

// blotato is Blotato. Nothing of ours names a post there, and what its list leaves
// out proves nothing: only the id that it hands out tells what became of a post
// (networks-b 13). An account's page, where a network has pages, is the setting
// page_id.
var blotato = route{
	label:   "Blotato",
	keyHelp: "In Blotato, under Settings, API.",
	idHelp:  "the number of the account in Blotato",
	types:   []string{"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/quicktime"},
	bytes:   1_000_000_000,
	lookUp:  Weak, settle: 2 * time.Minute,
	rates: []Rate{{What: "post", Max: 30, Per: time.Minute, Held: true, Key: true}, {What: "media", Max: 120, Per: time.Minute, Held: true, Key: true}, {What: "call", Max: 60, Per: time.Minute}},
	networks: map[Name]reach{
		X: {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, thread: blotatoThread, keeps: []string{OptThread}},
		Facebook: {takes: []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatVideo, FormatReel, FormatStory},
			keeps: []string{OptFormat, OptPreview}},
		Instagram: {takes: []Format{FormatImage, FormatReel, FormatCarousel, FormatStory}, altImage: true,
			keeps: []string{OptFormat, OptShareToFeed, OptCollaborators}, change: altOfOne},
		LinkedIn:  {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, change: noLink},
		Threads:   {takes: []Format{FormatText, FormatImage, FormatVideo, FormatCarousel}, thread: blotatoThread, keeps: []string{OptThread, OptReplies}, change: noLink},
		Bluesky:   {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, thread: blotatoThread, keeps: []string{OptThread}, change: noLink},
		Pinterest: {takes: []Format{FormatImage, FormatVideo}, altImage: true, altVideo: true, keeps: []string{OptBoard, OptTitle}},
		TikTok: {takes: []Format{FormatVideo, FormatImage, FormatImages},
			keeps: []string{OptPrivacy, OptTitle, OptComments, OptDuet, OptStitch, OptDisclose, OptSynthetic, OptMusic, OptCoverPicture}},
		YouTube: {takes: []Format{FormatVideo}, keeps: []string{OptTitle, OptPrivacy, OptNotify, OptForKids, OptSynthetic}},
	},
}

// blotatoThread is the first post, and ten more that it takes with it.
const blotatoThread = 11

// noLink: there is no field for a link, so it stands in the text.
func noLink(n *Network) { n.Link = LinkInText }

// altOfOne: there is one alt text for a whole post.
func altOfOne(n *Network) {
	n.each(func(r *FormatRule) { r.Alt = r.Alt && r.Max == 1 })
}
