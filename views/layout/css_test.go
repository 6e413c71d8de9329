package layout

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sheets are our style sheets by file name, without their comments.
func sheets(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../static/css/*.css")
	if err != nil || len(paths) < 5 {
		t.Fatalf("style sheets: %v, %v", paths, err)
	}
	apart, err := filepath.Glob("../../static/css/*/*.css")
	if err != nil || len(apart) == 0 {
		t.Fatalf("style sheets of single pages: %v, %v", apart, err)
	}
	paths = append(paths, apart...)
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = comment.ReplaceAllString(string(text), "")
	}
	return all
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	rawColour = regexp.MustCompile(`(?i)#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(|[:, ](?:black|white|red|green|blue|gr[ae]y|orange|yellow|purple)\b[^-:]`)
	selector  = regexp.MustCompile(`(?m)(?:^|[{};])([^{};@]+)\{`)
	physical  = regexp.MustCompile(`(?m)(?:^|[{;\s])((?:margin|padding|border)-(?:left|right|top|bottom)\b|(?:left|right|top|bottom|width|height|min-width|max-height|min-height)\s*:)`)
	layer     = regexp.MustCompile(`@layer ([a-z, ]+)[{;]`)
)

func TestOnlyTokensNameARawColour(t *testing.T) {
	t.Parallel()
	for name, text := range sheets(t) {
		if name == "tokens.css" {
			continue
		}
		if found := rawColour.FindString(text); found != "" {
			t.Errorf("%s says %q: give it a role in tokens.css", name, found)
		}
	}
}

func TestStyleSheetsKeepToTheHouseRules(t *testing.T) {
	t.Parallel()
	layers := []string{"reset", "tokens", "base", "layout", "components", "pages", "utilities"}
	for name, text := range sheets(t) {
		if strings.Contains(text, "!important") {
			t.Errorf("%s uses !important", name)
		}
		if found := physical.FindStringSubmatch(text); found != nil {
			t.Errorf("%s says %q: use the logical property", name, found[1])
		}
		for _, m := range selector.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "#") {
				t.Errorf("%s selects an id: %s", name, strings.TrimSpace(m[1]))
			}
		}
		for _, m := range layer.FindAllStringSubmatch(text, -1) {
			if name != "layers.css" && !slices.Contains(layers, strings.TrimSpace(m[1])) {
				t.Errorf("%s opens the unknown layer %q", name, m[1])
			}
		}
		if !strings.HasPrefix(strings.TrimSpace(text), "@layer") {
			t.Errorf("%s has rules outside a layer", name)
		}
	}
}

// blockOf is a rule for some media, with the rules in it.
var blockOf = regexp.MustCompile(`@media[^{]*\{(?:[^{}]|\{[^{}]*\})*\}`)

// TestAClassIsDrawnInOneSheet: two screens that use one word for two things would
// draw over each other. What only holds for some media may add to another sheet.
func TestAClassIsDrawnInOneSheet(t *testing.T) {
	t.Parallel()
	bare := regexp.MustCompile(`^\.([a-z-]+)$`)
	at := map[string]string{}
	all := sheets(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "utilities.css" {
			continue
		}
		for _, m := range selector.FindAllStringSubmatch(blockOf.ReplaceAllString(all[name], ""), -1) {
			for part := range strings.SplitSeq(m[1], ",") {
				class := bare.FindStringSubmatch(strings.TrimSpace(part))
				if class == nil {
					continue
				}
				if other := at[class[1]]; other != "" && other != name {
					t.Errorf("%s and %s both draw .%s: give one of them another name", other, name, class[1])
				}
				at[class[1]] = name
			}
		}
	}
}

// theme is the roles of one appearance, resolved to the palette's colours.
type theme map[string]string

var declared = regexp.MustCompile(`--([a-z0-9-]+):\s*([^;]+);`)

func declarations(block string) map[string]string {
	d := map[string]string{}
	for _, m := range declared.FindAllStringSubmatch(block, -1) {
		d[m[1]] = strings.TrimSpace(m[2])
	}
	return d
}

// block returns what stands between the braces after the last head before it.
func block(t *testing.T, text, head string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, head)
	if !ok {
		t.Fatalf("tokens.css has no %q", head)
	}
	inside, _, _ := strings.Cut(rest, "}")
	return inside
}

