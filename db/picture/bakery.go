package picture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// bakeryLight is the colours of one bakery: its wall, its table, its china.
type bakeryLight struct {
	name             string
	wall, shade, arc paint
	table, edge      paint
	china, accent    paint
}

func bakeryLights() []bakeryLight {
	return []bakeryLight{
		{"a warm cream wall", hex(0xf7e7cf), hex(0xecd0aa), hex(0xe3a978), hex(0xb9794a), hex(0x8a5633), hex(0xfdf8ef), hex(0x2f6f73)},
		{"a terracotta wall", hex(0xd98a68), hex(0xc26f50), hex(0xeab08c), hex(0xf0dcc3), hex(0xcfb193), hex(0xfff7ec), hex(0x3d4f6b)},
		{"a rose wall", hex(0xf3cfc6), hex(0xe7b3aa), hex(0xfae6df), hex(0x9c6a55), hex(0x744a3b), hex(0xfffaf5), hex(0xb5485a)},
		{"a sage green wall", hex(0xc9d2b8), hex(0xaebb9c), hex(0xe6e8d4), hex(0xc08a5a), hex(0x936540), hex(0xfbf8ee), hex(0xc9762f)},
		{"a dark blue wall", hex(0x3a4a63), hex(0x2c3a50), hex(0x55698a), hex(0xc99b6d), hex(0x9b7148), hex(0xf7efe0), hex(0xe0a63c)},
	}
}

// treat is one thing on the table, drawn to stand on foot within about size
// units of height and width.
type treat struct {
	name  string
	wide  float64 // in sizes
	paint func(p bakeryPlan, c *canvas, foot point, size float64)
}

func treats() []treat {
	return []treat{
		{"a round loaf", 1.25, bakeryPlan.loaf},
		{"a cup of coffee", 0.8, bakeryPlan.cup},
		{"a cake on a stand", 1.15, bakeryPlan.cake},
		{"a cupcake", 0.62, bakeryPlan.cupcake},
		{"baguettes in a crock", 0.75, bakeryPlan.baguettes},
		{"a pile of buns", 1.3, bakeryPlan.buns},
	}
}

type bakeryPlan struct {
	light  bakeryLight
	treats []treat
	window bool
}

func planBakery(r *rand.Rand) bakeryPlan {
	lights, all := bakeryLights(), treats()
	p := bakeryPlan{light: lights[r.IntN(len(lights))], window: r.IntN(2) == 0}
	for _, i := range r.Perm(len(all))[:2+r.IntN(2)] {
		p.treats = append(p.treats, all[i])
	}
	return p
}

func (p bakeryPlan) String() string {
	var names []string
	for _, t := range p.treats {
		names = append(names, t.name)
	}
	last := len(names) - 1
	list := strings.Join(names[:last], ", ") + " and " + names[last]
	return fmt.Sprintf("%s on a table before %s.", strings.ToUpper(list[:1])+list[1:], p.light.name)
}

func (p bakeryPlan) paint(c *canvas) {
	l, top := p.light, c.between(0.66, 0.72)
	c.band(0, top, l.wall, l.shade)
	p.backdrop(c, top)
	c.band(top, 1.01, l.table, l.edge)
	c.band(top, top+0.012, l.table.mix(hex(0xffffff), 0.3), l.table)
	for range 22 { // the grain of the wood
		at := point{c.rng.Float64() * c.wide, c.between(top+0.03, 1)}
		c.fill(lens(at, c.between(0.3, 1.1), 0.003, 0), l.edge.fade(0.35), l.edge.fade(0.2))
	}
	total := 0.0
	for _, t := range p.treats {
		total += t.wide
	}
	size := min(0.36, 0.86*c.wide/total)
	x := (c.wide - total*size*1.06) / 2
	for _, t := range p.treats {
		foot := point{x + t.wide*size*0.53, top + c.between(0.07, 0.12)}
		c.glow(point{foot.x + size*0.05, foot.y}, t.wide*size*0.62, hex(0x2a1408).fade(0.28))
		c.fill(ellipse(point{foot.x + size*0.04, foot.y}, t.wide*size*0.44, size*0.055), hex(0x2a1408).fade(0.4), hex(0x2a1408).fade(0.3))
		t.paint(p, c, foot, size)
		x += t.wide * size * 1.06
	}
	c.glow(point{0.12 * c.wide, 0.1}, 0.9, hex(0xfff2d6).fade(0.22))
}

