package network

import "time"

// A message goes through a webhook, whose address is the account's token, or as a
// bot into the channel that is the account's remote id. Only a bot can look for
// what it posted. Lengths are taken for UTF-16 units, which never count too few.
// All files together may have 25 MiB, which only Discord knows for sure: it grows
// with the boosts of a server.
var discord = Network{
	Name: Discord,
	Text: TextRule{Max: 2000, Unit: UTF16, Ellipsis: "…", MayBlank: true},
	Alt:  AltRule{Image: true, Video: true, Max: 1024},
	Link: LinkInText,
	Look: Look{Ink: Ink{Links: true}, Grid: 10, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: discordImage, Text: true, Link: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: discordVideo, Text: true, Link: true, Alt: true},
		{Format: FormatCarousel, Min: 2, Max: 10, Image: discordImage, Video: discordVideo, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptNotify, Label: "Notify members", Kind: Switch, Default: "true"},
		{Key: OptPreview, Label: "Show a preview of the link", Kind: Switch, Default: "true", Formats: []Format{FormatText}},
		{Key: OptForum, Label: "Title of the forum post", Help: "Only for a webhook of a forum, which takes no post without one.", Kind: Write, Max: 100, Unit: UTF16},
	},
	Rates:  []Rate{{What: "post", Max: 30, Per: time.Minute}},
	LookUp: Weak,
	Settle: time.Minute,
	GoLive: []string{
		"A bot may view the channel, send messages and attach files, and read its history so that a lost answer can be looked up.",
	},
	SignIns: []SignIn{{Label: "Sign in at Discord", Help: "Discord asks for server and channel, and makes a webhook there."}},
	Entries: []Entry{
		{Key: "webhook", Label: "Webhook", Help: "Discord lists no messages of a webhook, so one whose answer was lost goes to a person.", Fields: []Field{
			{Name: "handle", Label: "Channel", Hint: "#news"},
			{Name: "token", Label: "Webhook address", Hint: "https://discord.com/api/webhooks/...", Help: "In the channel's settings, under Integrations, Webhooks.", Secret: true},
		}},
		{Key: "bot", Label: "Bot token", Fields: []Field{
			{Name: "handle", Label: "Channel", Hint: "#news"},
			{Name: "remote_id", Label: "Channel ID", Hint: "123456789012345678", Help: "With developer mode on, in the channel's menu."},
			{Name: "token", Label: "Bot token", Help: "The bot has to be in the server, and may send messages and files in the channel.", Secret: true},
		}},
	},
}

var (
	discordImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Bytes: 10 << 20}
	discordVideo = FileRule{Types: []string{"video/mp4", "video/quicktime", "video/webm"}, Bytes: 10 << 20}
)
