package boot

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// signIns asks the adapters on behalf of whoever connects accounts.
type signIns struct {
	config   Config
	adapters map[network.Name]networks.Adapter
}

var _ connect.Networks = signIns{}

// SignIns is who sends people to networks, and takes them up again.
func (c Config) SignIns(now func() time.Time) connect.Networks {
	return signIns{c, c.Adapters(now)}
}

func (s signIns) connector(name network.Name) (networks.Connector, bool) {
	c, ok := s.adapters[name].(networks.Connector)
	return c, ok
}

// Missing names the settings without which nobody can sign in.
func (s signIns) Missing(name network.Name) string {
	if _, ok := s.connector(name); !ok {
		return network.Label(name) + " has no sign-in that Herald can use."
	}
	if s.Servers(name) {
		return ""
	}
	var missing []string
	set := s.config.Networks[name]
	for _, one := range [][2]string{{"_CLIENT_ID", set.ClientID}, {"_CLIENT_SECRET", set.ClientSecret}} {
		if one[1] == "" {
			missing = append(missing, prefix+strings.ToUpper(string(name))+one[0])
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("This Herald has no app at %s yet. Whoever runs it registers one there and sets %s.", network.Label(name), strings.Join(missing, " and "))
}

// Asks reads them from the address of the network's page.
func (s signIns) Asks(name network.Name) (list []string) {
	n, known := network.Get(name)
	c, ok := s.connector(name)
	if !ok || !known || s.Servers(name) {
		return nil
	}
	for _, way := range n.SignIns {
		page, err := url.Parse(c.Authorize(networks.Consent{Way: way.Way}))
		if err != nil {
			continue
		}
		for _, one := range strings.FieldsFunc(page.Query().Get("scope"), func(r rune) bool { return r == ' ' || r == ',' }) {
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
	}
	return list
}

// Servers says whether the network is many.
func (s signIns) Servers(name network.Name) bool {
	_, ok := s.adapters[name].(networks.Registrar)
	return ok
}

// Register tells a server of our app.
func (s signIns) Register(ctx context.Context, name network.Name, address, redirect string) (db.App, error) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	app, err := s.adapters[name].(networks.Registrar).Register(ctx, address, redirect)
	if err != nil {
		f := fault.Of(err)
		if f.Kind != fault.Validation {
			f.Say = "The server could not be reached. Try again in a few minutes."
		}
		return db.App{}, model.RefuseField("address", f.Say)
	}
	return db.App{ID: app.ID, Secret: app.Secret}, nil
}

// Authorize is the address of the network's page.
func (s signIns) Authorize(t connect.Trip) string {
	c, _ := s.connector(t.Network)
	return c.Authorize(consent(t))
}

func consent(t connect.Trip) networks.Consent {
	return networks.Consent{App: networks.App(t.App), Way: t.Way, Address: t.Address, Redirect: t.Redirect, State: t.State, Verifier: t.Verifier.Reveal()}
}

// Connect exchanges a code for what can be connected.
func (s signIns) Connect(ctx context.Context, t connect.Trip, code string) (list []db.Choice, err error) {
	c, ok := s.connector(t.Network)
	if !ok {
		return nil, model.Refuse(model.NotFound, "There is no such network.")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkPatience)
	defer cancel()
	all, err := c.Connect(ctx, consent(t), code)
	if err != nil {
		return nil, notConnected(network.Label(t.Network), fault.Of(err))
	}
	for _, one := range all {
		d := db.Choice{Kind: one.Kind, RemoteID: one.RemoteID, Handle: one.Handle, Name: one.Name, Scopes: one.Tokens.Scopes, Settings: one.Settings, Lacks: one.Lacks,
			Token: one.Tokens.Access, Refresh: one.Tokens.Refresh}
		if len(d.Scopes) == 0 {
			d.Scopes = one.Scopes
		}
		if !one.Tokens.Expires.IsZero() {
			d.Expires = new(one.Tokens.Expires)
		}
		if !one.Tokens.RefreshExpires.IsZero() {
			d.RefreshExpires = new(one.Tokens.RefreshExpires)
		}
		list = append(list, d)
	}
	return list, nil
}

// notConnected is a fault as whoever signed in reads it.
func notConnected(label string, f *fault.Fault) error {
	switch f.Kind {
	case fault.Auth, fault.Permission, fault.Validation:
		return model.Refuse(model.Conflict, f.Say)
	case fault.RateLimited:
		return model.Refuse(model.TooMany, label+" is answering no more questions of Herald's for the moment. Try again later.")
	}
	return model.Refuse(model.Unavailable, label+" could not be reached to finish this. Nothing was connected; begin again in a few minutes.")
}

// Revoke asks the network to end a token.
func (s signIns) Revoke(ctx context.Context, p db.Parting) error {
	r, ok := s.adapters[p.Network].(networks.Revoker)
	if !ok || p.Shared || p.Token.Empty() && p.Refresh.Empty() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	err := r.Revoke(ctx, networks.App(p.App), networks.Account{Network: p.Network, RemoteID: p.RemoteID, Address: p.Address, Settings: p.Settings, Token: p.Token, Refresh: p.Refresh})
	if f := fault.Of(err); f != nil && f.Kind == fault.Auth {
		return nil // it is over already
	}
	return err
}
