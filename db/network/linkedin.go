package network

import "time"

// The account's remote id is the URN of a member or of an organisation. The text
// is "little text" on its way: the signs of its markup go with a backslash, and
// since LinkedIn does not say which of the two it measures, they count as two. A
// member's posts cannot be listed by most apps, and those of an organisation lag.
// LinkedIn does not read a page that is linked, so the card is what the writer
// says it is.
var linkedin = Network{
	Name:    LinkedIn,
	Text:    TextRule{Max: 3000, Unit: Little, Ellipsis: "…", MayBlank: true},
	Comment: TextRule{Max: 1250, Unit: CodePoints, Ellipsis: "…"},
	Alt:     AltRule{Image: true, Video: true, Max: 4086},
	Link:    LinkBeside,
	Look:    Look{Fold: Fold{At: 210, Lines: 3, More: "more", Source: "observed: about 210 at a desk, about 140 on a phone; not documented"}, Ink: Ink{Links: true, Tags: true}, Grid: 5},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true, Comment: true},
		{Format: FormatLink, Text: true, Link: true, Comment: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: linkedinImage, Text: true, Comment: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 20, Image: linkedinImage, Text: true, Comment: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: linkedinVideo, Text: true, Comment: true, Alt: true},
		{Format: FormatDocument, Min: 1, Max: 1, Document: linkedinDocument, Text: true, Comment: true},
	},
	Options: []Option{
		{Key: OptVisibility, Label: "Who sees it", Kind: Choose, Default: "PUBLIC", Choices: []Choice{
			{"PUBLIC", "Everyone"}, {"LOGGED_IN", "Members of LinkedIn"}, {"CONNECTIONS", "Connections"}}},
		{Key: OptReshare, Label: "People may repost", Kind: Switch, Default: "true"},
		{Key: OptTitle, Label: "Title of the video", Kind: Write, Max: 400, Unit: CodePoints, Formats: []Format{FormatVideo}},
		{Key: OptDocTitle, Label: "Title of the document", Help: "LinkedIn shows it above the pages, and asks for one.", Kind: Write, Max: 400, Unit: CodePoints, Required: true, Formats: []Format{FormatDocument}},
		{Key: OptLinkTitle, Label: "Title of the link's card", Help: "LinkedIn does not read the page itself; without a title the card shows the host.", Kind: Write, Max: 400, Unit: CodePoints, Formats: []Format{FormatLink}},
		{Key: OptLinkWords, Label: "Description on the link's card", Kind: Write, Max: 4086, Unit: CodePoints, Formats: []Format{FormatLink}},
	},
	Scopes: []Scope{{Name: "w_member_social", Or: []string{"w_organization_social"}}},
	Rates:  []Rate{{What: "post", Max: 100, Per: 24 * time.Hour}},
	LookUp: Weak,
	Settle: 2 * time.Minute,
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "A member's profile works with the product Share on LinkedIn. Pages of organisations need Community Management, for which LinkedIn reviews the app."},
	},
	Versions: linkedinVersions,
	GoLive: []string{
		"HERALD_LINKEDIN_VERSION is a month that LinkedIn still serves: each ends after about a year, and calls are refused from then on.",
		"The person who connects an organisation is an administrator or content administrator of it.",
		"Where the app gets no refresh token, each account is reconnected every 60 days.",
	},
	Renews: &Renewal{Life: 365 * 24 * time.Hour, From: FromConsent, Source: "LinkedIn's documentation of programmatic refresh tokens: 365 days from the first grant, and no access token outlives them"},
	SignIns: []SignIn{
		{Label: "Sign in as a member", Help: "Your own profile."},
		{Way: WayPages, Label: "Sign in for organisations", Help: "Your profile, and the organisations whose administrator you are. Herald's app needs LinkedIn's approval for this."},
	},
}

var (
	linkedinImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/gif"}, Bytes: 5_000_000, Pixels: 36_152_319, Frames: 250}
	linkedinVideo = FileRule{
		Types: []string{"video/mp4"}, Bytes: 500_000_000, MinTime: 3 * time.Second, MaxTime: 30 * time.Minute,
		MinShape: 1 / 2.4, MaxShape: 2.4, Shape: "between 1:2.4 and 2.4:1",
	}
	linkedinDocument = FileRule{Types: []string{"application/pdf"}, Bytes: 100_000_000, Frames: 300}
)

// LittleSigns are the signs that LinkedIn's little text escapes.
const LittleSigns = `|{}@[]()<>#\*_~`