func themes(t *testing.T) (light, dark theme) {
	t.Helper()
	text := sheets(t)["tokens.css"]
	plain, _, _ := strings.Cut(text, "@media (prefers-color-scheme: dark)")
	light = declarations(plain)
	dark = maps.Clone(light)
	maps.Copy(dark, declarations(block(t, text, `  [data-theme="dark"] {`)))
	return light, dark
}

func TestBothWaysIntoTheDarkAgree(t *testing.T) {
	t.Parallel()
	text := sheets(t)["tokens.css"]
	system := declarations(block(t, text, `:root:not([data-theme="light"]) {`))
	chosen := declarations(block(t, text, `  [data-theme="dark"] {`))
	if !maps.Equal(system, chosen) {
		t.Errorf("the dark blocks differ:\n%v\n%v", system, chosen)
	}
	light, _ := themes(t)
	for role := range chosen {
		if light[role] == "" {
			t.Errorf("--%s exists only in the dark", role)
		}
	}
}

// TestWhatMustBeReadCanBeRead holds text to 4.5:1 and marks and edges to 3:1
// (WCAG 2.2, 1.4.3 and 1.4.11) on every ground they stand on, in both themes.
func TestWhatMustBeReadCanBeRead(t *testing.T) {
	t.Parallel()
	light, dark := themes(t)
	for name, th := range map[string]theme{"light": light, "dark": dark} {
		grounds := []string{"ground", "sheet", "raised", "hover"}
		for _, ground := range grounds {
			for _, text := range []string{"ink", "ink-quiet", "link", "danger"} {
				th.atLeast(t, name, text, ground, 4.5)
			}
			th.atLeast(t, name, "focus", ground, 3)
		}
		for _, ground := range []string{"sheet", "raised"} {
			th.atLeast(t, name, "edge", ground, 3)
		}
		th.atLeast(t, name, "on-fill", "fill", 4.5)
		th.atLeast(t, name, "on-fill", "fill-hover", 4.5)
		th.atLeast(t, name, "danger", "danger-soft", 4.5)
		for role := range th {
			if state, ok := strings.CutSuffix(role, "-soft"); ok && strings.HasPrefix(role, "state-") {
				th.atLeast(t, name, state+"-ink", role, 4.5)
				th.atLeast(t, name, state+"-ink", "sheet", 4.5)
				th.atLeast(t, name, state, role, 3)
				th.atLeast(t, name, state, "raised", 3)
			}
			if tint, ok := strings.CutSuffix(role, "-ink"); ok && strings.HasPrefix(role, "tint-") {
				th.atLeast(t, name, role, tint, 4.5)
			}
		}
	}
}

func (th theme) atLeast(t *testing.T, name, text, ground string, want float64) {
	t.Helper()
	a, b := luminance(t, th.colour(text)), luminance(t, th.colour(ground))
	if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < want {
		t.Errorf("%s: --%s on --%s is %.2f:1, want %.1f", name, text, ground, got, want)
	}
}

func (th theme) colour(role string) string {
	value := th[role]
	for strings.HasPrefix(value, "var(--") {
		value = th[strings.TrimSuffix(strings.TrimPrefix(value, "var(--"), ")")]
	}
	return value
}

// luminance is the relative luminance of an oklch colour, clipped to sRGB.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	fields := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(colour, "oklch("), ")"))
	if len(fields) < 3 {
		t.Fatalf("not an oklch colour: %q", colour)
	}
	l, c, h := number(t, strings.TrimSuffix(fields[0], "%"))/100, number(t, fields[1]), number(t, fields[2])*math.Pi/180
	a, b := c*math.Cos(h), c*math.Sin(h)
	x := math.Pow(l+0.3963377774*a+0.2158037573*b, 3)
	y := math.Pow(l-0.1055613458*a-0.0638541728*b, 3)
	z := math.Pow(l-0.0894841775*a-1.2914855480*b, 3)
	clip := func(v float64) float64 { return min(max(v, 0), 1) }
	return 0.2126*clip(4.0767416621*x-3.3077115913*y+0.2309699292*z) +
		0.7152*clip(-1.2684380046*x+2.6097574011*y-0.3413193965*z) +
		0.0722*clip(-0.0041960863*x-0.7034186147*y+1.7076147010*z)
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("a number in tokens.css: %w", err))
	}
	return v
}
