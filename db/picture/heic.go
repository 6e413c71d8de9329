package picture

import "encoding/binary"

// maxProperties is how many properties of pictures a HEIC photo is looked at for: a
// phone's has some sixty, one of each tile.
const maxProperties = 4096

// photo is what the boxes of a HEIC file say of its pictures.
type photo struct {
	primary    uint32
	properties []property // counted from one
	of         []byte     // ipma: which picture has which
}

// property is the size of a picture, or how it is turned: one of the two.
type property struct {
	width, height int
	sideways      bool
}

// measureHEIC reads the dimensions of the picture that the file is about, as it is
// shown. No picture of the file may be larger than the limits allow: whoever opens
// it may open all.
func measureHEIC(in *input, limits Limits, f *Facts) error {
	b, p := &boxes{in: in}, &photo{}
	err := b.each(0, in.src.Size(), func(x box) error {
		if x.name != "meta" || len(p.properties) > 0 {
			return nil
		}
		if x.size < 4 {
			return damaged(HEIC)
		}
		return b.each(x.at+4, x.at+x.size, func(x box) error { return b.photo(x, p) })
	})
	if err != nil {
		return err
	}
	for _, one := range p.properties {
		if one.width == 0 && one.height == 0 {
			continue
		}
		if err := limits.checkDimensions(HEIC, one.width, one.height); err != nil {
			return err
		}
	}
	if !p.measure(f) {
		return damaged(HEIC)
	}
	return nil
}

// photo reads a box of the meta box.
func (b *boxes) photo(x box, p *photo) error {
	switch x.name {
	case "pitm":
		return b.primary(x, p)
	case "iprp":
		return b.each(x.at, x.at+x.size, func(x box) error { return b.photo(x, p) })
	case "ipco":
		return b.each(x.at, x.at+x.size, func(x box) error { return b.property(x, p) })
	case "ipma":
		if x.size > maxPart {
			return damaged(HEIC)
		}
		var err error
		p.of, err = b.body(x, x.size)
		return err
	}
	return nil
}

// primary: version and flags, and the number of the picture.
func (b *boxes) primary(x box, p *photo) error {
	body, err := b.body(x, 6)
	if err != nil {
		return err
	}
	if body[0] == 0 {
		p.primary = uint32(binary.BigEndian.Uint16(body[4:]))
		return nil
	}
	if body, err = b.body(x, 8); err == nil {
		p.primary = binary.BigEndian.Uint32(body[4:])
	}
	return err
}

func (b *boxes) property(x box, p *photo) error {
	if len(p.properties) == maxProperties {
		return damaged(HEIC)
	}
	one := property{}
	switch x.name {
	case "ispe":
		body, err := b.body(x, 12)
		if err != nil {
			return err
		}
		one.width, one.height = int(binary.BigEndian.Uint32(body[4:])), int(binary.BigEndian.Uint32(body[8:]))
		if one.width == 0 || one.height == 0 {
			return damaged(HEIC)
		}
	case "irot":
		body, err := b.body(x, 1)
		if err != nil {
			return err
		}
		one.sideways = body[0]&1 == 1
	}
	p.properties = append(p.properties, one)
	return nil
}

// measure finds the primary picture's properties. It says whether its size is
// among them.
func (p *photo) measure(f *Facts) bool {
	sideways := false
	for _, i := range p.numbers() {
		if i < 1 || i > len(p.properties) {
			return false
		}
		one := p.properties[i-1]
		sideways = sideways != one.sideways
		if one.width > 0 {
			f.Width, f.Height = one.width, one.height
		}
	}
	if sideways {
		f.Width, f.Height = f.Height, f.Width
	}
	return f.Width > 0
}

// numbers reads which properties the primary picture has: version and flags, how
// many pictures, and for each its number, how many properties, and theirs.
func (p *photo) numbers() (list []int) {
	r := cursor{b: p.of}
	version, flags := r.uint(1), r.uint(3)
	size, wide := 2, flags&1 == 1
	if version > 0 {
		size = 4
	}
	for range r.uint(4) {
		id, count := r.uint(size), r.uint(1)
		for range count {
			n := 0
			if wide {
				n = int(r.uint(2) & 0x7fff)
			} else {
				n = int(r.uint(1) & 0x7f)
			}
			if id == p.primary && !r.over {
				list = append(list, n)
			}
		}
		if r.over {
			return nil
		}
	}
	return list
}

// cursor reads numbers until there are no more.
type cursor struct {
	b    []byte
	over bool
}

func (c *cursor) uint(size int) (n uint32) {
	if len(c.b) < size {
		c.b, c.over = nil, true
		return 0
	}
	for _, one := range c.b[:size] {
		n = n<<8 | uint32(one)
	}
	c.b = c.b[size:]
	return n
}
