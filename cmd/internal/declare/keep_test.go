package declare

import (
	"slices"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
)

const kept = `
plans: [{name: open}]
workspaces:
  - {slug: north, name: North, zone: Europe/Berlin, plan: open, shard: main, labels: [{name: Evergreen, colour: GREEN}], notes: [{day: 2026-12-24, words: "Closed  at noon"}],
     clients: [{slug: bakery, name: Bakery, zone: Europe/Berlin, apart: 30, holidays: DE-BY, labels: [{name: Spring, kind: campaign}, {name: evergreen}], notes: [{day: 2026-12-06, words: Buns}]}]}
`

func applied(t *testing.T, w *dbtest.World, text string) []string {
	t.Helper()
	doc, err := Parse(Source{Name: "x.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := Apply(t.Context(), w.Store, doc)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func TestLabelsNotesAndTheCalendarAreDeclaredOnce(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	first := applied(t, w, kept)
	for _, want := range []string{"label Evergreen of north: made", "note of 2026-12-24 of north: made", "calendar of north/bakery: minutes apart and holidays changed", "campaign Spring of north/bakery: made", "note of 2026-12-06 of north/bakery: made"} {
		if !slices.Contains(first, want) {
			t.Errorf("no %q among %q", want, first)
		}
	}
	if again := applied(t, w, kept); len(again) != 0 {
		t.Errorf("a second run changed %q", again)
	}
	count := func(table string) int {
		return dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM tenant.`+table)
	}
	if got := dbtest.Look[string](t, w, db.MainShard, `SELECT apart || ' ' || holidays FROM tenant.clients`); got != "30 DE-BY" || count("labels") != 3 || count("day_notes") != 2 {
		t.Errorf("%s, %d labels, %d notes", got, count("labels"), count("day_notes"))
	}
	changed := applied(t, w, strings.NewReplacer("colour: GREEN", "colour: red", "words: Buns", "words: Buns, remove: true", "kind: campaign", "kind: campaign, remove: true", "apart: 30", "apart: 0").Replace(kept))
	for _, want := range []string{"label Evergreen of north: colour changed", "note of 2026-12-06 of north/bakery: removal changed", "campaign Spring of north/bakery: removal changed", "calendar of north/bakery: minutes apart changed"} {
		if !slices.Contains(changed, want) {
			t.Errorf("no %q among %q", want, changed)
		}
	}
	if count("labels") != 2 || count("day_notes") != 1 {
		t.Errorf("%d labels, %d notes", count("labels"), count("day_notes"))
	}
}

func TestWhatIsNoLabelOrNoteIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for text, say := range map[string]string{
		"labels: [{colour: red}]":                                           "a label needs the key name",
		"labels: [{name: a, colour: pink}]":                                 "colour: write blue",
		"labels: [{name: a, kind: topic}]":                                  "kind: write label or campaign",
		"labels: [{name: a}, {name: A}]":                                    "is declared already, at x.yaml",
		"labels: [{name: " + strings.Repeat("a", 61) + "}]":                 "longer than 60 characters",
		"notes: [{day: 2026-02-30, words: x}]":                              "write a day, as 2026-12-24",
		"notes: [{day: 2026-02-20}]":                                        "a note needs the key words",
		"notes: [{day: 2026-02-20, words: x}, {day: 2026-02-20, words: x}]": "is declared already",
		"clients: [{slug: b, apart: 1441}]":                                 "apart is a number of minutes",
		"clients: [{slug: b, apart: soon}]":                                 "apart is a number of minutes",
		"labels: x":                                                         "labels is a list",
	} {
		_, err := Parse(Source{Name: "x.yaml", Text: []byte("workspaces:\n  - {slug: north, " + text + "}\n")})
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "x.yaml:2") {
			t.Errorf("%s: %v", text, err)
		}
	}
	w := dbtest.New(t)
	doc, err := Parse(Source{Name: "x.yaml", Text: []byte(strings.Replace(kept, "DE-BY", "XX-YY", 1))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), w.Store, doc); err == nil || !strings.Contains(err.Error(), "does not know the holidays") {
		t.Errorf("%v", err)
	}
	if n := dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM tenant.labels`); n != 0 {
		t.Errorf("%d labels of what was refused", n)
	}
}
