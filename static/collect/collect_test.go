package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var drawn = regexp.MustCompile(`\bIcon(?:\(|:\s*)"([^"]+)"`)

func TestEveryIconThatViewsDrawIsAnIcon(t *testing.T) {
	t.Chdir("../..")
	err := filepath.WalkDir("views", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !source(path) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range drawn.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(modules, "lucide-static/icons", string(m[1])+".svg")); err != nil {
				t.Errorf("%s draws %q, which lucide does not have", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSpriteIsOfTheViewsAsTheyAre(t *testing.T) {
	t.Chdir("../..")
	want, err := sprite()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(dist, "icons.svg"))
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("static/dist is not up to date (%v): run `go tool task setup`", err)
	}
}
