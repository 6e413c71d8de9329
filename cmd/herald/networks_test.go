package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"herald/db/network"
)

var update = flag.Bool("update", false, "write the README's table of networks")

// TestReadmeHasTheTable holds the README's table of networks to the catalogue.
func TestReadmeHasTheTable(t *testing.T) {
	const path, begin, end = "../../README.md", "<!-- networks: go test ./cmd/herald -update -->\n", "<!-- /networks -->"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(readme), begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("README.md has no marks around its table of networks")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+networkTable()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != networkTable() {
		t.Error("README.md's table of networks is not the catalogue's: go test ./cmd/herald -run Readme -update")
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