// backdrop is an arch or two on the wall, and the light of a window.
func (p bakeryPlan) backdrop(c *canvas, top float64) {
	at, r := point{c.between(0.3, 0.7) * c.wide, top}, c.between(0.34, 0.5)
	for i, k := range []float64{1, 0.78, 0.56} {
		tone := p.light.arc.mix(p.light.wall, 0.2+0.25*float64(i))
		c.fill(arc(at, r*k, r*k*1.12, math.Pi, 2*math.Pi), tone, tone.mix(p.light.shade, 0.3))
	}
	if !p.window {
		return
	}
	for i := range 4 {
		x := c.wide*0.06 + 0.14*float64(i%2)
		y := 0.1 + 0.2*float64(i/2)
		light := hex(0xfff6dc).fade(0.3)
		c.fill([]point{{x, y}, {x + 0.12, y + 0.03}, {x + 0.12, y + 0.21}, {x, y + 0.18}}, light, light.fade(0.6))
	}
}

// crust is the colours of bread, from light to baked.
func (c *canvas) crust() (light, dark paint) {
	t := c.rng.Float64()
	return hex(0xe9b36a).mix(hex(0xdba05a), t), hex(0x9a5523).mix(hex(0x87461c), t)
}

func (p bakeryPlan) loaf(c *canvas, foot point, size float64) {
	light, dark := c.crust()
	w, h := size*0.56, size*0.62
	body := append(arc(point{foot.x, foot.y - h*0.38}, w, h*0.62, math.Pi, 2*math.Pi), arc(point{foot.x, foot.y - h*0.38}, w, h*0.4, 0, math.Pi)...)
	c.fill(body, light, dark)
	c.glow(point{foot.x - w*0.35, foot.y - h*0.72}, w*0.6, hex(0xfff0cf).fade(0.4))
	for i := -1; i <= 1; i++ {
		at := point{foot.x + float64(i)*w*0.5, foot.y - h*0.68 + math.Abs(float64(i))*h*0.07}
		c.fill(lens(at, h*0.5, w*0.17, math.Pi/2-0.5), dark.fade(0.9), dark.fade(0.9))
		c.fill(lens(point{at.x + w*0.018, at.y}, h*0.46, w*0.12, math.Pi/2-0.5), hex(0xf9e3b9), hex(0xeec98c))
	}
	for range 60 {
		x, y := c.between(-0.85, 0.85), c.between(-0.95, -0.35)
		if x*x+y*y < 0.9 {
			c.fill(ellipse(point{foot.x + x*w, foot.y - h*0.38 + y*h*0.6}, 0.0016, 0.0016), hex(0xffffff).fade(0.5), hex(0xffffff).fade(0.5))
		}
	}
}

func (p bakeryPlan) buns(c *canvas, foot point, size float64) {
	r := size * 0.24
	for _, q := range []point{{-0.9, 0.62}, {0.9, 0.62}, {0, 0.66}, {-0.46, 1.55}, {0.46, 1.55}} {
		light, dark := c.crust()
		at := point{foot.x + q.x*r*1.85/1.2, foot.y - q.y*r}
		c.fill(ellipse(at, r, r*0.72), light, dark)
		c.glow(point{at.x - r*0.3, at.y - r*0.35}, r*0.6, hex(0xfff3d6).fade(0.5))
		c.fill(lens(point{at.x, at.y - r*0.2}, r*1.1, r*0.1, 0), dark.fade(0.55), dark.fade(0.4))
		c.fill(lens(point{at.x, at.y - r*0.2}, r*0.8, r*0.1, math.Pi/2), dark.fade(0.55), dark.fade(0.4))
	}
}

