package picture

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// coastLight is the colours of one time of day by the sea.
type coastLight struct {
	name                 string
	high, low, sun       paint // sky above, sky at the horizon
	far, near            paint // sea at the horizon, sea at the beach
	land, sand, sail     paint
	sunHeight, sunRadius float64
}

func coastLights() []coastLight {
	return []coastLight{
		{"on a clear morning", hex(0x5aa9d6), hex(0xdff1f2), hex(0xfff6d8), hex(0x5fb0c4), hex(0x1f6f8f), hex(0x6c93a3), hex(0xf0dcb4), hex(0xffffff), 0.26, 0.045},
		{"at sunset", hex(0x35507e), hex(0xfcc590), hex(0xffe9b0), hex(0xd99a83), hex(0x284a74), hex(0x5c5a7c), hex(0xc99d86), hex(0xfff1df), 0.05, 0.075},
		{"at dawn", hex(0x7f9fcb), hex(0xf9d3c9), hex(0xfff3e0), hex(0xb7b9d2), hex(0x4d7fa3), hex(0x8590b0), hex(0xe6cdbb), hex(0xffffff), 0.11, 0.06},
		{"on a hot noon", hex(0x1f86c9), hex(0xbfe6ee), hex(0xffffff), hex(0x3bb3c2), hex(0x0c6f9c), hex(0x4f8f86), hex(0xf7e3b5), hex(0xffffff), 0.34, 0.04},
		{"on a silver afternoon", hex(0x8fa8b5), hex(0xe6ebe6), hex(0xfffdf0), hex(0x9fb8bd), hex(0x4c7484), hex(0x74878f), hex(0xd9cdb5), hex(0xf7f3e8), 0.2, 0.05},
	}
}

type coastPlan struct {
	light    coastLight
	sunAt    float64
	hills    int
	boats    int
	beach    bool
	lighting bool // a lighthouse
}

func planCoast(r *rand.Rand) coastPlan {
	lights := coastLights()
	return coastPlan{
		light: lights[r.IntN(len(lights))], sunAt: between(r, 0.2, 0.8), hills: 1 + r.IntN(3),
		boats: r.IntN(4), beach: r.IntN(3) > 0, lighting: r.IntN(3) == 0,
	}
}

func (p coastPlan) String() string {
	what := "A calm sea"
	switch {
	case p.lighting:
		what = "A lighthouse by the sea"
	case p.boats == 1:
		what = "A sailing boat on a calm sea"
	case p.boats > 1:
		what = "Sailing boats on a calm sea"
	}
	if p.beach {
		what += " with a sandy beach"
	}
	return fmt.Sprintf("%s %s.", what, p.light.name)
}

func (p coastPlan) paint(c *canvas) {
	l, horizon := p.light, c.between(0.44, 0.56)
	sun := point{p.sunAt * c.wide, horizon - l.sunHeight}
	c.band(0, horizon+0.01, l.high, l.low)
	c.glow(sun, 0.75, l.sun.fade(0.45))
	c.glow(sun, 0.25, l.sun.fade(0.6))
	c.fill(ellipse(sun, l.sunRadius, l.sunRadius), l.sun, l.sun)
	p.clouds(c, horizon)
	p.headlands(c, horizon)
	c.band(horizon, 1, l.far, l.near)
	p.glitter(c, sun, horizon)
	p.waves(c, horizon)
	if p.lighting {
		p.lighthouse(c, horizon)
	}
	for i := range p.boats {
		at := (float64(i) + c.between(0.25, 0.75)) / float64(p.boats)
		depth := c.between(0.02, 0.16)
		p.boat(c, point{at * c.wide, horizon + depth}, 0.05+depth*0.7)
	}
	if p.beach {
		p.shore(c)
	}
}

func (p coastPlan) clouds(c *canvas, horizon float64) {
	for range 3 + c.rng.IntN(4) {
		at := point{c.between(-0.1, 1.1) * c.wide, horizon * c.between(0.12, 0.8)}
		size := c.between(0.12, 0.34) * (0.4 + (horizon-at.y)/horizon)
		for range 5 {
			puff := point{at.x + c.between(-0.7, 0.7)*size, at.y + c.between(-0.012, 0.012)}
			c.fill(lens(puff, size*c.between(0.9, 1.8), size*c.between(0.08, 0.16), 0), hex(0xffffff).fade(0.28), p.light.low.fade(0.16))
		}
	}
}

func (p coastPlan) headlands(c *canvas, horizon float64) {
	for i := range p.hills {
		near := float64(i+1) / float64(p.hills)
		tone := p.light.low.mix(p.light.land, 0.35+0.65*near)
		hill := c.ridge(0, c.between(0.05, 0.09)*(1.3-0.5*near), 0.45)
		from, reach := c.between(0, 1)*c.wide, c.wide*c.between(0.35, 0.7)
		shape := func(x float64) float64 {
			d := (x - from) / reach
			rise := max(0, 1-d*d)
			return horizon - rise*(0.05+max(0, 0.04-hill(x)))
		}
		c.fill(c.under(shape, horizon+0.002), tone, tone.mix(p.light.low, 0.25))
	}
}

// glitter is the sun on the water: strokes that widen towards the beholder.
func (p coastPlan) glitter(c *canvas, sun point, horizon float64) {
	for range 150 {
		t := math.Pow(c.rng.Float64(), 1.4)
		y := horizon + 0.004 + t*(1-horizon)
		spread := 0.02 + 0.12*t
		x := sun.x + c.rng.NormFloat64()*spread*0.6
		c.fill(lens(point{x, y}, c.between(0.02, 0.09)*(0.35+t), 0.002+0.006*t, 0), p.light.sun.fade(0.75-0.5*t), p.light.sun.fade(0.5-0.4*t))
	}
}

