package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/boot"
	"herald/db/network"
)

var update = flag.Bool("update", false, "write the README's tables")

// TestReadmeHasTheTables holds the README's tables to the catalogue, and to what the
// adapters ask for.
func TestReadmeHasTheTables(t *testing.T) {
	config, err := boot.Read([]string{"HERALD_KEYS=a passphrase for tests that is long enough to be one"})
	if err != nil {
		t.Fatal(err)
	}
	readmeHas(t, "networks", networkTable())
	readmeHas(t, "apps", appTable(config.SignIns(time.Now)))
}

// readmeHas holds what stands between two marks to a table.
func readmeHas(t *testing.T, mark, table string) {
	t.Helper()
	path, begin, end := "../../README.md", "<!-- "+mark+": go test ./cmd/herald -update -->\n", "<!-- /"+mark+" -->"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(readme), begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("README.md has no marks around its table of %s", mark)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != table {
		t.Errorf("README.md's table of %s is not the catalogue's: go test ./cmd/herald -run Readme -update", mark)
	}
}

func TestPrintNetworks(t *testing.T) {
	var out bytes.Buffer
	printNetworks(&out)
	for _, want := range []string{"| TikTok ", "Rumble has no public API", "  go live  The bot is an administrator"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	for _, n := range network.All() {
		if len(n.GoLive) == 0 {
			t.Errorf("%s says nothing about its first real post", n.Name)
		}
	}
}
