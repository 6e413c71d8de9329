package desk

import (
	"fmt"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/views/target"
	"herald/views/ui"
)

// targetCards are the facts beside the timeline: when, who said yes, and how it
// is on its way.
func targetCards(e db.Evidence) []target.FactCard {
	return []target.FactCard{scheduleCard(e.Target), approvalCard(e), deliveryCard(e)}
}

func scheduleCard(t db.Target) target.FactCard {
	c := target.FactCard{Title: "Schedule"}
	if t.DueAt == nil {
		c.Note = "No time is planned."
		return c
	}
	zone := targetZone(t)
	c.Facts = []ui.Fact{{Name: "Planned", Value: ui.Time(clientTime(*t.DueAt, zone))}}
	if t.LocalAt != nil && t.Zone != nil {
		meant := t.LocalAt.Format("2006-01-02 15:04") + " in " + *t.Zone
		switch {
		case t.Occurrence != nil && *t.Occurrence == string(model.Earlier):
			meant += ", the first time the clocks show it"
		case t.Occurrence != nil && *t.Occurrence == string(model.Later):
			meant += ", the second time the clocks show it"
		}
		c.Facts = append(c.Facts, ui.Fact{Name: "Meant as", Value: ui.Text(meant)})
	}
	c.Facts = append(c.Facts, ui.Fact{Name: "Instant", Value: ui.Text(t.DueAt.UTC().Format("2006-01-02 15:04:05 UTC"))})
	if t.NextAt != nil && !t.NextAt.Equal(*t.DueAt) && !t.Held() {
		c.Facts = append(c.Facts, ui.Fact{Name: "Next step", Value: ui.Time(exactTime(*t.NextAt, zone))})
	}
	if t.PublishedAt != nil {
		c.Facts = append(c.Facts, ui.Fact{Name: "Published", Value: ui.Text(lateWords(t))})
	}
	return c
}

// lateWords says how long after its time a target was published.
func lateWords(t db.Target) string {
	late := t.PublishedAt.Sub(*t.DueAt)
	if late < 0 {
		return "before its time"
	}
	return tookWords(late) + " after its time"
}

func approvalCard(e db.Evidence) target.FactCard {
	f := e.Frame
	c := target.FactCard{Title: "Approval", Facts: []ui.Fact{
		{Name: "Version", Value: ui.Text(fmt.Sprintf("%d, by %s", f.Number, f.Writer))},
		{Name: "Content", Value: ui.Text(shortHash(f.Hash))},
	}}
	for _, r := range e.Requests {
		for _, d := range r.Decisions {
			c.Facts = append(c.Facts, ui.Fact{Name: verdictWords(d.Verdict), Value: ui.Text(d.Person.Name)})
		}
		if owing := r.Owing(); len(owing) > 0 {
			c.Facts = append(c.Facts, ui.Fact{Name: "Waits for", Value: ui.Text(peopleWords(owing))})
		}
	}
	switch {
	case f.Approved && len(e.Requests) == 0:
		c.Note = "Approved. " + e.Target.Client + " has no approval stages, so submitting was enough."
	case f.Approved:
		c.Note = "This version is approved."
	case !f.Current:
		c.Note = "The post has a newer version."
	default:
		c.Note = "This version is not approved."
	}
	return c
}

func peopleWords(people []model.AskedPerson) string {
	var names []string
	for _, p := range people {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// reminderTasks and reminderStates are what people call the rows of the dispatch
// index.
var reminderTasks = map[string]string{"publish": "Publish", "reconcile": "Look up", "follow_up": "Follow up"}

var reminderStates = map[string]string{"pending": "Waits for its time", "enqueued": "With a worker", "done": "Done", "cancelled": "Taken back"}

func deliveryCard(e db.Evidence) target.FactCard {
	c := target.FactCard{Title: "Delivery"}
	zone := targetZone(e.Target)
	for _, r := range e.Reminders {
		lines := []string{reminderStates[r.Status], "Due " + exactTime(r.DueAt, zone).Words}
		if r.EnqueuedAt != nil {
			lines = append(lines, "Handed over "+exactTime(*r.EnqueuedAt, zone).Words)
		}
		if r.Status == "done" {
			lines = append(lines, "Done "+exactTime(r.UpdatedAt, zone).Words)
		}
		c.Facts = append(c.Facts, ui.Fact{Name: reminderTasks[r.Task], Value: target.Lines(lines)})
	}
	if len(c.Facts) == 0 {
		c.Note = "Nothing is due."
	}
	c.Facts = append(c.Facts, ui.Fact{Name: "Attempts", Value: ui.Text(fmt.Sprint(len(e.Attempts)))})
	if e.Frame.AccountState != "active" {
		c.Facts = append(c.Facts, ui.Fact{Name: "Account", Value: ui.Status(e.Frame.AccountState)})
	}
	if e.Frame.AccountError != "" {
		c.Facts = append(c.Facts, ui.Fact{Name: "Account said", Value: ui.Text(e.Frame.AccountError)})
	}
	return c
}
