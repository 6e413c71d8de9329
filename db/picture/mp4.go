package picture

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// How much of a video's structure is looked at before it is called damaged.
const (
	maxBoxes    = 100_000
	maxDepth    = 8
	maxTracks   = 64
	maxDuration = 1000 * time.Hour
)

// box is one part of an MP4 file: its name and where its body lies.
type box struct {
	name     string
	at, size int64 // of the body
}

// boxes reads headers of boxes and counts them. No body is read but the few
// fixed fields that are asked for.
type boxes struct {
	in    *input
	count int
	depth int
}

// each calls f for the boxes that lie between at and end, in order. A box that
// does not fit is damage, or a cut where end is that of the file.
func (b *boxes) each(at, end int64, f func(box) error) error {
	b.depth++
	defer func() { b.depth-- }()
	for at < end {
		if b.count++; b.count > maxBoxes || b.depth > maxDepth {
			return damaged(b.in.t)
		}
		x, err := b.header(at, end)
		if err != nil {
			return err
		}
		if err := f(x); err != nil {
			return err
		}
		at = x.at + x.size
	}
	return nil
}

func (b *boxes) header(at, end int64) (box, error) {
	no := damaged(b.in.t)
	if end == b.in.src.Size() {
		no = cutShort(b.in.t)
	}
	if end-at < 8 {
		return box{}, no
	}
	head, err := b.fixed(at, 8)
	if err != nil {
		return box{}, err
	}
	size, name, body := int64(binary.BigEndian.Uint32(head)), string(head[4:]), at+8
	switch {
	case size == 0: // to the end
		size = end - at
	case size == 1: // 64-bit size behind the name
		if end-at < 16 {
			return box{}, no
		}
		long, err := b.fixed(at+8, 8)
		if err != nil {
			return box{}, err
		}
		big := binary.BigEndian.Uint64(long)
		if big < 16 {
			return box{}, damaged(b.in.t)
		}
		size, body = int64(min(big, 1<<62)), at+16
	case size < 8:
		return box{}, damaged(b.in.t)
	}
	if size > end-at {
		return box{}, no
	}
	return box{name, body, size - (body - at)}, nil
}

func (b *boxes) fixed(at int64, n int) ([]byte, error) {
	p := make([]byte, n)
	got, err := b.in.ReadAt(p, at)
	if got == n {
		return p, nil
	}
	return nil, b.in.failure(err, cutShort(b.in.t))
}

