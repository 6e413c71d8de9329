package network

import (
	"regexp"
	"time"
)

// A pin goes onto a board, which is chosen each time; the account's setting boards
// lists what there is. Words are its description; whether Pinterest counts
// characters otherwise than by code points it does not say. Pins of an app on
// trial access are seen by their creator only.
var pinterest = Network{
	Name: Pinterest,
	Text: TextRule{Max: 800, Unit: CodePoints, Ellipsis: "…", MayBlank: true},
	Alt:  AltRule{Image: true, Video: true, Max: 500},
	Link: LinkBeside,
	Look: Look{Fold: Fold{At: 50, More: "more", Source: "observed: 50 to 60 characters under a pin; not documented"}, Ink: Ink{Tags: true}},
	Formats: []FormatRule{
		{Format: FormatImage, Min: 1, Max: 1, Image: pinterestImage, Text: true, Link: true, Alt: true},
		{Format: FormatImages, Min: 2, Max: 5, Image: pinterestImage, Text: true, Link: true, Alt: true},
		{Format: FormatVideo, Min: 1, Max: 1, Video: pinterestVideo, Cover: pinterestImage, Text: true, Link: true, Alt: true},
	},
	Options: []Option{
		{Key: OptBoard, Label: "Board", Help: "The number of the board, unless the account is checked and they are listed here.", Kind: Write, Required: true, Max: 25,
			Pattern: regexp.MustCompile(`^[0-9]{1,25}$`), Hint: "the number of a board", Learned: "boards"},
		{Key: OptTitle, Label: "Title", Kind: Write, Max: 100, Unit: CodePoints},
	},
	Scopes: []Scope{{Name: "boards:read"}, {Name: "pins:read"}, {Name: "pins:write"}},
	Rates:  []Rate{{What: "post", Max: 100, Per: time.Minute}},
	Media:  true,
	Pulls:  true,
	LookUp: Weak,
	Settle: 5 * time.Minute,
	Hurdles: []Hurdle{
		{Support: NeedsReview, Say: "Pins of an app on trial access are seen by their creator only."},
	},
	GoLive: []string{
		"The app has standard access.",
		"Links do not lead through a shortener: Pinterest refuses those.",
	},
	Renews:  &Renewal{Life: 60 * 24 * time.Hour, From: FromIssue, Source: "Pinterest's documentation of continuous refresh: 60 days, and a renewal brings another"},
	SignIns: []SignIn{{Label: "Sign in at Pinterest", Help: "A business account. The board is chosen for each pin."}},
}

var (
	pinterestImage = FileRule{Types: []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"}, Bytes: 20_000_000,
		Advice: &FileRule{MinShape: 2.0 / 3, MaxShape: 2.0 / 3, Shape: "of 2:3"}}
	pinterestVideo = FileRule{
		Types: []string{"video/mp4", "video/quicktime"}, Bytes: 2_000_000_000, MinTime: 4 * time.Second, MaxTime: 15 * time.Minute,
		MinShape: 0.5, MaxShape: 1.91, Shape: "between 1:2 and 1.91:1", Codecs: []string{"h264", "hevc"},
	}
)
