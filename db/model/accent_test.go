package model_test

import (
	"fmt"
	"math"
	"testing"

	"herald/db/model"
)

func TestAnAccentIsReadAsPeopleTypeIt(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]model.Accent{"": "", " #1F6FEB ": "#1f6feb", "1f6feb": "#1f6feb", "#fa0": "#ffaa00"} {
		if got, err := model.ParseAccent(typed); err != nil || got != want {
			t.Errorf("%q is %q, %v", typed, got, err)
		}
	}
	for _, typed := range []string{"red", "#12", "#1f6febff", "#1f6feb;}", "url(x)", "#ggg", "#１２３４５６"} {
		got, err := model.ParseAccent(typed)
		if no, ok := model.Refused(err); !ok || no.Field != "accent" || got != "" {
			t.Errorf("%q is %q, %v", typed, got, err)
		}
	}
}

// TestContrastIsThatOfWCAG holds it to pairs whose ratio is known.
func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		a, b model.Accent
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#0000ff", "#ffffff", 8.59}, {"#ffff00", "#ffffff", 1.07}} {
		if got := p.a.Contrast(p.b); math.Abs(got-p.want) > 0.01 {
			t.Errorf("%s on %s: %.2f, want %.2f", p.a, p.b, got, p.want)
		}
	}
}

// TestEveryAccentCanBeReadOnLightAndDark walks through the whole cube of colours.
func TestEveryAccentCanBeReadOnLightAndDark(t *testing.T) {
	t.Parallel()
	for n := 0; n < 1<<24; n += 4099 {
		a := model.Accent(fmt.Sprintf("#%06x", n))
		if c := a.OnLight().Contrast("#efeeeb"); c < 4.5 {
			t.Errorf("%s on light is %s, %.2f", a, a.OnLight(), c)
		}
		if c := a.OnDark().Contrast("#262a35"); c < 4.5 {
			t.Errorf("%s on dark is %s, %.2f", a, a.OnDark(), c)
		}
	}
	if a := model.Accent("#1a4f9c"); a.OnLight() != a {
		t.Errorf("%s is %s on light, and could be read as it is", a, a.OnLight())
	}
}
