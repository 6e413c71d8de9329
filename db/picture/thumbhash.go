package picture

import (
	"image"
	"math"
)

// A ThumbHash is a picture in some 25 bytes: its colours as the first waves of a
// cosine transform, in 4 bits each. The format is public; see its description by
// Evan Wallace. Pages show it until the thumbnail is there.

// hashSide is the longer side that a picture is made small to before it is hashed.
const hashSide = 100

// Hash makes the ThumbHash of a picture that is small already: its time is that of
// its pixels.
func Hash(img image.Image) []byte {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	l, p, q, a := channels(img)
	alpha := false
	for _, v := range a {
		alpha = alpha || v < 1
	}
	most := 7
	if alpha {
		most = 5
	}
	longer := float64(max(w, h))
	lx, ly := max(1, round(float64(most*w)/longer)), max(1, round(float64(most*h)/longer))
	ld := waves(l, w, h, max(3, lx), max(3, ly))
	pd, qd := waves(p, w, h, 3, 3), waves(q, w, h, 3, 3)
	head := round(63*ld.mean) | round(31.5+31.5*pd.mean)<<6 | round(31.5+31.5*qd.mean)<<12 | round(31*ld.scale)<<18
	tail := round(63*pd.scale)<<3 | round(63*qd.scale)<<9
	if alpha {
		head |= 1 << 23
	}
	if w > h {
		tail |= ly | 1<<15
	} else {
		tail |= lx
	}
	out := []byte{byte(head), byte(head >> 8), byte(head >> 16), byte(tail), byte(tail >> 8)}
	all := append(append(append([]float64{}, ld.rest...), pd.rest...), qd.rest...)
	if alpha {
		ad := waves(a, w, h, 5, 5)
		out = append(out, byte(round(15*ad.mean)|round(15*ad.scale)<<4))
		all = append(all, ad.rest...)
	}
	for i, v := range all {
		if i%2 == 0 {
			out = append(out, byte(round(15*v)))
		} else {
			out[len(out)-1] |= byte(round(15*v) << 4)
		}
	}
	return out
}

func round(v float64) int { return int(math.Round(v)) }

// channels splits a picture into light, two differences of colour and opacity,
// what is transparent being given the mean colour.
func channels(img image.Image) (l, p, q, a []float64) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	row, read := make([]byte, 4*w), rows(img)
	pix := make([][4]float64, 0, w*h)
	var mean [4]float64
	for y := range h {
		read(y, row)
		for x := range w {
			k := float64(row[4*x+3]) / 255
			c := [4]float64{float64(row[4*x]) / 255, float64(row[4*x+1]) / 255, float64(row[4*x+2]) / 255, k}
			pix = append(pix, c)
			for i := range 3 {
				mean[i] += k * c[i]
			}
			mean[3] += k
		}
	}
	for i := range 3 {
		if mean[3] > 0 {
			mean[i] /= mean[3]
		}
	}
	for _, c := range pix {
		var rgb [3]float64
		for i := range 3 {
			rgb[i] = mean[i]*(1-c[3]) + c[3]*c[i]
		}
		l = append(l, (rgb[0]+rgb[1]+rgb[2])/3)
		p = append(p, (rgb[0]+rgb[1])/2-rgb[2])
		q = append(q, rgb[0]-rgb[1])
		a = append(a, c[3])
	}
	return l, p, q, a
}

// wave is a channel as the mean, the largest wave, and the waves from 0 to 1.
type wave struct {
	mean, scale float64
	rest        []float64
}

func waves(channel []float64, w, h, nx, ny int) (out wave) {
	fx := make([]float64, w)
	for cy := range ny {
		for cx := 0; cx*ny < nx*(ny-cy); cx++ {
			f := 0.0
			for x := range w {
				fx[x] = math.Cos(math.Pi / float64(w) * float64(cx) * (float64(x) + 0.5))
			}
			for y := range h {
				fy := math.Cos(math.Pi / float64(h) * float64(cy) * (float64(y) + 0.5))
				for x := range w {
					f += channel[x+y*w] * fx[x] * fy
				}
			}
			f /= float64(w * h)
			if cx == 0 && cy == 0 {
				out.mean = f
				continue
			}
			out.rest = append(out.rest, f)
			out.scale = max(out.scale, math.Abs(f))
		}
	}
	for i := range out.rest {
		if out.scale > 0 {
			out.rest[i] = 0.5 + 0.5/out.scale*out.rest[i]
		}
	}
	return out
}

