package picture

import (
	"cmp"
	"context"
	"io"
	"slices"
)

// StripVideo writes to out the MP4 video in src without what it tells beside
// picture and sound: places, names, dates, devices. Nothing moves, so no index in
// the file has to change: such boxes are emptied where they stand. It refuses a
// video with a track of something else, which can hold a place for every second.
func StripVideo(ctx context.Context, src Source, out io.Writer) (err error) {
	t := MP4
	defer contain(&err, &t)
	in := newInput(ctx, src)
	in.t = MP4
	s := stripper{boxes: &boxes{in: in}}
	if err := s.each(0, src.Size(), s.top); err != nil {
		return in.failure(err, damaged(MP4))
	}
	slices.SortFunc(s.wipes, func(a, b wipe) int { return cmp.Compare(a.at, b.at) })
	_, err = io.Copy(out, &wiped{r: io.NewSectionReader(in, 0, src.Size()), wipes: s.wipes})
	return err
}

// wipe is a range of a file that is written as word, and zeros behind it.
type wipe struct {
	at, size int64
	word     string
}

// stripper finds what is to be emptied.
type stripper struct {
	*boxes
	wipes []wipe
}

// tells says whether a box holds what the file tells of itself.
func tells(x box) bool {
	switch x.name {
	case "udta", "meta", "uuid", "free", "skip", "XMP_", "ilst", "loci":
		return true
	}
	return false
}

// empty turns a box into free space: its name, and all that is in it.
func (s *stripper) empty(x box) {
	// The name ends where the body begins, or where a long size does.
	name := x.at - 4
	if wide, err := s.fixed(x.at-16, 8); err == nil && string(wide[4:]) == x.name && wide[3] == 1 && wide[0]|wide[1]|wide[2] == 0 {
		name = x.at - 12
	}
	s.wipes = append(s.wipes, wipe{name, 4, "free"}, wipe{x.at, x.size, ""})
}

func (s *stripper) top(x box) error {
	switch {
	case tells(x):
		s.empty(x)
	case x.name == "moov" || x.name == "moof":
		return s.each(x.at, x.at+x.size, s.inside)
	}
	return nil
}

// inside looks at the boxes of a movie and of its tracks.
func (s *stripper) inside(x box) error {
	switch x.name {
	case "trak", "traf", "mdia":
		return s.each(x.at, x.at+x.size, s.inside)
	case "mvhd", "tkhd", "mdhd":
		return s.undate(x)
	case "hdlr":
		return s.handler(x)
	}
	if tells(x) {
		s.empty(x)
	}
	return nil
}

// undate empties the two dates behind version and flags.
func (s *stripper) undate(x box) error {
	p, err := s.body(x, 12)
	if err != nil {
		return err
	}
	size := int64(8)
	if p[0] == 1 {
		size = 16
	}
	if x.size < 4+size {
		return damaged(MP4)
	}
	s.wipes = append(s.wipes, wipe{x.at + 4, size, ""})
	return nil
}

// handler lets picture and sound pass, and empties the name that the device gave
// the track.
func (s *stripper) handler(x box) error {
	p, err := s.body(x, 12)
	if err != nil {
		return err
	}
	switch string(p[8:12]) {
	case "vide", "soun":
	default:
		return refuse("This video holds more than picture and sound (a place, a timecode or subtitles), and this Herald has no ffmpeg to take that out. Export it as plain MP4 and upload that.")
	}
	if x.size > 24 {
		s.wipes = append(s.wipes, wipe{x.at + 24, x.size - 24, ""})
	}
	return nil
}

// wiped reads a file with its wipes done.
type wiped struct {
	r     io.Reader
	at    int64
	wipes []wipe
}

// Read implements io.Reader.
func (w *wiped) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	for len(w.wipes) > 0 && w.wipes[0].at+w.wipes[0].size <= w.at {
		w.wipes = w.wipes[1:]
	}
	for _, x := range w.wipes {
		if x.at >= w.at+int64(n) {
			break
		}
		for i := max(x.at, w.at); i < min(x.at+x.size, w.at+int64(n)); i++ {
			p[i-w.at] = 0
			if k := i - x.at; k < int64(len(x.word)) {
				p[i-w.at] = x.word[k]
			}
		}
	}
	w.at += int64(n)
	return n, err
}
