// Package opengraph reads what a web page says of itself for those who link to it:
// title, description and picture, by OpenGraph and, where that is missing, by plainer
// means. It promises to be bounded in what it reads and safe on any input; it asks
// nobody, and what is at an address is for the caller to fetch. Start with Read.
package opengraph

import (
	"bytes"
	"image"
	_ "image/gif" // registered for Picture
	"image/jpeg"  // also registered
	_ "image/png" // registered for Picture
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // registered for Picture
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Page is what a page says of itself. A part that it does not say is empty.
type Page struct {
	Title   string
	Words   string
	Picture string // whole address
}

// How much is read, and kept.
const (
	maxPage    = 512 << 10
	maxTitle   = 300 // characters
	maxWords   = 600
	maxFile    = 2 << 20
	maxPixels  = 8_000_000
	wide, tall = 640, 640 // of a kept picture
	MaxPicture = 256 << 10
)

// Read reads a page that was fetched from an address, as far as its head goes.
func Read(body io.Reader, address string) Page {
	r, err := charset.NewReader(io.LimitReader(body, maxPage), "")
	if err != nil {
		return Page{}
	}
	says := said(html.NewTokenizer(r))
	p := Page{
		Title: line(first(says, "og:title", "twitter:title", "title"), maxTitle),
		Words: line(first(says, "og:description", "twitter:description", "description"), maxWords),
	}
	p.Picture = absolute(address, first(says, "og:image:secure_url", "og:image", "og:image:url", "twitter:image"))
	return p
}

// said are the first meta of each name, and the title.
func said(z *html.Tokenizer) map[string]string {
	says := map[string]string{}
	for {
		switch z.Next() {
		case html.ErrorToken:
			return says
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch t.Data {
			case "body":
				return says
			case "meta":
				meta(says, t.Attr)
			case "title":
				if z.Next() == html.TextToken && says["title"] == "" {
					says["title"] = z.Token().Data
				}
			}
		}
	}
}

func meta(says map[string]string, attrs []html.Attribute) {
	name, content := "", ""
	for _, a := range attrs {
		switch a.Key {
		case "property", "name":
			name = strings.ToLower(strings.TrimSpace(a.Val))
		case "content":
			content = a.Val
		}
	}
	if name != "" && says[name] == "" {
		says[name] = content
	}
}

func first(says map[string]string, names ...string) string {
	for _, n := range names {
		if v := strings.TrimSpace(says[n]); v != "" {
			return v
		}
	}
	return ""
}

// line is a text in one line, cut at a number of characters.
func line(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

func absolute(base, address string) string {
	b, err := url.Parse(base)
	if err != nil || address == "" {
		return ""
	}
	u, err := b.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// Picture makes a small JPEG of a picture's bytes; nil if they are none that can be
// shown. Its measures are looked at before anything is decoded, and a decoder that
// panics costs the picture alone.
func Picture(body io.Reader) (small []byte) {
	defer func() {
		if recover() != nil {
			small = nil
		}
	}()
	raw, err := io.ReadAll(io.LimitReader(body, maxFile+1))
	if err != nil || len(raw) > maxFile {
		return nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > maxPixels {
		return nil
	}
	full, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	return shrunk(full)
}

func shrunk(full image.Image) []byte {
	b := full.Bounds()
	w, h := b.Dx(), b.Dy()
	if w > wide {
		w, h = wide, max(1, h*wide/w)
	}
	if h > tall {
		w, h = max(1, w*tall/h), tall
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(out, out.Bounds(), full, b, draw.Over, nil)
	var buf bytes.Buffer
	if jpeg.Encode(&buf, out, &jpeg.Options{Quality: 78}) != nil || buf.Len() > MaxPicture {
		return nil
	}
	return buf.Bytes()
}
