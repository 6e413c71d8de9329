package picture

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// forestLight is the colours of one hour in the woods.
type forestLight struct {
	name      string
	high, low paint // sky above, and the mist that everything fades into
	disc      paint
	far, near paint // trees in the distance, trees in front
	warm      paint // now and then a tree of another colour
}

func forestLights() []forestLight {
	return []forestLight{
		{"in morning mist", hex(0xa9c7c1), hex(0xf1efdc), hex(0xfff8dc), hex(0x9dbcab), hex(0x16382f), hex(0x3d6b4a)},
		{"in autumn", hex(0xe9c9a0), hex(0xfbe9cf), hex(0xfff3cf), hex(0xd8ab84), hex(0x3c2a25), hex(0xb5552b)},
		{"at blue hour", hex(0x24406b), hex(0xb9c6d8), hex(0xf7f3e6), hex(0x7f96b5), hex(0x0d1d31), hex(0x1f3d52)},
		{"on a summer evening", hex(0x6fa3a8), hex(0xfbdfae), hex(0xfff0c0), hex(0xa7b98b), hex(0x1f3a2a), hex(0x5d7a35)},
		{"on a grey day of rain", hex(0x8d9ea3), hex(0xdde2dc), hex(0xf4f4ec), hex(0xa3b3b0), hex(0x22383a), hex(0x35564f)},
	}
}

type forestPlan struct {
	light  forestLight
	discAt float64
	layers int
	lake   bool
	birds  int
	cabin  bool
}

func planForest(r *rand.Rand) forestPlan {
	lights := forestLights()
	return forestPlan{
		light: lights[r.IntN(len(lights))], discAt: between(r, 0.22, 0.78), layers: 4 + r.IntN(3),
		lake: r.IntN(3) == 0, birds: r.IntN(3) * r.IntN(4), cabin: r.IntN(3) == 0,
	}
}

func (p forestPlan) String() string {
	what := "Wooded hills"
	switch {
	case p.cabin && p.lake:
		what = "A cabin by a lake among wooded hills"
	case p.lake:
		what = "A still lake among wooded hills"
	case p.cabin:
		what = "A cabin with a lit window among fir trees"
	}
	if p.birds > 0 {
		what += ", birds above,"
	}
	return fmt.Sprintf("%s %s.", what, p.light.name)
}

func (p forestPlan) paint(c *canvas) {
	l := p.light
	disc := point{p.discAt * c.wide, c.between(0.16, 0.32)}
	c.band(0, 1, l.high, l.low)
	c.glow(disc, 0.7, l.disc.fade(0.55))
	c.fill(ellipse(disc, 0.06, 0.06), l.disc, l.disc)
	p.flock(c)
	for i := range p.layers {
		p.layer(c, float64(i)/float64(p.layers-1))
		if p.lake && i == p.layers-3 {
			p.water(c)
		}
	}
	p.frame(c)
}

// layer is one line of hills with its trees; near goes from 0 to 1.
func (p forestPlan) layer(c *canvas, near float64) {
	y := 0.36 + 0.5*math.Pow(near, 1.15)
	line := c.ridge(y, 0.11-0.05*near, 0.42)
	tone := p.light.far.mix(p.light.near, math.Pow(near, 1.3)).mix(p.light.low, 0.35*(1-near))
	mist := tone.mix(p.light.low, 0.75-0.45*near)
	size := 0.03 + 0.13*near*near
	for x := -0.02; x < c.wide+0.05; x += size * c.between(0.16, 0.42) {
		tree := tone
		if c.rng.IntN(6) == 0 {
			tree = tone.mix(p.light.warm, 0.2+0.45*near)
		}
		p.fir(c, point{x, line(x) + size*0.1}, size*c.between(0.7, 1.25), tree)
	}
	c.fill(c.under(line, min(y+0.3, 1.01)), tone, mist)
	if p.cabin && near > 0.6 && near < 0.9 {
		x := (0.25 + 0.5*p.discAt) * c.wide
		p.house(c, point{x, line(x) + 0.012}, 0.1*near, tone)
	}
}

