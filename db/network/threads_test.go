package network

import (
	"fmt"
	"strings"
	"testing"
)

func TestThreadsCountsEmojiByTheirBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "hello": 5, "é": 1, "e\u0301": 2, "日本": 2, "𝒜": 1, "😀": 4, "👍🏽": 8, "👨‍👩‍👧‍👦": 25, "🇩🇪": 8, "❤️": 6, "☺": 3, "1️⃣": 7, "1": 1, "#": 1, "a😀b": 6,
		strings.Repeat("a", 496) + "😀": 500,
	} {
		if got := get(t, Threads).Count(text); got != want {
			t.Errorf("%q counts %d, want %d", text, got, want)
		}
	}
	n := get(t, Threads)
	if got := codes(n.Check(Draft{Text: strings.Repeat("a", 497) + "😀"})); got != "text:text_too_long" {
		t.Errorf("501: %s", got)
	}
	if short, cut := n.Shorten(strings.Repeat("😀 ", 200)); !cut || n.Count(short) > 500 || n.Count(short) < 490 {
		t.Errorf("shortened to %d", n.Count(short))
	}
}

func TestThreadsTakesFiveDifferentLinks(t *testing.T) {
	t.Parallel()
	n, text := get(t, Threads), ""
	for i := range 5 {
		text += fmt.Sprintf("https://a%d.example.com ", i)
	}
	if got := codes(n.Check(Draft{Text: text + "https://a0.example.com"})); got != "" {
		t.Errorf("five: %s", got)
	}
	if got := codes(n.Check(Draft{Text: text + "example.com"})); got != "text:links_too_many" {
		t.Errorf("six: %s", got)
	}
	if got := codes(n.Check(Draft{Text: text, Link: "https://b.example.com"})); got != "text:links_too_many" {
		t.Errorf("six with the one beside: %s", got)
	}
}

func TestAThreadNeedsTheRightToReply(t *testing.T) {
	t.Parallel()
	n, has := get(t, Threads), []string{"threads_basic", "threads_content_publish"}
	if got := n.Lacks(Draft{Text: "a"}, has); len(got) != 0 {
		t.Errorf("a post lacks %v", got)
	}
	for _, d := range []Draft{{Text: "a", FirstComment: "b"}, {Text: "a\n---\nb", Options: option(OptThread, "true")}} {
		if got := n.Lacks(d, has); len(got) != 1 || got[0] != "threads_manage_replies" {
			t.Errorf("%+v lacks %v", d, got)
		}
	}
}