// measureVideo reads dimensions, rotation and duration from the movie box. It
// refuses a file without one, without a video track, or that ends early.
func measureVideo(in *input, limits Limits, f *Facts) error {
	b, m := &boxes{in: in}, &movie{}
	data := false
	err := b.each(0, in.src.Size(), func(x box) error {
		switch x.name {
		case "moov":
			return b.movie(x, m)
		case "mdat", "moof":
			data = true
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !m.found || !data:
		return cutShort(b.in.t)
	case m.width == 0 || m.height == 0:
		return refuse("This video file holds no picture, only sound or text. Upload an MP4 video.")
	}
	f.Width, f.Height, f.Rotation, f.Duration = m.width, m.height, m.rotation, m.duration
	if f.Rotation == 90 || f.Rotation == 270 {
		f.Width, f.Height = f.Height, f.Width
	}
	return limits.checkDimensions(MP4, f.Width, f.Height)
}

// movie is what the boxes inside moov say.
type movie struct {
	found         bool
	timescale     uint32
	duration      time.Duration
	tracks        int
	width, height int // before rotation, of the first video track
	rotation      int
}

func (b *boxes) movie(x box, m *movie) error {
	m.found = true
	return b.each(x.at, x.at+x.size, func(x box) error {
		switch x.name {
		case "mvhd":
			return b.movieHeader(x, m)
		case "mvex":
			return b.each(x.at, x.at+x.size, func(x box) error { return b.fragments(x, m) })
		case "trak":
			if m.tracks++; m.tracks > maxTracks {
				return damaged(b.in.t)
			}
			return b.track(x, m)
		}
		return nil
	})
}

// movieHeader: version and flags, two dates, timescale, duration.
func (b *boxes) movieHeader(x box, m *movie) error {
	p, err := b.body(x, 20)
	if err != nil {
		return err
	}
	units := uint64(binary.BigEndian.Uint32(p[16:]))
	m.timescale = binary.BigEndian.Uint32(p[12:])
	if p[0] == 1 {
		if p, err = b.body(x, 32); err != nil {
			return err
		}
		m.timescale, units = binary.BigEndian.Uint32(p[20:]), binary.BigEndian.Uint64(p[24:])
	}
	if m.timescale == 0 {
		return damaged(b.in.t)
	}
	m.setDuration(units, p[0])
	return nil
}

// fragments: a video written in fragments has its length in mehd, if at all.
func (b *boxes) fragments(x box, m *movie) error {
	if x.name != "mehd" || m.duration != 0 || m.timescale == 0 {
		return nil
	}
	p, err := b.body(x, 8)
	if err != nil {
		return err
	}
	units := uint64(binary.BigEndian.Uint32(p[4:]))
	if p[0] == 1 {
		if p, err = b.body(x, 12); err != nil {
			return err
		}
		units = binary.BigEndian.Uint64(p[4:])
	}
	m.setDuration(units, p[0])
	return nil
}

// setDuration leaves 0 for "unknown", which is all ones, and for nonsense.
func (m *movie) setDuration(units uint64, version byte) {
	if version == 0 && units == 1<<32-1 || units == 1<<64-1 {
		return
	}
	high, low := bits.Mul64(units, uint64(time.Second))
	if high >= uint64(m.timescale) {
		return
	}
	nanos, _ := bits.Div64(high, low, uint64(m.timescale))
	if nanos <= uint64(maxDuration) {
		m.duration = time.Duration(nanos)
	}
}

func (b *boxes) track(x box, m *movie) error {
	t, video := movie{}, false
	err := b.each(x.at, x.at+x.size, func(x box) error {
		switch x.name {
		case "tkhd":
			return b.trackHeader(x, &t)
		case "mdia":
			return b.media(x, &t, &video)
		}
		return nil
	})
	if err == nil && video && m.width == 0 {
		m.width, m.height, m.rotation = t.width, t.height, t.rotation
	}
	return err
}

// trackHeader ends, in both versions, with the matrix (36 bytes) and the width
// and height that are shown, in 16.16 fixed point.
func (b *boxes) trackHeader(x box, t *movie) error {
	p, err := b.body(x, 84)
	if err != nil {
		return err
	}
	if p[0] == 1 {
		if p, err = b.body(x, 96); err != nil {
			return err
		}
	}
	tail := p[len(p)-44:]
	t.rotation = rotationOf(tail)
	if w, h := int(binary.BigEndian.Uint16(tail[36:])), int(binary.BigEndian.Uint16(tail[40:])); w > 0 && h > 0 {
		t.width, t.height = w, h
	}
	return nil
}

// rotationOf reads the matrix a b u c d v x y w: a point (x, y) is shown at
// (ax + cy, bx + dy). Phones write quarter turns; anything else is left alone.
func rotationOf(matrix []byte) int {
	at := func(i int) int32 { return int32(binary.BigEndian.Uint32(matrix[4*i:])) }
	a, b, c, d := at(0), at(1), at(3), at(4)
	switch {
	case a == 0 && d == 0 && b > 0 && c < 0:
		return 90
	case b == 0 && c == 0 && a < 0 && d < 0:
		return 180
	case a == 0 && d == 0 && b < 0 && c > 0:
		return 270
	}
	return 0
}

func (b *boxes) media(x box, t *movie, video *bool) error {
	return b.each(x.at, x.at+x.size, func(x box) error {
		switch x.name {
		case "hdlr":
			p, err := b.body(x, 12)
			if err != nil {
				return err
			}
			if string(p[4:8]) != "dhlr" { // QuickTime's other one, of where the bytes lie
				*video = string(p[8:12]) == "vide"
			}
			return nil
		case "minf", "stbl":
			return b.media(x, t, video)
		case "stsd":
			return b.sample(x, t)
		}
		return nil
	})
}

// sample takes the coded size from the first sample entry where the track
// header has none: version, count, then a box whose body has it at 24.
func (b *boxes) sample(x box, t *movie) error {
	if t.width > 0 || x.size < 8+8+28 {
		return nil
	}
	p, err := b.body(x, 8+8+28)
	if err != nil {
		return err
	}
	t.width = int(binary.BigEndian.Uint16(p[8+8+24:]))
	t.height = int(binary.BigEndian.Uint16(p[8+8+26:]))
	return nil
}

// body reads the first n bytes of a box's body.
func (b *boxes) body(x box, n int64) ([]byte, error) {
	if x.size < n {
		return nil, damaged(b.in.t)
	}
	return b.fixed(x.at, int(n))
}
