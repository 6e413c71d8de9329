package conform

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
)

// limit is one bound of the catalogue: a post of a format, filled to n.
type limit struct {
	name   string
	max    int
	code   string // of the problem one above
	format network.Format
	units  []filling
	fill   func(post *networks.Post, text string, n int)
}

// filling is a text of exactly n units.
type filling struct {
	name string
	of   func(n int) string
}

var (
	letters = filling{"letters", func(n int) string { return strings.Repeat("a", n) }}
	// pairs are two UTF-16 units and one code point each.
	pairs = filling{"astral", func(n int) string { return strings.Repeat("𝒜", n/2) + strings.Repeat("a", n%2) }}
	// octets are of two bytes each, but for one at the end.
	octets   = filling{"accents", func(n int) string { return strings.Repeat("é", n/2) + strings.Repeat("a", n%2) }}
	points   = filling{"astral", func(n int) string { return strings.Repeat("𝒜", n) }}
	marked   = filling{"combining marks", func(n int) string { return strings.Repeat("e\u0301", n) }}
	families = filling{"joined emoji", func(n int) string { return strings.Repeat("👨‍👩‍👧‍👦", n) }}
	// loaves have four bytes each, which all count.
	loaves = filling{"emoji", func(n int) string { return strings.Repeat("🥐", n/4) + strings.Repeat("a", n%4) }}
	// signs are two each with their backslash.
	signs = filling{"signs", func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat("a", n%2) }}
	// angles are four each as entities.
	angles = filling{"angles", func(n int) string { return strings.Repeat("<", n/4) + strings.Repeat("a", n%4) }}
	// couples are two each, whatever they are joined of.
	couples = filling{"joined emoji", func(n int) string { return strings.Repeat("👨‍👩‍👧‍👦", n/2) + strings.Repeat("a", n%2) }}
	// addresses count 23 each, whatever their length; the words between count in full.
	addresses = filling{"addresses", func(n int) string {
		const long = "https://bakery.com/a-very-long-path/that-counts-no-more-than-a-short-one?and=a&query=too"
		return strings.Repeat(long+" ", n/24) + strings.Repeat("a", n%24)
	}}
)

// units are the fillings of a rule.
func units(r network.TextRule) []filling {
	switch r.Unit {
	case network.UTF16:
		return []filling{letters, pairs}
	case network.Pictures:
		return []filling{letters, points, loaves}
	case network.Entities:
		return []filling{letters, points, angles}
	case network.Little:
		return []filling{letters, points, signs}
	case network.Weighted:
		return []filling{letters, marked, couples, addresses}
	case network.Graphemes:
		if r.Bytes > 0 { // joined emoji would reach the bytes first
			return []filling{letters, points, marked, heavy(r)}
		}
		return []filling{letters, points, marked, families, addresses}
	case network.Bytes:
		return []filling{letters, octets}
	}
	return []filling{letters, points}
}

// heavy is a text that meets the bound on its bytes: a tenth of them in each of
// as many marked letters.
func heavy(r network.TextRule) filling {
	return filling{"bytes", func(n int) string {
		all := r.Bytes * n / r.Max
		return strings.Repeat("e"+strings.Repeat("\u0301", 20), all/41) + strings.Repeat("a", all%41)
	}}
}

// optionUnits are the fillings of an option.
func optionUnits(o network.Option) []filling {
	if o.Unit == "" {
		return []filling{letters, families}
	}
	return units(network.TextRule{Unit: o.Unit})
}

// limits are the bounds that the catalogue puts on the words of a post.
func (p place) limits() (list []limit) {
	for _, rule := range p.Formats {
		if rule.Text && p.Text.Max > 0 {
			list = append(list, limit{"text", cmp.Or(rule.Words, p.Text.Max), network.TextTooLong, rule.Format, units(p.Text),
				func(post *networks.Post, text string, _ int) { post.Text = text }})
		}
	}
	list = append(list, p.tags()...)
	if f := p.commented(); f != "" {
		list = append(list, limit{"first comment", p.Comment.Max, network.CommentTooLong, f, units(p.Comment),
			func(post *networks.Post, text string, _ int) { post.FirstComment = text }})
	}
	if f := p.withAlt(); f != "" && p.Alt.Max > 0 {
		list = append(list, limit{"alt text", p.Alt.Max, network.AltTooLong, f, []filling{letters, points},
			func(post *networks.Post, text string, _ int) { post.Media[0].Alt = text }})
	}
	if o, ok := p.Option(network.OptTitle); ok {
		f := append(slices.Clone(o.Formats), p.simple())[0]
		list = append(list, limit{"title", o.Max, network.OptionTooLong, f, optionUnits(o),
			func(post *networks.Post, text string, _ int) { post.Options[network.OptTitle] = text }})
	}
	if _, ok := p.Option(network.OptSpoiler); ok {
		list = append(list, limit{"text and content warning", p.Text.Max, network.TextTooLong, p.simple(), []filling{letters, families},
			func(post *networks.Post, text string, n int) {
				post.Text, post.Options[network.OptSpoiler] = text, strings.Repeat("w", 60)
				post.Text = strings.TrimSuffix(text, text[len(text)-60*len(text)/n:])
			}})
	}
	return list
}

