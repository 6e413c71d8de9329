package network

import (
	"slices"
	"time"
)

// ghl is GoHighLevel's social planner (networks-b 11; members of its OpenAPI, v3). It
// fetches files from where they are. Nothing of ours names a post there, so its list
// proves presence alone. It trims what is too long without a word, so what it tells
// its users of its bounds holds beside the network's own. Offers of a business profile
// want an address for their terms, which ours are not.
var ghl = route{
	label:   "GoHighLevel",
	keyHelp: "In the sub-account, under Settings, Private Integrations: a token that may read accounts and users, and read and write posts of the social planner.",
	idHelp:  "the id of the account in the sub-account's social planner",
	types:   []string{"image/jpeg", "image/png", "image/gif", "video/mp4", "video/quicktime"},
	pulls:   true, lookUp: Weak, settle: 2 * time.Minute,
	rates: []Rate{{What: "call", Max: 100, Per: 10 * time.Second, Held: true, Key: true}},
	networks: map[Name]reach{
		Facebook: {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo, FormatReel, FormatStory}, comments: 8000,
			keeps: []string{OptFormat}, change: ghlBounds(62_000, 10_000_000, 10)},
		Instagram: {takes: []Format{FormatImage, FormatReel, FormatCarousel, FormatStory}, altImage: true, comments: 2200,
			keeps: []string{OptFormat, OptShareToFeed, OptCollaborators}, change: ghlBounds(2200, 8_000_000, 10)},
		LinkedIn: {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, altImage: true, comments: 1250, change: ghlBounds(3000, 8_000_000, 9)},
		X:        {takes: []Format{FormatText, FormatImage, FormatImages, FormatVideo}, change: ghlBounds(280, 5_000_000, 4)},
		Threads:  {takes: []Format{FormatText, FormatImage, FormatVideo, FormatCarousel}, altImage: true, change: ghlBounds(500, 0, 20)},
		Bluesky: {takes: []Format{FormatText, FormatLink, FormatImage, FormatImages, FormatVideo}, altImage: true,
			keeps: []string{OptLinkTitle, OptLinkWords}},
		TikTok: {takes: []Format{FormatVideo}, keeps: []string{OptPrivacy, OptComments, OptDuet, OptStitch, OptDisclose}, change: ghlTikTok},
		Pinterest: {takes: []Format{FormatImage}, altImage: true, keeps: []string{OptBoard, OptTitle},
			change: ghlBounds(500, 10_000_000, 1)},
		YouTube: {takes: []Format{FormatVideo}, comments: 10_000, keeps: []string{OptTitle, OptPrivacy}},
		GoogleBusiness: {takes: []Format{FormatText, FormatLink, FormatImage}, keeps: []string{OptKind, OptButton, OptEvent, OptStarts, OptEnds},
			change: ghlBusiness},
	},
}

// ghlBounds tightens a network to what GoHighLevel takes of it: a text, the bytes of a
// picture and how many there may be. Links stand in the text.
func ghlBounds(text int, image int64, files int) func(*Network) {
	return func(n *Network) {
		n.Text.Max = min(n.Text.Max, text)
		if n.Link == LinkBeside && n.Name != Pinterest {
			n.Link = LinkInText
		}
		n.each(func(r *FormatRule) {
			r.Max = min(r.Max, files)
			if image > 0 && r.Image.Bytes > 0 {
				r.Image.Bytes = min(r.Image.Bytes, image)
			}
		})
	}
}

// ghlTikTok: the shorter caption of accounts that are no business, and no audience
// of followers.
func ghlTikTok(n *Network) {
	n.Text.Max = min(n.Text.Max, 150)
	drop(n, OptPrivacy, "FOLLOWER_OF_CREATOR")
}

func ghlBusiness(n *Network) { drop(n, OptKind, "OFFER") }

// drop takes a choice out of an option.
func drop(n *Network, key, value string) {
	alter(n, key, func(o *Option) {
		o.Choices = slices.DeleteFunc(slices.Clone(o.Choices), func(c Choice) bool { return c.Value == value })
	})
}
