package composer

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herald/db/model"
	"herald/db/network"
	"herald/views/preview"
	"herald/views/ui"
)

// hostile is text that would break out of anything that does not escape it.
const hostile = `"><script>alert(1)</script>{{.}}&amp;</textarea>`

// busy is a page with one of everything, all of it hostile.
func busy(t *testing.T) Props {
	t.Helper()
	n, _ := network.Get(network.Mastodon)
	paths := Paths{Save: "/s", Form: "/f", Check: "/c", Upload: "/u", Duplicate: "/d", Archive: "/a", Retry: "/r", Back: "/w/north/posts/7", Accounts: "/ac", Approvals: "/ap"}
	file := File{ID: 3, Name: hostile, Facts: hostile, Thumb: "/m/t", Source: "/m/s", Alt: hostile, Problem: hostile, State: "scanning"}
	var fields []OptionField
	for _, o := range n.Options {
		fields = append(fields, OptionField{Name: "option.1." + o.Key, ID: "option-1-" + o.Key, Option: o, Value: hostile, Problem: hostile})
	}
	clock := ui.TimeProps{ISO: "2026-03-10T12:00:00Z", Words: hostile, Zone: hostile, IANA: "Europe/Berlin"}
	variant := Variant{Network: network.Mastodon, Label: hostile, Own: true, Explicit: []string{"text"}, Text: hostile, Link: hostile, Comment: hostile, TakesLink: true, TakesWords: true,
		Files: []VariantFile{{ID: 3, Name: hostile, Taken: true}, {ID: 4, Name: hostile, Extra: true, Alt: hostile}}}
	kept := variant
	kept.Network = network.Webhook
	return Props{Title: hostile, Say: hostile, State: "draft", Paths: paths, MayWrite: true, Away: true, AwayNot: hostile, Seen: 4,
		Delivery: Delivery{Hidden: 2, Failed: 1, Rows: []TargetRow{{ID: 1, Href: "/t", Label: hostile, Handle: hostile, Client: hostile, State: "failed", Say: hostile, When: &clock, WhenWords: hostile, Permalink: "javascript:alert(1)"}}},
		Asked:    []Asked{{Client: hostile, State: "open", Words: hostile, Said: []Remark{{Name: hostile, Say: hostile, When: clock}}}},
		Versions: []VersionRow{{Number: 1, Href: "/v", By: hostile, When: clock, Excerpt: hostile, Current: true, Approved: true}},
		Editor: &Editor{Key: hostile, Text: hostile, Link: hostile, Comment: hostile, Labels: Labels{Labels: []LabelChoice{{Value: hostile, Name: hostile, Client: hostile, Tint: hostile}}, Keep: hostile, Problem: hostile}, Notes: hostile, Warning: hostile, Fields: map[string]string{"text": hostile, "accounts": hostile},
			Problem:  &Problem{Title: hostile, Says: []string{hostile}, Href: "#text"},
			Conflict: &Conflict{Say: hostile, Rows: []ConflictRow{{Key: hostile, What: hostile, Stored: hostile, Mine: []model.Piece{{Change: model.Added, Text: hostile}, {Change: model.Removed, Text: hostile}, {Change: model.Same, Text: hostile}}, Both: true}}},
			Naming:   &Naming{Do: "save", Label: hostile, Clients: []NamedClient{{ID: 9, Name: hostile, Accounts: hostile}}},
			Clients:  []Client{{ID: 1, Name: hostile, Paths: paths, Open: true, Chosen: 1, Accounts: []Account{{ID: 1, Label: hostile, Handle: hostile, Chosen: true, Reconnect: true}, {ID: 2, Handle: hostile, Disabled: true}}}},
			Networks: Networks{Paths: paths, Variants: []Variant{variant}, Kept: []Variant{kept}, Accounts: []AccountOptions{{ID: 1, Label: hostile, Handle: hostile, Fields: fields}}},
			Media:    Media{Paths: paths, Files: []File{file, {ID: 5, Name: hostile, Video: true, Source: "/m/v"}}, Owners: []ui.Option{{Value: "1", Label: hostile}, {Value: "2", Label: hostile}}, Say: hostile, Said: []string{hostile}, Refused: []string{hostile}, Problem: hostile},
			When:     When{Paths: paths, Date: hostile, Clock: hostile, Zone: hostile, Zones: []ui.Option{{Value: hostile, Label: hostile}}, Said: WhenSaid{Paths: paths, Problem: hostile, Suggest: []Suggestion{{"2026-03-29T03:00", hostile}}, Repeated: true, Choice: model.Later, Earlier: hostile, Later: hostile, Time: &clock, Differs: true}},
			Check:    Check{Say: hostile, Groups: []CheckGroup{{Key: "mastodon", Chosen: true, Network: network.Mastodon, Label: hostile, Look: preview.Props{Network: network.Mastodon, Handles: []string{hostile}, Parts: []string{hostile, hostile}, Comment: hostile, Options: map[string]string{network.OptSpoiler: hostile}}, Format: hostile, Length: 600, Limit: 500, MayFit: true, Links: []TaggedLink{{From: hostile, To: hostile}}, Problems: []CheckProblem{{Say: hostile, Href: "#text"}, {Say: hostile, Warn: true}}}}},
			Foot:     Foot{Approval: hostile, Stages: true, Schedules: true, Accounts: 2, Queue: true, Next: hostile},
			Began:    Began{Notes: hostile, Labels: hostile},
			Keep:     Keep{Path: "/copies", Drop: "/drop", Copy: hostile, From: &Left{Copy: hostile, Words: hostile, When: clock, Href: "/left", Older: true}, Store: hostile},
		}}
}

