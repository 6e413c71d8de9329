package picture

import (
	"bytes"
	"strings"
	"testing"
)

var themes = []Theme{Bakery, Coast, Forest}

func TestPaintingsAreTheSameForTheSameNumber(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, theme := range themes {
		for seed := range uint64(8) {
			one, two := Paint(theme, seed, 60, 75), Paint(theme, seed, 60, 75)
			if !bytes.Equal(one.Pix, two.Pix) {
				t.Errorf("%s %d differs from itself", theme, seed)
			}
			if seen[string(one.Pix)] {
				t.Errorf("%s %d has been painted before", theme, seed)
			}
			seen[string(one.Pix)] = true
		}
	}
}

func TestPaintingsFillTheirCanvas(t *testing.T) {
	t.Parallel()
	for _, theme := range themes {
		for i, size := range [][2]int{{1, 1}, {0, 0}, {3, 200}, {200, 3}, {90, 160}, {160, 90}} {
			img := Paint(theme, uint64(i), size[0], size[1])
			if img.Rect.Dx() != max(size[0], 1) || img.Rect.Dy() != max(size[1], 1) {
				t.Errorf("%s: %v for %v", theme, img.Rect, size)
			}
			if !img.Opaque() {
				t.Errorf("%s %v is transparent somewhere", theme, size)
			}
		}
	}
}

func TestPaintingsShowSomething(t *testing.T) {
	t.Parallel()
	for _, theme := range themes {
		for seed := range uint64(60) {
			img := Paint(theme, seed, 48, 48)
			colours := map[[3]byte]bool{}
			for i := 0; i < len(img.Pix); i += 4 {
				colours[[3]byte{img.Pix[i] >> 4, img.Pix[i+1] >> 4, img.Pix[i+2] >> 4}] = true
			}
			if len(colours) < 20 {
				t.Errorf("%s %d has %d colours", theme, seed, len(colours))
			}
		}
	}
}

func TestPaintingsAreDescribedInASentence(t *testing.T) {
	t.Parallel()
	for _, theme := range append(themes, "anything else") {
		said := map[string]bool{}
		for seed := range uint64(40) {
			s := Describe(theme, seed)
			said[s] = true
			if strings.ToUpper(s[:1]) != s[:1] || !strings.HasSuffix(s, ".") || strings.Contains(s, "  ") || len(s) > 120 {
				t.Errorf("%s %d: %q", theme, seed, s)
			}
		}
		if len(said) < 10 {
			t.Errorf("%s: only %d scenes", theme, len(said))
		}
	}
	if got := Describe(Coast, 3); got != "A lighthouse by the sea at dawn." {
		t.Errorf("coast 3 is %q", got)
	}
}

func BenchmarkPaint(b *testing.B) {
	for _, theme := range themes {
		b.Run(string(theme), func(b *testing.B) {
			for b.Loop() {
				Paint(theme, 3, 1080, 1350)
			}
		})
	}
}
