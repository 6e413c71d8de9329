package picture

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// paint is a colour with transparency, straight, 0 to 1.
type paint struct{ r, g, b, a float64 }

// hex reads 0xrrggbb.
func hex(v uint32) paint {
	return paint{float64(v>>16&255) / 255, float64(v>>8&255) / 255, float64(v&255) / 255, 1}
}

func (p paint) fade(a float64) paint { p.a *= a; return p }

// mix is p at 0 and q at 1.
func (p paint) mix(q paint, t float64) paint {
	t = min(max(t, 0), 1)
	return paint{p.r + (q.r-p.r)*t, p.g + (q.g-p.g)*t, p.b + (q.b-p.b)*t, p.a + (q.a-p.a)*t}
}

// point is in units of the canvas: x from 0 to the aspect, y from 0 to 1.
type point struct{ x, y float64 }

// canvas draws smooth shapes into an image. One unit is the height, so that
// shapes keep their form in every format; scenes stretch to c.wide.
type canvas struct {
	img  *image.RGBA
	mask []byte // of the shape being filled
	ras  *vector.Rasterizer
	rng  *rand.Rand
	unit float64 // pixels a unit
	wide float64 // width in units
}

func newCanvas(theme Theme, seed uint64, w, h int) *canvas {
	w, h = max(w, 1), max(h, 1)
	r := image.Rect(0, 0, w, h)
	return &canvas{
		img: image.NewRGBA(r), mask: make([]byte, w*h), ras: vector.NewRasterizer(w, h),
		rng: newRand(theme, seed), unit: float64(h), wide: float64(w) / float64(h),
	}
}

// between is a random number from a to b.
func between(r *rand.Rand, a, b float64) float64 { return a + (b-a)*r.Float64() }

func (c *canvas) between(a, b float64) float64 { return between(c.rng, a, b) }

// fill fills a closed outline with a colour that goes from top to bottom of
// the outline. Its cost is that of the outline's box and not of the canvas.
func (c *canvas) fill(outline []point, top, bottom paint) {
	if len(outline) < 3 {
		return
	}
	low, high := outline[0], outline[0]
	for _, p := range outline {
		low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
	}
	box := c.box(low, high)
	if box.Empty() {
		return
	}
	c.trace(outline, box)
	tall := max(high.y-low.y, 1e-9)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		p := top.mix(bottom, ((float64(y)+0.5)/c.unit-low.y)/tall)
		c.blend(box, y, p)
	}
}

// box is the pixels that a shape between two corners may touch.
func (c *canvas) box(low, high point) image.Rectangle {
	return image.Rect(int(low.x*c.unit)-1, int(low.y*c.unit)-1, int(high.x*c.unit)+2, int(high.y*c.unit)+2).Intersect(c.img.Rect)
}

// trace leaves in the mask how much of each pixel of box the outline covers.
func (c *canvas) trace(outline []point, box image.Rectangle) {
	w, h := box.Dx(), box.Dy()
	c.ras.Reset(w, h)
	for i, p := range outline {
		x, y := float32(p.x*c.unit)-float32(box.Min.X), float32(p.y*c.unit)-float32(box.Min.Y)
		if i == 0 {
			c.ras.MoveTo(x, y)
		} else {
			c.ras.LineTo(x, y)
		}
	}
	c.ras.ClosePath()
	c.ras.DrawOp = draw.Src
	mask := &image.Alpha{Pix: c.mask[:w*h], Stride: w, Rect: image.Rect(0, 0, w, h)}
	c.ras.Draw(mask, mask.Rect, image.Opaque, image.Point{})
}

// blend lays a colour through row y of the mask.
func (c *canvas) blend(box image.Rectangle, y int, p paint) {
	k := int(p.a*256 + 0.5)
	r, g, b := int(p.r*255+0.5), int(p.g*255+0.5), int(p.b*255+0.5)
	row := c.img.Pix[c.img.PixOffset(box.Min.X, y):]
	at := (y - box.Min.Y) * box.Dx()
	for x, v := range c.mask[at : at+box.Dx()] {
		if v == 0 {
			continue
		}
		a := int(v) * k / 255
		q := row[4*x : 4*x+4 : 4*x+4]
		q[0] += byte((r - int(q[0])) * a >> 8)
		q[1] += byte((g - int(q[1])) * a >> 8)
		q[2] += byte((b - int(q[2])) * a >> 8)
		q[3] = 255
	}
}

