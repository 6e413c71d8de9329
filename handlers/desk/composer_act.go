package desk

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
)

// intents are what the buttons of the foot ask for.
var intents = []string{"save", "submit", "schedule", "slot", "first", "publish"}

// act saves the form and does what its button asks for. Everything that can be
// refused before anything is saved is; what is refused afterwards says that the
// post is saved. Nothing typed is lost either way.
func (e *editing) act(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if !slices.Contains(intents, e.form.do) {
		return errForm
	}
	if e.lost != nil || len(e.taken.refused) > 0 {
		return e.draw(w, r, e.status())
	}
	when, err := e.before(ctx)
	if err != nil {
		return e.refuse(w, r, err, "Nothing was saved yet")
	}
	began := e.form.baseStanding
	again, err := e.save(ctx)
	if err != nil {
		return e.refuse(w, r, err, "Nothing was saved yet")
	}
	if again && e.conflict == nil {
		if e.fulfilled(when) {
			return e.done(w, r, cameTwice)
		}
		if err := e.stopIfMovedOn(ctx, began); err != nil {
			return err
		}
	}
	if e.conflict != nil {
		return e.draw(w, r, http.StatusConflict)
	}
	if err := e.forget(ctx); err != nil {
		return err
	}
	title := "Saved, but not " + map[string]string{"save": "planned", "submit": "submitted", "schedule": "scheduled", "slot": "scheduled", "first": "put first", "publish": "published"}[e.form.do]
	said, err := e.carryOutOnce(ctx, when)
	if err != nil {
		if err := e.reread(ctx); err != nil {
			return err
		}
		return e.refuse(w, r, err, title)
	}
	return e.done(w, r, said+e.mergedWords())
}

// before refuses what can be known to be impossible before anything is saved,
// and returns the time in the form.
func (e *editing) before(ctx context.Context) (model.When, error) {
	if e.form.refused != nil {
		return model.When{}, e.form.refused
	}
	if e.form.id != 0 {
		if err := e.scope.Editable(e.page); err != nil {
			return model.When{}, err
		}
	}
	when, err := e.form.when.resolve()
	if err != nil && !e.queues() {
		return when, err
	}
	if e.form.do != "save" && len(e.form.content.Accounts) == 0 {
		return when, model.RefuseField("accounts", "Choose at least one account.")
	}
	if err := e.mayGoOut(when); err != nil {
		return when, err
	}
	if e.form.do == "publish" || e.queues() || e.form.do != "schedule" && !e.form.when.changed() {
		return when, nil
	}
	_, err = e.scope.CheckPost(ctx, e.form.id, e.toSave(), when)
	if no, ok := model.Refused(err); ok && !isAboutTime(no) {
		return when, nil // saving says it
	}
	return when, err
}

// mayGoOut refuses to schedule or publish for clients where the writer may not,
// without a time, or through accounts that are not connected.
func (e *editing) mayGoOut(when model.When) error {
	if e.queues() {
		return e.mayQueue()
	}
	if e.form.do != "schedule" && e.form.do != "publish" {
		return nil
	}
	for _, id := range e.form.content.Accounts {
		a, c, _ := e.account(id)
		if !e.scope.Actor.May(model.PostsSchedule, c.ID) {
			return model.Refuse(model.Forbidden, "Your role does not allow scheduling for "+c.Name+". Save the post, or submit it for approval.")
		}
		if a.State == "needs_reconnect" && c.Stages == 0 {
			return model.RefuseField("accounts", a.Handle+" has lost its connection. Reconnect the account, or take it out of the post.")
		}
	}
	if e.form.do == "schedule" && when.At.IsZero() {
		return model.RefuseField("when", "Choose a day and a time to schedule it for.")
	}
	return nil
}

// refuse shows the form again with the refusal, and everything typed in it.
func (e *editing) refuse(w http.ResponseWriter, r *http.Request, err error, title string) error {
	no, ok := model.Refused(err)
	if !ok {
		return err
	}
	if no.Field == "named" {
		e.askNames()
		return e.draw(w, r, http.StatusUnprocessableEntity)
	}
	e.explain(no, title)
	return e.draw(w, r, web.Status(err))
}

