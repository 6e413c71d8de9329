package network

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func leaflet(pages int64) Media {
	return Media{Kind: Document, Type: "application/pdf", Bytes: 90_000, Frames: pages}
}

func jpeg() Media {
	return Media{Kind: Image, Type: "image/jpeg", Bytes: 500_000, Width: 1080, Height: 1080, Alt: "a loaf"}
}

func mp4() Media {
	return Media{Kind: Video, Type: "video/mp4", Bytes: 5_000_000, Width: 1080, Height: 1920, Duration: 20 * time.Second, Alt: "an oven"}
}

func with(change func(*Media), m Media) Media {
	change(&m)
	return m
}

func many(m Media, n int) []Media { return slices.Repeat([]Media{m}, n) }

func option(key, value string) map[string]string { return map[string]string{key: value} }

// codes writes problems as field:code, warnings with a question mark.
func codes(problems []Problem) string {
	var all []string
	for _, p := range problems {
		s := p.Field + ":" + p.Code
		if p.Warn {
			s += "?"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func TestCheckFindsNothingWrongWithGoodPosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  Name
		draft Draft
		want  Format
	}{
		{Facebook, Draft{Text: "hello"}, FormatText},
		{Facebook, Draft{Text: "hello", Link: "https://example.com/a"}, FormatLink},
		{Facebook, Draft{Link: "https://example.com/a"}, FormatLink},
		{Facebook, Draft{Media: []Media{jpeg()}, FirstComment: "first"}, FormatImage},
		{Facebook, Draft{Text: "hello", Media: many(jpeg(), 10)}, FormatImages},
		{Facebook, Draft{Text: "hello", Media: []Media{mp4()}, Options: option(OptTitle, "Oven")}, FormatVideo},
		{Facebook, Draft{Text: "hello", Media: []Media{mp4()}, Options: option(OptFormat, "reel")}, FormatReel},
		{Facebook, Draft{Media: []Media{jpeg()}, Options: option(OptFormat, "story")}, FormatStory},
		{Instagram, Draft{Text: strings.Repeat("#a ", 30) + strings.Repeat("@b ", 20), Media: []Media{jpeg()}}, FormatImage},
		{Instagram, Draft{Text: "hello", Media: []Media{mp4()}, Options: option(OptShareToFeed, "false")}, FormatReel},
		{Instagram, Draft{Media: []Media{jpeg(), mp4()}, Options: option(OptCollaborators, "a, @b.c")}, FormatCarousel},
		{Instagram, Draft{Media: many(jpeg(), 10)}, FormatCarousel},
		{Instagram, Draft{Media: []Media{mp4()}, Options: option(OptFormat, "story")}, FormatStory},
		{Mastodon, Draft{Text: "hello", Options: option(OptVisibility, "unlisted")}, FormatText},
		{Mastodon, Draft{Link: "https://example.com"}, FormatText},
		{Mastodon, Draft{Text: "hello", Link: "https://example.com", Media: many(jpeg(), 4), FirstComment: "more"}, FormatImages},
		{Mastodon, Draft{Media: []Media{mp4()}, Options: option(OptLanguage, "de")}, FormatVideo},
		{Webhook, Draft{Text: strings.Repeat("a", 100_000), Link: "http://10.0.0.1/x", Media: []Media{jpeg(), mp4()}, FirstComment: "more", Options: option(OptTitle, "T")}, FormatCarousel},
		{Webhook, Draft{Media: many(jpeg(), 3)}, FormatImages},
	} {
		n := get(t, c.name)
		if got := codes(n.Check(c.draft)); got != "" {
			t.Errorf("%s %.60v: got %s", c.name, c.draft, got)
		}
		if got := n.FormatOf(c.draft); got != c.want {
			t.Errorf("%s %.60v: format %s, want %s", c.name, c.draft, got, c.want)
		}
	}
}

func TestCheckNamesWhatEachNetworkRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  Name
		draft Draft
		want  string
	}{
		{Facebook, Draft{}, "text:post_empty"},
		{Facebook, Draft{Text: " \n"}, "text:post_empty"},
		{Mastodon, Draft{}, "text:post_empty"},
		{Webhook, Draft{}, "text:post_empty"},
		{Instagram, Draft{}, "media:media_missing"},
		{Instagram, Draft{Text: "hello"}, "media:media_missing"},
		{Facebook, Draft{Text: "hello", Options: option(OptFormat, "reel")}, "media:media_missing"},
		{Facebook, Draft{Text: strings.Repeat("a", 63207)}, "text:text_too_long"},
		{Facebook, Draft{Text: strings.Repeat("𝒜", 31604)}, "text:text_too_long"},
		{Instagram, Draft{Text: strings.Repeat("a", 2201), Media: []Media{jpeg()}}, "text:text_too_long"},
		{Mastodon, Draft{Text: strings.Repeat("a", 501)}, "text:text_too_long"},
		{Mastodon, Draft{Text: strings.Repeat("a", 480), Options: option(OptSpoiler, strings.Repeat("b", 21))}, "text:text_too_long"},
		{Mastodon, Draft{Text: strings.Repeat("a", 476), Link: "https://example.com"}, "text:text_too_long"},
		{Webhook, Draft{Text: strings.Repeat("a", 100_001)}, "text:text_too_long"},
		{Instagram, Draft{Text: strings.Repeat("#a", 31), Media: []Media{jpeg()}}, "text:hashtags_too_many"},
		{Instagram, Draft{Text: strings.Repeat("@a ", 21), Media: []Media{jpeg()}}, "text:mentions_too_many"},
		{Instagram, Draft{Text: strings.Repeat("a@a ", 21), Media: []Media{jpeg()}}, ""},
		{Facebook, Draft{Text: "a\xffb"}, "text:text_not_utf8"},
		{Facebook, Draft{Text: "a\x00b"}, "text:text_control"},
		{Facebook, Draft{Text: "a\x1b[31mb"}, "text:text_control"},
		{Facebook, Draft{Text: "a\u0085b"}, "text:text_control"},
		{Facebook, Draft{Text: "a\uFFFFb"}, "text:text_control"},
		{Facebook, Draft{Text: "a\tb\nc\r\nd " + family + " \u200fשלום"}, ""},
		{Facebook, Draft{Text: "hi", FirstComment: strings.Repeat("a", 8001)}, "first_comment:comment_too_long"},
		{Facebook, Draft{Text: "hi", FirstComment: "\x00"}, "first_comment:text_control"},
		{Instagram, Draft{Media: []Media{jpeg()}, FirstComment: strings.Repeat("#a ", 31)}, "first_comment:hashtags_too_many"},
		{Instagram, Draft{Media: []Media{jpeg()}, FirstComment: "hi", Options: option(OptFormat, "story")}, "first_comment:comment_not_taken media.0:media_shape?"},
		{Mastodon, Draft{Text: "hi", FirstComment: strings.Repeat("a", 501)}, "first_comment:comment_too_long"},
		{Instagram, Draft{Media: []Media{jpeg()}, Link: "https://example.com"}, "link:link_not_taken"},
		{Facebook, Draft{Media: []Media{jpeg()}, Link: "https://example.com"}, "link:link_not_taken"},
		{Facebook, Draft{Media: []Media{jpeg()}, Link: "https://example.com", Options: option(OptFormat, "story")}, "link:link_not_taken"},
		{Facebook, Draft{Link: "example.com"}, "link:link_invalid"},
		{Facebook, Draft{Link: "javascript:alert(1)"}, "link:link_invalid"},
		{Facebook, Draft{Link: "https://user:pass@example.com"}, "link:link_invalid"},
		{Facebook, Draft{Link: "https://exa mple.com"}, "link:link_invalid"},
		{Facebook, Draft{Link: "https:///x"}, "link:link_invalid"},
		{Facebook, Draft{Link: "https://example.com/" + strings.Repeat("a", 2048)}, "link:link_invalid"},
		{Facebook, Draft{Media: many(jpeg(), 11)}, "media:media_too_many"},
		{Facebook, Draft{Media: []Media{jpeg(), mp4()}}, "media:media_mixed"},
		{Facebook, Draft{Media: many(mp4(), 2)}, "media:media_too_many"},
		{Facebook, Draft{Media: []Media{jpeg()}, Options: option(OptFormat, "reel")}, "media.0:media_kind"},
		{Facebook, Draft{Media: many(mp4(), 2), Options: option(OptFormat, "reel")}, "media:media_too_many"},
		{Facebook, Draft{Text: "lost", Media: []Media{jpeg()}, Options: option(OptFormat, "story")}, "text:text_not_shown?"},
		{Instagram, Draft{Media: many(jpeg(), 11)}, "media:media_too_many"},
		{Instagram, Draft{Media: many(jpeg(), 2), Options: option(OptFormat, "story")}, "media:media_too_many media.0:media_shape? media.1:media_shape?"},
		{Mastodon, Draft{Media: many(jpeg(), 5)}, "media:media_too_many"},
		{Mastodon, Draft{Media: []Media{mp4(), jpeg()}}, "media:media_mixed"},
		{Mastodon, Draft{Media: many(mp4(), 2)}, "media:media_too_many"},
		{LinkedIn, Draft{Media: []Media{leaflet(300)}, Options: option(OptDocTitle, "Bread")}, ""},
		{LinkedIn, Draft{Media: []Media{leaflet(301)}, Options: option(OptDocTitle, "Bread")}, "media.0:media_too_long"},
		{LinkedIn, Draft{Media: []Media{leaflet(3)}}, "options.document_title:option_missing"},
		{LinkedIn, Draft{Media: []Media{leaflet(3), jpeg()}}, "media.0:media_kind"},
		{Facebook, Draft{Media: []Media{leaflet(3)}}, "media.0:media_kind"},
		{Webhook, Draft{Media: many(jpeg(), 21)}, "media:media_too_many"},
		{Webhook, Draft{Media: []Media{{Kind: "audio", Type: "audio/mpeg"}}}, "media.0:media_kind"},
		{Mastodon, Draft{Text: "hi", Options: option("colour", "red")}, "options.colour:option_unknown"},
		{Mastodon, Draft{Text: "hi", Options: option(OptFormat, "story")}, "options.format:option_unknown"},
		{Mastodon, Draft{Text: "hi", Options: option(OptVisibility, "direct")}, "options.visibility:option_invalid"},
		{Mastodon, Draft{Text: "hi", Options: option(OptSensitive, "yes")}, "options.sensitive:option_invalid"},
		{Mastodon, Draft{Text: "hi", Options: option(OptLanguage, "Deutsch")}, "options.language:option_too_long"},
		{Mastodon, Draft{Text: "hi", Options: option(OptLanguage, "DE")}, "options.language:option_invalid"},
		{Mastodon, Draft{Text: "hi", Options: option(OptSpoiler, "\x00")}, "options.spoiler_text:text_control"},
		{Mastodon, Draft{Text: "hi", Options: option(OptVisibility, "")}, ""},
		{Instagram, Draft{Media: []Media{jpeg()}, Options: option(OptFormat, "reel")}, "options.format:option_invalid"},
		{Instagram, Draft{Media: []Media{mp4()}, Options: option(OptCollaborators, "a,b,c,d")}, "options.collaborators:option_invalid"},
		{Instagram, Draft{Media: []Media{mp4()}, Options: option(OptThumbOffset, "-1")}, "options.thumb_offset:option_invalid"},
	} {
		if got := codes(get(t, c.name).Check(c.draft)); got != c.want {
			t.Errorf("%s %.80v: got %q, want %q", c.name, c.draft, got, c.want)
		}
	}
}

