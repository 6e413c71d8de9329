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
