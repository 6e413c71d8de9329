package network

// A webhook takes whatever a post can hold; the bounds only keep a body from
// growing without end. Its receiver drops repeats by delivery id, so an attempt
// whose outcome is unknown may simply be sent again with the same id.
var webhook = Network{
	Name:    Webhook,
	Text:    TextRule{Max: 100_000, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Comment: TextRule{Max: 100_000, Unit: CodePoints, Ellipsis: "…"},
	Alt:     AltRule{Image: true, Video: true, Max: 5000},
	Link:    LinkBeside,
	Look:    Look{Grid: 20},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatLink, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: webhookImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 20, Image: webhookImage, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: webhookVideo, Text: true, Link: true, Comment: true, Alt: true},
		{Format: FormatCarousel, Min: 2, Max: 20, Image: webhookImage, Video: webhookVideo, Text: true, Link: true, Comment: true, Alt: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Title", Help: "Sent beside the text, for receivers that show one.", Kind: Write, Max: 300},
	},
	Pulls:  true,
	Key:    true,
	LookUp: NoLook,

	Address: "where posts are delivered, as https://hooks.example.com/herald",
	Signs:   true,
	GoLive: []string{
		"The receiver answers within HERALD_PROVIDER_TIMEOUT, checks the signature and drops a delivery id that it has seen.",
	},
	Entries: []Entry{{Key: "endpoint", Label: "Endpoint", Fields: []Field{
		{Name: "handle", Label: "What people call it", Hint: "The shop"},
		{Name: "address", Label: "Address", Hint: "https://hooks.example.com/herald"},
	}}},
}

var (
	webhookImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Bytes: 100_000_000}
	webhookVideo = FileRule{Types: []string{"video/mp4", "video/quicktime", "video/webm"}, Bytes: 10_000_000_000}
)