func TestCheckMeasuresEachFile(t *testing.T) {
	t.Parallel()
	size := func(w, h int) func(*Media) { return func(m *Media) { m.Width, m.Height = w, h } }
	weigh := func(b int64) func(*Media) { return func(m *Media) { m.Bytes = b } }
	typed := func(s string) func(*Media) { return func(m *Media) { m.Type = s } }
	last := func(d time.Duration) func(*Media) { return func(m *Media) { m.Duration = d } }
	described := func(n int) func(*Media) { return func(m *Media) { m.Alt = strings.Repeat("é", n) } }
	for _, c := range []struct {
		name   Name
		format string
		media  Media
		want   string
	}{
		{Instagram, "", with(typed("image/png"), jpeg()), "media.0:media_type"},
		{Instagram, "", with(typed(""), jpeg()), "media.0:media_type"},
		{Instagram, "", with(typed("100%/evil"), jpeg()), "media.0:media_type"},
		{Instagram, "", with(weigh(8<<20), jpeg()), ""},
		{Instagram, "", with(weigh(8<<20+1), jpeg()), "media.0:media_too_large"},
		{Instagram, "", with(size(1080, 1350), jpeg()), ""}, // 4:5
		{Instagram, "", with(size(1080, 1400), jpeg()), "media.0:media_shape"},
		{Instagram, "", with(size(1200, 628), jpeg()), ""}, // 1.91:1
		{Instagram, "", with(size(1200, 600), jpeg()), "media.0:media_shape"},
		{Instagram, "", with(size(300, 300), jpeg()), "media.0:media_too_small?"},
		{Instagram, "", with(size(4000, 4000), jpeg()), ""},
		{Instagram, "", with(size(0, 0), jpeg()), "media.0:media_unknown?"},
		{Instagram, "", with(described(1000), jpeg()), ""},
		{Instagram, "", with(described(1001), jpeg()), "media.0:alt_too_long"},
		{Instagram, "", with(described(0), jpeg()), "media.0:alt_missing?"},
		{Instagram, "story", with(size(1080, 1920), with(described(0), jpeg())), ""},
		{Instagram, "", with(described(0), mp4()), ""},
		{Instagram, "", with(last(3*time.Second), mp4()), ""},
		{Instagram, "", with(last(2900*time.Millisecond), mp4()), "media.0:media_too_short"},
		{Instagram, "", with(last(15*time.Minute), mp4()), ""},
		{Instagram, "", with(last(15*time.Minute+1), mp4()), "media.0:media_too_long"},
		{Instagram, "", with(last(0), mp4()), "media.0:media_unknown?"},
		{Instagram, "", with(weigh(300_000_001), mp4()), "media.0:media_too_large"},
		{Instagram, "", with(size(2160, 3840), mp4()), "media.0:media_pixels"},
		{Instagram, "", with(size(1920, 1080), mp4()), "media.0:media_shape?"},
		{Instagram, "", with(typed("video/webm"), mp4()), "media.0:media_type"},
		{Instagram, "story", with(last(61*time.Second), mp4()), "media.0:media_too_long"},
		{Instagram, "story", with(weigh(100_000_001), mp4()), "media.0:media_too_large"},
		{Facebook, "", with(typed("image/webp"), jpeg()), "media.0:media_type"},
		{Facebook, "", with(weigh(4_000_001), jpeg()), "media.0:media_too_large?"},
		{Facebook, "", with(weigh(10_000_001), jpeg()), "media.0:media_too_large"},
		{Facebook, "reel", with(last(90*time.Second), mp4()), ""},
		{Facebook, "reel", with(last(91*time.Second), mp4()), "media.0:media_too_long"},
		{Facebook, "reel", with(size(480, 854), mp4()), "media.0:media_too_small"},
		{Facebook, "reel", with(size(1920, 1080), mp4()), "media.0:media_shape"},
		{Facebook, "", with(last(500*time.Millisecond), mp4()), "media.0:media_too_short"},
		{Mastodon, "", with(weigh(16_777_217), jpeg()), "media.0:media_too_large"},
		{Mastodon, "", with(size(8000, 4148), jpeg()), "media.0:media_pixels"},
		{Mastodon, "", with(size(7680, 4320), jpeg()), ""}, // 33,177,600
		{Mastodon, "", with(described(1501), jpeg()), "media.0:alt_too_long"},
		{Mastodon, "", with(described(0), mp4()), "media.0:alt_missing?"},
		{Mastodon, "", with(weigh(103_809_025), mp4()), "media.0:media_too_large"},
		{Mastodon, "", with(size(4096, 2160), mp4()), "media.0:media_pixels"},
		{Webhook, "", with(typed("image/heic"), jpeg()), "media.0:media_type"},
	} {
		d := Draft{Media: []Media{c.media}}
		if c.format != "" {
			d.Options = option(OptFormat, c.format)
		}
		if got := codes(get(t, c.name).Check(d)); got != c.want {
			t.Errorf("%s %s %+v: got %q, want %q", c.name, c.format, c.media, got, c.want)
		}
	}
}

func TestProblemsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  Name
		draft Draft
		want  string
	}{
		{Mastodon, Draft{Text: strings.Repeat("a", 612)}, "The text has 612 characters, Mastodon takes 500: take out 112, or shorten it to fit."},
		{Mastodon, Draft{Text: strings.Repeat("a", 490), Link: "https://example.com"}, "The text has 515 characters with what is sent beside it, Mastodon takes 500: take out 15, or shorten it to fit."},
		{Facebook, Draft{Text: strings.Repeat("a", 70_000)}, "The text has 70,000 characters, Facebook takes 63,206: take out 6,794, or shorten it to fit."},
		{Instagram, Draft{Text: "hi"}, "Instagram posts need a picture or a video: add one."},
		{Facebook, Draft{Options: option(OptFormat, "reel")}, "Facebook reels need a video: add one."},
		{Instagram, Draft{Media: many(jpeg(), 12)}, "Instagram carousels take at most 10 files, this one has 12: remove 2."},
		{Instagram, Draft{Media: []Media{with(func(m *Media) { m.Type = "image/png" }, jpeg())}}, "The picture is PNG, Instagram takes JPEG: save it in that form and add it again."},
		{Instagram, Draft{Media: []Media{jpeg(), with(func(m *Media) { m.Bytes = 8<<20 + 1 }, jpeg())}}, "Picture 2 has 8.1 MB, Instagram takes up to 8 MB: make the file smaller."},
		{Instagram, Draft{Media: []Media{with(func(m *Media) { m.Duration = time.Second }, mp4())}}, "The video is 1 s long, Instagram takes between 3 s and 15 min: use a longer one."},
		{Instagram, Draft{Media: []Media{with(func(m *Media) { m.Height = 4000 }, jpeg())}}, "The picture is 1080 × 4000, Instagram wants a ratio between 4:5 and 1.91:1: crop it."},
		{Facebook, Draft{Media: []Media{mp4(), jpeg()}}, "Facebook takes pictures or one video in a post, not both: remove the video or the pictures."},
		{Facebook, Draft{Media: []Media{jpeg()}, Options: option(OptFormat, "reel")}, "Facebook reels take a video only: remove the picture."},
		{Facebook, Draft{Text: "ab\x07"}, "The text holds an invisible control character (U+0007, after 2 characters): delete it."},
		{Mastodon, Draft{Text: "hi", Options: option(OptVisibility, "direct")}, `"direct" is not a choice for "Who sees it": choose "Everyone", "Everyone, not in timelines" or "Followers".`},
	} {
		problems := get(t, c.name).Check(c.draft)
		if len(problems) == 0 || problems[0].Say != c.want {
			t.Errorf("got %+v, want %s", problems, c.want)
		}
	}
}

