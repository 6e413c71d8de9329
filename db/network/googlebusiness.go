package network

import (
	"regexp"
	"time"
)

// The account's remote id is the whole name of the location, accounts/1/locations/2.
// A link is a button. Google takes a post, works on it, and may turn it down later;
// its list is near at once but not promised, so absence is weak.
var googleBusiness = Network{
	Name: GoogleBusiness,
	Text: TextRule{Max: 1500, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Link: LinkBeside,
	Look: Look{Fold: Fold{At: 100, More: "Read more", Source: "observed in Search and Maps, 80 to 100 characters; not documented"}, Grid: 1},
	Formats: []FormatRule{
		{Format: FormatText, Text: true, Link: true},
		{Format: FormatLink, Text: true, Link: true},
		{Format: FormatImage, Min: 1, Max: 1, Image: googleBusinessImage, Text: true, Link: true},
	},
	Options: []Option{
		{Key: OptKind, Label: "Kind", Kind: Choose, Default: "STANDARD", Choices: []Choice{{"STANDARD", "Update"}, {"EVENT", "Event"}, {"OFFER", "Offer"}}},
		{Key: OptButton, Label: "Button for the link", Kind: Choose, Default: "LEARN_MORE", When: map[string][]string{OptKind: {"STANDARD", "EVENT"}}, Choices: []Choice{
			{"LEARN_MORE", "Learn more"}, {"BOOK", "Book"}, {"ORDER", "Order online"}, {"SHOP", "Buy"}, {"SIGN_UP", "Sign up"}, {"CALL", "Call now, without a link"}}},
		{Key: OptEvent, Label: "Title of the event or offer", Kind: Write, Required: true, Max: 58, Unit: CodePoints, When: dated},
		{Key: OptStarts, Label: "Starts", Help: "In the location's own time.", Kind: Moment, Required: true, When: dated},
		{Key: OptEnds, Label: "Ends", Kind: Moment, Required: true, After: OptStarts, When: dated},
		{Key: OptCoupon, Label: "Coupon code", Kind: Write, Max: 58, When: map[string][]string{OptKind: {"OFFER"}}},
		{Key: OptTerms, Label: "Terms of the offer", Kind: Write, Max: 1000, When: map[string][]string{OptKind: {"OFFER"}}},
		{Key: OptLanguage, Label: "Language", Kind: Write, Max: 10, Suggest: languages, Pattern: regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,4})?$`), Hint: "a language code, as en"},
	},
	Scopes: []Scope{{Name: "https://www.googleapis.com/auth/business.manage"}},
	Rates:  []Rate{{What: "post", Max: 10, Per: time.Minute, Held: true}},
	Pulls:  true,
	LookUp: Weak,
	Settle: time.Minute,
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "Google opens the API to a project on request; its quota is zero before."},
	},
	GoLive: []string{
		"The request for access to the API was granted.",
		"The Google My Business API is enabled for the project, apart from the newer ones.",
		"HERALD_PROVIDER_URL_TTL covers the time that Google takes to fetch a picture.",
	},
	Renews:  &Renewal{Life: 180 * 24 * time.Hour, From: FromUse, Source: "Google's documentation: a refresh token ends when it is not used for six months"},
	SignIns: []SignIn{{Label: "Sign in at Google", Help: "Then choose among the locations that you manage."}},
}

var (
	dated = map[string][]string{OptKind: {"EVENT", "OFFER"}}

	googleBusinessImage = FileRule{Types: []string{"image/jpeg", "image/png"}, Bytes: 5_000_000, MinWidth: 250, MinHeight: 250}
)
