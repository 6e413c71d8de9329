package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/views/target"
)

// createTargetHold answers POST /targets/{id}/holds.
func (d *Desk) createTargetHold(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	why := r.PostFormValue("why")
	err := scope.HoldTarget(r.Context(), pathTarget(r), why)
	return d.answerTarget(w, r, scope, err, "Held. It does not go out until somebody lets it go.", func(p *target.Props, no *model.Refusal) bool {
		if p.Forms.Hold == nil || no.Field != "why" {
			return false
		}
		p.Forms.Hold.Why, p.Forms.Hold.Problem = why, no.Say
		return true
	})
}

// createTargetRelease answers POST /targets/{id}/releases.
func (d *Desk) createTargetRelease(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	out, err := scope.ReleaseTarget(r.Context(), pathTarget(r))
	return d.answerTarget(w, r, scope, err, letGoWords(out), whole)
}

func letGoWords(out db.LetGo) string {
	switch {
	case out.Now > 0:
		return "Let go. Its time had passed, so it goes out now, unless that is later than the client allows."
	case out.Missed > 0:
		return "Let go, but it was held past the client's late cut-off, so it was not published. Retry publishes it now."
	}
	return "Let go. It goes out at its time."
}
