package network

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func (c *checker) media() {
	said := c.count()
	for i, m := range c.d.Media {
		field := fmt.Sprintf("media.%d", i)
		if rule, taken := c.rule.file(m.Kind); taken {
			c.medium(field, i, rule)
		} else if m.Kind == Document {
			c.say(field, MediaWrongKind, "%s.", c.noDocument(i))
		} else if !said {
			c.say(field, MediaWrongKind, "%s take a %s only: remove %s.", c.n.posts(c.rule.Format), c.rule.kinds(), c.name(i))
		}
	}
}

func (c *checker) medium(field string, i int, rule FileRule) {
	if c.d.Media[i].Pending {
		c.alt(field, i)
		return
	}
	refused := rule.faults(c.d.Media[i], c.n.Label)
	for _, f := range refused {
		c.say(field, f.code, "%s %s.", c.file(i), f.say)
	}
	if rule.Advice != nil {
		for _, f := range rule.Advice.faults(c.d.Media[i], c.n.Label) {
			if !slices.ContainsFunc(refused, func(r fault) bool { return r.code == f.code }) {
				c.warn(field, f.code, "%s %s.", c.file(i), f.say)
			}
		}
	}
	c.unread(field, i, rule)
	c.alt(field, i)
}

// count looks at how many files there are, and of how many kinds. It returns
// true if it said already which kinds do not go.
func (c *checker) count() bool {
	covers, posts := c.covers(), c.n.posts(c.rule.Format)
	has := len(c.d.Media) - covers
	switch {
	case covers > 1:
		c.say("media", MediaTooMany, "%s take one picture, as the video's cover, this one has %d: remove %d.", posts, covers, covers-1)
	case has < c.rule.Min && c.rule.Max <= 1:
		c.say("media", MediaMissing, "%s need a %s: add one.", posts, c.wanted())
	case has < c.rule.Min:
		c.say("media", MediaMissing, "%s need at least %d files: add %d more.", posts, c.rule.Min, c.rule.Min-has)
	case c.mixed():
		c.say("media", MediaMixed, "%s takes pictures or one video in a post, not both: remove the video or the pictures.", c.n.Label)
		return true
	case c.onlyVideos():
		c.say("media", MediaTooMany, "%s takes one video in a post, this one has %d: remove %d.", c.n.Label, has, has-1)
		return true
	case has > c.rule.Max:
		c.say("media", MediaTooMany, "%s take at most %s, this one has %d: remove %d.",
			posts, files(c.rule.Max), has, has-c.rule.Max)
	}
	return false
}

// noDocument says that a document cannot be here: at all, or not beside others.
func (c *checker) noDocument(i int) string {
	if _, takes := c.n.Rule(FormatDocument); takes {
		return fmt.Sprintf("%s shows a document alone: remove %s, or the other files", c.n.Label, c.name(i))
	}
	return fmt.Sprintf("%s takes no documents: remove %s, or leave this account out", c.n.Label, c.name(i))
}

// wanted is what a post that lacks its file needs: where the format only follows
// from the file, any that the network takes.
func (c *checker) wanted() string {
	rule := c.rule
	if rule.Format == FormatImage {
		for _, r := range c.n.Formats {
			if len(r.Video.Types) > 0 {
				rule.Video = r.Video
			}
		}
	}
	return rule.kinds()
}

// mixed says that pictures and videos stand together where they may not.
func (c *checker) mixed() bool {
	return len(c.d.Media) > 1 && c.rule.Max > 1 && !c.rule.both() && c.has(Image) && c.has(Video)
}

// onlyVideos says that there are several videos where one is the most.
func (c *checker) onlyVideos() bool {
	return len(c.d.Media) > 1 && len(c.rule.Video.Types) == 0 && c.has(Video) && !c.has(Image)
}

func (c *checker) has(kind MediaKind) bool {
	return slices.ContainsFunc(c.d.Media, func(m Media) bool { return m.Kind == kind })
}

// unread warns where a file's size or duration is not known, so that no rule
// could be tried.
func (c *checker) unread(field string, i int, rule FileRule) {
	m := c.d.Media[i]
	sized := rule.MinShape > 0 || rule.MinWidth > 0 || rule.MaxWidth > 0 || rule.Pixels > 0
	timed := m.Kind == Video && (rule.MinTime > 0 || rule.MaxTime > 0)
	switch {
	case timed && m.Duration <= 0:
		c.warn(field, MediaUnknown, "%s has a length that could not be read: make sure that it is %s.", c.file(i), rule.times())
	case sized && (m.Width <= 0 || m.Height <= 0):
		c.warn(field, MediaUnknown, "%s has a size that could not be read: %s may refuse it.", c.file(i), c.n.Label)
	}
}

