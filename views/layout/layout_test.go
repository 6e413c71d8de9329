package layout

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"herald/static"
	"herald/views/ui"
)

var update = flag.Bool("update", false, "write the golden files anew")

func drawn(t *testing.T, page templ.Component) string {
	t.Helper()
	body := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, "<h1>Posts</h1>")
		return err
	})
	var b strings.Builder
	if err := page.Render(templ.WithChildren(t.Context(), body), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, out string) {
	t.Helper()
	out = strings.ReplaceAll(strings.ReplaceAll(out, static.URL(""), "/static/HASH/"), "><", ">\n<") + "\n"
	path := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out != string(want) {
		t.Errorf("%s is drawn differently; if that is meant, run go test ./views/layout -update\ngot:\n%s", name, out)
	}
}

func atWork() ShellProps {
	return ShellProps{
		Title: "Posts", Workspace: "Nordwind Studio", Home: "/w/nordwind/calendar",
		Places: []Place{{Name: "Nordwind Studio", Href: "/w/nordwind/calendar", Current: true}, {Name: "Harbour & Co", Href: "/w/harbour/calendar"}},
		Create: NavItem{Label: "Create post", Href: "/w/nordwind/posts/new"},
		Nav: []NavItem{
			{Label: "Calendar", Href: "/w/nordwind/calendar", Icon: "calendar-days"},
			{Label: "Posts", Href: "/w/nordwind/posts", Icon: "files", Current: true},
			{Label: "Approvals", Href: "/w/nordwind/approvals", Icon: "stamp", Count: 7, CountWords: "waiting for you"},
			{Label: "Accounts", Href: "/w/nordwind/accounts", Icon: "plug"},
		},
		Person:  Person{Name: "Mia Lindqvist", Email: "mia@nordwind.example", SignOut: "/signout"},
		Modules: []string{"js/composer.js"},
		Notices: []ui.NoticeProps{{Tone: ui.Good, Say: "Saved."}},
	}
}

func TestShellsDrawAsTheyDidBefore(t *testing.T) {
	t.Parallel()
	golden(t, "shell", drawn(t, Shell(atWork())))
	golden(t, "shell-bare", drawn(t, Shell(ShellProps{Title: "Calendar", Workspace: "Solo", Home: "/w/solo/calendar", Wide: true})))
	golden(t, "plain", drawn(t, Plain(PlainProps{Title: "Sign in"})))
	golden(t, "plain-from", drawn(t, Plain(PlainProps{Title: "4 posts to approve", From: "Nordwind Studio", Wide: true})))
}

// TestPagesKeepToTheContentSecurityPolicy: no inline script or style, no
// handler attributes, nothing from elsewhere.
func TestPagesKeepToTheContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	for _, page := range []string{drawn(t, Shell(atWork())), drawn(t, Plain(PlainProps{Title: "x"}))} {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && (n.Data == "style" || n.Data == "script" && n.FirstChild != nil) {
				t.Errorf("inline %s", n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") || (a.Key == "src" && !strings.HasPrefix(a.Val, static.URL(""))) {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestPagesHaveTheirLandmarksOnceAndNoIDTwice(t *testing.T) {
	t.Parallel()
	root, err := html.Parse(strings.NewReader(drawn(t, Shell(atWork()))))
	if err != nil {
		t.Fatal(err)
	}
	ids, elements := map[string]int{}, map[string]int{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		elements[n.Data]++
		for _, a := range n.Attr {
			if a.Key == "id" {
				ids[a.Val]++
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s stands %d times", id, n)
		}
	}
	if elements["main"] != 1 || elements["h1"] != 1 || elements["title"] != 1 || ids["main"] != 1 || ids["notices"] != 1 {
		t.Errorf("landmarks: %v, ids: %v", elements, ids)
	}
}

func TestShellEscapesNames(t *testing.T) {
	t.Parallel()
	p := atWork()
	bad := `<script>alert(1)</script>`
	p.Title, p.Workspace, p.Person.Name, p.Person.Email, p.Nav[0].Label = bad, bad, bad, bad, bad
	if strings.Contains(drawn(t, Shell(p)), "<script>alert") {
		t.Error("a name became markup")
	}
}

func TestEveryBehaviourExists(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{"js/theme.js", "css/layers.css", "img/icon.svg"}, behaviours...) {
		if _, err := os.Stat(filepath.Join("../../static", name)); err != nil {
			t.Error(err)
		}
	}
}
