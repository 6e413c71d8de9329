package picture

import (
	"image"
	"math/rand/v2"
)

// Theme is what a painting shows.
type Theme string

// The themes.
const (
	Bakery Theme = "bakery"
	Coast  Theme = "coast"
	Forest Theme = "forest"
)

// Paint makes the picture number seed of a theme, w by h: landscapes and still
// lifes in flat shapes, so that the demo has pictures of its own. The same
// arguments give the same picture; other shapes of the same seed show the same
// scene. An unknown theme is a coast.
func Paint(theme Theme, seed uint64, w, h int) *image.RGBA {
	c := newCanvas(theme, seed, w, h)
	scene(theme, c.rng)(c)
	c.finish()
	return c.img
}

// Describe says in one sentence what Paint shows, for people who can't see it.
func Describe(theme Theme, seed uint64) string {
	r := newRand(theme, seed)
	switch theme {
	case Bakery:
		return planBakery(r).String()
	case Forest:
		return planForest(r).String()
	}
	return planCoast(r).String()
}

// scene plans first, from the same numbers as Describe.
func scene(theme Theme, r *rand.Rand) func(*canvas) {
	switch theme {
	case Bakery:
		return planBakery(r).paint
	case Forest:
		return planForest(r).paint
	}
	return planCoast(r).paint
}

func newRand(theme Theme, seed uint64) *rand.Rand {
	salt := uint64(0)
	for _, b := range []byte(theme) {
		salt = salt*31 + uint64(b)
	}
	return rand.New(rand.NewPCG(seed, salt))
}
