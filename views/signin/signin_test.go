package signin

import (
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func drawn(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheFormPostsWithoutScript(t *testing.T) {
	t.Parallel()
	out := drawn(t, Page(Props{Action: "/signin", Next: "/w/a/calendar"}))
	for _, want := range []string{
		`<form class="stack" method="post" action="/signin"`, `name="next" value="/w/a/calendar"`,
		`name="email"`, `type="email"`, `autocomplete="username"`, `name="password"`, `type="password"`, `autocomplete="current-password"`, `type="submit"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestARefusalKeepsTheAddressAndNeverThePassword(t *testing.T) {
	t.Parallel()
	out := drawn(t, Form(Props{Action: "/signin", Email: `mia@"example`, Problem: "That address and password do not belong together."}))
	if !strings.Contains(out, `value="mia@&#34;example"`) || !strings.Contains(out, "do not belong together") {
		t.Errorf("address or reason is lost: %s", out)
	}
	if strings.Count(out, "autofocus") != 1 {
		t.Error("one field takes the focus")
	}
	if !strings.Contains(out, `type="password" value=""`) {
		t.Error("the password field is not empty")
	}
}

func TestWhileThrottledTheWaitIsSaidInsteadOfTheProblem(t *testing.T) {
	t.Parallel()
	out := drawn(t, Form(Props{Action: "/signin", Problem: "Wrong.", Wait: "Too many tries. Try again in 4 minutes."}))
	if !strings.Contains(out, "in 4 minutes") || strings.Contains(out, "Wrong.") {
		t.Errorf("got %s", out)
	}
}
