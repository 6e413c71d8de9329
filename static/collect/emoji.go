package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// emoji is one of emojibase's data.
type emoji struct {
	Label   string
	Emoji   string
	Tags    []string
	Group   *int // letters of flags by themselves have none
	Order   int
	Version float64
	Skins   []skin
}

type skin struct {
	Emoji string
	Tone  json.RawMessage // a number; two of them for pairs of people
}

// newest is the last version of emoji that phones of a few years ago draw.
const newest = 15.0

// components are skin tones and hair, which nobody sends by themselves.
const components = 2

var emojiGroups = []string{"Smileys and feelings", "People", "", "Animals and nature", "Food and drink", "Travel and places", "Activities", "Objects", "Symbols", "Flags"}

// emojis is the fragment of every emoji, by group, as the composer's panel shows it. A
// button holds what it writes, what it is called and is found by, and its skin tones.
func emojis() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(modules, "emojibase-data/en/data.json"))
	if err != nil {
		return nil, err
	}
	var all []emoji
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b emoji) int { return a.Order - b.Order })
	var out bytes.Buffer
	for group, title := range emojiGroups {
		if group == components {
			continue
		}
		fmt.Fprintf(&out, "<section class=\"emoji-group\" aria-label=%q><h3 class=\"emoji-title\">%s</h3><div class=\"emoji-grid\">\n", title, title)
		for _, e := range all {
			if e.Group != nil && *e.Group == group && e.Version <= newest {
				out.WriteString(e.button())
			}
		}
		out.WriteString("</div></section>\n")
	}
	return out.Bytes(), nil
}

func (e emoji) button() string {
	var tones []string
	for _, s := range e.Skins {
		if len(s.Tone) == 1 {
			tones = append(tones, s.Emoji)
		}
	}
	toned := ""
	if len(tones) == 5 {
		toned = ` data-tones="` + strings.Join(tones, " ") + `"`
	}
	return fmt.Sprintf("<button type=\"button\" tabindex=\"-1\" aria-label=\"%s\" title=\"%[1]s\" data-find=\"%s\"%s>%s</button>\n",
		html.EscapeString(e.Label), html.EscapeString(strings.Join(e.Tags, " ")), toned, e.Emoji)
}
