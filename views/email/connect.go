package email

import (
	"cmp"
	"fmt"
	"strings"

	"herald/db/model"
)

// noteLines is how many lines of a sender's note a mail shows.
const noteLines = 12

// ConnectLink asks somebody of a client to connect its accounts; over says that the
// link no longer opens.
func ConnectLink(name string, m model.ConnectMail, link string, over bool) Letter {
	client, agency := Line(m.Client, 60), Line(m.Agency, 60)
	who := cmp.Or(Line(m.Person, 60), agency)
	l := Letter{
		Subject: forClient("Please connect accounts", m.Client), Agency: agency, Title: "Connect the accounts of " + client, Hello: hello(name),
		Say:   []string{fmt.Sprintf("%s of %s asks you to connect accounts of %s, so that they can publish there for you: %s.", who, agency, client, labels(m.Networks))},
		Label: "Connect accounts", URL: link,
		After: []string{
			"You sign in at each network yourself. " + agency + " never sees your password, and you can take the access away there at any time.",
			"The link is yours alone, until " + When(m.Until, m.Zone) + ". Whoever has it can connect accounts for " + client + ", and nothing else.",
		},
		Why: "You get this because " + who + " gave your address. If you do not know them, do nothing.",
	}
	if over {
		l.Label, l.After = "Open the page", []string{"This mail reached you late: its link has run out. Open it all the same; the page asks for a new one."}
	}
	l.Say = append(l.Say, noteOf(who, m.Note)...)
	return l
}

// noteOf is what the sender wrote along, line by line.
func noteOf(who, note string) (say []string) {
	for _, one := range strings.Split(note, "\n") {
		if one = Line(one, 400); one != "" && len(say) < noteLines {
			say = append(say, one)
		}
	}
	if len(say) > 0 {
		say[0] = who + " writes: " + say[0]
	}
	return say
}

// Connected tells who sent a link what was connected by it.
func Connected(name string, list []model.ConnectMail, link string) Letter {
	m := list[0]
	var all []model.ConnectedAccount
	for _, one := range list {
		all = append(all, one.Accounts...)
	}
	person, many, title := Line(m.Person, 60), "an account", "An account is connected"
	if len(all) != 1 {
		many = fmt.Sprintf("%d accounts", len(all))
		title = many + " are connected"
	}
	l := Letter{
		Subject: forClient(person+" connected "+many, m.Client), Agency: Line(m.Agency, 60), Title: title, Hello: hello(name),
		Say:   []string{person + " used the link that was sent to them. Posts can go there now:"},
		Label: "Open the accounts", URL: link,
		Why: "You get this because the link was sent by you, or by a colleague who is gone.",
	}
	for _, one := range all[:min(len(all), shown)] {
		l.Say = append(l.Say, connectedWords(one))
	}
	l.More = max(0, len(all)-shown)
	return l
}

func connectedWords(a model.ConnectedAccount) string {
	words := place(a.Network, a.Handle)
	if a.Again {
		return words + ", connected again. What could not go out is not sent by itself: retry it there, if it should still go out."
	}
	return words + "."
}

// ConnectAsked tells who sent a link that its holder asks for a fresh one.
func ConnectAsked(name string, m model.ConnectMail, link string) Letter {
	person := Line(m.Person, 60)
	return Letter{
		Subject: forClient(person+" asks for a fresh link", m.Client), Agency: Line(m.Agency, 60), Title: "A fresh link is asked for", Hello: hello(name),
		Say:   []string{person + " opened a link to connect accounts" + clientWords(m.Client) + " that no longer works, and asks for a fresh one."},
		Label: "Send a fresh link", URL: link,
		After: []string{"Nothing is sent by itself: look at it there, and send it if you know them."},
		Why:   "You get this because the link was sent by you, or by a colleague who is gone.",
	}
}
