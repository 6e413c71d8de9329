package jobs_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	pic "herald/db/picture"
)

// fixture is one of the files that picture's own tests look at.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../db/picture/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gifOf(t *testing.T, frames, w, h int) []byte {
	t.Helper()
	g := gif.GIF{Config: image.Config{ColorModel: color.Palette(palette.Plan9), Width: w, Height: h}}
	for i := range frames {
		size := image.Rect(0, 0, w, h)
		if i > 0 {
			size = image.Rect(0, 0, 1, 1)
		}
		g.Image, g.Delay = append(g.Image, image.NewPaletted(size, palette.Plan9)), append(g.Delay, 4)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// bombPNG is a whole picture of 30,000 by 30,000 pixels, black and white, in some
// hundred kilobytes.
func bombPNG(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	row := make([]byte, 1+30_000/8)
	for range 30_000 {
		if _, err := z.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 30_000), 30_000)
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, 1, 0, 0, 0, 0))...)
	b = append(append(b, chunk("IDAT", packed.Bytes())...), chunk("IEND", nil)...)
	if len(b) > 200_000 {
		t.Fatalf("the bomb has %d bytes", len(b))
	}
	return b
}

// segment puts one more segment at the beginning of a JPEG.
func segment(jpg []byte, marker byte, body string) []byte {
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, marker}, uint16(len(body)+2))
	return append(append(head, body...), jpg[2:]...)
}

