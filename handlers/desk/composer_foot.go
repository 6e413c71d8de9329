package desk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/db/model"
	"herald/views/composer"
)

// asked says whether somebody was asked to approve the post as it is stored, or
// has approved it.
func (e *editing) asked() bool { return e.approved() || e.page.Post.Review == "in_review" }

// foot is the row of intents. What was approved, or is waited for, is what is
// stored: a form that says something else is asked about again.
func (e *editing) foot() composer.Foot {
	f := composer.Foot{Accounts: len(e.form.content.Accounts), Schedules: true}
	f.Changed = e.asked() && e.checked.Content.Hash() != [32]byte(e.page.Version.Hash)
	f.Approved, f.Reviewing = e.approved() && !f.Changed, e.page.Post.Review == "in_review" && !f.Changed
	for _, t := range e.page.Targets {
		f.OnItsWay = f.OnItsWay || t.State == model.Scheduled || t.State == model.RetryScheduled
	}
	var names []string
	for _, c := range e.clients {
		if !slices.Contains(e.chosenClients(), c.ID) {
			continue
		}
		f.Schedules = f.Schedules && e.scope.Actor.May(model.PostsSchedule, c.ID)
		if c.Stages > 0 {
			names = append(names, c.Name)
		}
	}
	if len(e.form.content.Accounts) == 0 {
		f.Schedules = e.scope.Actor.MayAnywhere(model.PostsSchedule)
	}
	f.Stages, f.Timed = len(names) > 0, e.form.when.date != "" && e.form.when.clock != ""
	f.Approval = footWords(f, names)
	e.footQueue(&f)
	return f
}

// footQueue says whether the chosen accounts have queues, and what they would give.
func (e *editing) footQueue(f *composer.Foot) {
	f.Queue = f.Accounts > 0
	for _, id := range e.form.content.Accounts {
		if a, _, _ := e.account(id); !a.Slots {
			f.Queue = false
			if f.Schedules && f.SetUp == "" {
				f.SetUp = at(e.scope, fmt.Sprintf("/accounts/%d/slots", id))
			}
		}
	}
	f.Next = slotWords(slices.Collect(maps.Values(e.next)))
}

// slotWords says in the middle of a sentence when slots are: the first, and that
// each account has its own where they differ.
func slotWords(slots []model.When) string {
	if len(slots) == 0 {
		return ""
	}
	first := slices.MinFunc(slots, func(a, b model.When) int { return a.At.Compare(b.At) })
	if slices.ContainsFunc(slots, func(w model.When) bool { return !w.At.Equal(first.At) }) {
		return "each account's own slot, the first on " + dayAndTime(first)
	}
	return dayAndTime(first)
}

// readNext reads which slots the queue would give now.
func (e *editing) readNext(ctx context.Context) (err error) {
	e.next, err = e.scope.NextSlots(ctx, e.form.id, e.form.content.Accounts)
	return err
}

func footWords(f composer.Foot, names []string) string {
	switch {
	case f.Accounts == 0:
		return "Choose accounts; until then the post can only be saved."
	case f.Approved:
		return "Approved."
	case f.Reviewing:
		return "Waiting for approval by " + listed(names) + "."
	case f.Changed && f.Stages:
		return "Changed since approval was asked for; " + listed(names) + " approves this before it goes out."
	case f.Changed:
		return "Changed since it was approved."
	case f.Stages:
		return listed(names) + " approves before it goes out."
	}
	return "These accounts need no approval."
}

// listed joins names as in a sentence: A, B and C.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
