package picture

import (
	"bufio"
	"errors"
	"image"
	"io"
)

// Most pictures are shown much smaller than a camera takes them. A JPEG holds, for
// each 8 by 8 pixels, waves from the longest to the shortest: decoding the longest
// alone gives a half, a quarter or an eighth of the size, with a part of the work
// and of the memory. What this decoder does not know (progressive and arithmetic
// coding, CMYK, several scans), and what it cannot read, is for the standard one.

// errNotScaled: this JPEG has to be decoded whole.
var errNotScaled = errors.New("no JPEG that can be decoded at a part of its size")

// scaledDown is the largest of 8, 4, 2 and 1 by which a picture of w by h may be
// decoded smaller when dw by dh are wanted of it: a quarter more has to be left.
func scaledDown(w, h, dw, dh int) int {
	for _, s := range []int{8, 4, 2} {
		if 4*(w/s) >= 5*dw && 4*(h/s) >= 5*dh {
			return s
		}
	}
	return 1
}

// decodeScaled reads a baseline JPEG at 1/scale of its size, of 2, 4 or 8.
func decodeScaled(r *bufio.Reader, scale int) (image.Image, error) {
	d := &scaled{r: r, side: 8 / scale}
	if err := d.header(); err != nil {
		return nil, err
	}
	d.room()
	if err := d.scan(); err != nil {
		return nil, err
	}
	return d.image(scale), nil
}

type scaled struct {
	r        *bufio.Reader
	side     int // of what a block becomes: 1, 2 or 4
	bits     bitReader
	quant    [4][64]int32
	quanted  [4]bool
	dc, ac   [4]*huffman
	w, h     int
	parts    []*component
	mcuw     int // MCUs across
	mcuh     int
	interval int
	adobe    int // the transform that an APP14 names; -1: none
	jfif     bool
}

// component is one channel.
type component struct {
	id     byte
	h, v   int
	quant  *[64]int32
	dc, ac *huffman
	last   int32 // DC of the block before
	stride int
	pix    []byte
}

// header reads all up to the picture's data.
func (d *scaled) header() error {
	var two [2]byte
	if _, err := io.ReadFull(d.r, two[:]); err != nil || two != [2]byte{0xff, 0xd8} {
		return errNotScaled
	}
	d.adobe = -1
	for {
		marker, body, err := d.segment()
		if err != nil {
			return err
		}
		switch marker {
		case 0xdb:
			err = d.tables(body)
		case 0xc4:
			err = d.huffmans(body)
		case 0xc0, 0xc1:
			err = d.frame(body)
		case 0xdd:
			if len(body) != 2 {
				return errNotScaled
			}
			d.interval = int(body[0])<<8 | int(body[1])
		case 0xe0:
			d.jfif = d.jfif || len(body) >= 5 && string(body[:5]) == "JFIF\x00"
		case 0xee:
			if len(body) >= 12 && string(body[:5]) == "Adobe" {
				d.adobe = int(body[11])
			}
		case 0xda:
			return d.start(body)
		case 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf, 0xcc, 0xd9, 0xdc:
			return errNotScaled
		}
		if err != nil {
			return err
		}
	}
}

func (d *scaled) segment() (marker byte, body []byte, err error) {
	b, err := d.r.ReadByte()
	if err != nil || b != 0xff {
		return 0, nil, errNotScaled
	}
	for b == 0xff && err == nil {
		b, err = d.r.ReadByte()
	}
	if err != nil || b == 0 || b >= 0xd0 && b <= 0xd8 || b == 1 {
		return 0, nil, errNotScaled
	}
	var two [2]byte
	if _, err := io.ReadFull(d.r, two[:]); err != nil {
		return 0, nil, errNotScaled
	}
	n := int(two[0])<<8 | int(two[1]) - 2
	if n < 0 {
		return 0, nil, errNotScaled
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(d.r, body); err != nil {
		return 0, nil, errNotScaled
	}
	return b, body, nil
}

// tables reads quantization tables of 8 or 16 bits a value.
func (d *scaled) tables(b []byte) error {
	for len(b) > 0 {
		wide, id := b[0]>>4, b[0]&15
		size := 64 << (wide & 1)
		if wide > 1 || id > 3 || len(b) < 1+size {
			return errNotScaled
		}
		for i := range 64 {
			v := int32(b[1+i])
			if wide == 1 {
				v = int32(b[1+2*i])<<8 | int32(b[2+2*i])
			}
			d.quant[id][i] = v
		}
		d.quanted[id] = true
		b = b[1+size:]
	}
	return nil
}

func (d *scaled) huffmans(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 || b[0]>>4 > 1 || b[0]&15 > 3 {
			return errNotScaled
		}
		t, rest, err := newHuffman(b[1:])
		if err != nil {
			return err
		}
		if b[0]>>4 == 0 {
			d.dc[b[0]&15] = t
		} else {
			d.ac[b[0]&15] = t
		}
		b = rest
	}
	return nil
}

