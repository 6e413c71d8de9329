// Collect fills static/dist from static/node_modules with exactly what pages
// use, which `go build` then embeds: htmx, a font, and one sprite of those icons
// that a component names, and a fragment of all emoji. `go tool task setup` runs it from the top of the
// repository. It refuses to leave anything half done.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	modules = "static/node_modules"
	dist    = "static/dist"
)

// taken are the files of others, by the name that pages use.
var taken = map[string]string{
	"htmx.min.js": "htmx.org/dist/htmx.min.js",
	"tus.min.js":  "tus-js-client/dist/tus.min.js",
	"schibsted-grotesk-latin-wght-normal.woff2":     "@fontsource-variable/schibsted-grotesk/files/schibsted-grotesk-latin-wght-normal.woff2",
	"schibsted-grotesk-latin-ext-wght-normal.woff2": "@fontsource-variable/schibsted-grotesk/files/schibsted-grotesk-latin-ext-wght-normal.woff2",
}

// packages are those whose licence goes along: tus-js-client brings the four after
// it in its one file.
var packages = []string{"htmx.org", "@fontsource-variable/schibsted-grotesk", "lucide-static",
	"emojibase-data", "tus-js-client", "js-base64", "url-parse", "querystringify", "requires-port"}

func main() {
	log.SetFlags(0)
	if err := collect(); err != nil {
		log.Fatal("collect the browser code: ", err)
	}
}

func collect() error {
	out := map[string][]byte{}
	for name, from := range taken {
		text, err := os.ReadFile(filepath.Join(modules, from))
		if err != nil {
			return err
		}
		out[name] = sourceMap.ReplaceAll(text, nil)
	}
	var err error
	if out["icons.svg"], err = sprite(); err != nil {
		return err
	}
	if out["emoji.html"], err = emojis(); err != nil {
		return err
	}
	if out["licences.txt"], err = licences(); err != nil {
		return err
	}
	return replace(out)
}

// sourceMap is the line by which a browser's tools look for a file that we do
// not serve.
var sourceMap = regexp.MustCompile(`\n//# sourceMappingURL=\S+\s*$`)

// replace writes what changed and removes what is no longer taken.
func replace(out map[string][]byte) error {
	old, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for _, e := range old {
		if _, kept := out[e.Name()]; !kept && !strings.HasPrefix(e.Name(), ".") {
			if err := os.Remove(filepath.Join(dist, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range out {
		path := filepath.Join(dist, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			continue
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func licences() ([]byte, error) {
	var all bytes.Buffer
	for _, p := range packages {
		text, err := os.ReadFile(filepath.Join(modules, p, "LICENSE"))
		if errors.Is(err, fs.ErrNotExist) {
			text, err = os.ReadFile(filepath.Join(modules, p, "LICENSE.md"))
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n\n", p, bytes.TrimSpace(text))
	}
	return all.Bytes(), nil
}

// sprite packs the icons that some component or handler names. A word that
// happens to be an icon's name costs a few hundred bytes and is not worth a
// list that people would have to keep.
func sprite() ([]byte, error) {
	words, err := wordsIn("views", "handlers", "static/js")
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	all.WriteString(`<svg xmlns="http://www.w3.org/2000/svg">` + "\n")
	for _, word := range words {
		icon, err := os.ReadFile(filepath.Join(modules, "lucide-static/icons", word+".svg"))
		if err != nil {
			continue
		}
		_, shapes, _ := strings.Cut(string(icon), "<svg")
		_, shapes, _ = strings.Cut(shapes, ">")
		shapes, _, _ = strings.Cut(shapes, "</svg>")
		fmt.Fprintf(&all, "<symbol id=%q viewBox=\"0 0 24 24\">%s</symbol>\n", word, strings.Join(strings.Fields(shapes), " "))
	}
	all.WriteString("</svg>\n")
	return all.Bytes(), nil
}

var quoted = regexp.MustCompile(`"([a-z0-9]+(?:-[a-z0-9]+)*)"`)

// wordsIn lists the quoted words of our sources that could be an icon's name.
func wordsIn(dirs ...string) ([]string, error) {
	found := map[string]bool{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !source(path) {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range quoted.FindAllSubmatch(text, -1) {
				found[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func source(path string) bool {
	switch filepath.Ext(path) {
	case ".templ", ".js":
		return true
	case ".go":
		return !strings.HasSuffix(path, "_templ.go") && !strings.HasSuffix(path, "_test.go")
	}
	return false
}
