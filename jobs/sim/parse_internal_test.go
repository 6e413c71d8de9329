package sim

import (
	"strings"
	"testing"
)

func FuzzFieldsNeverPanicAndReadBack(f *testing.F) {
	for _, seed := range []string{"id,message", "attachments{media_type,target{id}}", "a{", "}", ",", "a{b}c", "a,,b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := parseFields(s)
		if err == nil && strings.TrimSpace(s) != "" && len(tree) == 0 {
			t.Errorf("%q names fields, and none was read", s)
		}
		tree.pick(map[string]any{"id": "1", "data": []any{map[string]any{"id": "2"}}})
	})
}

func FuzzTootLengthNeverExceedsTheText(f *testing.F) {
	for _, seed := range []string{"hi", "https://example.com/a.", "@a@b.example", "👨‍👩‍👧‍👦", "a\u0301", "#x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// An address may weigh more than its letters, nothing else may.
		if n, most := tootLength(s), len([]rune(s))+23*strings.Count(strings.ToLower(s), "http"); n > most {
			t.Errorf("%q counts %d, at most %d", s, n, most)
		}
		if hashtags(s) > len(s) || mentions(s) > len(s) || units(s) > len(s) && strings.ToValidUTF8(s, "") == s {
			t.Errorf("%q has more tags, names or units than bytes", s)
		}
	})
}