func TestScopesFollowTheDraftAndKnowTheirOtherNames(t *testing.T) {
	t.Parallel()
	fb, ig, m := get(t, Facebook), get(t, Instagram), get(t, Mastodon)
	if got := fmt.Sprint(fb.Needs(Draft{Text: "hi", FirstComment: "x"})); got != "[pages_manage_posts pages_read_engagement pages_manage_engagement]" {
		t.Errorf("Facebook with a comment needs %s", got)
	}
	if got := fmt.Sprint(m.Needs(Draft{Text: "hi"})); got != "[write:statuses read:statuses]" {
		t.Errorf("Mastodon text needs %s", got)
	}
	pic := Draft{Media: []Media{jpeg()}}
	if got := m.Lacks(pic, []string{"write", "read:statuses"}); len(got) > 0 {
		t.Errorf("write covers write:media, yet %s lack", got)
	}
	if got := ig.Lacks(pic, []string{"instagram_business_basic", "instagram_business_content_publish"}); len(got) > 0 {
		t.Errorf("the other sign-in's scopes are not known: %s lack", got)
	}
	if got := fmt.Sprint(ig.Lacks(pic, []string{"instagram_basic"})); got != "[instagram_content_publish]" {
		t.Errorf("got %s", got)
	}
	if got := get(t, Webhook).Needs(pic); len(got) > 0 {
		t.Errorf("a webhook needs %s", got)
	}
}

