package connect

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/approvals"
	"herald/views/connect"
	"herald/views/layout"
	"herald/views/ui"
)

// linkFunc is a handler for whoever holds a link that works.
type linkFunc func(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error

// opened finds the link and answers what is none with NotFound, and one that no longer
// works with why.
func (h *handler) opened(f linkFunc) http.Handler {
	return h.Open(func(w http.ResponseWriter, r *http.Request) error {
		web.LinkHeaders(w, h.BaseURL)
		cs, err := h.Store.Connecting(r.Context(), r.PathValue("token"), browser(r))
		if cs == nil {
			return err
		}
		if err != nil {
			return h.drawGone(w, r, cs, err)
		}
		return f(w, r, cs)
	})
}

// confirmed lets a form through that carries a token of its link's page.
func (h *handler) confirmed(f linkFunc) http.Handler {
	return h.opened(func(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
		if err := cs.Confirm(r.PostFormValue("page")); err != nil {
			return h.stopped(w, r, nil, db.Consent{Door: pathToken(r)}, err)
		}
		return f(w, r, cs)
	})
}

func doorPath(token string) string { return "/connect/" + url.PathEscape(token) }

func linkPath(r *http.Request) string { return doorPath(r.PathValue("token")) }

func (h *handler) drawGone(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope, gone error) error {
	no, ok := model.Refused(gone)
	if !ok {
		return gone
	}
	return web.Render(w, r, http.StatusGone, connect.Gone(connect.GoneProps{Agency: cs.Agency, Look: h.look(cs), Ended: cs.Ended, Say: no.Say, Path: linkPath(r), Token: cs.PageToken(), MayAsk: cs.MayAskFresh()}))
}

// createLink answers POST /connect/{token}/links: the agency is asked for a fresh link.
// It is for links that no longer work.
func (h *handler) createLink(w http.ResponseWriter, r *http.Request) error {
	web.LinkHeaders(w, h.BaseURL)
	cs, gone := h.Store.Connecting(r.Context(), r.PathValue("token"), browser(r))
	switch {
	case cs == nil:
		return gone
	case gone == nil:
		return web.See(w, r, linkPath(r))
	}
	err := cs.Confirm(r.PostFormValue("page"))
	if err == nil {
		err = cs.AskFresh(r.Context())
	}
	note := accounts.StoppedProps{Title: "The agency is asked", Say: cs.Agency + " was told that you ask for a fresh link. It comes by e-mail, once somebody there has sent it.", Icon: "mail-check", From: cs.Agency, Look: h.look(cs)}
	if no, ok := model.Refused(err); ok {
		note = accounts.StoppedProps{Title: "Nobody was asked", Say: no.Say, Back: linkPath(r), Label: "Back", From: cs.Agency, Look: h.look(cs)}
		return web.Render(w, r, web.Status(err), accounts.Stopped(note))
	}
	if err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, accounts.Stopped(note))
}

// doneWords are said after something was connected; which, its answer's address tells.
var doneWords = map[string]string{
	"one":  "Connected. Thank you!",
	"many": "All that you chose is connected. Thank you!",
}

// showLink answers GET /connect/{token}. It changes nothing, whoever opens it.
func (h *handler) showLink(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	return h.drawLink(w, r, cs, http.StatusOK, func(p *connect.Props) { p.Done = doneWords[r.URL.Query().Get("done")] })
}

func (h *handler) drawLink(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope, status int, with func(*connect.Props)) error {
	list, err := cs.Accounts(r.Context())
	if err != nil {
		return err
	}
	p := connect.Props{Frame: h.frame(r, cs), Note: lines(cs.Note)}
	for _, name := range cs.Networks {
		if n, ok := network.Get(name); ok {
			p.Networks = append(p.Networks, h.asked(r, cs, n, list))
		}
	}
	p.MayEnd = slices.ContainsFunc(list, func(a db.AccountCard) bool { return Standing(a, h.Now()) == string(db.AccountActive) })
	with(&p)
	return web.Render(w, r, status, connect.Page(p))
}