func (p bakeryPlan) cup(c *canvas, foot point, size float64) {
	l := p.light
	w, h := size*0.27, size*0.36
	saucer := point{foot.x, foot.y - size*0.02}
	c.fill(ellipse(saucer, w*1.5, size*0.06), l.china, l.china.mix(l.edge, 0.35))
	c.fill(ellipse(point{saucer.x, saucer.y - size*0.012}, w*1.1, size*0.035), l.china.mix(l.edge, 0.25), l.china)
	ring := point{foot.x + w*1.02, foot.y - h*0.62}
	c.fill(ellipse(ring, w*0.42, h*0.3), l.china.mix(l.edge, 0.2), l.china.mix(l.edge, 0.3))
	c.fill(ellipse(ring, w*0.24, h*0.17), l.shade, l.shade)
	bowl := append([]point{{foot.x - w, foot.y - h}, {foot.x + w, foot.y - h}}, arc(point{foot.x, foot.y - h*0.55}, w*0.95, h*0.52, 0.15, math.Pi-0.15)...)
	c.fill(bowl, l.china, l.china.mix(l.edge, 0.28))
	c.fill([]point{{foot.x - w*0.965, foot.y - h*0.68}, {foot.x + w*0.965, foot.y - h*0.68}, {foot.x + w*0.955, foot.y - h*0.6}, {foot.x - w*0.955, foot.y - h*0.6}}, l.accent, l.accent.mix(l.edge, 0.2))
	c.fill(ellipse(point{foot.x, foot.y - h}, w, h*0.15), l.china.mix(hex(0xffffff), 0.4), l.china)
	c.fill(ellipse(point{foot.x, foot.y - h + h*0.015}, w*0.88, h*0.11), hex(0x6b3d22), hex(0x8a5a38))
	for i := range 3 {
		x := foot.x + (float64(i)-1)*w*0.5
		for j := range 5 {
			t := float64(j) / 5
			q := point{x + math.Sin(t*6+float64(i))*w*0.16, foot.y - h*1.3 - t*h*0.8}
			c.glow(q, w*0.22*(0.6+t), hex(0xffffff).fade(0.22*(1-t)))
		}
	}
}

func (p bakeryPlan) cake(c *canvas, foot point, size float64) {
	l := p.light
	w, plate := size*0.44, foot.y-size*0.3
	stem := l.china.mix(l.edge, 0.22)
	c.fill([]point{{foot.x - w*0.14, plate}, {foot.x + w*0.14, plate}, {foot.x + w*0.1, foot.y - size*0.1}, {foot.x + w*0.42, foot.y}, {foot.x - w*0.42, foot.y}, {foot.x - w*0.1, foot.y - size*0.1}}, stem.mix(l.edge, 0.2), stem)
	c.fill(ellipse(point{foot.x, plate}, w*1.26, size*0.05), l.china, stem)
	high, ry := size*0.42, size*0.05
	crumb, cream := hex(0xd9a566), hex(0xfff4df)
	if c.rng.IntN(2) == 0 {
		crumb = hex(0x6e3f2a)
	}
	for i := range 5 {
		low, tone := plate-high*float64(i)/5-size*0.005, crumb
		if i%2 == 1 {
			tone = cream
		}
		up := low - high/5
		slab := append(arc(point{foot.x, low}, w, ry, 0, math.Pi), point{foot.x - w, up}, point{foot.x + w, up})
		c.fill(slab, tone.mix(hex(0xffffff), 0.08), tone.mix(hex(0x3a1d0c), 0.12))
	}
	p.glaze(c, point{foot.x, plate - high}, w, ry)
}

// glaze runs down the side and carries berries.
func (p bakeryPlan) glaze(c *canvas, at point, w, ry float64) {
	tone := p.light.accent.mix(hex(0xf3c9cf), 0.45)
	for i := range 9 {
		t := (float64(i) + 0.5) / 9 * math.Pi
		x, y := at.x-math.Cos(t)*w*0.9, at.y+math.Sin(t)*ry
		drop := c.between(0.5, 1.9) * ry
		half := w * 0.1
		c.fill([]point{{x - half, y - ry*0.4}, {x + half, y - ry*0.4}, {x + half, y + drop}, {x - half, y + drop}}, tone, tone)
		c.fill(ellipse(point{x, y + drop}, half, half), tone, tone)
	}
	c.fill(ellipse(at, w*1.01, ry*1.25), tone.mix(hex(0xffffff), 0.25), tone)
	for i := range 7 {
		x := at.x + (float64(i)/6*2-1)*w*0.78
		r := w * 0.13
		y := at.y - r*0.7 + c.between(-0.3, 0.3)*ry
		c.fill(ellipse(point{x, y}, r, r), hex(0xd8404e), hex(0x9c1f33))
		c.glow(point{x - r*0.35, y - r*0.4}, r*0.5, hex(0xffffff).fade(0.6))
	}
}

