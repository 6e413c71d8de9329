package ui

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"herald/static"
)

var update = flag.Bool("update", false, "write the golden files anew")

// drawn renders a component the same way in every version of the tree, one
// element a line.
func drawn(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	out := strings.ReplaceAll(b.String(), static.URL(""), "/static/HASH/")
	return strings.ReplaceAll(out, "><", ">\n<") + "\n"
}

func with(c, child templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return c.Render(templ.WithChildren(ctx, child), w)
	})
}

// parts is one of each, in the states that differ in markup.
func parts() map[string]templ.Component {
	field := FieldProps{Name: "name", Label: "Name", Help: "As the approver knows it.", Problem: "Say a name.", Value: "Café", Required: true}
	return map[string]templ.Component{
		"button":        Button(ButtonProps{Label: "Save", Tone: Primary, Name: "do", Value: "save"}),
		"button-icon":   Button(ButtonProps{Label: "Close", Icon: "x", IconOnly: true, Tone: Quiet, Small: true, Type: "button"}),
		"button-off":    Button(ButtonProps{Label: "Schedule", Disabled: true, Why: "It is not approved yet.", Form: "post", Action: "/w/a/posts/1/schedule"}),
		"link-button":   LinkButton(LinkProps{Label: "Back", Href: "/w/a/posts", Icon: "arrow-left", Attrs: OpensDialog("d")}),
		"field":         Field(field),
		"field-plain":   Field(FieldProps{Name: "q", Label: "Search", Type: "search", Optional: true, Placeholder: "Text or client"}),
		"textarea":      TextArea(TextAreaProps{FieldProps: FieldProps{Name: "text", Label: "Text", Value: "\nfirst line is empty"}}),
		"select":        Select(SelectProps{FieldProps: FieldProps{Name: "zone", Label: "Zone"}, Options: []Option{{Value: "utc", Label: "UTC", Chosen: true}}, Groups: []OptionGroup{{Label: "Europe", Options: []Option{{Value: "b", Label: "Berlin", Disabled: true}}}}}),
		"checkbox":      Checkbox(CheckboxProps{Name: "sure", Label: "I mean it", Problem: "Say so."}),
		"checkboxes":    Checkboxes(ChoicesProps{Name: "accounts", Legend: "Accounts", Help: "One or more.", Options: []Option{{Value: "1", Label: "Page", Chosen: true}, {Value: "2", Label: "Other", Help: "Needs a picture.", Disabled: true}}}),
		"radios":        Radios(ChoicesProps{Name: "rule", Legend: "Rule", Inline: true, Options: []Option{{Value: "any", Label: "Any one"}}}),
		"dialog":        with(Dialog(DialogProps{ID: "d", Title: "Ask for changes", Open: true, Back: "/w/a/posts/1"}), Text("body")),
		"dialog-closed": with(Dialog(DialogProps{ID: "d", Title: "Ask", Wide: true}), Text("body")),
		"dialog-sheet":  with(Dialog(DialogProps{ID: "d", Title: "New post", Page: "/w/a/posts/new", Kept: "/w/a/posts/new?copy=1"}), Text("body")),
		"menu":          with(Menu(MenuProps{Label: "More", End: true}), MenuLink(MenuItem{Label: "Copy", Href: "/x", Icon: "copy", Current: true})),
		"menu-button":   MenuButton(MenuItem{Label: "Cancel", Danger: true, Attrs: templ.Attributes{"name": "do", "value": "cancel"}}),
		"notices":       Notices(NoticeProps{Tone: Good, Say: "Saved."}, NoticeProps{Tone: Bad, Say: "It broke.", Reference: "K3QF7TZA"}),
		"callout":       with(Callout(Warn, "Outcome unknown"), Text("We look first.")),
		"count":         Count(120, "waiting for you"),
		"avatar":        AvatarNamed("Mia Lindqvist"),
		"handle":        Handle("@grand-<hotel@social.example"),
		"handle-plain":  Handle("Kornblume Bakery @ home"),
		"symbols":       Symbols([]string{"network-webhook", "no-such"}),
		"drawn":         Drawn("network-webhook"),
		"network":       NetworkMark("mastodon", "Mastodon"),
		"network-other": NetworkMark("myspace", "MySpace"),
		"counter":       Counter(512, 500),
		"counter-near":  Counter(450, 500),
		"status":        Status("unknown_outcome"),
		"status-mark":   StatusMark("failed"),
		"status-new":    Status("never_seen"),
		"time":          Time(TimeProps{ISO: "2026-11-03T08:30:00Z", Words: "Tue 3 Nov, 09:30", Zone: "Berlin", IANA: "Europe/Berlin"}),
		"card":          with(Card(CardProps{ID: "target-7", Title: "Facebook Page", Hue: "failed", Flush: true}), Text("x")),
		"page-head":     with(PageHead(PageHeadProps{Title: "Posts", Say: "All clients", Crumbs: []Crumb{{Label: "Home", Href: "/"}}}), Text("x")),
		"empty":         with(Empty(EmptyProps{Icon: "stamp", Title: "Nothing waits", Say: "Enjoy."}), Text("x")),
		"table":         with(Table(TableProps{Caption: "Posts", Stack: true, Columns: []Column{{Label: "Post"}, {Label: "Tries", Number: true}, {Label: "Actions", Hidden: true}}}), Text("x")),
		"pagination":    Pagination(PaginationProps{Next: "/w/a/posts?after=9", Words: "Posts 1 to 40"}),
		"tabs":          Tabs("Approvals", []Tab{{Label: "For me", Href: "/a", Count: 2, Current: true}, {Label: "Others", Href: "/b", Icon: "users"}}),
		"facts":         Facts([]Fact{{Name: "Due", Value: Text("09:30")}}),
		"file-drop":     FileDrop(FileDropProps{FieldProps: FieldProps{Name: "files", Label: "Add pictures", Problem: "Too large."}, Accept: "image/png", Multiple: true, Say: "PNG"}),
		"copy":          Copy("https://example.com/x", "Copy the address"),
		"kept":          Kept(KeptProps{Words: []Words{{Label: "Text", Text: "Plum cake"}}, Files: true, Action: "/w/a/posts", Fields: [][2]string{{"text", "Plum cake"}}, Send: "Send it again"}),
		"icon":          Icon("x"),
		"logo":          Logo(),
		"hidden":        Hidden("read out"),
		"badge":         Badge("Carousel"),
		"avatar-quiet":  Avatar("Mia"),
		"status-saying": StatusSaying("in_review", "Waiting for Mia"),
		"actions":       with(DialogActions(), Text("x")),
		"breadcrumb":    Breadcrumb([]Crumb{{Label: "Accounts", Href: "/w/a/accounts"}}),
		"toolbar":       with(Toolbar("Filters"), Text("x")),
		"field-frame":   with(FieldFrame(FieldProps{Name: "minutes", Label: "Minutes", Help: "Before.", Problem: "Too many."}), Text("x")),
		"menu-rule":     MenuRule(),
		"notice":        Notice(NoticeProps{Say: "Moved to", Stay: true, Time: &TimeProps{ISO: "2026-11-03T08:30:00Z", Words: "09:30"}, Link: NoticeLink{Label: "Open", Href: "/w/a/posts/1"}, Act: &NoticeAct{Label: "Undo", Path: "/w/a/undo", Fields: []HiddenField{{"to", "1"}}}}),
		"text":          Text("<b>"),
		"label":         Label(LabelProps{Name: "Summer", Tint: 3, Campaign: true}),
		"swatch":        Swatch("3"),
		"tabset":        with(Tabset("What to write"), with(TabFace(TabPartProps{Name: "part", Value: "x", Chosen: true, Pairs: "x"}), Text("X"))),
	}
}

