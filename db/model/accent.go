package model

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Accent is a colour of an agency's or a client's own, as "#1f6feb"; empty is none.
type Accent string

var accentShape = regexp.MustCompile(`^#?([0-9a-f]{3}|[0-9a-f]{6})$`)

// ParseAccent reads what somebody typed, or nothing at all. It refuses what is no colour
// at the field "accent".
func ParseAccent(typed string) (Accent, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if typed == "" {
		return "", nil
	}
	m := accentShape.FindStringSubmatch(typed)
	if m == nil {
		return "", RefuseField("accent", "Write the colour as # and six digits, such as #1f6feb.")
	}
	digits := m[1]
	if len(digits) == 3 {
		digits = fmt.Sprintf("%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", digits[0], digits[1], digits[2])
	}
	return Accent("#" + digits), nil
}

// The sunk ground of light pages and the raised one of dark pages, which are the hardest
// to read upon; what carries words there stands out by readable at least (WCAG 1.4.3).
const (
	lightGround = Accent("#efeeeb")
	darkGround  = Accent("#262a35")
	readable    = 4.5
)

// OnLight is the colour on light pages: as it is, or as much darker as reading needs.
func (a Accent) OnLight() Accent { return a.until(lightGround, 0) }

// OnDark is the colour on dark pages: as it is, or as much lighter as reading needs.
func (a Accent) OnDark() Accent { return a.until(darkGround, 255) }

// until mixes the colour with black or white, in small steps, until it can be read.
func (a Accent) until(ground Accent, with float64) Accent {
	const steps = 64
	have := a.channels()
	for n := range steps + 1 {
		share := float64(n) / steps
		mixed := Accent(fmt.Sprintf("#%02x%02x%02x", mix(have[0], with, share), mix(have[1], with, share), mix(have[2], with, share)))
		if mixed.Contrast(ground) >= readable {
			return mixed
		}
	}
	return a // not reached: black and white can be read there
}

func mix(channel, with, share float64) int { return int(math.Round(channel*(1-share) + with*share)) }

// Contrast is the ratio of two colours by WCAG 2, from 1 to 21.
func (a Accent) Contrast(b Accent) float64 {
	one, two := a.luminance(), b.luminance()
	return (max(one, two) + 0.05) / (min(one, two) + 0.05)
}

func (a Accent) luminance() float64 {
	c := a.channels()
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

func linear(channel float64) float64 {
	if c := channel / 255; c > 0.04045 {
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return channel / 255 / 12.92
}

// channels are red, green and blue, from 0 to 255.
func (a Accent) channels() (c [3]float64) {
	n, _ := strconv.ParseUint(strings.TrimPrefix(string(a), "#"), 16, 32)
	return [3]float64{float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n & 255)}
}
