package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/approvals"
)

// showApprovals answers GET /approvals with one box of the inbox.
func (d *Desk) showApprovals(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	box := db.Box(r.URL.Query().Get("box"))
	if box != db.BoxOthers && box != db.BoxChanges && box != db.BoxOverdue {
		box = db.BoxMine
	}
	n, _ := web.Count(r.URL.Query().Get("page")) // what is no number is the first page
	n = max(n, 0)
	l := lookup{path: at(scope, "/approvals"), bare: allClients, values: url.Values{}}
	var of []model.ClientID
	if client := web.ID(r.URL.Query().Get("client")); client > 0 {
		l.values.Set("client", id(client))
		of = append(of, model.ClientID(client))
	}
	in, err := scope.Approvals(r.Context(), box, n, of...)
	if err != nil {
		return err
	}
	p := approvals.InboxProps{Path: func(box string) string { return l.with("box", box) }, Box: string(box), Mine: in.Mine, Others: in.Others, Changes: in.Changes, Overdue: in.Overdue}
	for _, one := range in.Requests {
		p.Items = append(p.Items, d.approvalItem(scope, one))
	}
	if err := d.approvalCards(r.Context(), scope, p.Items); err != nil {
		return err
	}
	approvals.Chain(p.Items)
	if n > 0 {
		p.Previous = l.with("box", string(box), "page", id(int64(n-1)))
	}
	if in.More {
		p.Next = l.with("box", string(box), "page", id(int64(n+1)))
	}
	p.Words = fmt.Sprintf("Page %d", n+1)
	return d.show(w, r, scope, http.StatusOK, page{title: "Approvals", nav: "approvals", clients: true, live: true, styles: []string{"css/preview.css"}, modules: []string{"js/mention-field.js"}}, approvals.Inbox(p))
}

// showApproval answers GET /approvals/{request}.
func (d *Desk) showApproval(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawApproval(w, r, scope, http.StatusOK, func(*approvals.Item) {})
}

// drawApproval shows one request as it now is, with what with adds to it.
func (d *Desk) drawApproval(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*approvals.Item)) error {
	one, err := scope.Approval(r.Context(), pathRequest(r))
	if err != nil {
		return err
	}
	items := []approvals.Item{d.approvalItem(scope, one)}
	if err := d.approvalCards(r.Context(), scope, items); err != nil {
		return err
	}
	with(&items[0])
	return d.show(w, r, scope, status, page{title: "Approval", nav: "approvals", styles: []string{"css/preview.css"}, modules: []string{"js/mention-field.js"}}, approvals.Single(items[0], at(scope, "/approvals")))
}

func pathRequest(r *http.Request) model.RequestID {
	return model.RequestID(web.ID(r.PathValue("request")))
}

// createDecision answers POST /approvals/{request}/decisions. A decision that
// comes too late is answered with what changed.
func (d *Desk) createDecision(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	stage, _ := web.Count(r.PostFormValue("stage")) // what is no number is no stage
	form := db.Decision{Verdict: model.Verdict(r.PostFormValue("verdict")), Words: r.PostFormValue("words"), Hash: r.PostFormValue("hash"), Stage: stage}
	out, err := scope.Decide(r.Context(), pathRequest(r), form)
	no, refused := model.Refused(err)
	changed, late := errors.AsType[*db.Changed](err)
	switch {
	case late:
		return d.drawApproval(w, r, scope, web.Status(err), func(i *approvals.Item) {
			keepWords(i, form.Words, "")
			i.Changed = approvals.Differences(changed.Before, changed.After)
			if changed.Newer != 0 {
				i.NewerAt = at(scope, fmt.Sprintf("/approvals/%d", changed.Newer))
			}
		})
	case refused && (no.Field != "" || no.Kind != model.NotFound && strings.TrimSpace(form.Words) != ""):
		return d.drawApproval(w, r, scope, web.Status(err), func(i *approvals.Item) { keepWords(i, form.Words, no.Say) })
	case err != nil:
		return err
	}
	return d.say(w, r, at(scope, "/approvals"), decidedWords(out, form.Verdict))
}

