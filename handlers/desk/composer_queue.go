package desk

import (
	"context"
	"strings"

	"herald/db/model"
)

// queues says whether the form asks for a slot of the queue.
func (e *editing) queues() bool { return e.form.do == "slot" || e.form.do == "first" }

// mayQueue refuses, before anything is saved, what the queue would refuse after it:
// accounts without slots or connection, and clients for which the writer may not
// schedule. Whoever has to ask for approval only holds a slot.
func (e *editing) mayQueue() error {
	for _, id := range e.form.content.Accounts {
		a, c, _ := e.account(id)
		asks := c.Stages > 0 && !e.foot().Approved
		switch {
		case !a.Slots:
			return model.RefuseField("when", a.Handle+" has no queue slots. Give it some on the account's page, or choose a time.")
		case !e.scope.Actor.May(model.PostsSchedule, c.ID) && (!asks || e.form.do == "first"):
			return model.Refuse(model.Forbidden, "Your role does not allow scheduling for "+c.Name+". Save the post, or submit it for approval.")
		case a.State == "needs_reconnect" && !asks:
			return model.RefuseField("accounts", a.Handle+" has lost its connection. Reconnect the account, or take it out of the post.")
		}
	}
	return nil
}

func (e *editing) takeSlots(ctx context.Context) error {
	take := e.scope.QueuePost
	if e.form.do == "first" {
		take = e.scope.QueuePostFirst
	}
	page, err := take(ctx, e.page.Post.ID, e.page.Post.Revision)
	if err == nil {
		e.adopt(page)
	}
	return err
}

// slotsTaken says in the middle of a sentence which slots the post has.
func (e *editing) slotsTaken() string {
	var slots []model.When
	for _, t := range e.page.Targets {
		if t.DueAt == nil || t.Zone == nil || t.State.Ended() {
			continue
		}
		if when, err := model.At(*t.DueAt, *t.Zone); err == nil {
			slots = append(slots, when)
		}
	}
	return slotWords(slots)
}

func (e *editing) queuedWords() string {
	if e.form.do == "first" {
		return "Put first, on " + accountsWord(e.page) + ": " + e.slotsTaken() + "."
	}
	return "In the queue, on " + accountsWord(e.page) + ": " + e.slotsTaken() + "."
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