// tags are hashtags and mentions, counted one by one.
func (p place) tags() (list []limit) {
	repeat := func(word string) filling {
		return filling{word, func(n int) (text string) {
			for i := range n {
				text += fmt.Sprintf("%s%d ", word, i)
			}
			return strings.TrimSpace(text)
		}}
	}
	put := func(post *networks.Post, text string, _ int) { post.Text = text }
	if p.Text.Hashtags > 0 {
		list = append(list, limit{"hashtags", p.Text.Hashtags, network.HashtagsTooMany, p.simple(), []filling{repeat("#bread"), repeat("#パン")}, put})
	}
	if p.Text.Mentions > 0 {
		list = append(list, limit{"mentions", p.Text.Mentions, network.MentionsTooMany, p.simple(), []filling{repeat("@baker")}, put})
	}
	if p.Comment.Hashtags > 0 {
		list = append(list, limit{"hashtags of the comment", p.Comment.Hashtags, network.HashtagsTooMany, p.simple(), []filling{repeat("#bread")},
			func(post *networks.Post, text string, _ int) { post.FirstComment = text }})
	}
	return list
}

func TestLimitsAreWhereTheCatalogueSaysTheyAre(t *testing.T) {
	t.Parallel()
	for _, d := range []int{-1, 0, 1} {
		everywhere(t, check{"limits: words, " + []string{"one below", "at", "one above"}[d+1], nil, func(t *testing.T, p place) {
			for _, l := range p.limits() {
				for _, unit := range l.units {
					t.Run(fmt.Sprintf("%s %s of %s", l.format, l.name, unit.name), func(t *testing.T) { l.try(t, p, unit, d) })
				}
			}
		}})
	}
	everywhere(t,
		check{"limits: one file too many", nil, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				if rule.Max == 0 {
					continue
				}
				w := newWorld(t, p)
				post := p.post(w, rule.Format)
				for len(post.Media) <= rule.Max {
					post.Media = append(post.Media, post.Media[0])
				}
				if p.FormatOf(draft(post)) != rule.Format {
					continue // so many files are another format
				}
				if p.blocked(post) == "" {
					t.Errorf("the catalogue takes %d files for %s", len(post.Media), rule.Format)
				}
				if p.takesAnyFile() == "" {
					wantRefused(t, w, post)
				}
			}
		}},
		check{"limits: bytes", place.takesAnyFile, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) { bytesAround(t, p, rule, kind) })
		}},
		check{"limits: pixels, shape and length", place.takesAnyFile, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) { measuresAround(t, p, rule, kind) })
		}},
		check{"limits: pages of a document", place.countsNoPages, pagesAround},
	)
}