// Blur draws a ThumbHash with the longer side of so many pixels. It returns nil
// for what is none.
func Blur(hash []byte, side int) *image.NRGBA {
	if len(hash) < 6 || side < 1 || side > 256 {
		return nil
	}
	head := int(hash[0]) | int(hash[1])<<8 | int(hash[2])<<16
	tail := int(hash[3]) | int(hash[4])<<8
	alpha, wide := head>>23 != 0, tail>>15 != 0
	most := 7
	if alpha {
		most = 5
	}
	lx, ly := max(3, tail&7), max(3, most)
	if wide {
		lx, ly = max(3, most), max(3, tail&7)
	}
	rx, ry := float64(tail&7), float64(most) // the shape is told by them unrounded
	if wide {
		rx, ry = float64(most), float64(tail&7)
	}
	if rx == 0 || ry == 0 {
		return nil
	}
	r := nibbles{bytes: hash[5:]}
	amean, ascale := 1.0, 0.0
	if alpha {
		amean, ascale = float64(hash[5]&15)/15, float64(hash[5]>>4)/15
		r.bytes = hash[6:]
	}
	b := blurred{
		l: r.waves(lx, ly, float64(head&63)/63, float64(head>>18&31)/31),
		p: r.waves(3, 3, float64(head>>6&63)/31.5-1, float64(tail>>3&63)/63*1.25),
		q: r.waves(3, 3, float64(head>>12&63)/31.5-1, float64(tail>>9&63)/63*1.25),
		a: terms{nx: 5, ny: 5, mean: amean},
	}
	if alpha {
		b.a = r.waves(5, 5, amean, ascale)
	}
	if r.short {
		return nil
	}
	w, h := side, max(1, round(float64(side)*ry/rx))
	if ry > rx {
		w, h = max(1, round(float64(side)*rx/ry)), side
	}
	return b.draw(w, h)
}

// nibbles reads 4 bits at a time.
type nibbles struct {
	bytes []byte
	at    int
	short bool
}

func (r *nibbles) next() float64 {
	if r.at/2 >= len(r.bytes) {
		r.short = true
		return 0
	}
	v := r.bytes[r.at/2] >> (4 * (r.at % 2)) & 15
	r.at++
	return float64(v)/7.5 - 1
}

// terms are a channel's waves as they were written.
type terms struct {
	nx, ny int
	mean   float64
	rest   []float64
}

func (r *nibbles) waves(nx, ny int, mean, scale float64) terms {
	t := terms{nx: nx, ny: ny, mean: mean}
	for cy := range ny {
		for cx := 0; cx*ny < nx*(ny-cy); cx++ {
			if cx+cy > 0 {
				t.rest = append(t.rest, r.next()*scale)
			}
		}
	}
	return t
}

// at is the channel's value, given the cosines of its place.
func (t terms) at(fx, fy []float64) float64 {
	v, i := t.mean, 0
	for cy := range t.ny {
		for cx := 0; cx*t.ny < t.nx*(t.ny-cy); cx++ {
			if cx+cy == 0 || i >= len(t.rest) {
				continue
			}
			v += t.rest[i] * fx[cx] * fy[cy] * 2
			i++
		}
	}
	return v
}

type blurred struct{ l, p, q, a terms }

func (b blurred) draw(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		fy := cosines(y, h)
		for x := range w {
			fx := cosines(x, w)
			l, p, q, a := b.l.at(fx, fy), b.p.at(fx, fy), b.q.at(fx, fy), b.a.at(fx, fy)
			blue := l - 2.0/3*p
			red := (3*l - blue + q) / 2
			copy(img.Pix[img.PixOffset(x, y):], []byte{unit(red), unit(red - q), unit(blue), unit(a)})
		}
	}
	return img
}

func cosines(x, w int) []float64 {
	f := make([]float64, 8)
	for c := range f {
		f[c] = math.Cos(math.Pi / float64(w) * (float64(x) + 0.5) * float64(c))
	}
	return f
}

func unit(v float64) byte { return byte(round(255 * min(max(v, 0), 1))) }
