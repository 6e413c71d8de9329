package network

import (
	"strings"
	"testing"
	"time"
)

func onTikTok(media []Media, options ...string) Draft {
	d := Draft{Media: media, Options: map[string]string{OptPrivacy: "PUBLIC_TO_EVERYONE"}}
	for i := 0; i < len(options); i += 2 {
		d.Options[options[i]] = options[i+1]
	}
	return d
}

func TestTikTokWantsAChoiceOfWhoSeesIt(t *testing.T) {
	t.Parallel()
	film, photo := []Media{mp4()}, []Media{jpeg()}
	for name, c := range map[string]struct {
		draft Draft
		want  string
	}{
		"a video":        {onTikTok(film, OptDuet, "false", OptStitch, "false", OptComments, "false", OptSynthetic, "true", OptThumbOffset, "1500"), ""},
		"a photo":        {onTikTok(photo, OptTitle, "Loaves", OptMusic, "true"), ""},
		"photos":         {onTikTok(many(jpeg(), 35), OptCoverPicture, "35"), ""},
		"too many":       {onTikTok(many(jpeg(), 36)), "media:media_too_many"},
		"no choice":      {onTikTok(film, OptPrivacy, ""), "options.privacy:option_missing"},
		"no such choice": {onTikTok(film, OptPrivacy, "public"), "options.privacy:option_invalid"},
		"text at":        {draft(onTikTok(film), func(d *Draft) { d.Text = strings.Repeat("𝒜", 1100) }), ""},
		"text above":     {draft(onTikTok(film), func(d *Draft) { d.Text = strings.Repeat("𝒜", 1100) + "a" }), "text:text_too_long"},
		"title at":       {onTikTok(photo, OptTitle, strings.Repeat("a", 90)), ""},
		"title above":    {onTikTok(photo, OptTitle, strings.Repeat("a", 91)), "options.title:option_too_long"},
		"png":            {onTikTok([]Media{with(func(m *Media) { m.Type = "image/png" }, jpeg())}), "media.0:media_type"},
		"large":          {onTikTok([]Media{with(func(m *Media) { m.Width, m.Height = 1920, 1081 }, jpeg())}), "media.0:media_pixels"},
		"1080p":          {onTikTok([]Media{with(func(m *Media) { m.Width, m.Height = 1920, 1080 }, jpeg())}), ""},
		"small":          {onTikTok([]Media{with(func(m *Media) { m.Width, m.Height = 359, 640 }, mp4())}), "media.0:media_too_small"},
		"short":          {onTikTok([]Media{with(func(m *Media) { m.Duration = 2900 * time.Millisecond }, mp4())}), "media.0:media_too_short"},
		"long":           {onTikTok([]Media{with(func(m *Media) { m.Duration = 10*time.Minute + 1 }, mp4())}), "media.0:media_too_long"},
		"both kinds":     {onTikTok([]Media{mp4(), jpeg()}), "media:media_mixed"},
		"nothing":        {onTikTok(nil), "media:media_missing"},
		"a link":         {draft(onTikTok(film), func(d *Draft) { d.Link = "https://example.com" }), "link:link_not_taken"},
		"a comment":      {draft(onTikTok(film), func(d *Draft) { d.FirstComment = "x" }), "first_comment:comment_not_taken"},
		"paid":           {onTikTok(film, OptDisclose, "paid"), ""},
		"paid, unseen":   {onTikTok(film, OptDisclose, "both", OptPrivacy, "SELF_ONLY"), "options.disclose:option_clash"},
		"own, unseen":    {onTikTok(film, OptDisclose, "own", OptPrivacy, "SELF_ONLY"), ""},
	} {
		if got := codes(get(t, TikTok).Check(c.draft)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestTikTokOffersWhatTheCreatorsAccountAllows(t *testing.T) {
	t.Parallel()
	own := get(t, TikTok).With(map[string]string{"privacy_options": "SELF_ONLY,FOLLOWER_OF_CREATOR", "video_seconds": "60"})
	o, _ := own.Option(OptPrivacy)
	if len(o.Choices) != 2 || o.Choices[0].Value != "FOLLOWER_OF_CREATOR" {
		t.Errorf("got %+v", o.Choices)
	}
	if got := codes(own.Check(onTikTok([]Media{with(func(m *Media) { m.Duration = 61 * time.Second }, mp4())}))); got != "options.privacy:option_invalid media.0:media_too_long" {
		t.Errorf("got %q", got)
	}
	for _, list := range []string{"", "EVERYBODY", ","} {
		o, _ := get(t, TikTok).With(map[string]string{"privacy_options": list}).Option(OptPrivacy)
		if len(o.Choices) != 4 {
			t.Errorf("%q leaves %+v", list, o.Choices)
		}
	}
	if o, _ := get(t, TikTok).Option(OptPrivacy); len(o.Choices) != 4 {
		t.Error("the shared entry changed")
	}
}

func TestATikTokTextIsCutWithPlainDots(t *testing.T) {
	t.Parallel()
	short, cut := get(t, TikTok).Shorten(strings.Repeat("bread ", 400))
	if !cut || !strings.HasSuffix(short, "bread...") || len(short) > 2200 {
		t.Errorf("%d units, ends %q", len(short), short[len(short)-12:])
	}
}