// askNames makes the step that confirms each client by name.
func (e *editing) askNames() {
	labels := map[string]string{"save": "Confirm and save", "submit": "Confirm and submit", "schedule": "Confirm and schedule", "slot": "Confirm, and take the next free slot", "first": "Confirm and put first", "publish": "Confirm and publish now"}
	n := &composer.Naming{Do: e.form.do, Label: labels[e.form.do]}
	for _, c := range e.clients {
		var accounts []string
		for _, a := range c.Accounts {
			if slices.Contains(e.form.content.Accounts, a.ID) {
				accounts = append(accounts, a.Handle+" ("+network.Label(a.Network)+")")
			}
		}
		if len(accounts) > 0 {
			n.Clients = append(n.Clients, composer.NamedClient{ID: c.ID, Name: c.Name, Accounts: strings.Join(accounts, ", "), Named: slices.Contains(e.form.named, c.ID)})
		}
	}
	e.naming = n
}

// save writes the form. again says that the very same form was saved before. A
// form that was overtaken makes a conflict to show.
func (e *editing) save(ctx context.Context) (again bool, err error) {
	post := e.toSave()
	var page db.PostPage
	if e.form.id == 0 {
		page, again, err = e.scope.CreatePost(ctx, e.form.key, post)
	} else {
		page, err = e.scope.SavePost(ctx, e.form.id, post)
		if no, ok := model.Refused(err); ok && no.Kind == model.Conflict {
			return e.overtaken(ctx, no, err)
		}
	}
	if err != nil {
		return false, err
	}
	e.adopt(page)
	if again && !e.same() {
		return false, e.clash(ctx, "This form was sent before and made this post. What you have now is different:")
	}
	return again, nil
}

// overtaken tells a form that lost against another from one that was sent twice.
func (e *editing) overtaken(ctx context.Context, no *model.Refusal, err error) (again bool, _ error) {
	page, failed := e.scope.Post(ctx, e.form.id)
	if failed != nil {
		return false, failed
	}
	if page.Post.Revision == e.form.seen {
		return false, err // not stale: refused for another reason
	}
	return e.reconcile(ctx, page, no.Say)
}

// reconcile brings a form together with the post that overtook it. What only one of
// the two changed is not asked about; if nothing is left to ask, it is saved, unless
// its approval or its delivery moved on, which saving would take back.
func (e *editing) reconcile(ctx context.Context, page db.PostPage, say string) (again bool, _ error) {
	began, notes, labels, stood := e.form.began, e.form.baseNotes, e.form.baseLabels, e.form.baseStanding
	e.adopt(page)
	if e.same() {
		return true, nil
	}
	e.form.baseNotes, e.form.baseLabels, e.form.open = notes, labels, nil
	if err := e.merge(ctx, began); err != nil {
		return false, err
	}
	if e.base == nil || len(e.contested()) > 0 || stood != progress(page) {
		return false, e.clash(ctx, say)
	}
	page, err := e.scope.SavePost(ctx, e.form.id, e.toSave())
	if no, ok := model.Refused(err); ok && no.Kind == model.Conflict {
		return false, e.clash(ctx, no.Say)
	}
	if err == nil {
		e.adopt(page)
	}
	return false, err
}

// adopt makes the stored post the one that the form is about.
func (e *editing) adopt(page db.PostPage) {
	e.page, e.form.id, e.form.seen, e.form.began = page, page.Post.ID, page.Post.Revision, page.Version.Number
	e.form.baseNotes, e.form.baseLabels, e.form.baseStanding = page.Post.Notes, e.labelNames(page.Post.Labels), progress(page)
	e.paths = e.desk.paths(e.scope, page.Post.ID)
}

// same says whether the form holds what is stored.
func (e *editing) same() bool {
	post := e.page.Post
	return e.checked.Content.Hash() == [32]byte(e.page.Version.Hash) && post.Notes == strings.TrimSpace(e.form.notes) && slices.Equal(post.Labels, e.form.labels)
}

// reread reads the post again, after part of an intent was carried out.
func (e *editing) reread(ctx context.Context) error {
	page, err := e.scope.Post(ctx, e.form.id)
	if err == nil {
		e.adopt(page)
	}
	return err
}

