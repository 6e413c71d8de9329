package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// A colour profile is kept: without it the reds of every newer phone turn
// dull. Everything else that is not pixels is left behind.

// maxProfile fits in one JPEG segment. Profiles of screens and cameras have a
// few hundred bytes to a few thousand; the large ones belong to printers.
const maxProfile = 60 << 10

// profile returns icc if it is a profile that says what it is, else nil: a
// broken one is dropped, and colours are then sRGB.
func profile(icc []byte) []byte {
	if len(icc) < 132 || len(icc) > maxProfile || string(icc[36:40]) != "acsp" ||
		int64(binary.BigEndian.Uint32(icc)) != int64(len(icc)) {
		return nil
	}
	return slices.Clone(icc)
}

// profileFor returns icc if it describes the pixels that will be written:
// a profile for CMYK is of no use once CMYK has become RGB.
func profileFor(icc []byte, gray bool) []byte {
	space := "RGB "
	if gray {
		space = "GRAY"
	}
	if len(icc) < 132 || string(icc[16:20]) != space {
		return nil
	}
	return icc
}

// inflateProfile reads a PNG's iCCP chunk: name, 0, method 0, zlib.
func inflateProfile(chunk []byte) []byte {
	_, packed, ok := bytes.Cut(chunk, []byte{0})
	if !ok || len(packed) < 1 || packed[0] != 0 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[1:]))
	if err != nil {
		return nil
	}
	icc, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil
	}
	return profile(icc)
}

// withProfile returns a writer that puts the profile where a file of type t
// has it: behind a JPEG's first marker, behind a PNG's header.
func withProfile(w io.Writer, t Type, icc []byte) io.Writer {
	switch {
	case icc == nil:
		return w
	case t == JPEG:
		part := append([]byte("\xff\xe2\x00\x00ICC_PROFILE\x00\x01\x01"), icc...)
		binary.BigEndian.PutUint16(part[2:], uint16(len(part)-2))
		return &splice{w: w, after: 2, part: part}
	default:
		return &splice{w: w, after: 8 + 25, part: profileChunk(icc)}
	}
}

func profileChunk(icc []byte) []byte {
	var b bytes.Buffer
	b.WriteString("\x00\x00\x00\x00iCCPprofile\x00\x00")
	z := zlib.NewWriter(&b)
	_, _ = z.Write(icc) // a Buffer never fails
	_ = z.Close()
	chunk := b.Bytes()
	binary.BigEndian.PutUint32(chunk, uint32(len(chunk)-8))
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}

// splice writes part once, behind the first after bytes.
type splice struct {
	w     io.Writer
	after int
	part  []byte
}

func (s *splice) Write(p []byte) (int, error) {
	if s.part == nil {
		return s.w.Write(p)
	}
	if len(p) < s.after {
		s.after -= len(p)
		return s.w.Write(p)
	}
	n, err := s.w.Write(p[:s.after])
	if err == nil {
		_, err = s.w.Write(s.part)
	}
	if err != nil {
		return n, err
	}
	s.part = nil
	m, err := s.w.Write(p[n:])
	return n + m, err
}
