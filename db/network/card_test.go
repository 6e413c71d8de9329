package network

import (
	"strings"
	"testing"
)

// Without a card the address is in the text, and counted there.
func TestFacebookPutsALinkWithoutACardIntoTheText(t *testing.T) {
	t.Parallel()
	const link = "https://bakery.example/bread"
	fb := get(t, Facebook)
	d := Draft{Text: "Read this", Link: link}
	if fb.FormatOf(d) != FormatLink || fb.Body(d) != "Read this" || fb.LinkOf(d) != LinkBeside {
		t.Errorf("with a card: %s, %q", fb.FormatOf(d), fb.Body(d))
	}
	d.Options = map[string]string{OptPreview: "false"}
	if fb.FormatOf(d) != FormatText || fb.Body(d) != "Read this\n\n"+link {
		t.Errorf("without: %s, %q", fb.FormatOf(d), fb.Body(d))
	}
	for over, want := range []int{0, 1} {
		d.Text = strings.Repeat("a", 63206-len(link)-2+over)
		if got := fb.Check(d); len(got) != want {
			t.Errorf("%d above the limit: %v", over, got)
		}
	}
	if d.Options[OptPreview] = "maybe"; len(fb.Check(d)) == 0 {
		t.Error("a switch is neither on nor off")
	}
	for _, p := range []Publisher{Blotato, Bundle} {
		if n, _ := fb.Via(p); n.LinkOf(Draft{Link: link, Options: map[string]string{OptPreview: "false"}}) != LinkInText {
			t.Errorf("%s has no such choice", p)
		}
	}
}
