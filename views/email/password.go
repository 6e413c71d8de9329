package email

import "herald/db/model"

// Password leads who forgot the password to another.
func Password(to string, m model.PasswordMail, link string) Letter {
	return Letter{
		Subject: "Choose a new password for Herald", Agency: "Herald", Title: "Choose a new password", Hello: hello(to),
		Say:   []string{"Somebody, hopefully you, said that they forgot the password of this address. Until another is chosen, the old one goes on working."},
		Label: "Choose a new password", URL: link,
		After: []string{"The link works once, and until " + When(m.Until, m.Zone) + "."},
		Why:   "You get this because somebody typed your address at Herald. If it was not you, do nothing: nothing changes.",
	}
}
