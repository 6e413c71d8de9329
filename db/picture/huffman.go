package picture

import "bufio"

// huffman is one code table: a look-up by the first nine bits, and for longer
// codes the largest code and the first value of each length.
type huffman struct {
	fast   [512]uint16 // length<<8 | value; 0: longer than nine bits
	most   [17]int32   // the largest code of a length; -1: none
	offset [17]int32   // to add to a code of that length for its value's place
	values []byte
}

func newHuffman(b []byte) (t *huffman, rest []byte, err error) {
	n := 0
	for _, c := range b[:16] {
		n += int(c)
	}
	if n == 0 || n > 256 || len(b) < 16+n {
		return nil, nil, errNotScaled
	}
	t = &huffman{values: b[16 : 16+n]}
	code, at := int32(0), int32(0)
	for length := 1; length <= 16; length++ {
		count := int32(b[length-1])
		t.offset[length], t.most[length] = at-code, -1
		if code+count > 1<<length {
			return nil, nil, errNotScaled
		}
		for range count {
			if length <= 9 {
				first := code << (9 - length)
				for i := range int32(1) << (9 - length) {
					t.fast[first+i] = uint16(length)<<8 | uint16(t.values[at])
				}
			}
			code++
			at++
		}
		if count > 0 {
			t.most[length] = code - 1
		}
		code <<= 1
	}
	return t, b[16+n:], nil
}

// bitReader reads the data of a scan bit by bit. At a marker it gives zeros; who
// takes many of them has read over the end.
type bitReader struct {
	r      *bufio.Reader
	buf    []byte
	at     int
	acc    uint64 // the next bits, from the top down
	n      int    // how many of them
	marker byte   // where the data ended
	zeros  int    // bytes given behind that
}

// fill sees to at least 48 bits.
func (b *bitReader) fill() {
	for b.n <= 56 {
		if b.marker != 0 {
			b.zeros++
			b.n += 8
			continue
		}
		if b.at == len(b.buf) && !b.more() {
			b.marker = 0xd9
			continue
		}
		c := b.buf[b.at]
		b.at++
		if c == 0xff && !b.stuffed() {
			continue
		}
		b.acc |= uint64(c) << (56 - b.n)
		b.n += 8
	}
}

func (b *bitReader) more() bool {
	n, _ := b.r.Read(b.buf[:cap(b.buf)])
	b.buf, b.at = b.buf[:n], 0
	return n > 0
}

// stuffed says whether an ff is data; else it notes the marker.
func (b *bitReader) stuffed() bool {
	for {
		if b.at == len(b.buf) && !b.more() {
			b.marker = 0xd9
			return false
		}
		c := b.buf[b.at]
		b.at++
		if c == 0 {
			return true
		}
		if c != 0xff {
			b.marker = c
			return false
		}
	}
}

func (b *bitReader) symbol(t *huffman) (byte, bool) {
	if b.n < 32 {
		b.fill()
	}
	if f := t.fast[b.acc>>55]; f != 0 {
		n := int(f >> 8)
		b.acc <<= n
		b.n -= n
		return byte(f), true
	}
	for length := 10; length <= 16; length++ {
		code := int32(b.acc >> (64 - length))
		if code <= t.most[length] {
			at := code + t.offset[length]
			if at < 0 || int(at) >= len(t.values) {
				return 0, false
			}
			b.acc <<= length
			b.n -= length
			return t.values[at], true
		}
	}
	return 0, false
}

// receive reads a signed value of so many bits, at most 15.
func (b *bitReader) receive(size byte) int32 {
	if size == 0 {
		return 0
	}
	if b.n < 16 {
		b.fill()
	}
	v := int32(b.acc >> (64 - size))
	b.acc <<= size
	b.n -= int(size)
	if v < 1<<(size-1) {
		v += -1<<size + 1
	}
	return v
}

// over says whether bits were taken that nobody wrote.
func (b *bitReader) over() bool { return b.zeros > 8 && b.n < 8*(b.zeros-1) }

// restart goes on behind the next restart marker.
func (b *bitReader) restart() bool {
	if b.marker == 0 {
		b.n, b.acc = 0, 0
		b.fill() // what is left before the marker is padding
	}
	if b.marker < 0xd0 || b.marker > 0xd7 {
		return false
	}
	b.marker, b.zeros, b.acc, b.n = 0, 0, 0, 0
	return true
}