// try publishes a post that is d above its limit. At the limit it arrives whole;
// above it the catalogue names the problem and the network refuses it.
func (l limit) try(t *testing.T, p place, unit filling, d int) {
	w := newWorld(t, p)
	post := p.post(w, l.format)
	l.fill(&post, unit.of(l.max+d), l.max+d)
	if d > 0 {
		l.above(t, w, post)
		return
	}
	if no := p.blocked(post); no != "" {
		t.Fatalf("the catalogue refuses it: %s", no)
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	if err := c.follow(t.Context(), 2); err != nil {
		t.Errorf("what follows: %v", err)
	}
	if rule, _ := p.Rule(l.format); rule.Text {
		w.wantText(t, post.Text)
	}
}

func (l limit) above(t *testing.T, w *world, post networks.Post) {
	p := w.place
	if got := p.blocked(post); !slices.Contains(strings.Fields(got), l.code) {
		t.Errorf("the catalogue says %q, want %s", got, l.code)
	}
	switch {
	case p.takesAnyFile() != "", slices.Contains(p.stricter, l.format): // the bound is ours alone
	case post.FirstComment != "" && !p.together:
		c := newCourier(w, w.jobOf(post))
		c.run(t.Context())
		if c.follow(t.Context(), 3) == nil || len(w.public()[0].Replies) > 0 {
			t.Error("the network took the comment")
		}
	default:
		wantRefused(t, w, post)
	}
}

// bytesAround: a file of as many bytes as there may be, and one byte more. The
// largest are not really sent: their length is announced.
func bytesAround(t *testing.T, p place, rule network.FormatRule, kind network.MediaKind) {
	r := of(rule, kind)
	if r.Bytes == 0 {
		return
	}
	for over := range int64(2) {
		f := sample(r.Types[0])
		f.Bytes, f.name = r.Bytes+over, "large-"+f.name
		if f.Bytes > 20<<20 && (over == 0 || !p.Pulls || rule.Format == p.silent) {
			continue // too much for a test, and announced nowhere
		}
		t.Run(fmt.Sprintf("%s %s +%d", rule.Format, kind, over), func(t *testing.T) {
			w := newWorld(t, p)
			post := p.with(w, rule, f)
			if over > 0 {
				wantForbidden(t, w, post, network.MediaTooLarge)
				return
			}
			wantTaken(t, w, post)
		})
	}
}

// wantTaken: neither catalogue nor network has anything against a post.
func wantTaken(t *testing.T, w *world, post networks.Post) {
	t.Helper()
	if no := w.place.blocked(post); no != "" {
		t.Fatalf("the catalogue refuses it: %s", no)
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	w.wantPublic(1)
}

// measuresAround: each bound on size, shape and length of a file, from inside
// and from outside.
func measuresAround(t *testing.T, p place, rule network.FormatRule, kind network.MediaKind) {
	for _, m := range measures(of(rule, kind)) {
		t.Run(fmt.Sprintf("%s %s %s %t", rule.Format, kind, m.name, m.code == ""), func(t *testing.T) {
			w := newWorld(t, p)
			f := outline(of(rule, kind).Types[0], m.wide, m.high)
			if kind == network.Video {
				f = film(of(rule, kind).Types[0], m.wide, m.high, m.long)
			}
			if post := p.with(w, rule, f); m.code == "" {
				wantTaken(t, w, post)
			} else {
				wantForbidden(t, w, post, m.code)
			}
		})
	}
}

// measured is a file of some size and length; with a code the catalogue forbids it.
type measured struct {
	name       string
	wide, high int
	long       time.Duration
	code       string
}

// pagesAround: a document of as many pages as there may be, and one more.
func pagesAround(t *testing.T, p place) {
	rule, _ := p.Rule(network.FormatDocument)
	most := int(rule.Document.Frames)
	w := newWorld(t, p)
	wantTaken(t, w, p.with(w, rule, leaflet(most)))
	w = newWorld(t, p)
	wantForbidden(t, w, p.with(w, rule, leaflet(most+1)), network.MediaTooLong)
}

func (p place) countsNoPages() string {
	if rule, _ := p.Rule(network.FormatDocument); rule.Document.Frames == 0 {
		return p.label() + " takes no documents, or bounds no pages"
	}
	return ""
}

func measures(r network.FileRule) (list []measured) {
	wide, high, long := 1080, 1920, 10*time.Second
	if r.MaxShape > 0 && r.MaxShape < 2 && r.MinShape > 0.6 {
		high = 1080
	}
	add := func(name string, w, h int, d time.Duration, code string) {
		list = append(list, measured{name, w, h, d, code})
	}
	if r.MinTime > 0 {
		add("shortest", wide, high, r.MinTime, "")
		add("shortest", wide, high, r.MinTime-100*time.Millisecond, network.MediaTooShort)
	}
	if r.MaxTime > 0 {
		add("longest", wide, high, r.MaxTime, "")
		add("longest", wide, high, r.MaxTime+time.Second, network.MediaTooLong)
	}
	if r.MaxWidth > 0 {
		add("widest", r.MaxWidth, high, long, "")
		add("widest", r.MaxWidth+2, high, long, network.MediaPixels)
	}
	if r.MinWidth > 0 {
		add("smallest", r.MinWidth, r.MinHeight, long, "")
		add("smallest", r.MinWidth-18, r.MinHeight-32, long, network.MediaTooSmall)
	}
	if r.Pixels > 0 {
		side := 1
		for int64(side+1)*int64(side+1) <= r.Pixels {
			side++
		}
		add("most pixels", side, side, long, "")
		add("most pixels", side+1, side+1, long, network.MediaPixels)
	}
	if r.MinShape > 0.1 {
		add("narrowest", int(r.MinShape*1600+0.5), 1600, long, "")
		add("narrowest", int(r.MinShape*1600*0.97), 1600, long, network.MediaShape)
	}
	if r.MaxShape > 0 && r.MaxShape < 5 {
		tall := 1000.0
		if r.MaxWidth > 0 {
			tall = min(tall, float64(r.MaxWidth)/(r.MaxShape*1.04))
		}
		add("broadest", int(r.MaxShape*tall), int(tall), long, "")
		add("broadest", int(r.MaxShape*tall*1.03), int(tall), long, network.MediaShape)
	}
	return list
}

// outline is a picture without its pixels where it would be slow to draw: a
// PNG's header and end, else a drawn one.
func outline(mime string, wide, high int) stuff {
	if wide*high <= 4_000_000 {
		return photo(mime, wide, high)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(wide))
	header = append(binary.BigEndian.AppendUint32(header, uint32(high)), 8, 2, 0, 0, 0)
	data := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header), chunk("IDAT", []byte{1}), chunk("IEND", nil))
	return stuff{network.Media{Kind: network.Image, Type: "image/png", Bytes: int64(len(data)), Width: wide, Height: high}, data,
		fmt.Sprintf("outline-%dx%d.png", wide, high)}
}

func chunk(name string, body []byte) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), name...)
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
