package desk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/target"
	"herald/views/ui"
)

// step is an entry of the timeline with what it is sorted by.
type step struct {
	at    time.Time
	kind  int // of two at one instant, what leads to the other goes first
	entry target.Entry
}

// targetTrail is everything that happened to a target, in order; what came again
// and again stands once.
func targetTrail(e db.Evidence) []target.Entry {
	zone := targetZone(e.Target)
	steps := []step{{e.Frame.WrittenAt, 0, target.Entry{State: "draft", Title: fmt.Sprintf("Version %d written", e.Frame.Number), Who: e.Frame.Writer, Say: "Content " + shortHash(e.Frame.Hash)}}}
	for _, r := range e.Requests {
		steps = append(steps, requestSteps(r)...)
	}
	for _, h := range e.Holds {
		steps = append(steps, holdSteps(h)...)
	}
	for _, m := range e.Moves {
		steps = append(steps, step{m.At, 3, target.Entry{State: shownMove(m.To), Title: moveTitle(m), Who: m.Name, Say: target.ReasonWords(m.To, m.Reason)}})
	}
	for _, r := range e.Reminders {
		steps = append(steps, reminderSteps(r, zone)...)
	}
	for _, a := range e.Attempts {
		steps = append(steps, step{a.BeganAt, 4, attemptEntry(a)})
	}
	for _, f := range e.Findings {
		steps = append(steps, step{f.At, 2, findingEntry(f, e.Target)})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.kind, b.kind)) })
	return entries(fold(steps, zone), zone)
}

// holdSteps tell who held the post and who let it go.
func holdSteps(h model.Hold) []step {
	steps := []step{{h.At, 2, target.Entry{State: "held", Title: "Held", Who: h.Name, Say: h.Why}}}
	if h.EndedAt != nil {
		steps = append(steps, step{*h.EndedAt, 2, target.Entry{State: "approved", Title: "Let go", Who: h.EndedName}})
	}
	return steps
}

// handedWords are what Herald reminds itself of, in words.
var handedWords = map[string]string{"publish": "Handed to a worker", "reconcile": "Handed to a worker, to look", "follow_up": "Handed to a worker, for what follows"}

// reminderSteps tell when something was due and when a worker got it. The index keeps
// the last time of each task.
func reminderSteps(r db.Reminder, zone string) (steps []step) {
	if r.EnqueuedAt == nil {
		return nil
	}
	due := exactTime(r.DueAt, zone).Words
	return []step{{*r.EnqueuedAt, 3, target.Entry{State: "queued", Title: handedWords[r.Task], Say: "It was due " + due + "; the worker holds it until then."}}}
}

// exactTime is clientTime to the second, without the reader's own beside it.
func exactTime(at time.Time, zone string) ui.TimeProps {
	p := clientTime(at, zone)
	if location, err := model.LoadZone(zone); err == nil {
		p.Words = at.In(location).Format("2 Jan 2006, 15:04:05")
	}
	p.Zone, p.IANA = "", ""
	return p
}

func shownMove(s model.State) string {
	if s == model.Ready {
		return "approved"
	}
	return string(s)
}

func moveTitle(m db.TargetMove) string { return ui.StatusWord(shownMove(m.To)) }

func shortHash(hash string) string { return hash[:min(12, len(hash))] }

func requestSteps(r model.ApprovalRequest) []step {
	steps := []step{{r.AskedAt, 1, target.Entry{State: "in_review", Title: "Approval asked for", Who: r.AskedBy, Say: askedWords(r), Lines: []string{"About content " + shortHash(r.Hash)}}}}
	for _, d := range r.Decisions {
		entry := target.Entry{State: verdictState(d.Verdict), Title: verdictWords(d.Verdict), Who: d.Person.Name, Say: d.Words, Lines: []string{"About content " + shortHash(r.Hash)}}
		if d.Override {
			entry.Lines = append(entry.Lines, "Decided without being among the people of the stage.")
		}
		steps = append(steps, step{d.At, 2, entry})
	}
	if r.State == model.RequestSuperseded && r.ClosedAt != nil {
		steps = append(steps, step{*r.ClosedAt, 2, target.Entry{State: "superseded", Title: "Request superseded", Say: "The content changed, so what was asked about is no longer what would be sent."}})
	}
	return steps
}

func askedWords(r model.ApprovalRequest) string {
	var stages []string
	for _, s := range r.Stages {
		stages = append(stages, s.Name)
	}
	return r.Client + ": " + strings.Join(stages, ", then ")
}

func verdictState(v model.Verdict) string {
	switch v {
	case model.Approve:
		return "approved"
	case model.RequestChanges:
		return "changes_requested"
	}
	return "rejected"
}

func verdictWords(v model.Verdict) string { return ui.StatusWord(verdictState(v)) }

func attemptEntry(a db.Attempt) target.Entry {
	entry := target.Entry{State: a.State, Title: fmt.Sprintf("Attempt %d: %s", a.AttemptNo, strings.ToLower(ui.StatusWord(a.State))), Say: a.Say, Calls: callRows(a.Calls)}
	var facts []string
	if a.FlownAt != nil {
		facts = append(facts, "the call that publishes began after "+tookWords(a.FlownAt.Sub(a.BeganAt)))
	}
	if a.EndedAt != nil {
		facts = append(facts, "ended after "+tookWords(a.EndedAt.Sub(a.BeganAt)))
	}
	if a.Status != 0 {
		facts = append(facts, fmt.Sprintf("HTTP %d", a.Status))
	}
	if a.Code != "" {
		facts = append(facts, "code "+a.Code)
	}
	if a.RequestID != "" {
		facts = append(facts, "request id "+a.RequestID)
	}
	if len(facts) > 0 {
		entry.Lines = []string{strings.ToUpper(facts[0][:1]) + strings.Join(facts, " · ")[1:]}
	}
	return entry
}

func findingEntry(f db.Finding, t db.Target) target.Entry {
	entry := target.Entry{State: f.Verdict, Title: "Looked on " + network.Label(t.Network) + ": " + strings.ToLower(ui.StatusWord(f.Verdict)), Who: f.Name, Say: f.Say, Calls: callRows(f.Calls)}
	if f.Verdict == "absent" && f.Name == "" && len(f.Calls) == 0 {
		entry.Title = "Safe to send again" // nobody was asked: a receiver that knows a repeated delivery makes it so
	}
	if f.ExternalID != "" {
		entry.Lines = []string{f.ExternalID}
	}
	return entry
}

// callSteps are what people call the steps of a publish.
var callSteps = map[string]string{"prepare": "Prepare", "commit": "Publish", "find": "Look up", "follow_up": "Follow up", "token": "Sign-in", "check": "Check"}

func callRows(calls []db.Call) []target.Call {
	var rows []target.Call
	for _, c := range calls {
		row := target.Call{
			Step: cmp.Or(callSteps[c.Step], c.Step), Request: c.Method + " " + c.Host + c.Path, Answer: "no answer", Bad: c.Status < 200 || c.Status > 299,
			RequestID: c.RequestID, Took: tookWords(c.Took), Began: c.Began.UTC().Format("15:04:05.000 UTC"), Error: c.Error,
		}
		if c.Status != 0 {
			row.Answer = fmt.Sprint(c.Status)
		}
		rows = append(rows, row)
	}
	return rows
}

// tookWords is a duration as people read it.
func tookWords(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
