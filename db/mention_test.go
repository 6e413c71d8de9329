package db

import (
	"strings"
	"testing"

	"herald/db/model"
)

func TestAnAtAndANameNamesAMember(t *testing.T) {
	t.Parallel()
	all := team{}
	for i, name := range []string{"Mia Berg", "Jonas Holm", "Jonas Falk", "Åsa Öberg", "Mia Bergström", "Lee"} {
		all[model.UserID(i+1)] = teammate{ID: model.UserID(i + 1), Name: name}
	}
	for body, want := range map[string]string{
		"@Mia Berg can you?":                  "Mia Berg",
		"@mia bergström, and @MIA BERG.":      "mia bergström|MIA BERG",
		"@Mia could be either":                "",
		"@Jonas is two, @jonas falk one":      "jonas falk",
		"@Åsa and @åsa öberg are one":         "Åsa",
		"mail to me@lee.example":              "",
		"@Leeway is no name, @Lee's is":       "Lee",
		"@@Lee (@Lee) @":                      "Lee",
		"@":                                   "",
		"nobody":                              "",
		"@Lee" + strings.Repeat(" @Lee", 500): "Lee",
	} {
		var got []string
		for _, m := range all.mentions(body) {
			got = append(got, m.words)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%.40q names %q, want %q", body, got, want)
		}
	}
}
