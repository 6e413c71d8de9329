package picture

import (
	"strings"
	"testing"
)

func TestTypesAreToldByBytes(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	for name, c := range map[string]struct {
		head []byte
		want Type
	}{
		"jpeg": {asJPEG(t, img), JPEG}, "png": {asPNG(t, img), PNG},
		"lossy webp": {file(t, "lossy.webp"), WebP}, "extended webp": {file(t, "alpha.webp"), WebP},
		"mp4": {file(t, "landscape.mp4"), MP4}, "fragmented mp4": {file(t, "fragmented.mp4"), MP4},
		"a camera's own brand": {[]byte("\x00\x00\x00\x18ftypXAVC\x00\x00\x00\x00mp42iso2"), MP4},
		"gif":                  {asGIF(t, 2, img.Rect), GIF}, "the first kind of gif": {[]byte("GIF87a..."), GIF},
		"heic": {file(t, "photo.heic"), HEIC}, "a still that says HEIC": {[]byte("\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1heicmiaf"), HEIC},
		"mov": {file(t, "movie.mov"), MOV}, "mov that says MP4": {[]byte("\x00\x00\x00\x18ftypqt  \x00\x00\x02\x00qt  mp42"), MOV},
		"mov of before brands": {[]byte("\x00\x00\x00\x08wide\x00\x00\x43\x84mdat"), MOV},
		"pdf":                  {[]byte("%PDF-1.7\n"), PDF},
		"iTunes video":         {[]byte("\x00\x00\x00\x18ftypM4V \x00\x00\x00\x00mp42isom"), MP4},
	} {
		got, err := Recognize("whatever.html", c.head[:min(len(c.head), HeadSize)])
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestOtherTypesAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, want string }{
		{"cat.docx", "PK\x03\x04", "“cat.docx” is a ZIP archive or an office document. Upload a JPEG, PNG, WebP, GIF or HEIC picture, an MP4 or MOV video, or a PDF."},
		{"cat.pdf", "<html>", "“cat.pdf” is a web page (HTML), whatever its name says."},
		{"cat.png", "<!DOCTYPE html><script>", "“cat.png” is a web page (HTML), whatever its name says."},
		{"cat.JPG", "\xef\xbb\xbf \n<HTML>", "“cat.JPG” is a web page (HTML), whatever its name says."},
		{"logo.svg", `<svg xmlns="http://www.w3.org/2000/svg">`, "is an SVG drawing. Export it as PNG"},
		{"logo.png", `<?xml version="1.0"?><!-- x --><svg>`, "is an SVG drawing, whatever its name says."},
		{"a.heic", "\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00mif1heic", "is a series of HEIC photos, or HEIC of a rare kind, whatever its name says. Export the one that you want as JPEG"},
		{"b.heic", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif", "is an AVIF picture, whatever its name says."},
		{"a.avif", "\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif", "is an AVIF picture"},
		{"a.m4a", "\x00\x00\x00\x18ftypM4A \x00\x00\x02\x00isommp42", "of a kind that Herald doesn't take"},
		{"a.docx", "PK\x03\x04", "office document"},
		{"a.webm", "\x1a\x45\xdf\xa3", "WebM"}, {"a.nef", "MM\x00*", "raw picture"}, {"a.nef", "II*\x00", "raw picture"},
		{"a.bin", "\x00\x01\x02", "“a.bin” is of a kind that Herald doesn't take. Upload"},
		{"a.avi", "RIFF\x00\x00\x00\x00AVI LIST....", "of a kind"},
		{"a.png", "", "“a.png” is empty."}, {"", "GIF8", "This file is of a kind"},
		{"short.mp4", "\x00\x00\x00\x18ftypisom", "of a kind"},
		{"huge.mp4", "\x7f\xff\xff\xfcftypisom\x00\x00\x00\x00isom", "of a kind"},
	} {
		if got, ok := Sniff([]byte(c.head)); ok {
			t.Errorf("%s is taken for %s", c.name, got)
		}
		_, err := Recognize(c.name, []byte(c.head))
		wantRefusal(t, err, c.want)
	}
}

func TestFileNamesAreQuotedSafely(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		`C:\photos\..\cat.gif`:           "“cat.gif”",
		"../../etc/cat.gif":              "“cat.gif”",
		"cat\u202egnp.gif\x00\r\n":       "“catgnp.gif”",
		"\xff\xfe":                       "This file",
		strings.Repeat("é", 300) + ".x":  "“" + strings.Repeat("é", 59) + "…”",
		"<script>alert(1)<script>\u200b": "“<script>alert(1)<script>”", // views escape; here nothing is invisible
	} {
		if got := displayName(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add("a.png", []byte("\x89PNG\r\n\x1a\n"))
	f.Add("a.heic", []byte("\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1heicmiaf"))
	f.Add("a.mov", []byte("\x00\x00\x00\x08wide\x00\x00\x43\x84mdat"))
	f.Add("a.mp4", []byte("\x00\x00\x00\x18ftypisom\x00\x00\x00\x00mp42iso2"))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		got, ok := Sniff(head)
		again, err := Recognize(name, head)
		if ok != (err == nil) || got != again || ok && got.Ext() == "" {
			t.Errorf("sniffed %q, %v; recognized %q, %v", got, ok, again, err)
		}
	})
}
