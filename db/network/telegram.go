package network

import "time"

// A bot posts into the channel or group whose number, or @name, is the account's
// remote id. A text with files is their caption and has less room. What exactly
// counts as a character is not stated: UTF-16 units never count too few. A bot
// cannot read what it posted, so if an answer is lost, a person looks.
var telegram = Network{
	Name: Telegram,
	Text: TextRule{Max: 4096, Unit: UTF16, Ellipsis: "…", MayBlank: true},
	Link: LinkInText,
	Look: Look{Ink: Ink{true, true, true}, Grid: 10, Reads: true},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: telegramImage, Text: true, Words: 1024, Link: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: telegramVideo, Text: true, Words: 1024, Link: true},
		{Format: FormatCarousel, Min: 2, Max: 10, Image: telegramImage, Video: telegramVideo, Text: true, Words: 1024, Link: true},
	},
	Options: []Option{
		{Key: OptNotify, Label: "Notify subscribers", Kind: Switch, Default: "true"},
		{Key: OptPreview, Label: "Show a preview of the link", Kind: Switch, Default: "true", Formats: []Format{FormatText}},
		{Key: OptSensitive, Label: "Hide the media behind a click", Kind: Switch, Default: "false", Formats: []Format{FormatImage, FormatVideo, FormatCarousel}},
		{Key: OptProtect, Label: "Nobody may forward or save it", Kind: Switch, Default: "false"},
	},
	Rates:  []Rate{{What: "post", Max: 20, Per: time.Minute}},
	LookUp: NoLook,
	GoLive: []string{
		"The bot is an administrator of the channel that may post.",
	},
	Entries: []Entry{{Key: "bot", Label: "Bot", Fields: []Field{
		{Name: "remote_id", Label: "Channel or group", Hint: "@bakery", Help: "The name of a public one, or the number of a private one, as -1001234567890."},
		{Name: "token", Label: "Bot token", Hint: "123456:ABC...", Help: "From BotFather. The bot has to be an administrator of the channel who may post.", Secret: true},
	}}},
}

var (
	// Width and height together may be 10,000, which no more pixels than these have.
	telegramImage = FileRule{Types: []string{"image/jpeg", "image/png"}, Bytes: 10_000_000, Pixels: 25_000_000,
		MinShape: 1.0 / 20, MaxShape: 20, Shape: "between 1:20 and 20:1"}
	telegramVideo = FileRule{Types: []string{"video/mp4"}, Bytes: 50_000_000}
)
