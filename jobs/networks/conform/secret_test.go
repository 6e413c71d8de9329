package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"herald/db/network"
	"herald/jobs/networks"
)

// sentence says whether a text is one that a client can read: it begins with a
// capital or a digit and ends.
func sentence(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return len(s) > 10 && len(s) < 400 && (unicode.IsUpper(first) || unicode.IsDigit(first)) &&
		strings.ContainsAny(s[len(s)-1:], ".!?…") && !strings.ContainsAny(s, "{}<>\n")
}

// wantQuiet checks that nothing that is kept or shown holds a token, a signed
// address or the post's words, and that every call names its step.
func (w *world) wantQuiet(t *testing.T, job networks.Job) {
	t.Helper()
	calls := w.evidence()
	raw, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	all := string(raw) + "\n" + strings.Join(w.said, "\n")
	for _, word := range w.secretly(job) {
		if strings.Contains(all, word) {
			t.Errorf("evidence or errors hold %q:\n%s", word, all)
		}
	}
	for _, c := range calls {
		if c.Step == "" || c.Method == "" || c.Path == "" || !slices.Contains(pathSteps, c.Step) || c.Began.IsZero() {
			t.Errorf("evidence %+v is not whole", c)
		}
		if w.place.Name == network.Webhook && strings.Contains(c.Path, accountID) {
			t.Errorf("a webhook's path is its secret, and the evidence has %s", c.Path)
		}
	}
	for _, s := range w.said {
		if strings.Contains(s, w.server.URL) {
			t.Errorf("an error holds an address: %s", s)
		}
	}
	if len(calls) == 0 {
		t.Error("no call left evidence")
	}
}

// A network that repeats what it was sent must not bring it into the evidence.
func TestAnEchoOfTheTokenStaysOutside(t *testing.T) {
	t.Parallel()
	echo := fmt.Sprintf("Invalid: access_token=%s Authorization: Bearer %s in https://media.example/?%s", token, token, signature)
	everywhere(t, check{"secrets: a network that echoes the token", nil, func(t *testing.T, p place) {
		for _, step := range []string{"prepare", "commit", "find", "follow_up"} {
			w := newWorld(t, p)
			post := p.post(w, p.simple())
			if p.takesNoComment() == "" {
				post.FirstComment = remark
			}
			w.echo(step, echo)
			c := newCourier(w, w.jobOf(post))
			c.run(t.Context())
			if c.state == published {
				c.follow(t.Context(), 1)
			}
			w.wantQuiet(t, c.job)
		}
	}})
}
