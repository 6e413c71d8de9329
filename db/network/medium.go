package network

import "time"

// Medium's API is shut to new apps and tokens; those that were made before go on
// working. It lists nothing, so if an answer is lost, a person looks. The bound on the
// text is ours.
var medium = Network{
	Name: Medium,
	Text: TextRule{Max: 100_000, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Alt:  AltRule{Image: true},
	Link: LinkBeside,
	Look: Look{Grid: 1},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatLink, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: mediumImage, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Title", Kind: Write, Required: true, Max: 100, Unit: CodePoints},
		{Key: OptVisibility, Label: "Who sees it", Kind: Choose, Default: "public", Choices: []Choice{{"public", "Everyone"}, {"unlisted", "Everyone with the address"}}},
		{Key: OptTags, Label: "Tags", Help: "Separated by commas. Medium uses the first three, of 25 characters each.", Kind: Write, Max: 80},
		{Key: OptNotify, Label: "Tell followers", Kind: Switch, Default: "true"},
	},
	Rates:  []Rate{{What: "post", Max: 15, Per: 24 * time.Hour}},
	LookUp: NoLook,
	Hurdles: []Hurdle{
		{Support: Configurable, Say: "Works with an integration token that was made before Medium stopped giving them out."},
	},
	GoLive: []string{
		"The legacy API answers the token; Medium promises nothing about it.",
	},
	Entries: []Entry{{Key: "token", Label: "Integration token", Help: "Medium gives out no new ones; those that were made before go on working.", Fields: []Field{
		{Name: "token", Label: "Integration token", Secret: true},
		{Name: "setting.publication", Label: "Publication", Help: "The id of one to publish in; empty for your own stories.", Optional: true},
	}}},
}

var mediumImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif"}, Bytes: 10_000_000}
