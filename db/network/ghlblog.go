package network

import (
	"regexp"
	"time"
)

// A blog of a GoHighLevel sub-account (networks-b 11.3). Every post has a picture, a
// short description and an author: its API asks for them. A post is made as a draft
// under a slug of ours and published by its number, which may be done twice; so what
// became of it is proof. No bound on the text is stated: this one keeps a body from
// growing without end.
var ghlBlog = Network{
	Name: GHLBlog,
	Text: TextRule{Max: 100_000, Unit: CodePoints, Ellipsis: "…"},
	Alt:  AltRule{Image: true},
	Link: LinkInText,
	Look: Look{Grid: 1},
	Formats: []FormatRule{
		{Format: FormatImage, Min: 1, Max: 1, Image: ghlBlogImage, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptTitle, Label: "Title", Kind: Write, Required: true, Max: 200},
		{Key: OptExcerpt, Label: "Short description", Help: "Lists of posts and search engines show it.", Kind: Write, Required: true, Max: 500},
		{Key: OptAuthor, Label: "Author", Help: "The author's id, unless the account is checked and they are listed here.", Kind: Write, Required: true, Max: 40,
			Pattern: regexp.MustCompile(`^[0-9A-Za-z]{4,40}$`), Hint: "the id of an author", Learned: "authors"},
		{Key: OptSlug, Label: "Slug", Help: "The last part of the address; made from the title if nothing is said.", Kind: Write, Max: 100,
			Pattern: regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), Hint: "small letters and digits, parted by hyphens"},
		{Key: OptCategories, Label: "Categories", Help: "Their names, separated by commas, unless the account is checked and they are listed here. They have to be there.", Kind: Many, Max: 500, Learned: "categories"},
		{Key: OptTags, Label: "Tags", Help: "Separated by commas.", Kind: Write, Max: 500},
	},
	Rates:  []Rate{{What: "call", Max: 100, Per: 10 * time.Second}},
	Media:  true,
	Key:    true,
	LookUp: Proof,
	Settle: 30 * time.Second,
	Hurdles: []Hurdle{
		{Support: Impossible, Formats: []Format{FormatText, FormatLink}, Say: "Each post of a blog has a picture."},
		{Support: Impossible, Formats: []Format{FormatImages, FormatCarousel}, Say: "A post has one picture, its featured image."},
	},
	GoLive: []string{
		"The private integration has the scopes of blogs, blog posts, authors, categories and media.",
	},
	Entries: []Entry{{Key: "token", Label: "Private integration", Fields: []Field{
		{Name: "handle", Label: "What people call it", Hint: "The blog"},
		{Name: "setting.location_id", Label: "Sub-account", Help: "Its id, from the address of its dashboard."},
		{Name: "remote_id", Label: "Blog", Help: "Its id, from the address of the blog's dashboard."},
		{Name: "token", Label: "Token", Help: "In the sub-account, under Settings, Private Integrations: a token that may read and write blog posts, read blogs, authors and categories, and write media.", Secret: true},
	}}},
}

var ghlBlogImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Bytes: 25_000_000}
