package desk

import (
	"net/http"
	"net/url"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/target"
	"herald/views/ui"
)

// showTarget answers GET /targets/{id} with its evidence.
func (d *Desk) showTarget(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawTarget(w, r, scope, http.StatusOK, func(*target.Props) {})
}

func pathTarget(r *http.Request) model.TargetID { return model.TargetID(web.ID(r.PathValue("id"))) }

// drawTarget shows a target as it now is, with what with adds to it.
func (d *Desk) drawTarget(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*target.Props)) error {
	e, err := scope.Evidence(r.Context(), pathTarget(r))
	if err != nil {
		return err
	}
	t := e.Target
	p := target.Props{
		Title: network.Label(t.Network) + " " + t.Account, Say: wordsOf(e.Frame.Excerpt) + " · " + t.Client,
		Crumbs: []ui.Crumb{{Label: "Posts", Href: at(scope, "/posts")}, {Label: "The post", Href: at(scope, "/posts/"+id(t.PostID))}},
		Status: d.targetStatus(scope, e), Forms: d.targetForms(scope, t, e.Hold()), Cards: targetCards(e), Trail: targetTrail(e),
	}
	if t.State == model.Invalid || t.State == model.Draft {
		for _, one := range t.Problems {
			p.Problems = append(p.Problems, one.Say)
		}
	}
	with(&p)
	return d.show(w, r, scope, status, page{title: p.Title, nav: "posts", wide: true}, target.Page(p))
}

func wordsOf(excerpt string) string {
	if excerpt == "" {
		return "No text"
	}
	return "“" + excerpt + "”"
}

// showTargetStatus answers GET /targets/{id}/status with the part of the page
// that renews itself. It says so if the rest of the page, drawn at state "of",
// is out of date.
func (d *Desk) showTargetStatus(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	e, err := scope.Evidence(r.Context(), pathTarget(r))
	if err != nil {
		return err
	}
	p := d.targetStatus(scope, e)
	if of := r.URL.Query().Get("of"); of != "" {
		p.Behind = of != stamp(e.Target)
		p.Path = statusPath(scope, e.Target.ID, of)
	}
	return web.Render(w, r, http.StatusOK, target.Status(p))
}

// stamp tells two looks at a target apart.
func stamp(t db.Target) string { return string(t.State) + "-" + id(t.UpdatedAt.UnixMicro()) }

func statusPath(scope *db.Scope, t model.TargetID, of string) string {
	return at(scope, "/targets/"+id(t)+"/status?of="+url.QueryEscape(of))
}

func (d *Desk) targetStatus(scope *db.Scope, e db.Evidence) target.StatusProps {
	t, review := e.Target, e.Frame.Review
	p := target.StatusProps{
		Path: statusPath(scope, t.ID, stamp(t)), Page: at(scope, "/targets/"+id(t.ID)), Every: d.renewal(t),
		State: string(t.State), Words: ui.StatusWord(string(t.State)), Quote: t.Say, Address: t.Permalink,
	}
	if t.State == model.Ready {
		p.State, p.Words = "approved", ui.StatusWord("approved")
	}
	if t.State == model.Draft && (review == "in_review" || review == "changes_requested") {
		p.State, p.Words = review, ui.StatusWord(review)
	}
	if t.PublishedAt != nil {
		p.Since = clientTime(*t.PublishedAt, targetZone(t))
	}
	s := situation(t, review)
	if h := e.Hold(); h.Open() && db.Holdable(t.State) {
		p.State, p.Words, p.Quote = "held", ui.StatusWord("held"), h.Why
		s.HeldBy, s.HeldSince, s.Passed = h.Name, clientTime(h.At, targetZone(t)).Words, t.DueAt != nil && !t.DueAt.After(d.Now())
	}
	p.Happened, p.Todo = target.Explain(s)
	return p
}

func situation(t db.Target, review string) target.Situation {
	s := target.Situation{State: t.State, Reason: t.Reason, Review: review, Network: network.Label(t.Network), Account: t.Account}
	if t.DueAt != nil {
		s.Due = atWords(*t.DueAt, targetZone(t))
	}
	if t.NextAt != nil {
		s.Next = atWords(*t.NextAt, targetZone(t))
	}
	return s
}

// atWords is an instant inside a sentence.
func atWords(at time.Time, zone string) string {
	p := clientTime(at, zone)
	return "on " + p.Words + " (" + p.Zone + ")"
}

// targetZone is the zone that a target's times are shown in: that of its plan,
// else the client's.
func targetZone(t db.Target) string {
	if t.Zone != nil {
		return *t.Zone
	}
	return t.ClientZone
}

// soon is how near something must be for the page to look every two seconds.
const soon = 10 * time.Minute

// renewal is how often the status renews itself: often while something is about
// to happen, seldom while it waits for long, never once nothing happens by itself.
func (d *Desk) renewal(t db.Target) string {
	switch {
	case !t.State.OnItsWay():
		return ""
	case t.State == model.Queued || t.State == model.Publishing:
		return "2s"
	case t.NextAt != nil && t.NextAt.Sub(d.Now()) > soon:
		return "60s"
	}
	return "2s"
}
