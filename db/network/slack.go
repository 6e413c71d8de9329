package network

import "time"

// A message goes into a channel, the account's remote id, as a bot; or through an
// incoming webhook, whose address is the account's token, and which shows no
// pictures and can not be asked. Slack cuts at 40,000 characters and advises 4,000;
// the three signs that go as entities count as such. A video would be shared by a
// call that says nothing of its message, so there is none.
var slack = Network{
	Name:    Slack,
	Text:    TextRule{Max: 4000, Unit: Entities, Ellipsis: "…", MayBlank: true},
	Comment: TextRule{Max: 4000, Unit: Entities, Ellipsis: "…"},
	Alt:     AltRule{Image: true, Max: 2000},
	Link:    LinkInText,
	Look:    Look{Fold: Fold{At: 700, More: "Show more", Source: "700 characters or five line breaks, as Slack documents it of attachments; messages fold by height"}, Ink: Ink{Links: true}, Grid: 10, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: slackImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 10, Image: slackImage, Text: true, Link: true, Comment: true, Alt: true},
	},
	Options: []Option{
		{Key: OptPreview, Label: "Show a preview of the link", Kind: Switch, Default: "true"},
	},
	Scopes: []Scope{
		{Name: "chat:write", Or: []string{"incoming-webhook"}},
		{Name: "files:write", Formats: []Format{FormatImage, FormatImages}},
	},
	Rates:  []Rate{{What: "post", Max: 60, Per: time.Minute}},
	LookUp: Weak,
	Settle: time.Minute,
	Hurdles: []Hurdle{
		{Support: Configurable, Formats: []Format{FormatImage, FormatImages}, Say: "Pictures go as a bot. An incoming webhook carries text alone."},
		{Support: Impossible, Formats: []Format{FormatVideo}, Say: "A video would be shared by a call that names no message, so nothing could be proved."},
	},
	GoLive: []string{
		"The bot is in the channel and may read its history, so that a lost answer can be looked up.",
	},
	SignIns: []SignIn{{Label: "Sign in at Slack", Help: "Then choose among the public channels of the workspace."}},
	Entries: []Entry{
		{Key: "webhook", Label: "Incoming webhook", Help: "A webhook shows no pictures, and proves nothing of a message whose answer was lost.", Fields: []Field{
			{Name: "handle", Label: "Channel", Hint: "#general"},
			{Name: "token", Label: "Webhook address", Hint: "https://hooks.slack.com/services/...", Help: "In the app's settings at Slack, under Incoming Webhooks.", Secret: true},
		}},
		{Key: "bot", Label: "Bot token", Fields: []Field{
			{Name: "handle", Label: "Channel", Hint: "#general"},
			{Name: "remote_id", Label: "Channel ID", Hint: "C0123456789", Help: "At the end of the channel's details."},
			{Name: "token", Label: "Bot token", Hint: "xoxb-...", Help: "With chat:write, files:write and channels:history, and invited into the channel.", Secret: true},
		}},
	},
}

var slackImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif"}, Bytes: 20_000_000}
