package network

import (
	"strings"
	"testing"
	"time"
)

func onYouTube(options ...string) Draft {
	d := Draft{Media: []Media{mp4()}, Options: map[string]string{OptTitle: "The oven at night", OptPrivacy: "public"}}
	for i := 0; i < len(options); i += 2 {
		d.Options[options[i]] = options[i+1]
	}
	return d
}

func draft(d Draft, change func(*Draft)) Draft {
	change(&d)
	return d
}

func TestYouTubeWantsATitleAndAChoiceOfWhoSeesIt(t *testing.T) {
	t.Parallel()
	cover := Media{Kind: Image, Type: "image/png", Bytes: 900_000, Width: 1280, Height: 720}
	for name, c := range map[string]struct {
		draft Draft
		want  string
	}{
		"whole":         {onYouTube(), ""},
		"all of it":     {onYouTube(OptTags, "bread, rye bread,#oven", OptCategory, "26", OptForKids, "false", OptSynthetic, "true", OptNotify, "false", OptLanguage, "pt-BR"), ""},
		"bare":          {Draft{Media: []Media{mp4()}}, "options.title:option_missing options.privacy:option_missing"},
		"no privacy":    {onYouTube(OptPrivacy, ""), "options.privacy:option_missing"},
		"no such":       {onYouTube(OptPrivacy, "friends"), "options.privacy:option_invalid"},
		"title at":      {onYouTube(OptTitle, strings.Repeat("a", 100)), ""},
		"title above":   {onYouTube(OptTitle, strings.Repeat("a", 101)), "options.title:option_too_long"},
		"title astral":  {onYouTube(OptTitle, strings.Repeat("𝒜", 51)), "options.title:option_too_long"},
		"title family":  {onYouTube(OptTitle, strings.Repeat(family, 10)), "options.title:option_too_long"},
		"title barred":  {onYouTube(OptTitle, "a < b"), "options.title:option_invalid"},
		"title blank":   {onYouTube(OptTitle, "  "), "options.title:option_invalid"},
		"text at":       {draft(onYouTube(), func(d *Draft) { d.Text = strings.Repeat("é", 2500) }), ""},
		"text above":    {draft(onYouTube(), func(d *Draft) { d.Text = strings.Repeat("é", 2500) + "a" }), "text:text_too_long"},
		"text CJK":      {draft(onYouTube(), func(d *Draft) { d.Text = strings.Repeat("日", 1667) }), "text:text_too_long"},
		"text barred":   {draft(onYouTube(), func(d *Draft) { d.Text = "1 > 0" }), "text:text_barred"},
		"tags at":       {onYouTube(OptTags, strings.Repeat("a", 247)+", b "+strings.Repeat("c", 248)), ""}, // 247 + , + 250 with a space and quotes: 500
		"tags above":    {onYouTube(OptTags, strings.Repeat("a", 248)+", b "+strings.Repeat("c", 248)), "options.tags:option_too_long"},
		"comment":       {draft(onYouTube(), func(d *Draft) { d.FirstComment = "First" }), ""},
		"mute, private": {draft(onYouTube(OptPrivacy, "private"), func(d *Draft) { d.FirstComment = "First" }), "first_comment:comment_not_taken"},
		"mute, kids":    {draft(onYouTube(OptForKids, "true"), func(d *Draft) { d.FirstComment = "First" }), "first_comment:comment_not_taken"},
		"covered":       {draft(onYouTube(), func(d *Draft) { d.Media = append(d.Media, cover) }), ""},
		"cover first":   {draft(onYouTube(), func(d *Draft) { d.Media = []Media{cover, mp4()} }), ""},
		"heavy cover":   {draft(onYouTube(), func(d *Draft) { d.Media = append(d.Media, with(func(m *Media) { m.Bytes = 2_000_001 }, cover)) }), "media.1:media_too_large"},
		"webp cover":    {draft(onYouTube(), func(d *Draft) { d.Media = append(d.Media, with(func(m *Media) { m.Type = "image/webp" }, cover)) }), "media.1:media_type"},
		"two covers":    {draft(onYouTube(), func(d *Draft) { d.Media = append(d.Media, cover, cover) }), "media:media_too_many"},
		"two films":     {draft(onYouTube(), func(d *Draft) { d.Media = many(mp4(), 2) }), "media:media_too_many"},
		"a picture":     {draft(onYouTube(), func(d *Draft) { d.Media = []Media{cover} }), "media:media_missing"},
		"nothing":       {draft(onYouTube(), func(d *Draft) { d.Media = nil }), "media:media_missing"},
		"long":          {draft(onYouTube(), func(d *Draft) { d.Media[0].Duration = 12*time.Hour + time.Second }), "media.0:media_too_long"},
		"with a link":   {draft(onYouTube(), func(d *Draft) { d.Link = "https://example.com" }), ""},
	} {
		n := get(t, YouTube)
		if got := codes(n.Check(c.draft)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if got := n.FormatOf(c.draft); got != FormatVideo {
			t.Errorf("%s is a %s", name, got)
		}
	}
}

func TestAChannelThatIsNotConfirmedTakesFifteenMinutes(t *testing.T) {
	t.Parallel()
	long := draft(onYouTube(), func(d *Draft) { d.Media[0].Duration = 16 * time.Minute })
	n := get(t, YouTube)
	if got := codes(n.With(map[string]string{"video_seconds": "900"}).Check(long)); got != "media.0:media_too_long" {
		t.Errorf("got %q", got)
	}
	if got := codes(n.Check(long)); got != "" {
		t.Errorf("a confirmed channel: got %q", got)
	}
}

func TestWhatIsMissingIsAskedForInWords(t *testing.T) {
	t.Parallel()
	n := get(t, YouTube)
	for want, d := range map[string]Draft{
		`YouTube needs "Title": fill it in.`: onYouTube(OptTitle, ""),
		`YouTube needs "Who sees it": choose "Everyone", "Everyone who has the link" or "Only the channel".`:                     onYouTube(OptPrivacy, ""),
		"YouTube takes no > in the text: take it out, after 2 characters.":                                                       draft(onYouTube(), func(d *Draft) { d.Text = "1 > 0" }),
		`YouTube takes no comments with "Who sees it" set to "Only the channel": remove the first comment, or choose otherwise.`: draft(onYouTube(OptPrivacy, "private"), func(d *Draft) { d.FirstComment = "x" }),
		"YouTube posts need a video: add one.":                                                                                   {Options: onYouTube().Options},
	} {
		if problems := n.Check(d); len(problems) != 1 || problems[0].Say != want {
			t.Errorf("got %+v, want %s", problems, want)
		}
	}
}

func TestACoverIsServedAsACover(t *testing.T) {
	t.Parallel()
	n := get(t, YouTube)
	heavy := Media{Kind: Image, Type: "image/webp", Bytes: 5_000_000, Width: 2560, Height: 1440}
	s := n.Serve(FormatVideo, heavy, Framing{})
	if s.Recipe.Type != "image/jpeg" || s.Recipe.Bytes != 2_000_000 {
		t.Errorf("got %+v", s.Recipe)
	}
}
