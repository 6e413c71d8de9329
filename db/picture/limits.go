package picture

import (
	"fmt"
	"strconv"
	"time"

	"herald/db/model"
)

// Limits is how much one file may ask of us.
type Limits struct {
	PictureBytes int64
	VideoBytes   int64
	DocBytes     int64         // of a PDF
	Pages        int           // of one
	Pixels       int64         // of a picture, width times height
	Side         int           // of a picture or video, in pixels
	Scans        int           // of a progressive JPEG: each costs a walk over the whole picture
	Frames       int           // of a GIF
	Time         time.Duration // of a processor, for all that is done at once with one picture or PDF; whole seconds
	Memory       int64         // for all pictures being worked on together, in bytes
}

// Standard is the limits where no setting says otherwise: the largest phone
// pictures pass, and one progressive 50-megapixel JPEG fits in the memory.
func Standard() Limits {
	return Limits{
		PictureBytes: 50 << 20,
		VideoBytes:   4 << 30,
		DocBytes:     100 << 20,
		Pages:        2000,
		Pixels:       50_000_000,
		Side:         16_384,
		Scans:        64,
		Frames:       1000,
		Time:         time.Minute,
		Memory:       1 << 30,
	}
}

// Most is how many bytes a file of a type may have.
func (l Limits) Most(t Type) int64 {
	switch {
	case t.Video():
		return l.VideoBytes
	case t == PDF:
		return l.DocBytes
	}
	return l.PictureBytes
}

// CheckBytes refuses a file of a type that has more bytes than the rule allows. It
// can be asked before they have come.
func (l Limits) CheckBytes(t Type, size int64) error {
	what, limit := t.word(), l.Most(t)
	if size <= limit {
		return nil
	}
	return model.Refuse(model.TooLarge, fmt.Sprintf(
		"This %s has %s; the limit is %s. Make it smaller and upload it again.", what, sizeText(size), sizeText(limit)))
}

func (l Limits) checkDimensions(t Type, w, h int) error {
	if w <= 0 || h <= 0 {
		return damaged(t)
	}
	if t.Video() {
		if w <= l.Side && h <= l.Side {
			return nil
		}
		return refuse("This video is %s × %s pixels; the limit is %s pixels a side.",
			thousands(w), thousands(h), thousands(l.Side))
	}
	if w <= l.Side && h <= l.Side && int64(w)*int64(h) <= l.Pixels {
		return nil
	}
	return refuse("This picture is %s × %s pixels; the limit is %d megapixels and %s pixels a side. Make it smaller and upload it again.",
		thousands(w), thousands(h), l.Pixels/1_000_000, thousands(l.Side))
}

func refuse(format string, args ...any) error {
	return model.Refuse(model.Unprocessable, fmt.Sprintf(format, args...))
}

// word is what people call a file of the type.
func (t Type) word() string {
	switch {
	case t.Video():
		return "video"
	case t == PDF:
		return "PDF"
	}
	return "picture"
}

func damaged(t Type) error {
	switch {
	case t.Video():
		return refuse("This video is damaged and can't be read. Export it again as MP4 and upload the new file.")
	case t == PDF:
		return refuse("This PDF is damaged and can't be read. Export it again and upload the new file.")
	}
	return refuse("This picture is damaged and can't be read. Export it again and upload the new file.")
}

func cutShort(t Type) error {
	return refuse("This %s is cut short: the file ends in the middle. Upload it again.", t.word())
}

// thousands writes 30000 as 30,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GB"
	case n >= 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KB"
}