func TestWithTakesAServersOwnLimitsAndNothingAbsurd(t *testing.T) {
	t.Parallel()
	m := get(t, Mastodon)
	own := m.With(map[string]string{"max_characters": "5000", "max_media_attachments": "6", "image_size_limit": "1000", "description_limit": "10", "note": "x"})
	if own.Limit() != 5000 || own.Comment.Max != 5000 || own.Alt.Max != 10 {
		t.Errorf("got %+v", own.Text)
	}
	if got := codes(own.Check(Draft{Text: strings.Repeat("a", 5000), Media: many(with(func(m *Media) { m.Bytes = 1000; m.Alt = "ok" }, jpeg()), 6)})); got != "" {
		t.Errorf("within its own limits: %s", got)
	}
	if m.Limit() != 500 || codes(m.Check(Draft{Media: many(jpeg(), 4)})) != "" {
		t.Error("the shared entry changed")
	}
	for _, absurd := range []string{"", "0", "-1", "1e9", "9999999999", "99999999999999999999", "five"} {
		if got := m.With(map[string]string{"max_characters": absurd}).Limit(); got != 500 {
			t.Errorf("max_characters %q was believed: %d", absurd, got)
		}
	}
	five := get(t, Instagram).With(map[string]string{"max_hashtags": "5"})
	if got := codes(five.Check(Draft{Text: strings.Repeat("#a ", 6), Media: []Media{jpeg()}})); got != "text:hashtags_too_many" {
		t.Errorf("got %q", got)
	}
}

