package review

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	"herald/views/approvals"
	"herald/views/review"
	"herald/views/ui"
)

// Deps are what the review pages work with.
type Deps struct {
	*web.Edge
	Ring    *secret.Ring
	URLLife time.Duration // of media links; a page's are good for twice as long at most
	BaseURL string
	Hosts   *web.Hosts // names of agencies' own
	Read    ReadComment
}

// ReadComment reads a comment with its files. take puts them into the library of a client
// with the Scope that a link has for that; done takes what was read off the disk again.
type ReadComment func(w http.ResponseWriter, r *http.Request) (take TakeFiles, done func(), err error)

// TakeFiles takes the files of a comment.
type TakeFiles = func(context.Context, *db.Scope, model.ClientID) ([]model.MediaID, error)

type handler struct{ Deps }

// linkFunc is a handler for who holds a link. gone is why it no longer works;
// then rs can only ask for a fresh one.
type linkFunc func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error

// formFunc is a handler for a form of the page.
type formFunc func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error

// open finds the link and answers what is none with NotFound.
func (h *handler) open(f linkFunc) http.Handler {
	return h.Open(func(w http.ResponseWriter, r *http.Request) error {
		web.LinkHeaders(w, h.BaseURL)
		rs, err := h.Store.Review(r.Context(), r.PathValue("token"))
		if rs == nil {
			return err
		}
		if at, held := h.Hosts.At(r); held && !rs.At(at) {
			return errElsewhere
		}
		return f(w, r, rs, err)
	})
}

// errElsewhere is for a link that was opened under a name that is not its agency's: what
// belongs to one is shown under no other's.
var errElsewhere = model.Refuse(model.NotFound, "This is not a review link. Open the one in your e-mail again, whole.")

// confirmed lets a form through that carries a token of its link's page. One of an
// old page gets the page as it is now, and one of a link that no longer works is told so;
// both with what was written. late says that the form is also for links that no longer
// work.
func (h *handler) confirmed(late bool, f formFunc) http.Handler {
	return h.open(func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
		return h.confirm(w, r, rs, gone, late, f)
	})
}

func (h *handler) confirm(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error, late bool, f formFunc) error {
	err := rs.Confirm(r.PostFormValue("page"))
	no, old := model.Refused(err)
	switch {
	case err != nil && !old:
		return err
	case gone != nil && (old || !late):
		return h.showGone(w, r, rs, gone)
	case old:
		return h.draw(w, r, rs, outcome{status: web.Status(no), bad: no.Say, items: wrote(r)})
	}
	return f(w, r, rs)
}

// withFiles reads a form with files of who holds a link; nobody else's is read.
func (h *handler) withFiles(f func(http.ResponseWriter, *http.Request, *db.ReviewScope, TakeFiles) error) http.Handler {
	held := h.open(func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
		r.PostForm = nil
		take, done, err := h.Read(w, r)
		if err != nil {
			return err
		}
		defer done()
		return h.confirm(w, r, rs, gone, false, func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error { return f(w, r, rs, take) })
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.PostForm = url.Values{} // counts as read, so that a stranger's is not
		held.ServeHTTP(w, r)
	})
}

// wrote is what somebody wrote in a form, at the request that it was about.
func wrote(r *http.Request) map[model.RequestID]itemOutcome {
	id := model.RequestID(web.ID(r.PostForm.Get("request")))
	return map[model.RequestID]itemOutcome{id: {words: r.PostForm.Get("words"), comment: r.PostForm.Get("body"), why: r.PostForm.Get("why")}}
}

// kept is the same where no form can hold it.
func kept(texts ...string) (k ui.KeptProps) {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			k.Words = append(k.Words, ui.Words{Label: "Your words", Text: text})
		}
	}
	return k
}

func path(r *http.Request) string { return "/review/" + url.PathEscape(r.PathValue("token")) }

func (h *handler) showGone(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if no, ok := model.Refused(gone); ok {
		return web.Render(w, r, http.StatusGone, review.Gone(review.GoneProps{Agency: rs.Agency, Look: h.look(rs.Workspace(), rs.Look), Say: no.Say, Path: path(r), Token: rs.PageToken(), Key: web.FormKey(), MayAsk: rs.MayAskFresh(),
			Kept: kept(r.PostForm.Get("words"), r.PostForm.Get("body"), r.PostForm.Get("why"))}))
	}
	return gone
}

