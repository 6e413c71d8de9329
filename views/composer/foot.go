package composer

import (
	"slices"

	"github.com/a-h/templ"

	"herald/views/ui"
)

// Foot is the row of intents.
type Foot struct {
	Approval  string // what stands between this post and going out
	Approved  bool
	Stages    bool // somebody has to approve
	Schedules bool // the writer may schedule
	OnItsWay  bool
	Accounts  int
	Reviewing bool
	Changed   bool // what is in the form is not what was approved or asked about
	Timed     bool // a day and a time are chosen

	Queue bool   // every chosen account has queue slots
	Next  string // when the next free ones are; empty: not known
	SetUp string // where slots are given to an account that has none; empty if the writer may not
}

// footWay is one thing that can become of the post.
type footWay struct{ do, label, icon, note string }

var saveKeys = templ.Attributes{"aria-keyshortcuts": "Control+S Meta+S"}

func (w footWay) tone() ui.Tone {
	if w.do == "save" {
		return ""
	}
	return ui.Primary
}

func (w footWay) keys() templ.Attributes {
	switch w.do {
	case "save":
		return saveKeys
	case "submit":
		return templ.Attributes{"aria-keyshortcuts": "Control+Enter Meta+Enter"}
	}
	return nil
}

// ways are what may become of the post now: what is most likely meant, and the rest.
func (f Foot) ways() (first footWay, others []footWay) {
	all := f.all()
	i := slices.IndexFunc(all, func(w footWay) bool { return w.do == f.First() })
	if i < 0 {
		return footWay{do: "save", label: "Save", icon: "save"}, all
	}
	return all[i], slices.Delete(slices.Clone(all), i, i+1)
}

// First is the intent of the one loud button: who has to ask asks; who need not
// schedules, for the time that was chosen or by the queue.
func (f Foot) First() string {
	switch {
	case f.submits() && (f.Stages || !f.Schedules):
		return "submit"
	case !f.Schedules || f.Reviewing:
		return "save"
	case f.Queue && !f.Timed:
		return "slot"
	}
	return "schedule"
}

func (f Foot) all() (list []footWay) {
	if f.submits() {
		list = append(list, footWay{"submit", f.submitWords(), "stamp", ""})
	}
	if f.Schedules {
		list = append(list, footWay{"schedule", f.scheduleWords(), "calendar-check", f.scheduleNote()})
	}
	if f.Queue && (f.Schedules || f.submits() && f.Stages) {
		list = append(list, footWay{"slot", "Next free slot", "list-end", f.slotNote()})
	}
	if f.Queue && f.Schedules {
		list = append(list, footWay{"first", "Put first", "list-start", "Takes the very next slot. What holds it moves up by one."})
	}
	if f.Schedules {
		list = append(list, footWay{"publish", "Publish now", "send", f.nowWords()})
	}
	return list
}

// submits says whether there is anything to submit: what is approved, or waits for
// its approval, was submitted before.
func (f Foot) submits() bool { return !f.Approved && !f.Reviewing }

// asks says whether somebody has to approve before anything goes out.
func (f Foot) asks() bool { return f.Stages && !f.Approved }

func (f Foot) submitWords() string {
	if f.Stages {
		return "Submit for approval"
	}
	return "Submit"
}

func (f Foot) scheduleWords() string {
	if f.OnItsWay {
		return "Reschedule"
	}
	return "Schedule"
}

func (f Foot) scheduleNote() string {
	switch {
	case !f.Timed:
		return "Choose a day and a time first."
	case f.asks():
		return "Asks for approval, and keeps the time for it."
	}
	return "For the day and time above."
}

func (f Foot) slotNote() string {
	switch {
	case f.Next == "":
		return ""
	case f.asks():
		return "Asks for approval, and holds " + f.Next + "."
	}
	return f.Next + "."
}

func (f Foot) nowWords() string {
	switch {
	case f.asks():
		return "Asks for approval; come back to publish it then."
	case f.Accounts == 0:
		return "It goes out at once to every account you choose."
	}
	return "It goes out at once to " + count(f.Accounts, "account", "accounts") + "."
}
