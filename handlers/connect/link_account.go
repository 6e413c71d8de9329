package connect

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/connect"
	"herald/views/ui"
)

// perLink is how many forms of one link make Herald call somebody.
var perLink = db.Bucket{Kind: "connect link", Burst: 20, Drip: time.Minute}

// tooFast refuses whoever sends more of them than that.
func (h *handler) tooFast(ctx context.Context, link string) error {
	wait, err := h.Store.Take(ctx, perLink, link)
	if err != nil || wait == 0 {
		return err
	}
	return model.Refuse(model.TooMany, "That was tried very often. Wait a few minutes, then try again.")
}

// way is what a page of a link is about: a network, and the account there that is to be
// connected again, if one is.
type way struct {
	*network.Network
	account db.AccountCard
	entry   network.Entry
	typed   bool
}

// wayOf reads it. What the link does not ask for, and accounts of others, are not there.
func wayOf(r *http.Request, cs *db.ConnectScope, name network.Name, account, entry string) (v way, err error) {
	n, ok := network.Get(name)
	if !ok || !slices.Contains(cs.Networks, name) {
		return v, errNoNetwork
	}
	v.Network = n
	v.entry, v.typed = n.EntryOf(entry)
	if account == "" {
		return v, nil
	}
	list, err := cs.Accounts(r.Context())
	if err != nil {
		return v, err
	}
	i := slices.IndexFunc(list, func(a db.AccountCard) bool { return a.ID == model.AccountID(web.ID(account)) && a.Network == name })
	if i < 0 {
		return v, model.Refuse(model.NotFound, "There is no such account.")
	}
	v.account, v.entry = list[i], secretsOf(v.entry)
	return v, nil
}

// secretsOf asks for what changes when an account is connected again.
func secretsOf(e network.Entry) network.Entry {
	e.Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(f network.Field) bool { return !f.Secret })
	return e
}

// showNetwork answers GET /connect/{token}/networks/{network}: the ways to connect there.
func (h *handler) showNetwork(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	q := r.URL.Query()
	v, err := wayOf(r, cs, network.Name(r.PathValue("network")), q.Get("account"), q.Get("entry"))
	if err != nil {
		return err
	}
	return h.drawWay(w, r, cs, http.StatusOK, v, nil)
}

// drawWay shows the forms, with what was typed and why it was refused.
func (h *handler) drawWay(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope, status int, v way, no *model.Refusal) error {
	p := connect.WayProps{Frame: h.frame(r, cs), Label: v.Label, Again: v.account.Handle}
	add := accounts.AddProps{Network: string(v.Name), Action: linkPath(r) + "/accounts", Submit: "Connect", Signs: v.Signs, Values: map[string]string{}, Problem: map[string]string{},
		Hidden: []ui.HiddenField{{Name: "page", Value: p.Token}}}
	if v.account.ID != 0 {
		add.Submit, add.Hidden = "Reconnect", append(add.Hidden, ui.HiddenField{Name: "account", Value: fmt.Sprint(v.account.ID)}, ui.HiddenField{Name: "seen", Value: fmt.Sprint(v.account.Revision)})
	}
	add.SignIn = h.signInByLink(r, cs, v.Network, v.account.ID)
	if v.typed {
		add.Entry, add.Entries = &v.entry, h.entryTabs(r, v)
	}
	if no != nil {
		keep(r, &add, no)
	}
	p.Add = add
	return web.Render(w, r, status, connect.Way(p))
}

func (h *handler) entryTabs(r *http.Request, v way) (tabs []ui.Tab) {
	if len(v.Entries) < 2 {
		return nil
	}
	for _, e := range v.Entries {
		q := url.Values{"entry": {e.Key}}
		if v.account.ID != 0 {
			q.Set("account", fmt.Sprint(v.account.ID))
		}
		tabs = append(tabs, ui.Tab{Label: e.Label, Current: e.Key == v.entry.Key, Href: linkPath(r) + "/networks/" + string(v.Name) + "?" + q.Encode()})
	}
	return tabs
}

// keep puts what was typed back into the forms, and the refusal where it belongs.
func keep(r *http.Request, p *accounts.AddProps, no *model.Refusal) {
	for name := range r.PostForm {
		p.Values[name] = r.PostFormValue(name)
	}
	p.Own = r.PostFormValue("make") == "false"
	if p.SignIn != nil && p.SignIn.Server != nil && r.PostForm.Has("link") {
		p.SignIn.Server.Value, p.SignIn.Server.Problem = r.PostFormValue("address"), no.Say
		return
	}
	p.Problem[no.Field] = no.Say
	if no.Field != "" && !(p.Signs && no.Field == "token" || p.Entry != nil && p.Entry.Takes(no.Field)) {
		p.Problem[""] = no.Say
	}
}

// createAccount answers POST /connect/{token}/accounts: what somebody typed. A secret that
// Herald made is in the answer itself, so that it is kept nowhere.
func (h *handler) createAccount(w http.ResponseWriter, r *http.Request, cs *db.ConnectScope) error {
	v, err := wayOf(r, cs, network.Name(r.PostFormValue("network")), r.PostFormValue("account"), r.PostFormValue("entry"))
	if err != nil {
		return err
	}
	if !v.typed {
		return errNoNetwork
	}
	secret, err := h.connectTyped(r, cs, v)
	if no, ok := model.Refused(err); ok {
		return h.drawWay(w, r, cs, web.Status(err), v, no)
	}
	if err != nil {
		return err
	}
	if secret != "" {
		return h.drawLink(w, r, cs, http.StatusCreated, func(p *connect.Props) { p.Done, p.Secret = doneWords["one"], secret })
	}
	return web.See(w, r, linkPath(r)+"?done=one")
}

// connectTyped makes an account of a form, or connects the one that is there again, and
// returns the secret that Herald made for it.
func (h *handler) connectTyped(r *http.Request, cs *db.ConnectScope, v way) (secret string, err error) {
	if err := h.tooFast(r.Context(), r.PathValue("token")); err != nil {
		return "", err
	}
	f := ReadAccount(r)
	c, made, err := ReadCredentials(r, v.Signs, cs.Zone)
	if err == nil {
		err = Filled(r, v.entry, &c)
	}
	if err == nil {
		err = h.CheckAddress.Clean(v.Name, &f, "")
	}
	if err == nil {
		err = c.Check(h.Now())
	}
	if err != nil {
		return "", err
	}
	if a := v.account; a.ID != 0 {
		f = db.AccountForm{Handle: a.Handle, RemoteID: a.RemoteID, Address: a.Address, Settings: a.Settings}
	}
	if c.Learned, err = h.CheckToken(r.Context(), Connection{Network: v.Name, Publisher: network.Direct, RemoteID: f.RemoteID, Address: f.Address, Handle: f.Handle, Settings: f.Settings, Token: c.Token}); err != nil {
		return "", err
	}
	if v.account.ID != 0 {
		seen, _ := web.Count(r.PostFormValue("seen"))
		_, err = cs.Scope().ReconnectAccount(r.Context(), v.account.ID, seen, c)
	} else {
		if !v.entry.Takes("handle") {
			f.Handle = cmp.Or(c.Learned.Handle, f.RemoteID, v.Label)
		}
		_, err = cs.Scope().AddAccount(r.Context(), cs.ClientID(), v.Name, f, c)
	}
	if err == nil && made {
		secret = c.Token.Reveal()
	}
	return secret, err
}