func TestEveryEntryIsWhole(t *testing.T) {
	t.Parallel()
	for _, n := range All() {
		if n.Label == "" || n.Text.Max <= 0 || n.Text.Ellipsis == "" || n.Unit() == "" || len(n.Formats) == 0 || n.LookUp == "" {
			t.Errorf("%s lacks something: %+v", n.Name, n)
		}
		if n.LookUp != NoLook && n.Settle <= 0 {
			t.Errorf("%s has a list and no settling time", n.Name)
		}
		for _, r := range n.Formats {
			if r.Min > r.Max || r.Max > 0 && r.kinds() == "" || r.Max == 0 && len(r.Image.Types)+len(r.Video.Types) > 0 {
				t.Errorf("%s %s contradicts itself: %+v", n.Name, r.Format, r)
			}
			for _, f := range []FileRule{r.Image, r.Video, r.Cover} {
				if (f.MinShape > 0 || f.MaxShape > 0) && f.Shape == "" {
					t.Errorf("%s %s has a shape without words", n.Name, r.Format)
				}
			}
		}
		for _, o := range n.Options {
			if o.Label == "" || o.Kind == Choose && n.Value(Draft{}, o.Key) == "" && !o.Required || o.Pattern != nil && o.Hint == "" || o.Kind == Write && o.Max == 0 {
				t.Errorf("%s option %s is not whole: %+v", n.Name, o.Key, o)
			}
		}
	}
}

