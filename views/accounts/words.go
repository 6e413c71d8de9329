package accounts

import (
	"fmt"
	"strings"

	"herald/db/network"
	"herald/views/ui"
)

// posts counts posts in words.
func posts(n int) string {
	if n == 1 {
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}

func waits(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

func toneOf(s Switch, tone ui.Tone) ui.Tone {
	if s.Danger {
		return ui.Danger
	}
	return tone
}

func connectTitle(f ConnectForm) string {
	switch {
	case f.Webhook:
		return "Signing secret"
	case f.Beside:
		return "With a token instead"
	case f.Needed:
		return "Reconnect"
	}
	return "Replace the token"
}

func connectID(f ConnectForm) string {
	if f.Beside {
		return "token"
	}
	return "connection"
}

func connectLabel(f ConnectForm) string {
	switch {
	case f.Needed:
		return "Reconnect"
	case f.Webhook:
		return "Replace the secret"
	}
	return "Replace the token"
}

func connectTone(f ConnectForm) ui.Tone {
	if f.Needed && !f.Beside {
		return ui.Primary
	}
	return ""
}

// sentence makes a whole one of a phrase that begins with a small letter of ASCII.
func sentence(phrase string) string { return strings.ToUpper(phrase[:1]) + phrase[1:] + "." }

func pickSay(client string) string {
	if client == "" {
		return "Choose where its posts go."
	}
	return "Choose where posts of " + client + " go."
}

// wayTone marks the first way to sign in as the usual one.
func wayTone(f SignInForm, i int) ui.Tone {
	if i == 0 && !f.Quiet {
		return ui.Primary
	}
	return ""
}

// ChooseTitle is the title of a page that chooses.
func ChooseTitle(p ChooseProps) string {
	if p.Again != "" {
		return "Which one is " + p.Again + "?"
	}
	return "Choose what to connect"
}

// ChooseWhom says what is chosen from, and for whom.
func ChooseWhom(p ChooseProps) string {
	return "What your sign-in at " + p.Label + " lets Herald publish to, for " + p.Client + "."
}

func chooseLegend(p ChooseProps) string {
	if len(p.Choices) > 1 && p.Again == "" {
		return "Connect these at " + p.Label
	}
	return "Connect this at " + p.Label
}

func chooseLabel(p ChooseProps) string {
	if p.Again != "" {
		return "Reconnect"
	}
	return "Connect"
}

// chooseType: an account that is connected again is one of them.
func chooseType(p ChooseProps) string {
	if p.Again != "" {
		return "radio"
	}
	return "checkbox"
}

func choiceID(i int) string { return fmt.Sprintf("choice-%d", i+1) }

// choiceSay is what is known of a choice: what it is, and why it is not to be had or
// that it is connected already.
func choiceSay(c Choice) string {
	say := c.Kind + "."
	for _, more := range []string{c.Say, c.Lacks} {
		if more != "" {
			say += " " + more
		}
	}
	return say
}

func signInTitle(p AccountProps) string {
	if p.Connect != nil && p.Connect.Needed {
		return "Reconnect"
	}
	return "Sign in again"
}

func signInSay(p AccountProps) string {
	if p.Connect != nil && p.Connect.Needed {
		return "Settings and history stay as they are. What could not go out is not sent by itself: you are asked."
	}
	return "Renews the connection, or grants more than before. Everything else stays as it is."
}

func entryTitle(p AddProps) string {
	if p.SignIn != nil {
		return "Or enter it yourself"
	}
	return ""
}

// entryTone: where one can sign in, that is the usual way.
func entryTone(p AddProps) ui.Tone {
	if p.SignIn != nil && p.SignIn.Missing == "" {
		return ""
	}
	return ui.Primary
}

func entryIcon(p AddProps) string {
	if p.Submit != "" {
		return "plug"
	}
	return "plus"
}

// entryField draws a field of the catalogue.
func entryField(f network.Field, value, problem string) ui.FieldProps {
	p := ui.FieldProps{Name: f.Name, ID: "entry-" + f.Name, Label: f.Label, Help: f.Help, Placeholder: f.Hint, Optional: f.Optional, Required: !f.Optional, Value: value, Problem: problem}
	switch {
	case f.Secret:
		p.Type, p.Autocomplete, p.Value = "password", "new-password", ""
	case f.Name == "address":
		p.Type = "url"
	}
	return p
}

// disconnectPlanned says what becomes of what is to go there.
func disconnectPlanned(p DisconnectProps) string {
	switch p.Planned {
	case 0:
		return "No post is planned for it."
	case 1:
		return "1 planned post stays planned. If it comes due before the account is connected again, it is held and you are asked; it is not lost."
	}
	return posts(p.Planned) + " stay planned. Those that come due before the account is connected again are held and you are asked; none is lost."
}