// carryOut does what was asked for beyond saving, and says what became of it.
func (e *editing) carryOut(ctx context.Context, when model.When) (string, error) {
	if e.form.do == "save" {
		return e.saved(ctx, when)
	}
	asked := e.page.Post.Review == "in_review"
	if !e.approved() {
		if err := e.submit(ctx, when); err != nil {
			return "", err
		}
	}
	if !e.approved() {
		return e.waiting(asked, when), nil
	}
	if e.queues() {
		if err := e.takeSlots(ctx); err != nil {
			return "", err
		}
		return e.queuedWords(), nil
	}
	id, seen := e.page.Post.ID, e.page.Post.Revision
	switch e.form.do {
	case "schedule":
		if _, differs := whenOf(e.page.Targets); differs && !e.form.when.changed() {
			page, err := e.scope.SchedulePlanned(ctx, id, seen)
			return "Scheduled, each account for its own time, on " + accountsWord(page) + ".", err
		}
		page, err := e.scope.SchedulePost(ctx, id, seen, when)
		if err != nil {
			return "", err
		}
		return "Scheduled for " + dayAndTime(when) + ", on " + accountsWord(page) + ".", nil
	case "publish":
		page, err := e.scope.PublishNow(ctx, id, seen)
		if err != nil {
			return "", err
		}
		return "On its way to " + accountsWord(page) + " now.", nil
	}
	return "Approved: " + "nobody else has to agree. It can be scheduled or published.", nil
}

func accountsWord(page db.PostPage) string {
	n := 0
	for _, t := range page.Targets {
		if t.State.OnItsWay() {
			n++
		}
	}
	if n == 1 {
		return "one account"
	}
	return fmt.Sprintf("%d accounts", n)
}

func (e *editing) approved() bool {
	p := e.page.Post
	return p.ApprovedVersionID != nil && *p.ApprovedVersionID == p.CurrentVersionID
}

// saved keeps the planned time, and says what the post still needs.
func (e *editing) saved(ctx context.Context, when model.When) (string, error) {
	if e.form.when.changed() {
		page, err := e.scope.PlanPost(ctx, e.page.Post.ID, e.page.Post.Revision, when)
		if err != nil {
			return "", err
		}
		e.adopt(page)
		for _, t := range page.Targets {
			if t.State == model.Scheduled {
				return "Saved. What is scheduled keeps its time; press Reschedule to move it.", nil
			}
		}
	}
	if e.page.Post.State == model.PostInvalid {
		return "Saved. Something in it needs fixing before it can go out.", nil
	}
	return "Saved.", nil
}

// submit keeps the time with the post, where its approvers see it, and asks for
// approval unless it was asked for already.
func (e *editing) submit(ctx context.Context, when model.When) error {
	if err := e.keepTime(ctx, when); err != nil {
		return err
	}
	if e.page.Post.Review == "in_review" {
		return nil
	}
	page, err := e.scope.SubmitPost(ctx, db.Submission{Post: e.page.Post.ID, Seen: e.page.Post.Revision})
	if err == nil {
		e.adopt(page)
	}
	return err
}

// keepTime writes the time in the form, or the next slot, into what is not approved.
func (e *editing) keepTime(ctx context.Context, when model.When) error {
	if e.queues() {
		return e.takeSlots(ctx)
	}
	if !e.form.when.changed() {
		return nil
	}
	page, err := e.scope.PlanPost(ctx, e.page.Post.ID, e.page.Post.Revision, when)
	if err == nil {
		e.adopt(page)
	}
	return err
}

// waiting says what was done with a post that somebody has to approve first, and what
// remains to be done. asked says that its approvers had been asked before.
func (e *editing) waiting(asked bool, when model.When) string {
	var names []string
	for _, c := range e.clients {
		if c.Stages > 0 && slices.Contains(e.chosenClients(), c.ID) {
			names = append(names, c.Name)
		}
	}
	say := "Sent for approval by " + listed(names) + "."
	if asked {
		say = "Saved. It still waits for approval by " + listed(names) + "."
	}
	switch {
	case e.queues():
		say += " " + upper(e.slotsTaken()) + " is held for it and not scheduled yet: somebody has to press Schedule once it is approved."
	case e.form.do == "publish":
		say += " Nothing is published before; come back and publish it once it is approved."
	case !when.At.IsZero():
		say += " It is planned for " + dayAndTime(when) + " and not scheduled yet: somebody has to press Schedule once it is approved. You get a mail then, and another if nobody does in time."
	}
	return say
}
