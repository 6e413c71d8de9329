package network

import "testing"

func TestWhatNobodySeesIsNoText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n", "\u200b\ufeff ", "\u00ad\u2060", "\u3164", "\u2800", "\ufe0f\u200d", "\u202e"} {
		n, _ := Get(Mastodon)
		if problems := n.Check(Draft{Text: text}); len(problems) == 0 || problems[0].Code != PostEmpty {
			t.Errorf("%q is refused with %v", text, problems)
		}
	}
	for _, text := range []string{"a", "\u200bé", "👩\u200d🔬", "❤\ufe0f", "5", "\u05d0"} {
		n, _ := Get(Mastodon)
		if problems := n.Check(Draft{Text: text}); len(problems) != 0 {
			t.Errorf("%q is refused with %v", text, problems)
		}
	}
}

// TestWhatNobodySeesIsNoComment: nor a part of a thread, or a description.
func TestWhatNobodySeesIsNoComment(t *testing.T) {
	t.Parallel()
	const unseen = "\u200b \ufeff\u2060"
	n, _ := Get(TikTok)
	video := []Media{{Kind: Video, Type: "video/mp4", Bytes: 1 << 20, Width: 1080, Height: 1920, Duration: 20e9}}
	for _, p := range n.Check(Draft{Text: "Hello", Media: video, FirstComment: unseen}) {
		if p.Field == "first_comment" {
			t.Errorf("a comment: %+v", p)
		}
	}
	if n.Comment.Max != 0 {
		t.Fatal("choose a network without first comments")
	}
	n, _ = Get(X)
	thread := Draft{Text: "One\n---\n" + unseen + "\n---\nTwo", Options: map[string]string{OptThread: "true"}}
	if parts := n.Parts(thread); len(parts) != 2 || parts[1] != "Two" {
		t.Errorf("parts %q", parts)
	}
	n, _ = Get(Bluesky)
	found := n.Check(Draft{Text: "Hello", Media: []Media{{Kind: Image, Type: "image/jpeg", Bytes: 1 << 10, Width: 100, Height: 100, Alt: unseen}}})
	if len(found) != 1 || found[0].Code != AltMissing {
		t.Errorf("a description: %+v", found)
	}
}
