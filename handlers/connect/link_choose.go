package connect

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/connect"
	"herald/views/ui"
)

func consentID(r *http.Request) model.ConsentID {
	return model.ConsentID(web.ID(r.PathValue("consent")))
}

// showConsent answers GET /connect/{token}/consents/{consent}: what the sign-in offers, in
// the browser that it was begun in.
func (h *handler) showConsent(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	return h.drawConsent(w, r, cs, http.StatusOK, nil, "")
}

// createConnections answers POST /connect/{token}/consents/{consent} with accounts of what
// was chosen.
func (h *handler) createConnections(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	chosen := r.PostForm["chosen"]
	cards, err := cs.Scope().Connect(r.Context(), consentID(r), chosen)
	if no, ok := model.Refused(err); ok && no.Field == "chosen" {
		return h.drawConsent(w, r, cs, web.Status(err), chosen, no.Say)
	}
	if err != nil {
		return err
	}
	return doneByLink(w, r, r.PathValue("token"), cards)
}

// doneByLink leads back to the page of the link.
func doneByLink(w http.ResponseWriter, r *http.Request, token string, cards []db.AccountCard) error {
	done := "one"
	if len(cards) > 1 {
		done = "many"
	}
	return web.See(w, r, doorPath(token)+"?done="+done)
}

func (h *handler) drawConsent(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope, status int, chosen []string, problem string) error {
	c, choices, err := cs.Scope().Choices(r.Context(), consentID(r))
	if no, ok := model.Refused(err); ok {
		return h.stopped(w, r, nil, db.Consent{Door: pathToken(r)}, no)
	}
	if err != nil {
		return err
	}
	again := ""
	if c.Account != 0 {
		a, err := cs.Scope().Account(r.Context(), c.Account)
		if err != nil {
			return err
		}
		again = a.Handle
	}
	p := ChooseProps(c, choices, cs.Client, again, chosen, problem)
	p.Action, p.Cancel, p.Hidden = linkPath(r)+"/consents/"+r.PathValue("consent"), linkPath(r), []ui.HiddenField{{Name: "page", Value: cs.PageToken()}}
	return web.Render(w, r, status, connect.Choose(connect.ChooseProps{Frame: h.frame(r, cs), ChooseProps: p}))
}
