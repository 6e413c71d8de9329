package network

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herald/db/model"
)

func image(mime string, w, h int, size int64) Media {
	return Media{Kind: Image, Type: mime, Width: w, Height: h, Bytes: size}
}

func film(w, h int, seconds float64, size int64, codec string, fps float64) Media {
	return Media{Kind: Video, Type: "video/mp4", Width: w, Height: h, Bytes: size, Duration: time.Duration(seconds * float64(time.Second)), VideoCodec: codec, AudioCodec: "aac", FPS: fps}
}

func TestServeMakesWhatTheNetworkTakes(t *testing.T) {
	t.Parallel()
	const mb = 1_000_000
	for _, c := range []struct {
		what   string
		net    Name
		format Format
		m      Media
		frame  Framing
		want   string
	}{
		{"a JPEG that fits", Instagram, FormatImage, image("image/jpeg", 1080, 1080, mb), Framing{}, ""},
		{"a PNG on Instagram", Instagram, FormatImage, image("image/png", 1080, 1080, mb), Framing{}, "image/jpeg 1080x1080 bytes=8388608"},
		{"a PNG in a carousel is the same", Instagram, FormatCarousel, image("image/png", 1080, 1080, mb), Framing{}, "image/jpeg 1080x1080 bytes=8388608"},
		{"a PNG on Facebook", Facebook, FormatImage, image("image/png", 1080, 1080, mb), Framing{}, ""},
		{"a PNG too heavy for Facebook", Facebook, FormatImage, image("image/png", 4000, 3000, 11*mb), Framing{}, "image/jpeg 4000x3000 bytes=10000000"},
		{"a tall JPEG on Instagram", Instagram, FormatImage, image("image/jpeg", 1080, 1920, mb), Framing{Focal: model.Centre}, "image/jpeg 1080x1350 crop=0,285,1080,1350 bytes=8388608"},
		{"a tall one whose top matters", Instagram, FormatImage, image("image/jpeg", 1080, 1920, mb), Framing{Focal: model.Focal{X: 500, Y: 0}}, "image/jpeg 1080x1350 crop=0,0,1080,1350 bytes=8388608"},
		{"a wide one whose right end matters", Instagram, FormatImage, image("image/jpeg", 3000, 1000, mb), Framing{Focal: model.Focal{X: 1000, Y: 500}}, "image/jpeg 1910x1000 crop=1090,0,1910,1000 bytes=8388608"},
		{"a story may have any shape", Instagram, FormatStory, image("image/jpeg", 3000, 1000, mb), Framing{}, ""},
		{"what a person chose", Instagram, FormatImage, image("image/jpeg", 3000, 1000, mb), Framing{Crop: model.Crop{X: 7, Y: 0, Width: 1000, Height: 1000}}, "image/jpeg 1000x1000 crop=7,0,1000,1000 bytes=8388608"},
		{"a choice of all", Instagram, FormatImage, image("image/jpeg", 1000, 1000, mb), Framing{Crop: model.Crop{Width: 1000, Height: 1000}}, ""},
		{"a choice outside of the file", Instagram, FormatImage, image("image/jpeg", 1000, 1000, mb), Framing{Crop: model.Crop{X: 1, Width: 1000, Height: 1000}}, ""},
		{"too many pixels", Mastodon, FormatImage, image("image/jpeg", 10000, 5000, mb), Framing{}, "image/jpeg 8145x4072 bytes=16777216"},
		{"a GIF goes as it is where it is taken", Mastodon, FormatImage, image("image/gif", 100, 100, mb), Framing{}, ""},
		{"X takes a larger one than pictures", X, FormatImage, image("image/gif", 1280, 1080, 14*mb), Framing{}, ""},
		{"and no wider one", X, FormatImage, image("image/gif", 1300, 600, mb), Framing{}, "image/jpeg 1300x600 bytes=5000000"},
		{"nor one among others", X, FormatImages, image("image/gif", 100, 100, mb), Framing{}, "image/jpeg 100x100 bytes=5000000"},
		{"a GIF on Instagram", Instagram, FormatImage, image("image/gif", 1080, 1080, mb), Framing{}, "image/jpeg 1080x1080 bytes=8388608"},
		{"a GIF that is cropped stands still", Mastodon, FormatImage, image("image/gif", 300, 300, mb), Framing{Crop: model.Crop{Width: 200, Height: 200}}, "image/jpeg 200x200 crop=0,0,200,200 bytes=16777216"},
		{"WebP goes as it is where it is taken", Mastodon, FormatImage, image("image/webp", 100, 100, mb), Framing{}, ""},
		{"nobody knows the size", Instagram, FormatImage, image("image/png", 0, 0, mb), Framing{}, ""},
		{"a text post takes none", Facebook, FormatText, image("image/png", 10, 10, mb), Framing{}, ""},
		{"a reel that fits", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "h264", 30), Framing{}, ""},
		{"VP9 on Instagram", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "vp9", 30), Framing{}, "video/mp4 1080x1920 bytes=300000000 codec=h264"},
		{"VP9 on Facebook", Facebook, FormatReel, film(1080, 1920, 30, 20*mb, "vp9", 30), Framing{}, ""},
		{"4K on Instagram", Instagram, FormatReel, film(3840, 2160, 30, 20*mb, "h264", 30), Framing{}, "video/mp4 1920x1080 bytes=300000000 codec=h264"},
		{"120 frames a second", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "h264", 120), Framing{}, "video/mp4 1080x1920 bytes=300000000 codec=h264 fps=60"},
		{"15 frames a second", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "h264", 15), Framing{}, "video/mp4 1080x1920 bytes=300000000 codec=h264 fps=23"},
		{"60000/1001 is 60", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "h264", 59.94), Framing{}, ""},
		{"too heavy for a server", Mastodon, FormatVideo, film(1920, 1080, 60, 200*mb, "h264", 30), Framing{}, "video/mp4 1920x1080 bytes=103809024 codec=h264 rate=13010000"},
		{"too heavy to be worth it", Mastodon, FormatVideo, film(1920, 1080, 7200, 900*mb, "h264", 30), Framing{}, ""},
		{"a video is cropped by a person only", Facebook, FormatReel, film(1920, 1080, 30, 20*mb, "h264", 30), Framing{}, ""},
		{"as here", Facebook, FormatReel, film(1921, 1081, 30, 20*mb, "h264", 30), Framing{Crop: model.Crop{X: 600, Width: 607, Height: 1081}}, "video/mp4 606x1080 crop=600,0,607,1081 bytes=10000000000 codec=h264"},
		{"nobody looked into the video", Instagram, FormatReel, film(1080, 1920, 30, 20*mb, "", 0), Framing{}, ""},
	} {
		n, _ := Get(c.net)
		got := n.Serve(c.format, c.m, c.frame)
		if got.Recipe.String() != c.want {
			t.Errorf("%s: %q, want %q", c.what, got.Recipe, c.want)
		}
		if r, err := ParseRecipe(c.want); err != nil || r != got.Recipe {
			t.Errorf("%s: read back as %+v, %v", c.what, r, err)
		}
	}
}