func (p coastPlan) waves(c *canvas, horizon float64) {
	for range 260 {
		t := math.Pow(c.rng.Float64(), 1.6)
		at := point{c.rng.Float64() * c.wide, horizon + 0.006 + t*(1-horizon)}
		tone, a := p.light.low, 0.22
		if c.rng.IntN(2) == 0 {
			tone, a = p.light.near.mix(hex(0x04263a), 0.35), 0.25
		}
		c.fill(lens(at, c.between(0.05, 0.22)*(0.25+t), 0.0015+0.007*t, 0), tone.fade(a), tone.fade(a*0.6))
	}
}

func (p coastPlan) boat(c *canvas, at point, size float64) {
	hull := p.light.land.mix(hex(0x1d2733), 0.6)
	lean := c.between(-0.06, 0.06) * size
	at.y -= size * 0.02
	deep := p.light.near.mix(hull, 0.5)
	c.fill(lens(point{at.x, at.y + size*0.16}, size*0.95, size*0.1, 0), deep.fade(0.55), deep.fade(0.2))
	c.fill([]point{{at.x - size*0.42, at.y}, {at.x + size*0.46, at.y}, {at.x + size*0.28, at.y + size*0.13}, {at.x - size*0.3, at.y + size*0.13}}, hull, hull)
	top := point{at.x + lean, at.y - size*1.25}
	shade := p.light.sail.mix(p.light.land, 0.28)
	c.fill([]point{top, {at.x + size*0.02, at.y - size*0.05}, {at.x - size*0.4, at.y - size*0.05}}, shade, shade)
	c.fill([]point{{top.x + size*0.02, top.y + size*0.1}, {at.x + size*0.05, at.y - size*0.05}, {at.x + size*0.44, at.y - size*0.05}, {at.x + size*0.26, at.y - size*0.5}}, p.light.sail, p.light.sail)
}

func (p coastPlan) lighthouse(c *canvas, horizon float64) {
	side := c.between(0.1, 0.22)
	if p.sunAt < 0.5 {
		side = 1 - side
	}
	x, foot, tall := side*c.wide, horizon+0.05, c.between(0.26, 0.34)
	rock := p.light.land.mix(hex(0x22303a), 0.45)
	mound := func(at float64) float64 {
		d := (at - x) / 0.3
		return min(foot+0.034, foot+0.038-0.075*math.Exp(-d*d*6)-0.003*math.Sin(at*90))
	}
	c.fill(c.under(mound, foot+0.034), rock.mix(p.light.sand, 0.2), rock)
	base := mound(x) + 0.008
	wide := func(t float64) float64 { return 0.036 - 0.014*t } // half the width at height t
	for i := range 5 {
		t0, t1 := float64(i)/5, float64(i+1)/5
		tone := hex(0xf6f1e7)
		if i%2 == 1 {
			tone = hex(0xc4473f)
		}
		part := []point{{x - wide(t0), base - t0*tall}, {x + wide(t0), base - t0*tall}, {x + wide(t1), base - t1*tall}, {x - wide(t1), base - t1*tall}}
		c.fill(part, tone, tone)
		part[0].x, part[3].x = x+wide(t0)*0.25, x+wide(t1)*0.25
		c.fill(part, rock.fade(0.25), rock.fade(0.25))
	}
	p.lantern(c, point{x, base - tall}, rock)
}

func (p coastPlan) lantern(c *canvas, at point, dark paint) {
	box := func(half, low, high float64, tone paint) {
		c.fill([]point{{at.x - half, at.y - low}, {at.x + half, at.y - low}, {at.x + half, at.y - high}, {at.x - half, at.y - high}}, tone, tone)
	}
	box(0.03, 0, 0.008, dark)
	box(0.016, 0.008, 0.04, hex(0xffe9a8))
	c.glow(point{at.x, at.y - 0.024}, 0.12, hex(0xfff0b8).fade(0.5))
	c.fill([]point{{at.x - 0.022, at.y - 0.04}, {at.x + 0.022, at.y - 0.04}, {at.x, at.y - 0.068}}, hex(0xc4473f), hex(0xa63a35))
}

func (p coastPlan) shore(c *canvas) {
	line := c.ridge(c.between(0.83, 0.89), 0.05, 0.4)
	at := func(up float64) func(float64) float64 { return func(x float64) float64 { return line(x) - up } }
	wet := p.light.sand.mix(p.light.near, 0.4)
	c.fill(c.under(at(0.05), 1.01), hex(0xffffff).fade(0.28), wet)
	c.fill(c.under(at(0.042), 1.01), p.light.far.fade(0.5), wet)
	c.fill(c.under(at(0.012), 1.01), hex(0xffffff).fade(0.85), hex(0xffffff).fade(0.6))
	c.fill(c.under(at(0), 1.01), wet, p.light.sand)
	c.fill(c.under(at(-0.035), 1.01), p.light.sand.mix(wet, 0.15), p.light.sand.mix(hex(0xffffff), 0.12))
	for range 60 {
		x := c.rng.Float64() * c.wide
		y := line(x) + c.between(0.05, 0.2)
		tone := p.light.sand.mix(p.light.land, c.between(0.2, 0.7)).fade(0.6)
		c.fill(ellipse(point{x, y}, c.between(0.001, 0.004), 0.0018), tone, tone)
	}
}
