package network

import (
	"slices"
	"testing"
)

// TestAPublisherTakesNoMoreThanItsNetwork: what gets there goes on to the network.
func TestAPublisherTakesNoMoreThanItsNetwork(t *testing.T) {
	t.Parallel()
	for _, p := range Aggregators() {
		reached := Reached(p)
		if len(reached) == 0 || PublisherLabel(p) == string(p) || KeyHelp(p) == "" || IDHelp(p) == "" {
			t.Errorf("%s: %d networks, label %q", p, len(reached), PublisherLabel(p))
		}
		for _, n := range reached {
			if _, ok := WireName(n.Name, p); !ok {
				t.Errorf("%s reaches %s and has no name for it", p, n.Name)
			}
			own, _ := n.Via(p)
			if len(own.Formats) == 0 || own.Scopes != nil || own.Address != "" || own.Thread > n.Thread {
				t.Errorf("%s by %s: %+v", n.Name, p, own)
			}
			for _, rule := range own.Formats {
				direct, ok := n.Rule(rule.Format)
				for _, kinds := range [][2]FileRule{{rule.Image, direct.Image}, {rule.Video, direct.Video}, {rule.Document, direct.Document}} {
					if kinds[0].Bytes > kinds[1].Bytes && kinds[1].Bytes > 0 || slices.ContainsFunc(kinds[0].Types, func(s string) bool { return !slices.Contains(kinds[1].Types, s) }) {
						t.Errorf("%s by %s takes more as %s than the network", n.Name, p, rule.Format)
					}
				}
				if !ok || rule.Alt && !direct.Alt || rule.Min > 0 && len(rule.Image.Types)+len(rule.Video.Types)+len(rule.Document.Types) == 0 {
					t.Errorf("%s by %s: %+v", n.Name, p, rule)
				}
			}
			for _, o := range own.Options {
				if _, ok := n.Option(o.Key); !ok {
					t.Errorf("%s by %s asks for %s", n.Name, p, o.Key)
				}
			}
			for _, o := range n.Options {
				_, ok := own.Option(o.Key)
				reached := len(o.Formats) == 0 || slices.ContainsFunc(own.Formats, func(r FormatRule) bool { return slices.Contains(o.Formats, r.Format) })
				if o.Required && reached && !ok {
					t.Errorf("%s by %s does not ask for %s", n.Name, p, o.Key)
				}
			}
		}
	}
	if n, ok := get(t, X).Via(""); !ok || n != get(t, X) {
		t.Error("what an account does not say is direct")
	}
	if Reaches(Webhook, Bundle) || Reaches(X, "nobody") || !Reaches(X, Bundle) {
		t.Error("Reaches knows other routes")
	}
}

func TestRumbleIsSaidToBeOutOfReach(t *testing.T) {
	t.Parallel()
	if Unreached(" Rumble") == "" || Unreached("x") != "" {
		t.Error("Rumble is the one that is out of reach")
	}
	for _, p := range Aggregators() {
		if Reaches(Rumble, p) {
			t.Errorf("%s reaches Rumble: say so", p)
		}
	}
}