// keepWords puts what was written back where it can be sent from: beside the
// decision, or, where that is not to be made any more, into a comment.
func keepWords(i *approvals.Item, words, say string) {
	if i.Decide || strings.TrimSpace(words) == "" {
		i.Words, i.Problem = words, say
		return
	}
	i.Comment, i.Unsaid = words, strings.TrimSpace(say+" Your words were not recorded. Send them as a comment, if they should still be read.")
}

func decidedWords(out db.Decided, v model.Verdict) string {
	switch {
	case out.Repeated:
		return "You had decided on this already; nothing was added."
	case v == model.RequestChanges:
		return "Changes requested. The writer gets your words by e-mail."
	case v == model.Reject:
		return "Rejected. The writer gets an e-mail."
	case out.Auto.All():
		return "Approved, and scheduled for the time it was planned for."
	case len(out.Auto.Refused) > 0:
		return "Approved, but not scheduled: " + out.Auto.Refused[0] + " The writer gets an e-mail."
	case out.Approved:
		return "Approved. The post can be scheduled now."
	case out.State == model.RequestApproved:
		return "Approved. The post still waits for another client."
	}
	return "Approved. The post now waits for the others who are asked."
}

// createApprovalComment answers POST /approvals/{request}/comments.
func (d *Desk) createApprovalComment(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	one, err := scope.Approval(r.Context(), pathRequest(r))
	if err != nil {
		return err
	}
	parts, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer parts.close()
	form := db.CommentForm{Key: web.SentKey(r), Post: one.PostID, Visibility: model.Visibility(parts.Get("visibility")), Body: parts.Get("body")}
	if form.Visibility == model.ClientVisible {
		form.Client = one.ClientID
	}
	var added model.Comment
	if form.Key == "" {
		err = errNoKey
	} else if form.Files, err = d.takeCommentFiles(r.Context(), scope, one.ClientID, parts); err == nil {
		added, err = scope.Comment(r.Context(), form)
	}
	if no, ok := model.Refused(err); ok && no.Kind != model.NotFound {
		return d.drawApproval(w, r, scope, web.Status(err), func(i *approvals.Item) {
			i.Comment, i.Unsaid, i.ForClient = form.Body, no.Say, form.Visibility == model.ClientVisible
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, fmt.Sprintf("/approvals/%d", one.ID)), commentedWords(added))
}

// approverBytes is how much a client's approver sends along with one comment.
const approverBytes = 60 << 20

// ReadComment reads a comment that somebody with a review link sends, and returns how its
// files are taken. They are taken as members' are, into the library of their client.
func (d *Desk) ReadComment(w http.ResponseWriter, r *http.Request) (take func(context.Context, *db.Scope, model.ClientID) ([]model.MediaID, error), done func(), err error) {
	r.Body = http.MaxBytesReader(w, r.Body, approverBytes)
	p, err := d.readParts(w, r)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, shelf *db.Scope, client model.ClientID) ([]model.MediaID, error) {
		return d.takeCommentFiles(ctx, shelf, client, p)
	}, p.close, nil
}

// takeCommentFiles takes the files of a comment into the client's library, as any others
// are taken. Either all are taken or the comment waits: its words mean all of them.
func (d *Desk) takeCommentFiles(ctx context.Context, scope *db.Scope, client model.ClientID, p *parts) (list []model.MediaID, err error) {
	if len(p.files) == 0 {
		return nil, nil
	}
	if len(p.files) > db.CommentFilesMost {
		return nil, model.RefuseField("body", fmt.Sprintf("A comment has at most %d files. Choose fewer.", db.CommentFilesMost))
	}
	if strings.TrimSpace(p.Get("body")) == "" {
		return nil, model.RefuseField("body", "Write something first, then choose the files again.")
	}
	t, err := d.takeFiles(ctx, scope, client, p.files)
	if err == nil {
		err = d.await(ctx, scope, &t)
	}
	if err == nil && len(t.refused) > 0 {
		err = model.RefuseField("body", strings.Join(t.refused, " "))
	}
	for _, a := range t.assets {
		list = append(list, a.ID)
	}
	return list, err
}