// drawDraft makes drafts that no form would send.
func drawDraft(t *rapid.T) Draft {
	keys := []string{OptFormat, OptTitle, OptVisibility, OptSpoiler, OptSensitive, OptLanguage, OptCollaborators, OptThumbOffset, OptShareToFeed, "", "x%sy", "\xff"}
	d := Draft{Text: drawText(t), FirstComment: drawText(t), Link: rapid.OneOf(rapid.SampledFrom([]string{"", "https://example.com", "http://[::1"}), rapid.String()).Draw(t, "link")}
	d.Options = rapid.MapOfN(rapid.SampledFrom(keys), rapid.OneOf(rapid.SampledFrom([]string{"reel", "story", "post", "true"}), rapid.String()), 0, 4).Draw(t, "options")
	for range rapid.IntRange(0, 12).Draw(t, "files") {
		d.Media = append(d.Media, Media{
			Kind:  rapid.SampledFrom([]MediaKind{Image, Video, "", "audio"}).Draw(t, "kind"),
			Type:  rapid.SampledFrom([]string{"image/jpeg", "video/mp4", "", "/", "%d%s", "image/"}).Draw(t, "type"),
			Bytes: rapid.Int64().Draw(t, "bytes"), Width: rapid.Int().Draw(t, "width"), Height: rapid.Int().Draw(t, "height"),
			Duration: time.Duration(rapid.Int64().Draw(t, "duration")), Alt: drawText(t),
		})
	}
	return d
}

// misformatted is how fmt says that a verb and its value do not fit. A sentence may
// quote a "%!" that somebody wrote.
var misformatted = regexp.MustCompile(`%!.?\(`)

func TestCheckAnswersAnyDraftInWholeSentences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDraft(t)
		for _, n := range All() {
			for _, p := range n.Check(d) {
				if p.Field == "" || p.Code == "" || !strings.HasSuffix(p.Say, ".") || misformatted.MatchString(p.Say) || len(p.Say) > 700 {
					t.Fatalf("%s says %+v", n.Name, p)
				}
			}
			n.Lacks(d, nil)
		}
	})
}

// What Shorten and Fit return is never refused for its length.
func TestCheckTakesTheLengthOfWhatFitMade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := Draft{Text: strings.Repeat(drawText(t), rapid.IntRange(1, 40).Draw(t, "times"))}
		for _, n := range All() {
			fit, _ := n.Fit(d)
			if got := codes(n.Check(fit)); strings.Contains(got, TextTooLong) {
				t.Fatalf("%s: %q: %s", n.Name, fit.Text, got)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add("text", "https://example.com", "comment", "format", "story", "image/jpeg", 10, 10)
	f.Add("\xff", "://", "\x00", "\xff", "%d", "%s", 0, -1)
	f.Fuzz(func(t *testing.T, text, link, comment, key, value, mime string, w, h int) {
		d := Draft{Text: text, Link: link, FirstComment: comment, Options: option(key, value),
			Media: []Media{{Kind: Image, Type: mime, Width: w, Height: h, Alt: text}}}
		for _, n := range All() {
			for _, p := range n.Check(d) {
				if p.Say == "" || misformatted.MatchString(p.Say) {
					t.Errorf("%s says %+v", n.Name, p)
				}
			}
		}
	})
}
