package e2e

import (
	"regexp"
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

var passwordLink = regexp.MustCompile(`https?://\S+/passwords/[A-Za-z0-9_-]+`)

func TestAForgottenPasswordIsChosenAnewFromThePhone(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	desk := a.member(t, browser.Desktop, a.anna())
	p := open(t, browser.Phone)
	p.visit("/signin")
	p.goes("link", "Forgotten your password?")
	p.fill("E-mail address", a.anna())
	p.goes("button", "Mail me a link")
	p.sees("Look into your mail")
	p.visit(linkIn(t, letter(t, a.anna(), 0), passwordLink))
	p.sees("Choose a new password", a.anna())
	p.fill("New password", "a few words of mine")
	p.goes("button", "Keep it and sign in")
	p.sees("Your password is the new one")
	desk.visit(a.path("/accounts"))
	desk.sees("Sign in")
}
