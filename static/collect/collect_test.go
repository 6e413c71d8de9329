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

func TestTheFragmentHasEveryEmojiByNameOnce(t *testing.T) {
	t.Chdir("../..")
	text, err := emojis()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(dist, "emoji.html"))
	if err != nil || !bytes.Equal(have, text) {
		t.Errorf("static/dist is not up to date (%v): run `go tool task setup`", err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`aria-label="([^"]+)" title="[^"]+" data-find="[^"]*"(?: data-tones="[^"]+")?>([^<]+)</button>`).FindAllSubmatch(text, -1) {
		if seen[string(m[1])] || seen[string(m[2])] {
			t.Errorf("%s %s comes twice", m[1], m[2])
		}
		seen[string(m[1])], seen[string(m[2])] = true, true
	}
	if buttons := bytes.Count(text, []byte("<button")); len(seen) != 2*buttons || buttons < 1800 {
		t.Errorf("%d buttons, of which %d have a name and an emoji", buttons, len(seen)/2)
	}
	if toned := bytes.Count(text, []byte("data-tones")); toned < 250 {
		t.Errorf("only %d have skin tones", toned)
	}
	if bytes.Contains(text, []byte("style=")) || bytes.Contains(text, []byte("<script")) {
		t.Error("it has what the page's policy forbids")
	}
}
