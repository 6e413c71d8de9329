package e2e

import (
	"testing"

	"herald/cmd/internal/browser"
)

func TestAPersonSignsInAndOut(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := open(t, browser.Desktop)
	p.visit(a.path("/accounts"))
	p.sees("Sign in")
	p.refuses(invalid, 401, 403)
	p.fill("E-mail address", a.anna())
	p.fill("Password", "not it at all")
	p.goes("button", "Sign in")
	p.sees("do not belong together")
	p.fill("Password", password)
	p.goes("button", "Sign in")
	p.sees("Accounts", "Bakery", "Museum")
	p.press("button", "Anna Berger")
	p.goes("button", "Sign out")
	p.visit(a.path("/accounts"))
	p.sees("Sign in")
}