func pngAs(t *testing.T, dst draw.Image) []byte {
	t.Helper()
	draw.Draw(dst, dst.Bounds(), painted(40, 20), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, dst); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is rare but good is published, as what networks and browsers know.
func TestStrangePicturesBecomeReady(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	type strange struct {
		b             []byte
		mime          pic.Type // of what is published
		width, height int
		frames        int64
	}
	size := image.Rect(0, 0, 40, 20)
	all := map[string]strange{
		"cmyk.jpg":         {fixture(t, "cmyk.jpg"), pic.JPEG, 48, 32, 0},
		"sixteen.png":      {pngAs(t, image.NewNRGBA64(size)), pic.PNG, 40, 20, 0},
		"palette.png":      {pngAs(t, image.NewPaletted(size, palette.Plan9)), pic.PNG, 40, 20, 0},
		"bad-icc.jpg":      {segment(jpegOf(t, 40, 20), 0xe2, "ICC_PROFILE\x00\x01\x01 this is no profile"), pic.JPEG, 40, 20, 0},
		"really.jpg":       {pngOf(t, 40, 20), pic.PNG, 40, 20, 0}, // it is the bytes that count
		"phone.heic":       {fixture(t, "turned.heic"), pic.JPEG, 96, 128, 0},
		"moving.gif":       {gifOf(t, 12, 40, 20), pic.GIF, 40, 20, 12},
		"still.gif":        {gifOf(t, 1, 40, 20), pic.PNG, 40, 20, 0},
		"thousand.gif":     {gifOf(t, 1000, 40, 20), pic.GIF, 40, 20, 1000},
		"see-through.webp": {fixture(t, "alpha.webp"), pic.PNG, 48, 32, 0},
	}
	for o := byte(1); o <= 8; o++ {
		turned := strange{segment(jpegOf(t, 40, 20), 0xe1, "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"+string(o)+"\x00\x00\x00\x00\x00\x00"), pic.JPEG, 40, 20, 0}
		if o >= 5 {
			turned.width, turned.height = 20, 40
		}
		all["orientation "+string('0'+o)+".jpg"] = turned
	}
	for name, c := range all {
		mime, ok := pic.Sniff(c.b)
		if !ok {
			t.Fatalf("%s is not taken", name)
		}
		id := a.upload(t, network.Image, string(mime), name, c.b)
		if faults := a.work(t); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		got := a.asset(t, id)
		if got.State != db.MediaReady || got.Type != string(c.mime) || got.Width != c.width || got.Height != c.height || got.Probe.Frames != c.frames || len(got.Placeholder) == 0 || got.ThumbPath == "" {
			t.Errorf("%s: %+v", name, got.Asset)
			continue
		}
		f, err := pic.Inspect(t.Context(), bytes.NewReader(a.bytes(t, got.Path)), pic.Standard())
		if err != nil || f.Type != c.mime || f.Width != c.width || f.Height != c.height || f.Orientation != 1 || int64(f.Frames) != c.frames {
			t.Errorf("%s is published as %+v, %v", name, f, err)
		}
		for _, r := range got.Renditions { // Instagram takes still JPEGs only
			if kind, err := pic.Inspect(t.Context(), bytes.NewReader(a.bytes(t, r.Path)), pic.Standard()); err != nil || r.State != "ready" || kind.Type != pic.JPEG {
				t.Errorf("%s, rendition %s: %s %+v, %v", name, r.Recipe, r.State, kind, err)
			}
		}
		if c.mime != pic.JPEG && len(got.Renditions) == 0 {
			t.Errorf("%s: no rendition for Instagram", name)
		}
	}
}

// What a camera, a phone or a screen records is published as MP4, and made steady
// for networks that want it so.
func TestStrangeVideosBecomeReady(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	sound := []string{"-f", "lavfi", "-i", "sine=d=4"}
	shot := func(more ...string) []byte {
		return film(t, append([]string{"-f", "lavfi", "-i", "testsrc2=s=180x320:r=30:d=4"}, more...)...)
	}
	h := []string{"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast"}
	for name, c := range map[string]struct {
		b             []byte
		sound, varies bool
		rotation      int
		steady        bool // a rendition is made with an even rate
	}{
		"silent.mp4": {b: shot(h...)},
		"uneven.mp4": {b: shot(append(append(sound, h...), "-vf", "select='lt(t,1)+not(mod(n,4))'", "-fps_mode", "vfr", "-c:a", "aac", "-shortest")...), sound: true, varies: true, steady: true},
		"movie.mov":  {b: fixture(t, "movie.mov"), sound: true},
	} {
		mime, ok := pic.Sniff(c.b)
		if !ok {
			t.Fatalf("%s is not taken", name)
		}
		id := a.upload(t, network.Video, string(mime), name, c.b)
		if faults := a.work(t); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		got := a.asset(t, id)
		p := got.Probe
		if got.State != db.MediaReady || got.Type != "video/mp4" || p.Tool != "ffprobe" || p.VideoCodec != "h264" || p.HasAudio == nil || *p.HasAudio != c.sound ||
			c.sound && p.AudioCodec != "aac" || p.FPSVaries != c.varies || got.ThumbPath == "" {
			t.Errorf("%s: %+v, %+v", name, got.Asset, p)
			continue
		}
		if bytes.Contains(a.bytes(t, got.Path), []byte("+52.5200")) {
			t.Errorf("%s says where it was taken", name)
		}
		if c.steady && (len(got.Renditions) != 1 || got.Renditions[0].State != "ready" || !strings.Contains(got.Renditions[0].Recipe, "fps=23") || got.Renditions[0].DurationMs == 0) {
			t.Errorf("%s: renditions %+v", name, got.Renditions)
		}
		if !c.steady && len(got.Renditions) != 0 {
			t.Errorf("%s: renditions %+v", name, got.Renditions)
		}
	}
}

// What a phone records is often HEVC, which many browsers do not play: there is
// something to look at before any network asks, and people are shown that.
func TestAVideoThatBrowsersDoNotPlayIsMadeToBeLookedAt(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Mastodon) // takes it as it is
	b := film(t, "-f", "lavfi", "-i", "testsrc2=s=180x320:r=30:d=1", "-pix_fmt", "yuv420p", "-c:v", "mpeg4")
	id := a.upload(t, network.Video, "video/mp4", "phone.mp4", b)
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	if len(got.Renditions) != 1 || got.Renditions[0].Recipe != "video/mp4 180x320 codec=h264" || got.Renditions[0].State != "ready" {
		t.Fatalf("renditions %+v", got.Renditions)
	}
	account := dbtest.Look[model.AccountID](t, a.World, a.Shard, `SELECT id FROM tenant.accounts`)
	page, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "x", Accounts: []model.AccountID{account}, Media: []model.ContentMedia{{ID: id}}}})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := a.Owner.SentFiles(t.Context(), page.Post.ID, 0)
	if m := sent[page.Targets[0].ID]; err != nil || len(m) != 1 || m[0].Rendition != 0 || m[0].Waits || m[0].File() != model.RenditionFile(got.Renditions[0].ID) {
		t.Errorf("shown %+v, %v", sent, err)
	}
}

// An archive is no picture, and behind a picture it is looked into.
func TestWhatHarmsIsFoundInsideAZip(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("invoice.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(eicarText()); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	id := a.upload(t, network.Image, "image/jpeg", "nice.jpg", append(jpegOf(t, 10, 10), packed.Bytes()...))
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := a.asset(t, id); got.State != db.MediaQuarantined || got.Reason != "This file is harmful (Eicar-Test-Signature). It is locked away, and nothing can use it." {
		t.Errorf("%s, %q", got.State, got.Reason)
	}
}
