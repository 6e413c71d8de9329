package connect

import (
	"fmt"
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/accounts"
)

// back answers GET /oauth/{network}/callback, where a network sends a person back to.
func (h *handler) back(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address holds the code
	n, ok := network.Get(network.Name(r.PathValue("network")))
	if !ok || len(n.SignIns) == 0 {
		return errNoNetwork
	}
	user, err := h.Sessions.User(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	scope, consent, err := h.Store.ReturnConsent(r.Context(), q.Get("state"), browser(r), user, n.Name)
	if err != nil {
		return h.stopped(w, r, nil, consent, err)
	}
	if q.Get("code") == "" {
		return h.stopped(w, r, scope, consent, model.Refuse(model.Conflict, denied(n.Label, q.Get("error"))))
	}
	choices, err := h.choices(r, scope, consent, q.Get("code"))
	if err != nil {
		return h.stopped(w, r, scope, consent, err)
	}
	return h.choose(w, r, scope, consent, choices)
}

// denied is why somebody came back without a code.
func denied(label, code string) string {
	if code == "access_denied" || code == "user_cancelled_login" || code == "user_cancelled_authorize" {
		return "You did not let Herald in at " + label + ", so nothing was connected."
	}
	if code == "unauthorized_scope_error" || code == "invalid_scope" || code == "invalid_scope_error" {
		return label + " has not given Herald's app the rights that this needs, so nothing was connected. Whoever runs this Herald has to ask for them there."
	}
	return label + " sent you back without letting Herald in, so nothing was connected. Try again; if it stays so, tell whoever runs this Herald."
}

func (h *handler) choices(r *http.Request, scope *db.Scope, c db.Consent, code string) ([]db.Choice, error) {
	t := Trip{Consent: c, Redirect: h.redirect(c.Network)}
	if h.Networks.Servers(c.Network) {
		app, ok, err := scope.ServerApp(r.Context(), c.Network, c.Address)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, model.Refuse(model.Conflict, "Herald lost what the server knows it by. Begin again.")
		}
		t.App = app
	}
	choices, err := h.Networks.Connect(r.Context(), t, code)
	if err != nil {
		return nil, err
	}
	return choices, scope.KeepChoices(r.Context(), c, choices)
}

// choose connects at once what there is no choice about and lacks no permission, and
// shows the rest.
func (h *handler) choose(w http.ResponseWriter, r *http.Request, scope *db.Scope, c db.Consent, choices []db.Choice) error {
	n, _ := network.Get(c.Network)
	var chosen []string
	switch {
	case len(gaps(n, choices)) > 0:
		return web.See(w, r, h.page(scope, c))
	case c.Account != 0:
	case len(choices) == 1 && choices[0].Lacks == "":
		chosen = []string{choices[0].RemoteID}
	default:
		return web.See(w, r, h.page(scope, c))
	}
	cards, err := scope.Connect(r.Context(), c.ID, chosen)
	if no, ok := model.Refused(err); ok && no.Field == "chosen" && c.Account != 0 {
		if a, lost := scope.Account(r.Context(), c.Account); lost == nil && a.RemoteID == "" && len(choices) > 1 {
			return web.See(w, r, h.page(scope, c))
		}
	}
	if err != nil {
		return h.stopped(w, r, scope, c, err)
	}
	if !c.Door.Empty() {
		return doneByLink(w, r, c.Door.Reveal(), cards)
	}
	return Done(h.Edge, w, r, scope, c, cards)
}

// page is where a person chooses.
func (h *handler) page(scope *db.Scope, c db.Consent) string {
	if !c.Door.Empty() {
		return fmt.Sprintf("%s/consents/%d", doorPath(c.Door.Reveal()), c.ID)
	}
	return fmt.Sprintf("/w/%s/consents/%d", scope.Workspace.Slug, c.ID)
}

// Done says what was connected, on the page of the one account or of all.
func Done(e *web.Edge, w http.ResponseWriter, r *http.Request, scope *db.Scope, c db.Consent, cards []db.AccountCard) error {
	path, words := fmt.Sprintf("/w/%s/accounts#client-%d", scope.Workspace.Slug, c.Client), fmt.Sprintf("%d accounts are connected. Posts can go there now.", len(cards))
	if len(cards) == 1 {
		path, words = fmt.Sprintf("/w/%s/accounts/%d", scope.Workspace.Slug, cards[0].ID), cards[0].Handle+" is connected. Posts can go there now."
		if cards[0].Stuck > 0 {
			words = cards[0].Handle + " is connected again. What could not go out is not sent by itself: retry it, if it should still go out."
		}
	}
	if err := e.Sessions.Flash(w, r, words); err != nil {
		return err
	}
	return web.See(w, r, path)
}

// stopped says why nothing was connected, and leads back to where it was begun.
func (h *handler) stopped(w http.ResponseWriter, r *http.Request, scope *db.Scope, c db.Consent, err error) error {
	no, ok := model.Refused(err)
	if !ok {
		return err
	}
	p := accounts.StoppedProps{Title: "Nothing was connected", Say: no.Say, Back: "/", Label: "Back to Herald"}
	if !c.Door.Empty() {
		web.LinkHeaders(w, h.BaseURL)
		p.Back, p.Label = doorPath(c.Door.Reveal()), "Back to the networks"
	} else if user, err := h.Sessions.User(r); err == nil && user == 0 {
		p.Say, p.Back = p.Say+" If you came by a link in an e-mail, open that link again.", ""
	}
	if scope != nil && c.Door.Empty() {
		p.Back, p.Label = fmt.Sprintf("/w/%s/accounts#client-%d", scope.Workspace.Slug, c.Client), "Back to the accounts"
		if c.Account != 0 {
			p.Back, p.Label = fmt.Sprintf("/w/%s/accounts/%d", scope.Workspace.Slug, c.Account), "Back to the account"
		}
	}
	return web.Render(w, r, web.Status(err), accounts.Stopped(p))
}
