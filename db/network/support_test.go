package network

import (
	"strings"
	"testing"
)

func TestSupports(t *testing.T) {
	cases := []struct {
		name   Name
		format Format
		want   Support
		say    string
	}{
		{Mastodon, FormatText, Supported, ""},
		{Mastodon, FormatLink, Supported, "stands in the text"},
		{Bluesky, FormatLink, Supported, ""},
		{Bluesky, FormatStory, Impossible, "no such posts"},
		{Instagram, FormatText, Impossible, "no such posts"},
		{Instagram, FormatVideo, NeedsReview, "Meta"},
		{Telegram, FormatImages, Supported, "a carousel"},
		{Slack, FormatText, Supported, ""},
		{Slack, FormatImages, Configurable, "as a bot"},
		{Slack, FormatVideo, Impossible, "nothing could be proved"},
		{WordPress, FormatImages, Impossible, "featured image"},
		{TikTok, FormatVideo, NeedsReview, "audited"},
		{TikTok, FormatText, Impossible, "no such posts"},
	}
	for _, c := range cases {
		n, _ := Get(c.name)
		got, say := n.Supports(c.format)
		if got != c.want || !strings.Contains(say, c.say) || c.say == "" && say != "" {
			t.Errorf("%s %s: %s, %q; want %s, %q", c.name, c.format, got, say, c.want, c.say)
		}
	}
}

// TestSupportsIsWhatCheckSays holds the table to the rules: what is not impossible
// has a rule, and what has a rule is not impossible.
func TestSupportsIsWhatCheckSays(t *testing.T) {
	for _, n := range All() {
		for _, f := range Shapes() {
			instead, _ := n.instead(f)
			_, has := n.Rule(instead)
			if got, _ := n.Supports(f); has == (got == Impossible) {
				t.Errorf("%s %s: the table says %s, a rule: %v", n.Name, f, got, has)
			}
		}
		for _, f := range n.Formats {
			if got, _ := n.Supports(f.Format); got == Impossible {
				t.Errorf("%s has %s, which the table calls impossible", n.Name, f.Format)
			}
		}
	}
}

func TestLimitWords(t *testing.T) {
	for _, c := range []struct {
		name        Name
		text, video string
	}{
		{X, "280 units as X counts them", "2 min 20 s, 512 MB"},
		{Bluesky, "300 characters as the eye sees them", "3 min, 300 MB"},
		{YouTube, "5,000 bytes", "12 h, 256 GB"},
		{Medium, "100,000 characters", ""},
	} {
		n, _ := Get(c.name)
		if text, video := n.Text.Limit(), n.VideoLimit(); text != c.text || video != c.video {
			t.Errorf("%s: text %q, video %q; want %q, %q", c.name, text, video, c.text, c.video)
		}
	}
}
