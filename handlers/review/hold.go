package review

import (
	"fmt"
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
)

// createHold answers POST /review/{token}/holds.
func (h *handler) createHold(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	id := model.RequestID(web.ID(r.PostForm.Get("request")))
	err := rs.Hold(r.Context(), id, r.PostForm.Get("why"))
	if no, ok := model.Refused(err); ok && no.Field == "why" {
		back := itemOutcome{why: r.PostForm.Get("why"), unheld: no.Say}
		return h.draw(w, r, rs, outcome{status: web.Status(err), bad: no.Say, items: map[model.RequestID]itemOutcome{id: back}})
	}
	if err != nil {
		return err
	}
	return web.See(w, r, fmt.Sprintf("%s?done=hold#post-%d", path(r), id))
}

// createRelease answers POST /review/{token}/releases.
func (h *handler) createRelease(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	id := model.RequestID(web.ID(r.PostForm.Get("request")))
	out, err := rs.LetGo(r.Context(), id)
	if err != nil {
		return err
	}
	done := "release"
	switch {
	case out.Now > 0:
		done = "release-now"
	case out.Missed > 0:
		done = "release-late"
	}
	return web.See(w, r, fmt.Sprintf("%s?done=%s#post-%d", path(r), done, id))
}