func (c *checker) alt(field string, i int) {
	m, a := c.d.Media[i], c.n.Alt
	switch has := utf8.RuneCountInString(m.Alt); {
	case !c.n.TakesAlt(c.rule.Format, m.Kind):
	case Blank(m.Alt):
		c.warn(field, AltMissing, "%s has no alt text: add one for people who cannot see it.", c.file(i))
	case !c.readable(field, "The alt text of "+c.name(i), m.Alt):
	case a.Max > 0 && has > a.Max:
		c.say(field, AltTooLong, "The alt text of %s has %s characters, %s takes %s: take out %s.",
			c.name(i), number(has), c.n.Label, number(a.Max), number(has-a.Max))
	}
}

// name is what to call a file; file the same at the start of a sentence.
func (c *checker) name(i int) string {
	kind := c.d.Media[i].Kind.Word()
	if len(c.d.Media) == 1 {
		return "the " + kind
	}
	return fmt.Sprintf("%s %d", kind, i+1)
}

func (c *checker) file(i int) string {
	name := c.name(i)
	return strings.ToUpper(name[:1]) + name[1:]
}

// covers is how many of the files are there to be the video's cover.
func (c *checker) covers() (n int) {
	for _, m := range c.d.Media {
		if m.Kind == Image && c.rule.covers() {
			n++
		}
	}
	return n
}

// covers says that a picture in this format is its video's cover.
func (r FormatRule) covers() bool { return len(r.Image.Types) == 0 && len(r.Cover.Types) > 0 }

// of is the rule for a file of a kind; without Types, such files are not taken.
func (r FormatRule) of(kind MediaKind) FileRule {
	switch kind {
	case Image:
		return r.Image
	case Video:
		return r.Video
	case Document:
		return r.Document
	}
	return FileRule{}
}

// file is the rule for one of the files of a post, its cover among them.
func (r FormatRule) file(kind MediaKind) (FileRule, bool) {
	rule := r.of(kind)
	if kind == Image && r.covers() {
		rule = r.Cover
	}
	return rule, len(rule.Types) > 0
}

func (r FormatRule) both() bool { return len(r.Image.Types) > 0 && len(r.Video.Types) > 0 }

func (r FormatRule) kinds() string {
	switch {
	case r.both():
		return "picture or a video"
	case len(r.Video.Types) > 0:
		return Video.Word()
	case len(r.Document.Types) > 0:
		return Document.Word()
	}
	return Image.Word()
}

// Word is what people call a file of a kind.
func (k MediaKind) Word() string {
	switch k {
	case Video:
		return "video"
	case Document:
		return "document"
	}
	return "picture"
}

// fault is one thing wrong with a file: the rest of a sentence about it.
type fault struct{ code, say string }

// measure gathers the faults of one file.
type measure struct {
	FileRule
	m      Media
	label  string // of the network
	faults []fault
}

// faults measures a file. What is not known about it is passed over.
func (r FileRule) faults(m Media, label string) []fault {
	t := measure{FileRule: r.forType(m.Type), m: m, label: label}
	t.kind()
	if m.Width > 0 && m.Height > 0 {
		t.size()
	}
	if m.Duration > 0 {
		t.time()
	}
	return t.faults
}

// gifType is the only kind of picture that moves.
const gifType = "image/gif"

// forType is the rule for a file of a type.
func (r FileRule) forType(mime string) FileRule {
	if mime == gifType && r.GIF != nil {
		return *r.GIF
	}
	return r
}

// still is the rule for what is made of a picture that moves and is not taken.
func (r FileRule) still() FileRule {
	r.GIF, r.Types = nil, slices.DeleteFunc(slices.Clone(r.Types), func(t string) bool { return t == gifType })
	return r
}

// moves says whether a picture that moves is taken as it is.
func (r FileRule) moves(m Media, label string) bool {
	return slices.Contains(r.forType(m.Type).Types, gifType) && len(r.faults(m, label)) == 0
}

func (t *measure) add(wrong bool, code, format string, args ...any) {
	if wrong {
		t.faults = append(t.faults, fault{code, fmt.Sprintf(format, args...)})
	}
}

