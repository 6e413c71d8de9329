package opengraph

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAPageIsReadAsItSpeaksOfItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want Page
	}{
		"opengraph": {`<html><head><title>Plain</title><meta property="og:title" content="The &amp; menu"><meta property="og:description" content="What
			we bake"><meta property="og:image" content="/pic.jpg"></head>`, Page{"The & menu", "What we bake", "https://harbour.org/pic.jpg"}},
		"plain":             {`<title> Only a title </title><meta name="description" content="words">`, Page{"Only a title", "words", ""}},
		"nothing":           {`hello`, Page{}},
		"not markup":        {"\x00\xff\xfe<<<>>><meta", Page{}},
		"the first counts":  {`<meta property="og:title" content="One"><meta property="og:title" content="Two">`, Page{Title: "One"}},
		"the body does not": {`<head></head><body><meta property="og:title" content="Late">`, Page{}},
		"odd pictures":      {`<meta property="og:image" content="javascript:alert(1)">`, Page{}},
		"latin":             {`<meta charset="iso-8859-1"><title>Caf` + "\xe9" + `</title>`, Page{Title: "Café"}},
	} {
		if got := Read(strings.NewReader(c.page), "https://harbour.org/menu/today"); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	long := Read(strings.NewReader("<title>"+strings.Repeat("ü", 5000)+"</title>"), "https://harbour.org")
	if n := utf8.RuneCountInString(long.Title); n != maxTitle {
		t.Errorf("a title of %d characters is kept", n)
	}
}

func TestAPictureIsMadeSmallAndOddOnesAreNone(t *testing.T) {
	t.Parallel()
	full := image.NewNRGBA(image.Rect(0, 0, 1600, 800))
	for x := range 1600 {
		full.Set(x, x/2, color.NRGBA{R: 200, A: 255})
	}
	var raw bytes.Buffer
	if err := png.Encode(&raw, full); err != nil {
		t.Fatal(err)
	}
	small := Picture(bytes.NewReader(raw.Bytes()))
	c, kind, err := image.DecodeConfig(bytes.NewReader(small))
	if err != nil || kind != "jpeg" || c.Width != 640 || c.Height != 320 {
		t.Errorf("%s of %d × %d, %v", kind, c.Width, c.Height, err)
	}
	bomb := bytes.Clone(raw.Bytes())
	copy(bomb[16:], []byte{0, 0, 0x7f, 0xff, 0, 0, 0x7f, 0xff})
	for name, b := range map[string][]byte{"nothing": nil, "half": raw.Bytes()[:raw.Len()/2], "not one": []byte("<svg onload=alert(1)>"), "too large to decode": bomb, "too many bytes": make([]byte, maxFile+1)} {
		if got := Picture(bytes.NewReader(b)); got != nil {
			t.Errorf("%s became a picture of %d bytes", name, len(got))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`<meta property="og:title" content="x"><meta property=og:image content=//y>`))
	f.Fuzz(func(t *testing.T, page []byte) {
		if p := Read(bytes.NewReader(page), "https://harbour.org"); !utf8.ValidString(p.Title + p.Words) {
			t.Errorf("%+v", p)
		}
	})
}
