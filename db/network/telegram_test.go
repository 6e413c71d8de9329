package network

import (
	"strings"
	"testing"
)

func TestACaptionHasLessRoomThanAText(t *testing.T) {
	t.Parallel()
	n := get(t, Telegram)
	picture := Media{Kind: Image, Type: "image/jpeg", Bytes: 1000, Width: 400, Height: 400}
	for _, c := range []struct {
		letters int
		media   []Media
		want    string
	}{
		{4096, nil, ""}, {4097, nil, "text:text_too_long"},
		{1024, []Media{picture}, ""}, {1025, []Media{picture}, "text:text_too_long"}, {1025, []Media{picture, picture}, "text:text_too_long"},
	} {
		d := Draft{Text: strings.Repeat("a ", c.letters/2) + strings.Repeat("b", c.letters%2), Media: c.media}
		if got := codes(n.Check(d)); got != c.want {
			t.Errorf("%d with %d files: %q, want %q", c.letters, len(c.media), got, c.want)
		}
		fitted, cut := n.Fit(d)
		if cut != (c.want != "") || n.Length(fitted) > n.LimitOf(d) || n.Length(fitted) < n.LimitOf(d)-5 {
			t.Errorf("%d with %d files: fitted to %d of %d", c.letters, len(c.media), n.Length(fitted), n.LimitOf(d))
		}
	}
}