// band fills from top to bottom over the whole width.
func (c *canvas) band(top, bottom float64, from, to paint) {
	c.fill([]point{{0, top}, {c.wide, top}, {c.wide, bottom}, {0, bottom}}, from, to)
}

// glow lights a round place: p in the middle, nothing at radius.
func (c *canvas) glow(at point, radius float64, p paint) {
	box := c.box(point{at.x - radius, at.y - radius}, point{at.x + radius, at.y + radius})
	scale := 1 / (c.unit * radius)
	r, g, b := p.r*255, p.g*255, p.b*255
	for y := box.Min.Y; y < box.Max.Y; y++ {
		dy := (float64(y) + 0.5 - at.y*c.unit) * scale
		for x := box.Min.X; x < box.Max.X; x++ {
			dx := (float64(x) + 0.5 - at.x*c.unit) * scale
			d := 1 - dx*dx - dy*dy
			if d <= 0 {
				continue
			}
			a := d * d * p.a
			q := c.img.Pix[c.img.PixOffset(x, y):]
			q[0] = byte(float64(q[0]) + (r-float64(q[0]))*a + 0.5)
			q[1] = byte(float64(q[1]) + (g-float64(q[1]))*a + 0.5)
			q[2] = byte(float64(q[2]) + (b-float64(q[2]))*a + 0.5)
		}
	}
}

// finish darkens the corners a little and gives the flat shapes a grain, which
// also keeps gradients from showing steps.
func (c *canvas) finish() {
	w, h := c.img.Rect.Dx(), c.img.Rect.Dy()
	noise := c.rng.Uint64() | 1
	for y := range h {
		dy := 2*float64(y)/float64(h) - 1
		row := c.img.Pix[y*c.img.Stride:]
		for x := range w {
			dx := 2*float64(x)/float64(w) - 1
			noise = noise*6364136223846793005 + 1442695040888963407
			grain := float64(noise>>56)/255*5 - 2.5
			k := 1 - 0.05*(dx*dx+dy*dy)
			q := row[4*x : 4*x+4 : 4*x+4]
			for i := range 3 {
				q[i] = byte(min(max(float64(q[i])*k+grain+0.5, 0), 255))
			}
			q[3] = 255
		}
	}
}

// ellipse is an outline.
func ellipse(at point, rx, ry float64) []point { return arc(at, rx, ry, 0, 2*math.Pi) }

// arc is the outline of an ellipse from one angle to another, clockwise from
// the right.
func arc(at point, rx, ry, from, to float64) []point {
	const steps = 64
	out := make([]point, 0, steps+1)
	for i := range steps + 1 {
		sin, cos := math.Sincos(from + (to-from)*float64(i)/steps)
		out = append(out, point{at.x + rx*cos, at.y + ry*sin})
	}
	return out
}

// lens is a thin stroke, pointed at both ends, turned by an angle.
func lens(at point, length, thick, angle float64) []point {
	const steps = 16
	sin, cos := math.Sincos(angle)
	out := make([]point, 0, 2*steps)
	for i := range 2 * steps {
		t := math.Pi * float64(i) / steps
		u, v := -math.Cos(t)*length/2, -math.Sin(t)*math.Abs(math.Sin(t))*thick/2
		out = append(out, point{at.x + u*cos - v*sin, at.y + u*sin + v*cos})
	}
	return out
}

// ridge is a line of hills from left to right: a sum of waves, rough adds the
// small ones.
func (c *canvas) ridge(y, height, rough float64) func(x float64) float64 {
	type wave struct{ size, freq, phase float64 }
	var waves []wave
	for i, size := 0, 1.0; i < 6; i++ {
		waves = append(waves, wave{size, c.between(0.8, 1.5) * math.Pow(2, float64(i)), c.between(0, 2*math.Pi)})
		size *= rough
	}
	return func(x float64) float64 {
		sum := 0.0
		for _, w := range waves {
			sum += w.size * math.Sin(x*w.freq*math.Pi+w.phase)
		}
		return y - height*sum/2
	}
}

// under is the outline of everything between a line and a depth.
func (c *canvas) under(line func(float64) float64, depth float64) []point {
	const steps = 160
	out := make([]point, 0, steps+4)
	for i := range steps + 1 {
		x := c.wide * (float64(i)/steps*1.02 - 0.01)
		out = append(out, point{x, line(x)})
	}
	return append(out, point{c.wide * 1.01, depth}, point{-c.wide * 0.01, depth})
}
