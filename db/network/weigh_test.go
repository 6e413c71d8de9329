package network

import (
	"strings"
	"testing"
)

// The weights were measured with X's own library (twitter-text 3.1.0).
func TestXWeighsAsItsOwnLibrary(t *testing.T) {
	t.Parallel()
	long := "https://example.com/" + strings.Repeat("a", 52)
	for text, want := range map[string]int{
		"": 0, "é": 1, "e\u0301": 1, "a\u0301\u0302": 2, "日本": 4, "Здравствуй": 10, "नमस्ते": 6, "\u10ff": 1, "\u1100": 2,
		"—": 1, "–": 1, "‘": 1, "“": 1, "‐": 1, "…": 2, "•": 2, "€": 2, "™": 2, "†": 2,
		"\u200b": 1, "\u200d": 1, "\u2028": 2, "\u202f": 2, "\u202a": 2, "\u202e": 2, "\u2032": 1, "\u2037": 1, "\u2038": 2,
		"😀": 2, "👍🏽": 2, "👨‍👩‍👧‍👦": 2, "🇩🇪": 2, "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": 2, "1️⃣": 2, "☺": 2, "❤️": 2, "©️": 2, "©": 1,
		"🧑🏽‍🤝‍🧑🏿": 8, "ﬁ": 2, "①": 2, "０": 2,
		long: 23, "example.com": 23, "hello.world": 23, "foo.py": 23, "readme.md": 23, "file.zip": 23, "done.In the": 27,
		"main.go": 7, "node.js": 7, "index.html": 10, "a.b": 3, "v1.2.3": 6,
		"go to example.com.": 30, "(https://example.com)": 25, "https://example.com#frag": 28, "https://example.com/#frag": 23,
		"http://localhost:8080/x": 23, "http://192.168.0.1/": 19, "https://user:pw@example.com/": 28, "https://example.invalidtld/x": 28,
		"user@example.com": 16, "ftp://example.com": 17, "日本語https://example.com": 29, "texthttps://example.com": 23, "https://münchen.de/": 23,
		strings.Repeat("x", 280): 280, strings.Repeat("x", 281): 281, strings.Repeat("日", 140): 280, strings.Repeat("日", 141): 282,
		strings.Repeat("x", 256) + " " + long: 280, strings.Repeat("x", 257) + " " + long: 281,
		// What the library does with further emoji follows from its table.
		"👩‍🚀": 2, "👩🏽‍🚀": 2, "🕵️‍♀️": 2, "⛹🏿‍♂️": 2, "👩‍❤️‍💋‍👨": 2, "👩‍👧": 2, "🏳️‍🌈": 2, "🏴‍☠️": 2, "👁‍🗨": 2, "👩‍🦰": 2,
		"🇽🇽": 4, "🇩": 2, "😀😀": 4, "😀\ufe0f": 4, "a\ufe0f": 3, "#️⃣": 2, "#": 1, "🦻🏽": 4, "👩‍🍼": 5, "🏴": 2, "👨‍": 3,
		"https://пример.рф": 23,
	} {
		if got := get(t, X).Count(text); got != want {
			t.Errorf("%.60q weighs %d, want %d", text, got, want)
		}
	}
}

func TestAThreadIsCountedPostByPost(t *testing.T) {
	t.Parallel()
	n := get(t, X)
	thread := map[string]string{OptThread: "true"}
	text := strings.Repeat("a", 280) + "\n---\n\n" + strings.Repeat("b", 200) + "\n\n --- \n---\nc"
	d := Draft{Text: text, Link: "https://example.com", Options: thread}
	parts := n.Parts(d)
	if len(parts) != 3 || parts[1] != strings.Repeat("b", 200) || parts[2] != "c\n\nhttps://example.com" || n.Length(d) != 280 {
		t.Fatalf("%d parts, length %d: %q", len(parts), n.Length(d), parts)
	}
	if got := codes(n.Check(d)); got != "" {
		t.Errorf("refused: %s", got)
	}
	if off := (Draft{Text: "a\n---\nb"}); len(n.Parts(off)) != 1 || n.Count(n.Parts(off)[0]) != 7 {
		t.Errorf("without the option it is one post: %q", n.Parts(off))
	}
	d.Text = "a\n---\n" + strings.Repeat("b", 281)
	if got := n.Check(d); codes(got) != "text:text_too_long" || !strings.HasPrefix(got[0].Say, "Post 2 of the thread has 306 ") {
		t.Errorf("got %+v", got)
	}
	fitted, cut := n.Fit(d)
	if !cut || n.Length(fitted) != 280 || !strings.HasPrefix(fitted.Text, "a\n---\nbbb") || !strings.HasSuffix(fitted.Text, "...") {
		t.Errorf("fitted to %d: %q", n.Length(fitted), fitted.Text)
	}
	d.Text = strings.Repeat("a\n---\n", 26)
	if got := codes(n.Check(d)); got != "text:thread_too_long" {
		t.Errorf("26 posts: %s", got)
	}
	if got := n.Parts(Draft{Text: "---", Options: thread}); len(got) != 1 || got[0] != "" {
		t.Errorf("nothing but a mark: %q", got)
	}
}

func FuzzWeighNeverPanicsAndNeverShrinks(f *testing.F) {
	for _, s := range pieces {
		f.Add(s)
	}
	n, _ := Get(X)
	f.Fuzz(func(t *testing.T, s string) {
		whole := n.Count(s)
		if whole < 0 || n.Count(s+"日") < whole-23 {
			t.Errorf("%q weighs %d, and with a letter more %d", s, whole, n.Count(s+"日"))
		}
		if short, cut := n.Shorten(s); n.Count(short) > 280 || cut == (short == s) && cut {
			t.Errorf("%q was shortened to %d", s, n.Count(short))
		}
	})
}