// place is the number of a mark in the sprite, which moves as marks come.
var place = regexp.MustCompile(`"(#?)m[0-9]+"`)

func TestPartsDrawAsTheyDidBefore(t *testing.T) {
	t.Parallel()
	for name, c := range parts() {
		got := place.ReplaceAllString(drawn(t, c), `"${1}m"`)
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is drawn differently; if that is meant, run go test ./views/ui -update\ngot:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

var component = regexp.MustCompile(`(?m)^templ ([A-Z]\w*)\(`)

// components are the exported templates of the package.
func components(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range component.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	if len(names) < 30 {
		t.Fatalf("components: %v", names)
	}
	return names
}

// elsewhere are components that the page of parts cannot draw twice: there is one of
// each on every page, or it only serves others.
var elsewhere = map[string]string{
	"Notices": "the region that the page has", "Symbols": "unseen", "Text": "a string",
}

// TestEveryComponentIsKnown holds the goldens and the page of parts to what there is.
func TestEveryComponentIsKnown(t *testing.T) {
	t.Parallel()
	here, err := os.ReadFile("ui_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../settings/style.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range components(t) {
		if !regexp.MustCompile(`[ (]` + name + `\(`).Match(here) {
			t.Errorf("%s has no golden file: draw it in parts()", name)
		}
		if elsewhere[name] == "" && !strings.Contains(string(page), "ui."+name+"(") {
			t.Errorf("%s is not on the page of parts, views/settings/style.templ", name)
		}
	}
}

const (
	hostile     = `"><script>alert(1)</script>'<img src=x onerror=alert(1)>`
	hostileLink = "javascript:alert(1)"
)

// TestPartsEscapeWhatPeopleWrite puts hostile text in every prop that carries
// words or addresses, and looks at what a browser would make of it.
func TestPartsEscapeWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	field := FieldProps{Name: hostile, Label: hostile, Help: hostile, Problem: hostile, Value: hostile, Placeholder: hostile, Type: hostile, Autocomplete: hostile}
	options := []Option{{Value: hostile, Label: hostile, Help: hostile}}
	for name, c := range map[string]templ.Component{
		"button":     Button(ButtonProps{Label: hostile, Icon: hostile, Name: hostile, Value: hostile, Why: hostile, Form: hostile, Action: hostileLink, Tone: hostile}),
		"link":       LinkButton(LinkProps{Label: hostile, Href: hostileLink, Icon: hostile}),
		"field":      Field(field),
		"textarea":   TextArea(TextAreaProps{FieldProps: FieldProps{Name: "x", Value: "</textarea>" + hostile}}),
		"select":     Select(SelectProps{FieldProps: field, Options: options, Groups: []OptionGroup{{Label: hostile, Options: options}}}),
		"checkbox":   Checkbox(CheckboxProps{Name: hostile, Value: hostile, Label: hostile, Help: hostile}),
		"radios":     Radios(ChoicesProps{Name: hostile, Legend: hostile, Help: hostile, Options: options}),
		"dialog":     with(Dialog(DialogProps{ID: hostile, Title: hostile, Back: hostileLink}), Text(hostile)),
		"menu":       with(Menu(MenuProps{Label: hostile}), MenuLink(MenuItem{Label: hostile, Href: hostileLink})),
		"notice":     Notice(NoticeProps{Tone: hostile, Say: hostile, Reference: hostile}),
		"callout":    Callout(hostile, hostile),
		"status":     StatusSaying(hostile, hostile),
		"avatar":     AvatarNamed(hostile),
		"network":    NetworkMark(hostile, hostile),
		"time":       Time(TimeProps{ISO: hostile, Words: hostile, Zone: hostile, IANA: hostile}),
		"card":       Card(CardProps{ID: hostile, Title: hostile, Hue: hostile}),
		"page-head":  PageHead(PageHeadProps{Title: hostile, Say: hostile, Crumbs: []Crumb{{Label: hostile, Href: hostileLink}}}),
		"empty":      Empty(EmptyProps{Icon: hostile, Title: hostile, Say: hostile}),
		"table":      Table(TableProps{Caption: hostile, Columns: []Column{{Label: hostile}}}),
		"pagination": Pagination(PaginationProps{Next: hostileLink, Words: hostile}),
		"tabs":       Tabs(hostile, []Tab{{Label: hostile, Href: hostileLink}}),
		"facts":      Facts([]Fact{{Name: hostile, Value: Text(hostile)}}),
		"file-drop":  FileDrop(FileDropProps{FieldProps: field, Say: hostile, Accept: hostile}),
		"copy":       Copy(hostile, hostile),
	} {
		root, err := html.Parse(strings.NewReader(drawn(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if bad := harmful(n); bad != "" {
				t.Errorf("%s lets %s through", name, bad)
			}
		}
	}
}

func harmful(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	if n.Data == "script" || n.Data == "img" {
		return "<" + n.Data + ">"
	}
	for _, a := range n.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style":
			return a.Key
		case strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:"):
			return a.Key + "=javascript:"
		}
	}
	return ""
}
