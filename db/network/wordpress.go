package network

import (
	"regexp"
	"time"
)

// A site takes texts of any length; the bound keeps a body from growing without
// end. What files it takes and how large is the host's business: these are the
// usual ones, and image_size_limit of the account may say otherwise. A post is made
// as a draft under a slug of ours, and published by its number, which may be done
// twice; so what became of it is proof.
var wordpress = Network{
	Name: WordPress,
	Text: TextRule{Max: 100_000, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Alt:  AltRule{Image: true},
	Link: LinkInText,
	Look: Look{Grid: 1},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: wordpressImage, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Title", Kind: Write, Required: true, Max: 200},
		{Key: OptKind, Label: "Publish as", Kind: Choose, Default: "post", Choices: []Choice{{"post", "Post"}, {"page", "Page"}}},
		{Key: OptExcerpt, Label: "Excerpt", Kind: Write, Max: 1000},
		{Key: OptSlug, Label: "Slug", Help: "The last part of the address; made from the title if nothing is said.", Kind: Write, Max: 100,
			Pattern: regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), Hint: "small letters and digits, parted by hyphens"},
		{Key: OptCategories, Label: "Categories", Help: "Their names, separated by commas, unless the account is checked and they are listed here. They have to be there.", Kind: Many, Max: 500, Learned: "categories", When: map[string][]string{OptKind: {"post"}}},
		{Key: OptTags, Label: "Tags", Help: "Separated by commas; those that are not there are made.", Kind: Write, Max: 500, When: map[string][]string{OptKind: {"post"}}},
		{Key: OptComments, Label: "People may comment", Kind: Switch, Default: "true"},
	},
	Key:    true,
	LookUp: Proof,
	Settle: 30 * time.Second,
	learn: map[string]func(*Network, int64){
		"image_size_limit": func(n *Network, v int64) { n.each(func(r *FormatRule) { r.Image.Bytes = v }) },
	},

	Address: "the address of the site, as https://blog.example.com",
	Hurdles: []Hurdle{
		{Support: Impossible, Formats: []Format{FormatImages, FormatCarousel}, Say: "A post has one picture, its featured image."},
	},
	GoLive: []string{
		"The site is reached over HTTPS, and its server passes on the Authorization header.",
		"The person whose application password it is may publish posts and upload files.",
	},
	Entries: []Entry{{Key: "password", Label: "Application password", Fields: []Field{
		{Name: "handle", Label: "What people call it", Hint: "The blog"},
		{Name: "address", Label: "Site", Hint: "https://blog.example.com"},
		{Name: "remote_id", Label: "Login name", Help: "Of a user who may publish posts and upload files."},
		{Name: "token", Label: "Application password", Hint: "xxxx xxxx xxxx xxxx xxxx xxxx", Help: "In the site's dashboard, under Users, Profile. Not the password of the user.", Secret: true, Spaces: true},
	}}},
}

var wordpressImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Bytes: 10_000_000}
