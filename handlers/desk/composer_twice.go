package desk

import (
	"context"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
)

const cameTwice = "This form came twice. It was carried out once."

// rounds bound how often a form makes way for its like.
const rounds = 5

// carryOutOnce does what was asked for, also while the same form is at work beside
// it, as after a double click. What the other was quicker with is neither done again
// nor called a failure, and what it has not come to is done here.
func (e *editing) carryOutOnce(ctx context.Context, when model.When) (said string, err error) {
	for range rounds {
		if said, err = e.carryOut(ctx, when); !isConflict(err) {
			return said, err
		}
		seen, began := e.page.Post.Revision, progress(e.page)
		if failed := e.reread(ctx); failed != nil {
			return "", failed
		}
		switch {
		case e.page.Post.Revision == seen || !e.same():
			return "", err
		case e.form.do != "save" && e.fulfilled(when):
			return cameTwice, nil
		case e.movedOn(began) != "":
			return "", err
		}
	}
	return "", err
}

func isConflict(err error) bool {
	no, ok := model.Refused(err)
	return ok && no.Kind == model.Conflict
}

// stopIfMovedOn makes a conflict to show of what others did meanwhile.
func (e *editing) stopIfMovedOn(ctx context.Context, began string) error {
	say := e.movedOn(began)
	if say == "" {
		return nil
	}
	return e.clash(ctx, say)
}

// progress is how far a post has come, with its approvers and out into the world.
func progress(page db.PostPage) string {
	if onItsWay(page) {
		return page.Post.Review + ", on its way"
	}
	return page.Post.Review
}

func onItsWay(page db.PostPage) bool {
	return slices.ContainsFunc(page.Targets, func(t db.Target) bool { return t.State.OnItsWay() })
}

// movedOn says what others did meanwhile with a post whose words are the same, that
// what the form asks for would take back. began is how the post stood for the form.
func (e *editing) movedOn(began string) string {
	switch {
	case e.form.do == "save":
		return ""
	case e.page.Post.Review == "changes_requested" && began != progress(e.page):
		return "This post changed while you had it open: it is back with changes requested. Nothing was done; press the button again if you still want to."
	case e.form.do != "submit" && onItsWay(e.page):
		return "This post changed while you had it open: it is scheduled otherwise by now. Nothing was done; press the button again if you still want to."
	}
	return ""
}

// fulfilled says whether what a form that came twice asks for has happened.
func (e *editing) fulfilled(when model.When) bool {
	review := e.page.Post.Review
	switch e.form.do {
	case "save":
		return true
	case "submit":
		return review == "in_review" || review == "approved"
	}
	if review == "in_review" {
		return true
	}
	_, apart := whenOf(e.page.Targets)
	apart = apart && !e.form.when.changed() // each was scheduled for its own time
	for _, t := range e.page.Targets {
		switch {
		case t.State == model.Ready || t.State == model.Draft || t.State == model.Invalid:
			return false
		case e.form.do == "schedule" && !apart && (t.DueAt == nil || !t.DueAt.Equal(when.At)):
			return false
		case e.form.do == "publish" && t.State == model.Scheduled && (t.DueAt == nil || t.DueAt.After(e.desk.Now().Add(time.Minute))):
			return false
		}
	}
	return len(e.page.Targets) > 0
}