func (p bakeryPlan) cupcake(c *canvas, foot point, size float64) {
	w, h := size*0.24, size*0.3
	l := p.light
	at := func(x, y float64) point { return point{foot.x + x*w, foot.y - y*h} }
	c.fill([]point{at(-0.72, 0), at(0.72, 0), at(1, 1), at(-1, 1)}, l.accent, l.accent.mix(hex(0x000000), 0.25))
	for i := range 7 {
		x := (float64(i)/6*2 - 1) * 0.86
		c.fill([]point{at(x*0.76-0.03, 0.02), at(x*0.76+0.03, 0.02), at(x+0.045, 1), at(x-0.045, 1)}, hex(0xffffff).fade(0.28), hex(0xffffff).fade(0.18))
	}
	cream := hex(0xfff0e0).mix(hex(0xf2b8b5), c.rng.Float64())
	for i := range 4 {
		k := 1.16 - 0.27*float64(i)
		c.fill(ellipse(at(0, 1.12+0.36*float64(i)), w*k, h*0.3), cream.mix(hex(0xffffff), 0.35), cream.mix(hex(0x7a4030), 0.14))
	}
	top := at(0, 2.5)
	c.fill(ellipse(top, w*0.2, w*0.2), hex(0xd8404e), hex(0x9c1f33))
	c.glow(point{top.x - w*0.07, top.y - w*0.08}, w*0.12, hex(0xffffff).fade(0.7))
	for range 26 {
		q := at(c.between(-0.85, 0.85), c.between(1.05, 2))
		tone := []paint{l.accent, hex(0xe7b23c), hex(0xd8404e), hex(0xffffff)}[c.rng.IntN(4)]
		if math.Abs(q.x-foot.x) < w*(1.05-0.28*((foot.y-q.y)/h-1)/0.36) {
			c.fill(lens(q, w*0.13, w*0.05, c.between(0, math.Pi)), tone, tone)
		}
	}
}

func (p bakeryPlan) baguettes(c *canvas, foot point, size float64) {
	for i := range 4 {
		light, dark := c.crust()
		lean := (float64(i) - 1.5) * 0.13
		tall := size * c.between(0.9, 1.12)
		sin, cos := math.Sincos(lean)
		from := point{foot.x + (float64(i)-1.5)*size*0.085, foot.y - size*0.2}
		mid := point{from.x + sin*tall*0.5, from.y - cos*tall*0.5}
		c.fill(capsule(mid, tall, size*0.15, lean-math.Pi/2), light, dark)
		for j := range 4 {
			t := 0.42 + 0.15*float64(j)
			q := point{from.x + sin*tall*t, from.y - cos*tall*t}
			c.fill(lens(q, size*0.15, size*0.035, lean-math.Pi/2+0.6), hex(0xf7dfb2), hex(0xeac78c))
		}
	}
	l := p.light
	w, h := size*0.3, size*0.48
	crock := append([]point{{foot.x - w*0.86, foot.y - h}, {foot.x + w*0.86, foot.y - h}}, arc(point{foot.x, foot.y - h*0.45}, w*1.08, h*0.45, -0.2, math.Pi+0.2)...)
	c.fill(crock, l.china, l.china.mix(l.edge, 0.35))
	c.fill([]point{{foot.x - w*1.0, foot.y - h*0.62}, {foot.x + w*1.0, foot.y - h*0.62}, {foot.x + w*1.06, foot.y - h*0.53}, {foot.x - w*1.06, foot.y - h*0.53}}, l.accent, l.accent.mix(l.edge, 0.3))
	c.fill([]point{{foot.x - w*0.94, foot.y - h*1.05}, {foot.x + w*0.94, foot.y - h*1.05}, {foot.x + w*0.9, foot.y - h*0.94}, {foot.x - w*0.9, foot.y - h*0.94}}, l.china.mix(hex(0xffffff), 0.5), l.china.mix(l.edge, 0.2))
}

// capsule is a bar with round ends, turned by an angle.
func capsule(at point, length, thick, angle float64) []point {
	r := thick / 2
	sin, cos := math.Sincos(angle)
	half := length/2 - r
	a := arc(point{half, 0}, r*1.6, r, -math.Pi/2, math.Pi/2)
	b := arc(point{-half, 0}, r*1.6, r, math.Pi/2, 3*math.Pi/2)
	out := append(a, b...)
	for i, p := range out {
		out[i] = point{at.x + p.x*cos - p.y*sin, at.y + p.x*sin + p.y*cos}
	}
	return out
}