// outcome is what a form led to, for the page that answers it.
type outcome struct {
	status int
	done   string
	bad    string
	items  map[model.RequestID]itemOutcome
}

type itemOutcome struct {
	words   string
	problem string
	comment string
	unsaid  string
	changed *db.Changed

	why    string // of a hold, when the form came back
	unheld string // why nothing is held

	texts       []string // suggested, when the form came back
	unsuggested string   // why they were not sent
}

// showPage answers GET /review/{token}.
func (h *handler) showPage(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if gone != nil {
		return h.showGone(w, r, rs, gone)
	}
	return h.draw(w, r, rs, outcome{status: http.StatusOK, done: doneWords[r.URL.Query().Get("done")]})
}

// doneWords are said after a form; which one, its answer's address tells.
var doneWords = map[string]string{
	"approve":         "Approved. Thank you!",
	"request_changes": "Your wishes are with the agency. You get an e-mail when there is a new version.",
	"reject":          "Rejected. The agency knows, and this post will not go out.",
	"all":             "All approved. Thank you!",
	"most":            "Approved, but for what you left out. Thank you!",
	"suggestion":      "Your text is with the agency. You get an e-mail when there is a new version.",
	"comment":         "Your comment was added.",
	"zone":            "Times are shown in your time zone from now on, here and in e-mails.",
	"hold":            "Held. It does not go out until you or the agency let it go.",
	"release":         "Let go. It goes out at its time.",
	"release-now":     "Let go. Its time had passed, so it goes out now, unless that is later than you allow.",
	"release-late":    "Let go. It was held for too long after its time, so it was not published; the agency knows and can plan it anew.",
}

func (h *handler) draw(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, o outcome) error {
	page, err := rs.Page(r.Context())
	if err != nil {
		return err
	}
	p := review.Props{Agency: rs.Agency, Look: h.look(rs.Workspace(), rs.Look), Client: rs.Client, Person: rs.Person, Path: path(r), Token: rs.PageToken(), Key: web.FormKey(),
		Until: approvals.When(page.Expires, rs.Zone), Done: o.done, Bad: o.bad, Media: h.media(rs.Workspace()), Zone: h.zone(r, rs, path(r))}
	for id, out := range o.items {
		if !slices.ContainsFunc(page.Items, func(i db.ReviewItem) bool { return out.about(i, id) }) {
			p.Kept.Words = append(p.Kept.Words, kept(out.words, out.comment, out.why).Words...)
		}
	}
	for _, i := range page.Items {
		p.Items = append(p.Items, o.item(i))
	}
	if p.Links, err = h.links(r, rs, page.Items); err != nil {
		return err
	}
	return web.Render(w, r, o.status, review.Page(p))
}

// about says whether what became of the request id belongs to what is shown as i.
func (o itemOutcome) about(i db.ReviewItem, id model.RequestID) bool {
	return i.ID == id || slices.Contains(i.Replaces, id) || o.changed != nil && o.changed.Newer == i.ID
}

// sayInstead is for words whose decision was not recorded and no longer can be.
const sayInstead = "Your words were not recorded, since this can no longer be decided by you. Send them as a comment, if they should still reach the agency."

// item is one post with what became of the form about it.
func (o outcome) item(i db.ReviewItem) review.Item {
	item := review.Item{Request: i.ApprovalRequest, Key: web.FormKey(), Mine: i.Mine, Decide: i.MayDecide, Newer: i.Newer}
	for _, s := range i.Suggestions {
		item.Suggestions = append(item.Suggestions, approvals.Suggestion{Suggestion: s})
	}
	for id, out := range o.items {
		if !out.about(i, id) {
			continue
		}
		item.Words, item.Problem, item.Comment, item.Unsaid = out.words, out.problem, out.comment, out.unsaid
		item.Why, item.Unheld = out.why, out.unheld
		if why := strings.TrimSpace(out.why); why != "" && (i.State != model.RequestApproved || i.Hold.Open() || !i.Waits) {
			item.Comment, item.Unsaid = why, sayInstead
		}
		item.Texts, item.Unsuggested = out.texts, out.unsuggested
		if out.changed != nil {
			item.Changed = approvals.Differences(out.changed.Before, out.changed.After)
		}
		if words := strings.TrimSpace(out.words); words != "" && !i.MayDecide {
			item.Comment, item.Unsaid = words, sayInstead
		}
	}
	return item
}