func (t *measure) kind() {
	t.add(len(t.Types) > 0 && !slices.Contains(t.Types, t.m.Type), MediaType,
		"is %s, %s takes %s: save it in that form and add it again", typeName(t.m.Type), t.label, t.types())
	t.add(t.Bytes > 0 && t.m.Bytes > t.Bytes, MediaTooLarge,
		"has %s, %s takes up to %s: make the file smaller", bytes(t.m.Bytes, t.Bytes), t.label, bytes(t.Bytes, t.Bytes))
	t.add(t.Frames > 0 && t.m.Frames > t.Frames, MediaTooLong,
		"has %s %s, %s takes %s: make it shorter", number(int(t.m.Frames)), t.m.frames(), t.label, number(int(t.Frames)))
}

// frames is what the file has one after the other.
func (m Media) frames() string {
	if m.Kind == Document {
		return "pages"
	}
	return "frames"
}

func (t *measure) size() {
	w, h := t.m.Width, t.m.Height
	t.add(t.Pixels > 0 && int64(w)*int64(h) > t.Pixels, MediaPixels,
		"is %d × %d pixels, %s takes %.1f million: scale it down", w, h, t.label, float64(t.Pixels)/1e6)
	t.add(t.MaxWidth > 0 && w > t.MaxWidth, MediaPixels,
		"is %d pixels wide, %s takes %d: scale it down", w, t.label, t.MaxWidth)
	t.add(w < t.MinWidth || h < t.MinHeight, MediaTooSmall,
		"is %d × %d pixels, %s wants at least %s: use a larger one", w, h, t.label, t.least())
	shape := float64(w) / float64(h)
	// Half a percent of slack: 1200 × 628 is what everyone means by 1.91:1.
	t.add(shape < t.MinShape*0.995 || t.MaxShape > 0 && shape > t.MaxShape*1.005, MediaShape,
		"is %d × %d, %s wants a ratio %s: crop it", w, h, t.label, t.Shape)
}

func (t *measure) time() {
	d := t.m.Duration
	t.add(d < t.MinTime, MediaTooShort, "is %s long, %s takes %s: use a longer one", length(d), t.label, t.times())
	t.add(t.MaxTime > 0 && d > t.MaxTime, MediaTooLong, "is %s long, %s takes %s: cut it shorter", length(d), t.label, t.times())
}

func (r FileRule) least() string {
	if r.MinHeight == 0 {
		return fmt.Sprintf("%d wide", r.MinWidth)
	}
	return fmt.Sprintf("%d × %d", r.MinWidth, r.MinHeight)
}

func (r FileRule) types() string {
	var names []string
	for _, t := range r.Types {
		names = append(names, typeName(t))
	}
	return either(names)
}

// either writes "a, b or c".
func either(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

func (r FileRule) times() string {
	if r.MinTime == 0 {
		return "up to " + length(r.MaxTime)
	}
	return "between " + length(r.MinTime) + " and " + length(r.MaxTime)
}

// typeName is what people call a MIME type.
func typeName(mime string) string {
	switch mime {
	case "":
		return "of a type that could not be read"
	case "video/quicktime":
		return "MOV"
	case "image/webp":
		return "WebP"
	case "application/pdf":
		return "PDF"
	}
	kind, sub, _ := strings.Cut(mime, "/")
	if kind == string(Image) || kind == string(Video) {
		return cropped(strings.ToUpper(strings.TrimPrefix(sub, "x-")))
	}
	return cropped(mime)
}

// posts names the posts of a format on this network: "Instagram reels".
func (n *Network) posts(f Format) string {
	switch f {
	case FormatReel:
		return n.Label + " reels"
	case FormatStory:
		return n.Label + " stories"
	case FormatCarousel:
		return n.Label + " carousels"
	}
	return n.Label + " posts"
}

func files(n int) string {
	if n == 1 {
		return "one file"
	}
	return strconv.Itoa(n) + " files"
}

// bytes writes a size in MB as the limit counts them, rounded up so that a file
// just above its limit does not look equal to it.
func bytes(size, limit int64) string {
	unit := int64(1_000_000)
	if limit%(1<<20) == 0 {
		unit = 1 << 20
	}
	tenths := (size*10 + unit - 1) / unit
	if tenths%10 == 0 {
		return number(int(tenths/10)) + " MB"
	}
	return fmt.Sprintf("%s.%d MB", number(int(tenths/10)), tenths%10)
}

// length writes a duration as people say it: 90 s, 15 min, 4 h.
func length(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= 2*time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// number writes 63206 as 63,206.
func number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
