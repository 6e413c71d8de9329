package sim

import (
	"strings"

	"herald/db/network"
)

// broken says whether f is an image that is not all there.
func broken(f blob) bool { return f.kind == "image" && !f.whole() }

// against is the first thing that a network has against files that a publisher hands
// it, or against what is said of them; "" if there is none. as is the format's option,
// alt the words for the i-th file.
func against(name network.Name, text, as, title string, files []blob, alt func(i int) string) string {
	n, ok := network.Get(name)
	if !ok {
		return ""
	}
	d := network.Draft{Text: text, Options: map[string]string{network.OptFormat: as, network.OptTitle: title}}
	for i, f := range files {
		d.Media = append(d.Media, network.Media{Kind: network.MediaKind(f.kind), Type: f.mime, Bytes: f.size, Width: f.width, Height: f.height, Duration: f.long, Alt: alt(i)})
	}
	for _, p := range n.Check(d) {
		if !p.Warn && (strings.HasPrefix(p.Field, "media") || p.Code == network.OptionTooLong) {
			return p.Say
		}
	}
	return ""
}
