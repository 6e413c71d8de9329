package network

import (
	"slices"
	"testing"
)

// codesAt are those of the problems at one option.
func codesAt(n *Network, key string, d Draft) (list []string) {
	for _, p := range n.Check(d) {
		if p.Field == "options."+key {
			list = append(list, p.Code)
		}
	}
	return list
}

func TestMomentsAreDaysAndComeInTheirOrder(t *testing.T) {
	t.Parallel()
	google, _ := Get(GoogleBusiness)
	for _, c := range []struct {
		starts, ends string
		want         []string
	}{
		{"2026-05-01", "2026-05-02", nil},
		{"2026-05-01", "2026-05-01", nil},
		{"2026-05-01 18:00", "2026-05-01 18:30", nil},
		{"2026-05-01 18:00", "2026-05-01 18:00", []string{OptionInvalid}},
		{"2026-05-02", "2026-05-01", []string{OptionInvalid}},
		{"2026-05-01", "2026-02-30", []string{OptionInvalid}},
		{"2026-05-01", "18:30", []string{OptionInvalid}},
		{"2026-05-01", "2026-05-02 25:00", []string{OptionInvalid}},
		{"nonsense", "2026-05-02", nil},
		{"2026-05-01", "", []string{OptionMissing}},
	} {
		d := Draft{Text: "x", Options: map[string]string{OptKind: "EVENT", OptEvent: "Tasting", OptStarts: c.starts, OptEnds: c.ends}}
		if got := codesAt(google, OptEnds, d); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.starts, c.ends, got, c.want)
		}
	}
}

func TestManyAreAmongThoseThatTheAccountHas(t *testing.T) {
	t.Parallel()
	plain, _ := Get(WordPress)
	known := plain.With(map[string]string{"categories": Offer([]Choice{{"1", "News"}, {"2", "Bread & rolls"}, {"3", "one, two"}, {"4", "Bread; rolls"}, {"5", "50% off = %3B"}})})
	for _, c := range []struct {
		n     *Network
		value string
		want  []string
	}{
		{plain, "Anything, else", nil},
		{known, "News", nil},
		{known, "News, Bread & rolls", nil},
		{known, "Bread; rolls", nil},
		{known, "50% off = %3B", nil},
		{plain.With(map[string]string{"categories": "1=50% off"}), "50% off", nil},
		{known, "rolls", []string{OptionInvalid}},
		{known, "News, Weather", []string{OptionInvalid}},
		{known, "one, two", []string{OptionInvalid}},
		{plain, "a\x00b", []string{TextControl}},
	} {
		d := Draft{Text: "x", Options: map[string]string{OptTitle: "T", OptCategories: c.value}}
		if got := codesAt(c.n, OptCategories, d); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.value, got, c.want)
		}
	}
}

func TestWhatTheAccountForbidsIsOffAndStaysOff(t *testing.T) {
	t.Parallel()
	plain, _ := Get(TikTok)
	creator := plain.With(map[string]string{"may_duet": "false", "may_stitch": "true"})
	d := Draft{Media: []Media{{Kind: Video}}, Options: map[string]string{}}
	if creator.Value(d, OptDuet) != "false" || creator.Value(d, OptStitch) != "true" || plain.Value(d, OptDuet) != "true" {
		t.Errorf("duets %s, stitches %s", creator.Value(d, OptDuet), creator.Value(d, OptStitch))
	}
	for value, want := range map[string][]string{"true": {OptionInvalid}, "false": nil, "": nil} {
		d.Options[OptDuet] = value
		if got := codesAt(creator, OptDuet, d); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
