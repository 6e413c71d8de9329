package email

import "herald/db/model"

// Invitation asks somebody to join a workspace.
func Invitation(m model.InvitationMail, link string) Letter {
	agency := Line(m.Agency, 60)
	return Letter{
		Subject: Line(m.Sender, 60) + " invites you to " + agency, Agency: agency, Title: "Join " + agency, Hello: hello(""),
		Say:   []string{Line(m.Sender, 60) + " invites you to work with " + agency + " in Herald, where they write, approve and plan posts."},
		Label: "Join " + agency, URL: link,
		After: []string{"The link is for you alone, works once, and until " + When(m.Until, m.Zone) + "."},
		Why:   "You get this because somebody at " + agency + " gave your address. If you do not know them, do nothing.",
	}
}
