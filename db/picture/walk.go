package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// walks goes over the parts of a file of each type.
var walks = map[Type]func(*walk) (outline, error){JPEG: walkJPEG, PNG: walkPNG, WebP: walkWebP, GIF: walkGIF}

// maxPart is the longest part that is read into memory: a JPEG segment.
const maxPart = 64 << 10

// walk reads the parts of a picture one after the other, in constant memory.
// Its errors are io.EOF and io.ErrUnexpectedEOF where the file is cut short,
// and refusals.
type walk struct {
	r *bufio.Reader
	t Type
}

func (w *walk) skip(n int64) error {
	for n > 0 {
		step := int(min(n, 1<<30))
		if _, err := w.r.Discard(step); err != nil {
			return err
		}
		n -= int64(step)
	}
	return nil
}

func (w *walk) bytes(n int64) ([]byte, error) {
	p := make([]byte, min(n, maxPart))
	_, err := io.ReadFull(w.r, p)
	return p, err
}

// part reads a part that is wanted if it is short enough, and passes by it
// otherwise.
func (w *walk) part(n int64, wanted bool) ([]byte, error) {
	if !wanted || n > maxPart {
		return nil, w.skip(n)
	}
	return w.bytes(n)
}

// walkJPEG goes from segment to segment and through the entropy-coded data to
// the end marker, as the decoder would: ff 00 and restart markers are data,
// bytes outside a segment are passed by.
func walkJPEG(w *walk) (outline, error) {
	o := outline{depth: 3}
	if err := w.skip(2); err != nil {
		return o, err
	}
	for {
		marker, err := w.marker()
		if err != nil || marker == 0xd9 {
			return o, err
		}
		if marker == 0x00 || marker == 0x01 || marker >= 0xd0 && marker <= 0xd8 {
			continue
		}
		if err := w.segment(marker, &o); err != nil {
			return o, err
		}
	}
}

// marker finds the byte after the next run of ff.
func (w *walk) marker() (byte, error) {
	for {
		if _, err := w.r.ReadSlice(0xff); err == bufio.ErrBufferFull {
			continue
		} else if err != nil {
			return 0, err
		}
		b, err := w.r.ReadByte()
		for err == nil && b == 0xff {
			b, err = w.r.ReadByte()
		}
		return b, err
	}
}

func (w *walk) segment(marker byte, o *outline) error {
	length, err := w.bytes(2)
	if err != nil {
		return err
	}
	n := int64(binary.BigEndian.Uint16(length)) - 2
	if n < 0 {
		return damaged(JPEG)
	}
	const sof0, sof1, sof2, sos, app1, app2 = 0xc0, 0xc1, 0xc2, 0xda, 0xe1, 0xe2
	frame := marker == sof0 || marker == sof1 || marker == sof2
	body, err := w.part(n, frame || marker == app1 || marker == app2)
	if err != nil {
		return err
	}
	switch {
	case frame:
		o.depth = max(o.depth, jpegDepth(body, marker == sof2))
	case marker == sos:
		o.scans++
	case marker == app1 && o.exif == nil:
		if exif, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok {
			o.exif = exif
		}
	case marker == app2 && o.icc == nil:
		// One segment holds every profile that screens and phones write.
		if icc, ok := bytes.CutPrefix(body, []byte("ICC_PROFILE\x00\x01\x01")); ok {
			o.icc = profile(icc)
		}
	}
	return nil
}

// jpegDepth is what the decoder holds for each pixel: its samples; for a
// progressive picture a 32-bit coefficient for each of them; for CMYK a plane
// of black and the result.
func jpegDepth(frame []byte, progressive bool) int64 {
	if len(frame) < 6 || len(frame) < 6+3*int(frame[5]) {
		return 3
	}
	most, sum := int64(1), int64(0)
	for i := range int(frame[5]) {
		hv := frame[6+3*i+1]
		area := int64(hv>>4) * int64(hv&15)
		most, sum = max(most, area), sum+area
	}
	samples := (sum + most - 1) / most
	depth := samples
	if progressive {
		depth += 4 * samples
	}
	if frame[5] == 4 {
		depth += 5
	}
	return depth
}

func walkPNG(w *walk) (outline, error) {
	o := outline{depth: 8}
	if err := w.skip(8); err != nil {
		return o, err
	}
	for {
		head, err := w.bytes(8)
		if err != nil {
			return o, err
		}
		n, name := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if n > 1<<31-1 {
			return o, damaged(PNG)
		}
		body, err := w.part(n, name == "eXIf" || name == "iCCP" || name == "IHDR")
		if err != nil {
			return o, err
		}
		if err := w.skip(4); err != nil { // the checksum, which the decoder looks at
			return o, err
		}
		switch name {
		case "IHDR":
			o.depth = pngDepth(body)
		case "eXIf":
			o.exif = body
		case "iCCP":
			o.icc = inflateProfile(body)
		case "acTL":
			o.animated = true
		case "IEND":
			return o, nil
		}
	}
}

func pngDepth(header []byte) int64 {
	if len(header) == 13 && header[8] == 16 {
		return 8
	}
	return 4
}

// walkWebP goes over the chunks of a RIFF file.
func walkWebP(w *walk) (outline, error) {
	o := outline{depth: 8}
	head, err := w.bytes(12)
	if err != nil {
		return o, err
	}
	left := int64(binary.LittleEndian.Uint32(head[4:])) - 4
	for left >= 8 {
		head, err := w.bytes(8)
		if err != nil {
			return o, err
		}
		n, name := int64(binary.LittleEndian.Uint32(head[4:])), string(head[:4])
		body, err := w.part(n, name == "EXIF" || name == "ICCP" || name == "VP8X")
		if err != nil {
			return o, err
		}
		if left -= 8 + n + n&1; left >= 0 { // some leave out the last byte of padding
			if err := w.skip(n & 1); err != nil {
				return o, err
			}
		}
		switch {
		case name == "VP8X" && len(body) > 0:
			o.animated = body[0]&2 != 0
		case name == "ANMF":
			o.animated = true
		case name == "EXIF":
			o.exif = bytes.TrimPrefix(body, []byte("Exif\x00\x00"))
		case name == "ICCP":
			o.icc = profile(body)
		}
	}
	return o, nil
}
