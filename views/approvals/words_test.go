package approvals

import (
	"strings"
	"testing"
	"time"

	"herald/db/model"
)

func TestAccountsThatGetTheSameShareACard(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 3, 13, 12, 0, 0, 0, time.UTC)
	again := due
	cards := Cards([]model.Preview{
		{AccountID: 1, Network: "mastodon", Account: "@a", Text: "Hello", DueAt: &due},
		{AccountID: 2, Network: "mastodon", Account: "@b", Text: "Hello", DueAt: &again},
		{AccountID: 3, Network: "mastodon", Account: "@c", Text: "Hello you", DueAt: &due},
		{AccountID: 4, Network: "facebook", Account: "@d", Text: "Hello", DueAt: &due},
	})
	if len(cards) != 3 || strings.Join(cards[0].Accounts, " ") != "@a @b" || cards[2].Label != "Facebook" {
		t.Errorf("cards: %+v", cards)
	}
}

func TestAMissingAltTextIsMarkedWhereTheNetworkWouldShowIt(t *testing.T) {
	t.Parallel()
	picture, film, told := model.PreviewMedia{Kind: "image"}, model.PreviewMedia{Kind: "video"}, model.PreviewMedia{Kind: "image", Alt: "A loaf"}
	const none = "none; this network takes none here"
	for _, c := range []struct {
		network, format string
		media           model.PreviewMedia
		want            string
	}{
		{"mastodon", "image", picture, "missing"}, {"mastodon", "image", told, "A loaf"}, {"instagram", "image", picture, "missing"},
		{"instagram", "story", picture, none}, {"instagram", "story", told, none}, {"tiktok", "image", told, none},
		{"instagram", "reel", film, none}, {"facebook", "video", film, none},
	} {
		var b strings.Builder
		card := Cards([]model.Preview{{AccountID: 1, Network: c.network, Format: c.format, Account: "@a", Media: []model.PreviewMedia{c.media}}})[0]
		if err := PreviewCard(card, func(model.MediaID, string) string { return "/m" }, nil).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		_, said, _ := strings.Cut(b.String(), "Alt text</span>")
		if said, _, _ = strings.Cut(said, "</figcaption>"); !strings.Contains(said, c.want) {
			t.Errorf("%s %s, %s: %q does not say %q", c.network, c.format, c.media.Kind, said, c.want)
		}
	}
}

func TestDifferencesNameEveryPartThatChanged(t *testing.T) {
	t.Parallel()
	was := []model.Preview{
		{AccountID: 1, Network: "mastodon", Account: "@a", Text: "Hello", Media: []model.PreviewMedia{{SHA256: "x", Alt: "A dog"}, {SHA256: "y"}}},
		{AccountID: 2, Network: "mastodon", Account: "@same", Text: "Same"},
		{AccountID: 3, Network: "mastodon", Account: "@gone", Text: "Hello"},
	}
	now := []model.Preview{
		{AccountID: 1, Network: "mastodon", Account: "@a", Text: "Hello", Link: "https://x.example", Media: []model.PreviewMedia{{SHA256: "x", Alt: "A cat"}, {SHA256: "z"}, {SHA256: "w"}}},
		{AccountID: 2, Network: "mastodon", Account: "@same", Text: "Same"},
		{AccountID: 4, Network: "facebook", Account: "@new", Text: "Hello"},
	}
	list := Differences(was, now)
	if len(list) != 3 || !list[1].New || !list[2].Gone || list[2].Accounts[0] != "@gone" {
		t.Fatalf("differences: %+v", list)
	}
	var parts []string
	for _, l := range list[0].Lines {
		parts = append(parts, l.Part)
	}
	if got := strings.Join(parts, "|"); got != "Link|File 1, alt text|File 2|File 3" {
		t.Errorf("parts: %s", got)
	}
	if Differences(now, now) != nil {
		t.Error("a version differs from itself")
	}
}

func TestTimesShowInTheClientsZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 10, 30, 0, 0, time.UTC)
	if got := When(at, "America/Argentina/Buenos_Aires"); got.Words != "Wed 1 Jul 2026, 07:30" || got.Zone != "Buenos Aires" {
		t.Errorf("got %+v", got)
	}
	if got := When(at, "Nowhere/Here"); got.Words != "Wed 1 Jul 2026, 10:30" || got.Zone != "UTC" {
		t.Errorf("an unknown zone: %+v", got)
	}
}