func TestVideosThatBrowsersDoNotPlayHaveAPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    Media
		want string
	}{
		{film(3840, 2160, 30, 1000, "hevc", 30), "video/mp4 1280x720 codec=h264"}, {film(1081, 1921, 30, 1000, "hevc", 30), "video/mp4 720x1280 codec=h264"},
		{film(321, 181, 30, 1000, "mpeg4", 30), "video/mp4 320x180 codec=h264"}, {film(3840, 2160, 30, 1000, "h264", 30), ""}, {film(3840, 2160, 30, 1000, "", 0), ""},
		{film(0, 0, 30, 1000, "hevc", 30), ""}, {image("image/png", 400, 300, 1000), ""},
	} {
		if got := c.m.Preview(); got.String() != c.want || got.Plays() != (c.want != "") {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}

func TestServeSaysWhenHeraldChoseTheCrop(t *testing.T) {
	t.Parallel()
	n, _ := Get(Instagram)
	tall := image("image/jpeg", 1000, 3000, 1000)
	if s := n.Serve(FormatImage, tall, Framing{Focal: model.Centre}); !s.Cropped || s.Media.Width != 1000 || s.Media.Height != 1250 {
		t.Errorf("Herald's choice: %+v", s)
	}
	moving := image("image/gif", 1000, 1000, 1000)
	moving.Frames = 351
	if s := n.Serve(FormatImage, moving, Framing{}); !s.Stilled || s.Media.Frames != 0 || s.Media.Type != "image/jpeg" {
		t.Errorf("a GIF on Instagram: %+v", s)
	}
	x, _ := Get(X)
	if s := x.Serve(FormatImage, moving, Framing{}); !s.Stilled || !s.Fits {
		t.Errorf("one with a frame too many for X: %+v", s)
	}
	moving.Frames--
	if s := x.Serve(FormatImage, moving, Framing{}); s.Stilled || !s.Fits || s.Media.Frames != 350 {
		t.Errorf("one that X just takes: %+v", s)
	}
	if s := n.Serve(FormatImage, tall, Framing{Crop: model.Crop{Width: 1000, Height: 1000}}); s.Cropped {
		t.Errorf("a person's choice: %+v", s)
	}
}

func TestAheadListsWhatIsLikely(t *testing.T) {
	t.Parallel()
	n, _ := Get(Instagram)
	frames := map[string]Framing{"instagram/post": {Focal: model.Centre}, "instagram/story": {Crop: model.Crop{Width: 900, Height: 1600}}}
	var got []string
	for _, r := range n.Ahead(image("image/png", 1000, 2000, 1000), frames) {
		got = append(got, r.String())
	}
	if want := []string{"image/jpeg 1000x1250 crop=0,375,1000,1250 bytes=8388608", "image/jpeg 900x1600 crop=0,0,900,1600 bytes=8000000"}; !slices.Equal(got, want) {
		t.Errorf("a picture: %q, want %q", got, want)
	}
	if got := n.Ahead(film(3840, 2160, 30, 1000, "vp9", 30), nil); len(got) != 1 {
		t.Errorf("a video: %v, want one", got)
	}
	if got := n.Ahead(film(3840, 2160, 3000, 1000, "vp9", 30), nil); len(got) != 0 {
		t.Errorf("a video that is too long: %v", got)
	}
}

// TestServeNeverMakesWhatCheckRefuses: after Serve a file has a type, shape and
// size that its network takes, and needs nothing more.
func TestServeNeverMakesWhatCheckRefuses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom(all).Draw(t, "network")
		rule := rapid.SampledFrom(n.Formats).Draw(t, "format")
		m := image(rapid.SampledFrom([]string{"image/jpeg", "image/png", "image/webp", "image/gif"}).Draw(t, "type"), rapid.IntRange(1, 16384).Draw(t, "w"), rapid.IntRange(1, 16384).Draw(t, "h"),
			rapid.Int64Range(1, 50<<20).Draw(t, "bytes"))
		file, taken := rule.file(Image)
		frame := Framing{Focal: model.Focal{X: rapid.IntRange(0, 1000).Draw(t, "x"), Y: rapid.IntRange(0, 1000).Draw(t, "y")}}
		s := n.Serve(rule.Format, m, frame)
		if c := s.Recipe.Crop; !c.Whole() && !c.Within(m.Width, m.Height) {
			t.Fatalf("the crop lies outside: %+v", c)
		}
		if !taken {
			return
		}
		for _, f := range file.faults(s.Media, n.Label) {
			if !slices.Contains([]string{MediaTooSmall, MediaShape}, f.code) || f.code == MediaShape && min(m.Width, m.Height) > 200 {
				t.Fatalf("%s: %s %s, served as %q", f.code, n.Name, f.say, s.Recipe)
			}
		}
		if again := n.Serve(rule.Format, s.Media, frame); !again.Recipe.Zero() && min(m.Width, m.Height) > 200 {
			t.Fatalf("%q is served once more, as %q", s.Recipe, again.Recipe)
		}
		if back, err := ParseRecipe(s.Recipe.String()); err != nil || back != s.Recipe {
			t.Fatalf("%q is read as %+v, %v", s.Recipe, back, err)
		}
	})
}

