package review

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/review"
)

// createDecision answers POST /review/{token}/decisions.
func (h *handler) createDecision(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	d := db.Decision{Request: model.RequestID(web.ID(r.PostForm.Get("request"))), Stage: stageNumber(r.PostForm.Get("stage")),
		Hash: r.PostForm.Get("hash"), Verdict: model.Verdict(r.PostForm.Get("verdict")), Words: r.PostForm.Get("words")}
	out, err := rs.Decide(r.Context(), []db.Decision{d})
	if err != nil {
		return err
	}
	if out[0].No != nil {
		return h.drawRefused(w, r, rs, []db.Decision{d}, out)
	}
	return web.See(w, r, fmt.Sprintf("%s?done=%s#post-%d", path(r), d.Verdict, d.Request))
}

// createApprovals answers POST /review/{token}/approvals: yes to all that the
// page showed. What changed meanwhile stays undecided and is shown.
func (h *handler) createApprovals(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	list, err := readAsked(r.PostForm["asked"])
	if err != nil {
		return err
	}
	asked := len(list)
	list = slices.DeleteFunc(list, func(d db.Decision) bool { return slices.Contains(r.PostForm["except"], fmt.Sprint(d.Request)) })
	if len(list) == 0 {
		return h.draw(w, r, rs, outcome{status: http.StatusUnprocessableEntity, bad: "You left out all of them, so nothing was approved."})
	}
	out, err := rs.Decide(r.Context(), list)
	if err != nil {
		return err
	}
	for _, one := range out {
		if one.No != nil {
			return h.drawRefused(w, r, rs, list, out)
		}
	}
	if len(list) < asked {
		return web.See(w, r, path(r)+"?done=most")
	}
	return web.See(w, r, path(r)+"?done=all")
}

// mostAsked is more than one mail ever asks.
const mostAsked = 500

// readAsked reads "request:stage:hash", once for each post.
func readAsked(values []string) (list []db.Decision, err error) {
	if len(values) == 0 || len(values) > mostAsked {
		return nil, model.Refuse(model.Unprocessable, "That form is not complete. Open the link again and try once more.")
	}
	for _, v := range values {
		parts := strings.Split(v, ":")
		if len(parts) != 3 {
			return nil, model.Refuse(model.Unprocessable, "That form is not complete. Open the link again and try once more.")
		}
		list = append(list, db.Decision{Request: model.RequestID(web.ID(parts[0])), Stage: stageNumber(parts[1]), Hash: parts[2], Verdict: model.Approve})
	}
	return list, nil
}

// stageNumber reads a stage; what is none is a stage that nothing is in.
func stageNumber(s string) int {
	n, _ := web.Count(s)
	return n
}

// drawRefused shows the page as it now is, with what was refused where it
// belongs. What the others of a batch decided stands.
func (h *handler) drawRefused(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, list []db.Decision, out []db.Decided) error {
	o := outcome{items: map[model.RequestID]itemOutcome{}}
	for i, one := range out {
		if one.No == nil {
			continue
		}
		no, _ := model.Refused(one.No)
		if no.Kind == model.NotFound {
			return one.No
		}
		o.status = web.Status(one.No)
		item := itemOutcome{words: list[i].Words}
		if item.changed, _ = errors.AsType[*db.Changed](one.No); item.changed != nil || no.Field != "words" {
			o.bad = no.Say
		} else {
			item.problem = no.Say
		}
		o.items[one.Request] = item
	}
	return h.draw(w, r, rs, o)
}

// createComment answers POST /review/{token}/comments.
func (h *handler) createComment(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, take TakeFiles) error {
	id := model.RequestID(web.ID(r.PostForm.Get("request")))
	key, err := web.SentKey(r), errNoKey
	if key != "" {
		var files []model.MediaID
		if files, err = take(r.Context(), rs.Shelf(), rs.ClientID()); err == nil {
			_, err = rs.Comment(r.Context(), id, key, r.PostForm.Get("body"), files...)
		}
	}
	if no, ok := model.Refused(err); ok && (no.Kind == model.Unprocessable || no.Kind == model.TooMany || no.Kind == model.Conflict || no.Kind == model.TooLarge) {
		back := itemOutcome{comment: r.PostForm.Get("body"), unsaid: no.Say}
		return h.draw(w, r, rs, outcome{status: web.Status(err), items: map[model.RequestID]itemOutcome{id: back}})
	}
	if err != nil {
		return err
	}
	return web.See(w, r, fmt.Sprintf("%s?done=comment#post-%d", path(r), id))
}

// createSuggestion answers POST /review/{token}/suggestions.
func (h *handler) createSuggestion(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	f := db.SuggestionForm{Request: model.RequestID(web.ID(r.PostForm.Get("request"))), Hash: r.PostForm.Get("hash"), Key: web.SentKey(r), Texts: r.PostForm["text"]}
	err := error(errNoKey)
	if f.Key != "" {
		err = rs.Suggest(r.Context(), f)
	}
	if no, ok := model.Refused(err); ok && no.Kind != model.NotFound && no.Kind != model.Gone {
		back := itemOutcome{texts: f.Texts, unsuggested: no.Say}
		return h.draw(w, r, rs, outcome{status: web.Status(err), items: map[model.RequestID]itemOutcome{f.Request: back}})
	}
	if err != nil {
		return err
	}
	return web.See(w, r, fmt.Sprintf("%s?done=suggestion#post-%d", path(r), f.Request))
}

var errNoKey = model.RefuseField("body", "This form was not whole. What you wrote is still here: send it once more.")

// createLink answers POST /review/{token}/links: a fresh link goes to the address
// that the agency has, whoever asked.
func (h *handler) createLink(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	note := review.NoteProps{Agency: rs.Agency, Look: h.look(rs.Workspace(), rs.Look), Icon: "mail-check", Title: "A fresh link is on its way", Say: "It goes to the address this link was sent to. It can take a minute to arrive.",
		Kept: kept(r.PostForm.Get("words"), r.PostForm.Get("body"))}
	err := rs.AskFreshLink(r.Context(), web.SentKey(r))
	if no, ok := model.Refused(err); ok {
		note.Icon, note.Title, note.Say = "mail", "No link was sent", no.Say
	} else if err != nil {
		return err
	}
	status := http.StatusOK
	if err != nil {
		status = web.Status(err)
	}
	return web.Render(w, r, status, review.Note(note))
}
