package connect

import (
	"herald/views/ui"
)

// who is whose wish it is.
func who(f Frame) string {
	if f.Sender == "" {
		return f.Agency
	}
	return f.Sender + ", " + f.Agency
}

func asks(f Frame) string {
	by := f.Agency
	if f.Sender != "" {
		by = f.Sender + " of " + f.Agency
	}
	return "For " + f.Person + ": " + by + " asks you to connect these, so that they can publish there for " + f.Client + "."
}

func moreLabel(n Network) string {
	if n.SignIn != nil {
		return "Another way"
	}
	return "Connect " + n.Label
}

func moreIcon(n Network) string {
	if n.SignIn != nil {
		return "key-round"
	}
	return "plug"
}

func moreTone(n Network) ui.Tone {
	if n.SignIn != nil {
		return ui.Quiet
	}
	return ""
}

func wayTitle(p WayProps) string {
	if p.Again != "" {
		return "Reconnect " + p.Again
	}
	return "Connect " + p.Label
}

func waySay(p WayProps) string {
	if p.Again != "" {
		return "At " + p.Label + ", for " + p.Client + ". Everything else about the account stays as it is."
	}
	return "For " + p.Client + "."
}

func goneTitle(p GoneProps) string {
	if p.Ended {
		return "All done, thank you"
	}
	return "This link no longer works"
}

func goneIcon(p GoneProps) string {
	if p.Ended {
		return "circle-check"
	}
	return "link-2-off"
}

func goneAsk(p GoneProps) string {
	if p.Ended {
		return "If there is more to connect, ask " + p.Agency + " for a fresh link."
	}
	return "You can ask " + p.Agency + " for a fresh one. It comes by e-mail."
}

func askTone(p GoneProps) ui.Tone {
	if p.Ended {
		return ""
	}
	return ui.Primary
}
