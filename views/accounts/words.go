package accounts

import (
	"fmt"
	"strings"

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
	case f.Needed:
		return "Reconnect"
	}
	return "Replace the token"
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
	if f.Needed {
		return ui.Primary
	}
	return ""
}

// sentence makes a whole one of a phrase that begins with a small letter of ASCII.
func sentence(phrase string) string { return strings.ToUpper(phrase[:1]) + phrase[1:] + "." }