func drawn(t *testing.T, p Props) (string, *html.Node) {
	t.Helper()
	var b strings.Builder
	if err := Page(p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), doc
}

func TestNothingTypedBecomesMarkup(t *testing.T) {
	t.Parallel()
	text, doc := drawn(t, busy(t))
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" {
			t.Fatal("a script came through")
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	if strings.Contains(text, "<script") {
		t.Error("raw markup in the page")
	}
}

func attrs(n *html.Node) map[string]string {
	all := map[string]string{}
	for _, a := range n.Attr {
		all[a.Key] = a.Val
	}
	return all
}

// Every control has a name that is read out, every id stands once, and what a
// label, a link or htmx points at is there.
func TestIdsAreUniqueAndEverythingPointsSomewhere(t *testing.T) {
	t.Parallel()
	_, doc := drawn(t, busy(t))
	ids, labelled := map[string]int{}, map[string]bool{}
	var points []string
	for n := range doc.Descendants() {
		a := attrs(n)
		if a["id"] != "" {
			ids[a["id"]]++
		}
		if n.Data == "label" && a["for"] != "" {
			labelled[a["for"]] = true
			points = append(points, a["for"])
		}
		for _, key := range []string{"hx-target", "href"} {
			if id, ok := strings.CutPrefix(a[key], "#"); ok {
				points = append(points, id)
			}
		}
		points = append(points, strings.Fields(a["aria-describedby"]+" "+a["aria-labelledby"])...)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q stands %d times", id, n)
		}
	}
	for _, id := range points {
		if ids[id] == 0 {
			t.Errorf("something points at %q, which is not there", id)
		}
	}
	for n := range doc.Descendants() {
		a := attrs(n)
		control := n.Data == "select" || n.Data == "textarea" || n.Data == "input" && a["type"] != "hidden" && a["type"] != "file"
		if control && !labelled[a["id"]] && n.Parent.Data != "label" {
			t.Errorf("<%s name=%q> has no label", n.Data, a["name"])
		}
	}
}

func TestASwapWrapsAllButThePartThatWasAskedFor(t *testing.T) {
	t.Parallel()
	e := busy(t).Editor
	var b strings.Builder
	s := Swap{Networks: &e.Networks, Media: &e.Media, Check: &e.Check, First: "composer-media"}
	if err := Swapped(s).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<hx-partial "); n != 2 || strings.Contains(b.String(), `hx-target="#composer-media" hx-swap="outerMorph">`+"<section") {
		t.Errorf("%d partials in %.300s", n, b.String())
	}
}