func (h *handler) frame(r *http.Request, cs *db.ConnectScope) connect.Frame {
	return connect.Frame{Agency: cs.Agency, Look: h.look(cs), Client: cs.Client, Person: cs.Person, Sender: cs.Sender, Path: linkPath(r), Token: cs.PageToken(), Until: approvals.When(cs.Expires, cs.Zone)}
}

// look is how the page appears: as review pages of the client do.
func (h *handler) look(cs *db.ConnectScope) layout.Look {
	return web.Look(cs.Look, web.PublicMedia(h.Ring, cs.Workspace(), h.Now(), h.URLLife))
}

func lines(note string) (list []string) {
	for _, one := range strings.Split(note, "\n") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// asked is one network of the page: what the client has there, and how to connect more.
func (h *handler) asked(r *http.Request, cs *db.ConnectScope, n *network.Network, list []db.AccountCard) connect.Network {
	v := connect.Network{Name: string(n.Name), Label: n.Label, MoreSay: ways(n)}
	own := linkPath(r) + "/networks/" + string(n.Name)
	for _, a := range list {
		if a.Network == n.Name {
			one := connect.Account{Handle: a.Handle, State: Standing(a, h.Now())}
			if one.State == string(db.AccountReconnect) || one.State == "disconnected" {
				one.Fix = own + "?account=" + fmt.Sprint(a.ID)
			}
			v.Accounts = append(v.Accounts, one)
		}
	}
	signs := len(n.SignIns) > 0 && h.Networks.Missing(n.Name) == ""
	if signs && !h.Networks.Servers(n.Name) {
		v.SignIn = h.signInByLink(r, cs, n, 0)
		v.SignIn.Quiet = true
	}
	switch {
	case v.SignIn != nil && len(n.Entries) == 0:
	case signs || len(n.Entries) > 0:
		v.More = own
	default:
		v.Missing = cannot(cs, n)
	}
	return v
}

func cannot(cs *db.ConnectScope, n *network.Network) string {
	return cs.Agency + " cannot take accounts of " + n.Label + " just now. Tell them; this link stays good."
}

// ways names what is typed, where nothing but that is asked.
func ways(n *network.Network) string {
	var list []string
	for _, e := range n.Entries {
		list = append(list, e.Label)
	}
	return strings.Join(list, " · ")
}

// Standing is the state of an account's connection as whoever connects it sees it.
func Standing(a db.AccountCard, now time.Time) string {
	switch {
	case a.State == db.AccountDisabled:
		return string(a.State)
	case a.Disconnected != nil:
		return "disconnected"
	case a.State == db.AccountReconnect, a.Expires != nil && !a.HasRefresh && !a.Expires.After(now):
		return string(db.AccountReconnect)
	}
	return string(db.AccountActive)
}

// signInByLink is the form that leads to a network's own page, for an account that is
// there (zero: a new one).
func (h *handler) signInByLink(r *http.Request, cs *db.ConnectScope, n *network.Network, account model.AccountID) *accounts.SignInForm {
	f := SignInForm(h.Networks, n)
	if f == nil || f.Missing != "" && len(n.Entries) > 0 {
		return nil
	}
	if f.Missing != "" {
		f.Missing = cannot(cs, n) // which settings are missing is nothing to a client
	}
	f.Hidden = []ui.HiddenField{{Name: "link", Value: r.PathValue("token")}, {Name: "page", Value: cs.PageToken()}}
	if account != 0 {
		f.Server, f.Hidden = nil, append(f.Hidden, ui.HiddenField{Name: "account", Value: fmt.Sprint(account)})
	}
	return f
}

// end answers POST /connect/{token}/end.
func (h *handler) end(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	if err := cs.End(r.Context()); err != nil {
		return err
	}
	return web.See(w, r, linkPath(r))
}
