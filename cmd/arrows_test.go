package cmd

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// arrow says what the packages that match from may import of ours. "x" is one
// package, "x/..." is it and all below.
type arrow struct {
	from string
	may  []string
}

// arrows is the whole picture; the first line that matches a package counts.
// Sideways in a layer and downwards, never upwards; handlers and jobs meet in
// the outbox only, and an adapter knows neither the database nor its siblings.
var arrows = []arrow{
	{"db/model", nil},
	{"db/secret", nil},
	{"db/blob", nil},
	{"db/cluster", nil},
	{"db/holiday", nil},
	{"db/sheet", []string{"db/model"}},
	{"db/network", []string{"db/model"}},
	{"db/dbtest", []string{"db/..."}},
	{"db/...", []string{"db/migrations/...", "db/holiday", "db/sheet", "db/model", "db/network", "db/secret", "db/blob"}},

	{"static/...", []string{"static"}},
	{"views/...", []string{"views/...", "static", "db/model", "db/network"}},
	{"handlers/...", []string{"handlers/...", "views/...", "static", "db", "db/holiday", "db/model", "db/network", "db/secret", "db/blob", "db/picture"}},

	{"jobs/sim/...", []string{"jobs/sim/...", "db/model", "db/network"}},
	{"jobs/networks/fault", []string{"db/model"}},
	{"jobs/networks/httpx", []string{"jobs/networks/fault", "db/model", "db/network", "db/secret"}},
	{"jobs/networks/conform", []string{"jobs/networks/...", "jobs/sim/...", "db/model", "db/network", "db/secret"}},
	{"jobs/networks/...", adapterMay},
	{"jobs/mail/...", []string{"jobs/mail/...", "db", "db/model", "db/secret", "views/email"}},
	{"jobs/scan/...", []string{"jobs/scan/...", "db/model"}},
	{"jobs/darkroom", []string{"db/model", "db/network", "db/picture"}},
	{"jobs/...", []string{"jobs/...", "views/email", "db", "db/model", "db/network", "db/secret", "db/blob"}},

	{"cmd/internal/embedded", []string{"db/cluster"}},
	{"cmd/internal/live", []string{"db/model"}},
	{"cmd/...", []string{"cmd/...", "handlers/...", "views/...", "static", "jobs/...", "db", "db/model", "db/network", "db/secret", "db/blob", "db/picture"}},
}

// adapterMay has what networks share: rest for those that speak JSON, oauth for
// token endpoints, graph because Facebook and Instagram are one API, google because
// YouTube and Google Business Profile sign in and refuse alike.
var adapterMay = []string{"jobs/networks", "jobs/networks/fault", "jobs/networks/httpx", "jobs/networks/rest", "jobs/networks/oauth", "jobs/networks/graph", "jobs/networks/google", "db/model", "db/network", "db/secret"}

const module = "herald"

// allowed tells whether pkg may import imported, both without the module's name.
// known is false for a package that no line is about.
func allowed(pkg, imported string) (ok, known bool) {
	for _, a := range arrows {
		if !within(pkg, a.from) {
			continue
		}
		for _, to := range a.may {
			if within(imported, to) {
				return true, true
			}
		}
		return false, true
	}
	return false, false
}

func within(pkg, pattern string) bool {
	root, all := strings.CutSuffix(pattern, "/...")
	return pkg == root || (all && strings.HasPrefix(pkg, root+"/"))
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	eachImport(t, func(file, pkg, imported string) {
		switch ok, known := allowed(pkg, imported); {
		case !known:
			t.Errorf("%s: the arrows know no package %s", file, pkg)
		case !ok:
			t.Errorf("%s: %s may not import %s", file, pkg, imported)
		}
	})
}

// eachImport visits every import of ours in every file that is not a test's.
func eachImport(t *testing.T, visit func(file, pkg, imported string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != ".." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../"))
		for _, i := range parsed.Imports {
			full, _ := strconv.Unquote(i.Path.Value)
			if imported, ours := strings.CutPrefix(full, module+"/"); ours {
				visit(file, pkg, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheArrowsRefuseWhatTheyMust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pkg, imported string
		want          bool
	}{
		{"handlers/desk", "views/calendar", true},
		{"handlers/desk", "db", true},
		{"handlers/desk", "jobs", false},
		{"jobs", "handlers/web", false},
		{"jobs", "views/email", true},
		{"jobs", "views/ui", false},
		{"views/ui", "db", false},
		{"db", "jobs/networks/fault", false},
		{"db", "db/cluster", false},
		{"db/model", "db/secret", false},
		{"db/dbtest", "db/cluster", true},
		{"jobs/networks/facebook", "jobs/networks/graph", true},
		{"jobs/networks/facebook", "jobs/networks/instagram", false},
		{"jobs/networks/facebook", "db", false},
		{"jobs/sim", "jobs/networks/mastodon", false},
		{"jobs/sim", "jobs/networks", false},
		{"cmd/herald", "db/dbtest", false},
		{"cmd/internal/embedded", "db/cluster", true},
	} {
		if got, _ := allowed(c.pkg, c.imported); got != c.want {
			t.Errorf("%s -> %s: %v", c.pkg, c.imported, got)
		}
	}
	if _, known := allowed("pkg/util", "db"); known {
		t.Error("a package outside the layout counts as known")
	}
}

func TestOnlyTwoPackagesKnowTheCluster(t *testing.T) {
	t.Parallel()
	eachImport(t, func(file, pkg, imported string) {
		if imported == "db/cluster" && pkg != "db/dbtest" && pkg != "cmd/internal/embedded" {
			t.Errorf("%s: ask cmd/internal/embedded for a server", file)
		}
	})
}
