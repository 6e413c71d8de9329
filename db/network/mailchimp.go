package network

import "time"

// A campaign goes to the audience that is the account's remote id. It is made,
// filled and checked first; sending it is one call, and its status is proof of
// whether it was. The bound on the text is ours; a mail over 100 KB is cut off by
// some readers. From whom it comes are the audience's own words, unless from_name and
// reply_to of the account say otherwise.
var mailchimp = Network{
	Name: Mailchimp,
	Text: TextRule{Max: 50_000, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Alt:  AltRule{Image: true},
	Link: LinkInText,
	Look: Look{Ink: Ink{}, Grid: 1},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: mailchimpImage, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Subject", Kind: Write, Required: true, Max: 150},
		{Key: OptExcerpt, Label: "Preview text", Help: "What a mailbox shows beside the subject.", Kind: Write, Max: 150},
	},
	Rates:  []Rate{{What: "call", Max: 10, Per: time.Second}},
	LookUp: Proof,
	Settle: 2 * time.Minute,
	GoLive: []string{
		"The audience has a postal address, and the footer a link to unsubscribe: a campaign without is not sent.",
	},
	SignIns: []SignIn{{Label: "Sign in at Mailchimp", Help: "Then choose among the audiences."}},
	Entries: []Entry{{Key: "key", Label: "API key", Fields: []Field{
		{Name: "handle", Label: "Audience", Hint: "Newsletter"},
		{Name: "remote_id", Label: "Audience ID", Hint: "a1b2c3d4e5", Help: "In the audience's settings, under Audience name and defaults."},
		{Name: "token", Label: "API key", Hint: "...-us21", Help: "At Mailchimp, under Account, Extras, API keys. It ends with the datacenter.", Secret: true},
	}}},
}

var mailchimpImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif"}, Bytes: 1_000_000}