func FuzzParseRecipe(f *testing.F) {
	for _, s := range []string{"", "image/jpeg 1080x1350 crop=0,285,1080,1350 bytes=8388608", "video/mp4 606x1080 codec=h264 fps=23.976 rate=1", "image/png 01x1", "x -1x-1 crop=0,0,0,0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRecipe(s); err == nil && r.String() != s {
			t.Errorf("%q was read, and is written as %q", s, r)
		}
	})
}

func TestPresetsAreOnePerShape(t *testing.T) {
	t.Parallel()
	n, _ := Get(Instagram)
	var keys []string
	for _, p := range n.Presets(Image) {
		keys = append(keys, p.Key)
		if len(p.Aspects) == 0 {
			t.Errorf("%s offers no shape", p.Key)
		}
		for _, a := range p.Aspects {
			if !p.Takes(a.Width*100, a.Height*100) {
				t.Errorf("%s offers %s and does not take it", p.Key, a.Label)
			}
		}
	}
	if want := []string{"instagram/post", "instagram/story"}; !slices.Equal(keys, want) {
		t.Errorf("presets: %v, want %v", keys, want)
	}
	for _, n := range All() {
		for _, f := range n.Formats {
			for _, kind := range []MediaKind{Image, Video} {
				if _, taken := f.file(kind); taken {
					if _, ok := PresetFor(PresetOf(n.Name, f.Format), kind); !ok {
						t.Errorf("%s %s has no preset for a %s", n.Name, f.Format, kind)
					}
				}
			}
		}
	}
}