// frame takes gray, and YCbCr whose colours are as coarse as package image knows.
func (d *scaled) frame(b []byte) error {
	if d.parts != nil || len(b) < 6 || b[0] != 8 || len(b) != 6+3*int(b[5]) || b[5] != 1 && b[5] != 3 {
		return errNotScaled
	}
	d.h, d.w = int(b[1])<<8|int(b[2]), int(b[3])<<8|int(b[4])
	for i := range int(b[5]) {
		p := b[6+3*i:]
		c := &component{id: p[0], h: int(p[1] >> 4), v: int(p[1] & 15)}
		if p[2] > 3 || c.h < 1 || c.v < 1 {
			return errNotScaled
		}
		c.quant = &d.quant[p[2]]
		d.parts = append(d.parts, c)
	}
	if len(d.parts) == 1 {
		d.parts[0].h, d.parts[0].v = 1, 1 // one component alone is never interleaved
	} else if _, ok := d.ratio(); !ok {
		return errNotScaled
	}
	if d.w == 0 || d.h == 0 {
		return errNotScaled
	}
	return nil
}

// ratio is how coarse the colours are.
func (d *scaled) ratio() (image.YCbCrSubsampleRatio, bool) {
	y, cb, cr := d.parts[0], d.parts[1], d.parts[2]
	if cb.h != cr.h || cb.v != cr.v || y.h%cb.h != 0 || y.v%cb.v != 0 {
		return 0, false
	}
	r, ok := map[[2]int]image.YCbCrSubsampleRatio{{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {2, 2}: image.YCbCrSubsampleRatio420,
		{1, 2}: image.YCbCrSubsampleRatio440, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410}[[2]int{y.h / cb.h, y.v / cb.v}]
	return r, ok
}

// start reads the head of the one scan that holds all.
func (d *scaled) start(b []byte) error {
	if d.parts == nil || len(b) != 4+2*len(d.parts) || int(b[0]) != len(d.parts) || b[len(b)-3] != 0 || b[len(b)-2] != 63 || b[len(b)-1] != 0 {
		return errNotScaled
	}
	for i, c := range d.parts {
		id, tables := b[1+2*i], b[2+2*i]
		if id != c.id || tables>>4 > 3 || tables&15 > 3 {
			return errNotScaled
		}
		c.dc, c.ac = d.dc[tables>>4], d.ac[tables&15]
		if c.dc == nil || c.ac == nil {
			return errNotScaled
		}
	}
	rgb := len(d.parts) == 3 && !d.jfif && (d.adobe == 0 || d.adobe < 0 && d.parts[0].id == 'R' && d.parts[1].id == 'G' && d.parts[2].id == 'B')
	if rgb {
		return errNotScaled
	}
	for i := range d.quanted {
		for _, c := range d.parts {
			if c.quant == &d.quant[i] && !d.quanted[i] {
				return errNotScaled
			}
		}
	}
	return nil
}

// room makes the planes.
func (d *scaled) room() {
	h, v := d.parts[0].h, d.parts[0].v
	d.mcuw, d.mcuh = (d.w+8*h-1)/(8*h), (d.h+8*v-1)/(8*v)
	for _, c := range d.parts {
		c.stride = d.mcuw * c.h * d.side
		c.pix = make([]byte, c.stride*d.mcuh*c.v*d.side)
	}
	d.bits = bitReader{r: d.r, buf: make([]byte, 0, 32<<10)}
}

func (d *scaled) scan() error {
	left := d.interval
	for y := range d.mcuh {
		for x := range d.mcuw {
			if d.interval > 0 {
				if left == 0 {
					if err := d.restart(); err != nil {
						return err
					}
					left = d.interval
				}
				left--
			}
			if err := d.mcu(x, y); err != nil {
				return err
			}
		}
	}
	return nil
}

// restart begins anew behind a restart marker.
func (d *scaled) restart() error {
	if !d.bits.restart() {
		return errNotScaled
	}
	for _, c := range d.parts {
		c.last = 0
	}
	return nil
}

func (d *scaled) mcu(x, y int) error {
	for _, c := range d.parts {
		for v := range c.v {
			for h := range c.h {
				var low [16]int32
				if !d.block(c, &low) {
					return errNotScaled
				}
				at := ((y*c.v+v)*c.stride + (x*c.h + h)) * d.side
				switch d.side {
				case 1:
					c.pix[at] = level(low[0] + 4)
				case 2:
					two(c.pix[at:], c.stride, &low)
				default:
					four(c.pix[at:], c.stride, &low)
				}
			}
		}
	}
	return nil
}

// level turns eight times a sample, rounded already, into a byte.
func level(v int32) byte {
	v = v>>3 + 128
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return byte(v)
}

// lowAt is where the waves that are kept stand in zigzag order: row and column of
// 4 by 4; 16 for the others. The last of them is the 25th.
var lowAt = [25]uint8{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 16, 13, 10, 7, 16, 16, 16, 11, 14, 16, 16, 16, 16, 16, 15}

// block reads one block's waves, and keeps the longest 4 by 4.
func (d *scaled) block(c *component, low *[16]int32) bool {
	b := &d.bits
	s, ok := b.symbol(c.dc)
	if !ok || s > 11 {
		return false
	}
	c.last += b.receive(s)
	low[0] = c.last * c.quant[0]
	for k := 1; k < 64; k++ {
		rs, ok := b.symbol(c.ac)
		if !ok {
			return false
		}
		s := rs & 15
		if s == 0 {
			if rs != 0xf0 {
				break
			}
			k += 15
			continue
		}
		k += int(rs >> 4)
		if k > 63 {
			return false
		}
		v := b.receive(s)
		if k < len(lowAt) && lowAt[k] < 16 {
			low[lowAt[k]] = v * c.quant[k]
		}
	}
	return !b.over()
}

// two is the inverse transform of 2 by 2 waves: nothing but sums.
func two(p []byte, stride int, f *[16]int32) {
	a, b := f[0]+f[4]+4, f[0]-f[4]+4
	c, d := f[1]+f[5], f[1]-f[5]
	p[0], p[1] = level(a+c), level(a-c)
	p[stride], p[stride+1] = level(b+d), level(b-d)
}

// The cosines of the transform of four, in parts of 8192.
const (
	cos1   = 10703 // √2·cos(π/8) · 8192
	cos3   = 4433  // √2·cos(3π/8) · 8192
	unit13 = 8192
)

// four is the inverse transform of 4 by 4 waves, by rows and then by columns.
func four(p []byte, stride int, f *[16]int32) {
	var t [16]int64
	for r := range 4 {
		a, b, c, e := int64(f[4*r]), int64(f[4*r+1]), int64(f[4*r+2]), int64(f[4*r+3])
		t[4*r], t[4*r+1], t[4*r+2], t[4*r+3] = line(a, b, c, e)
	}
	for x := range 4 {
		a, b, c, e := line(t[x], t[4+x], t[8+x], t[12+x])
		for y, v := range [4]int64{a, b, c, e} {
			p[y*stride+x] = level(int32((v + 4<<26) >> 26))
		}
	}
}

// line is the transform of four values, times 8192.
func line(a, b, c, d int64) (int64, int64, int64, int64) {
	even, odd := (a+c)*unit13, (a-c)*unit13
	x, y := b*cos1+d*cos3, b*cos3-d*cos1
	return even + x, odd + y, odd - y, even - x
}

func (d *scaled) image(scale int) image.Image {
	w, h := (d.w+scale-1)/scale, (d.h+scale-1)/scale
	y := d.parts[0]
	if len(d.parts) == 1 {
		return &image.Gray{Pix: y.pix, Stride: y.stride, Rect: image.Rect(0, 0, w, h)}
	}
	ratio, _ := d.ratio()
	return &image.YCbCr{Y: y.pix, Cb: d.parts[1].pix, Cr: d.parts[2].pix, YStride: y.stride, CStride: d.parts[1].stride, SubsampleRatio: ratio, Rect: image.Rect(0, 0, w, h)}
}