// fir is a stack of ragged skirts on a trunk.
func (p forestPlan) fir(c *canvas, foot point, tall float64, tone paint) {
	half := tall * 0.2
	skirts := 4
	if tall > 0.09 {
		skirts = 6
	}
	outline := make([]point, 0, 4*skirts+1)
	for i := range skirts { // down the right side
		t := float64(i+1) / float64(skirts)
		reach := half * t * c.between(0.85, 1.15)
		outline = append(outline, point{foot.x + reach, foot.y - tall*(1-t)}, point{foot.x + reach*0.55, foot.y - tall*(1-t) - tall*0.02})
	}
	for i := skirts - 1; i >= 0; i-- { // up the left
		t := float64(i+1) / float64(skirts)
		reach := half * t * c.between(0.85, 1.15)
		outline = append(outline, point{foot.x - reach*0.55, foot.y - tall*(1-t) - tall*0.02}, point{foot.x - reach, foot.y - tall*(1-t)})
	}
	outline = append(outline, point{foot.x, foot.y - tall})
	c.fill(outline, tone.mix(p.light.low, 0.08), tone)
}

func (p forestPlan) flock(c *canvas) {
	at := point{c.between(0.2, 0.7) * c.wide, c.between(0.1, 0.24)}
	tone := p.light.near.mix(p.light.high, 0.3)
	for i := range p.birds {
		q := point{at.x + float64(i)*0.035 + c.between(-0.01, 0.01), at.y + c.between(-0.035, 0.035)}
		size := c.between(0.012, 0.02)
		c.fill(lens(point{q.x - size*0.45, q.y}, size, size*0.22, 0.5), tone, tone)
		c.fill(lens(point{q.x + size*0.4, q.y - size*0.02}, size, size*0.22, -0.45), tone, tone)
	}
}

// water lies between the hills behind and those in front.
func (p forestPlan) water(c *canvas) {
	top := 0.66
	c.band(top, 1.01, p.light.low.mix(p.light.far, 0.35), p.light.high.mix(p.light.near, 0.25))
	for range 120 {
		t := c.rng.Float64()
		at := point{c.rng.Float64() * c.wide, top + 0.005 + t*0.3}
		tone := p.light.low
		if c.rng.IntN(3) == 0 {
			tone = p.light.far.mix(p.light.near, 0.35)
		}
		c.fill(lens(at, c.between(0.08, 0.3), 0.002+0.004*t, 0), tone.fade(0.35), tone.fade(0.2))
	}
	c.glow(point{p.discAt * c.wide, top + 0.05}, 0.22, p.light.disc.fade(0.35))
}

func (p forestPlan) house(c *canvas, at point, size float64, ground paint) {
	wall, roof := ground.mix(hex(0x5a3d2b), 0.65), ground.mix(hex(0x201a1c), 0.6)
	c.fill([]point{{at.x - size*0.5, at.y}, {at.x + size*0.5, at.y}, {at.x + size*0.5, at.y - size*0.5}, {at.x - size*0.5, at.y - size*0.5}}, wall, wall.mix(ground, 0.3))
	c.fill([]point{{at.x - size*0.64, at.y - size*0.46}, {at.x + size*0.64, at.y - size*0.46}, {at.x + size*0.36, at.y - size*0.92}, {at.x - size*0.36, at.y - size*0.92}}, roof.mix(p.light.low, 0.15), roof)
	lit := hex(0xffd98a)
	for _, dx := range []float64{-0.26, 0.2} {
		x := at.x + dx*size
		c.fill([]point{{x - size*0.09, at.y - size*0.16}, {x + size*0.09, at.y - size*0.16}, {x + size*0.09, at.y - size*0.38}, {x - size*0.09, at.y - size*0.38}}, lit, hex(0xffbe5c))
		c.glow(point{x, at.y - size*0.27}, size*0.6, lit.fade(0.3))
	}
}

// frame is the dark of the trees that stand nearest, at the sides.
func (p forestPlan) frame(c *canvas) {
	tone := p.light.near.mix(hex(0x05090b), 0.35)
	floor := c.ridge(0.985, 0.03, 0.5)
	for _, side := range []float64{0, 1} {
		for i := range 3 {
			x := side*c.wide + (1-2*side)*(float64(i)*0.085-0.02+c.between(-0.02, 0.02))
			p.fir(c, point{x, 1.02}, c.between(0.62, 0.8)-0.19*float64(i), tone)
		}
	}
	c.fill(c.under(floor, 1.02), tone, tone)
	for x := 0.0; x < c.wide; x += c.between(0.004, 0.014) {
		c.fill(lens(point{x, floor(x)}, c.between(0.02, 0.055), 0.0035, -math.Pi/2+c.between(-0.35, 0.35)), tone, tone)
	}
}