// showNames answers GET /approvals/{request}/names with whom a comment can name.
func (d *Desk) showNames(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := scope.Mentionable(r.Context(), pathRequest(r))
	if err != nil {
		return err
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return web.Render(w, r, http.StatusOK, approvals.Names(pathRequest(r), names))
}

func commentedWords(c model.Comment) string {
	if len(c.Untold) == 0 {
		return "Comment added."
	}
	return "Comment added. " + strings.Join(c.Untold, " and ") + " may not see this post, so no e-mail was sent there."
}

var errNoKey = model.RefuseField("body", "This form was not whole. What you wrote is still here: send it once more.")

// createAdoption answers POST /suggestions/{suggestion}/adoption: the suggested text
// becomes the next version.
func (d *Desk) createAdoption(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	page, err := scope.TakeSuggestion(r.Context(), pathSuggestion(r))
	if err != nil {
		return err
	}
	return d.say(w, r, postPath(scope, page.Post.ID), "Taken over as a new version. Look at it once more, then submit it for approval.")
}

// createSuggestionRefusal answers POST /suggestions/{suggestion}/refusal.
func (d *Desk) createSuggestionRefusal(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	request, err := scope.DeclineSuggestion(r.Context(), pathSuggestion(r))
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/approvals/"+id(request)), "The text stays as it is. A comment tells the client why, if you write one.")
}

func pathSuggestion(r *http.Request) model.SuggestionID {
	return model.SuggestionID(web.ID(r.PathValue("suggestion")))
}

// createLinkRevocation answers POST /review-links/{link}/revocation.
func (d *Desk) createLinkRevocation(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RevokeLink(r.Context(), pathLink(r)); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/approvals?box=others"), "The link was taken back. It no longer opens anything.")
}

// createLinkSuccessor answers POST /review-links/{link}/successor.
func (d *Desk) createLinkSuccessor(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.SendFreshLink(r.Context(), pathLink(r), web.SentKey(r)); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/approvals?box=others"), "A fresh link is on its way; the old one no longer works.")
}

func pathLink(r *http.Request) model.LinkID {
	return model.LinkID(web.ID(r.PathValue("link")))
}

func (d *Desk) approvalItem(scope *db.Scope, one db.InboxRequest) approvals.Item {
	item := approvals.Item{Request: one.ApprovalRequest, Key: web.FormKey(), Path: at(scope, fmt.Sprintf("/approvals/%d", one.ID)), PostPath: at(scope, fmt.Sprintf("/posts/%d", one.PostID)),
		Decide: one.MayDecide || one.Override, Override: one.Override,
		Media: func(id model.MediaID, file string) string { return d.mediaURL(scope, id, file) }}
	for _, s := range one.Suggestions {
		shown := approvals.Suggestion{Suggestion: s}
		if s.State == "open" && s.VersionID == one.VersionID && one.State == model.RequestOpen && scope.Actor.May(model.PostsWrite, one.ClientID) {
			shown.Path = at(scope, "/suggestions/"+id(s.ID))
		}
		item.Suggestions = append(item.Suggestions, shown)
	}
	if one.MayLink {
		for _, l := range one.Links {
			item.Links = append(item.Links, d.approvalLink(scope, one, l))
		}
	}
	return item
}

// approvalCards gives the requests of a page what is known of the posts' links: what
// nobody has read stays an address.
func (d *Desk) approvalCards(ctx context.Context, scope *db.Scope, items []approvals.Item) error {
	var addresses []string
	for _, i := range items {
		addresses = append(addresses, approvals.Linked(i.Request.Previews)...)
	}
	cards, err := d.cardsAt(ctx, scope, addresses, nil)
	for n := range items {
		items[n].Cards = cards
	}
	return err
}

func (d *Desk) approvalLink(scope *db.Scope, one db.InboxRequest, l db.ReviewLink) approvals.Link {
	link := approvals.Link{Person: l.Name, Email: l.Email, State: "open", Path: at(scope, fmt.Sprintf("/review-links/%d", l.ID))}
	sent := approvals.When(l.CreatedAt, one.ClientZone).Words
	switch {
	case l.RevokedAt != nil:
		link.State = "revoked"
	case !l.Works(d.Now()):
		link.State = "expired"
	}
	link.Words = "sent " + sent + ", works until " + approvals.When(l.ExpiresAt, one.ClientZone).Words
	if link.State != "open" {
		link.Words = "sent " + sent
	}
	return link
}
