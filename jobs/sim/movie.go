package sim

import (
	"encoding/binary"
	"iter"
	"time"
)

// film reads from the header of an MP4 or QuickTime file how large its picture
// is and how long it runs. What it does not find stays zero, and networks then
// take the file as it is.
func film(data []byte) (wide, high int, long time.Duration) {
	for name, moov := range boxes(data) {
		if name != "moov" {
			continue
		}
		for name, body := range boxes(moov) {
			switch name {
			case "mvhd":
				long = movieTime(body)
			case "trak":
				if w, h := trackSize(body); w > 0 && h > 0 {
					wide, high = w, h
				}
			}
		}
	}
	return wide, high, long
}

// boxes are the parts of data, as far as they are whole.
func boxes(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(data) >= 8 {
			size, head := uint64(binary.BigEndian.Uint32(data)), uint64(8)
			switch {
			case size == 1 && len(data) >= 16:
				size, head = binary.BigEndian.Uint64(data[8:]), 16
			case size == 0:
				size = uint64(len(data))
			}
			if size < head || size > uint64(len(data)) || !yield(string(data[4:8]), data[head:size]) {
				return
			}
			data = data[size:]
		}
	}
}

// movieTime is the duration in a movie's header, in either of its versions.
func movieTime(body []byte) time.Duration {
	var scale, units uint64
	switch {
	case len(body) >= 32 && body[0] == 1:
		scale, units = uint64(binary.BigEndian.Uint32(body[20:])), binary.BigEndian.Uint64(body[24:])
	case len(body) >= 20 && body[0] == 0:
		scale, units = uint64(binary.BigEndian.Uint32(body[12:])), uint64(binary.BigEndian.Uint32(body[16:]))
	}
	if scale == 0 {
		return 0
	}
	seconds := min(float64(units)/float64(scale), time.Hour.Seconds()*10_000)
	return time.Duration(seconds * float64(time.Second))
}

// trackSize is the picture's size in a track's header; zero for sound.
func trackSize(trak []byte) (wide, high int) {
	for name, body := range boxes(trak) {
		if name == "tkhd" && len(body) >= 84 {
			end := body[len(body)-8:]
			return int(binary.BigEndian.Uint32(end) >> 16), int(binary.BigEndian.Uint32(end[4:]) >> 16)
		}
	}
	return 0, 0
}
