package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

const sqlConsentLock = sqlConsentGet + ` FOR UPDATE`

const sqlConsentEnd = `UPDATE tenant.consents SET ended_at = $3, choices = NULL, door = NULL WHERE tenant_id = $1 AND id = $2`

// Connect makes accounts of what was chosen, by the networks' ids, and ends the
// sign-in: its tokens are kept nowhere else. What is an account of the client already
// is connected again, with its settings as they are. Of a sign-in for one account it
// takes that alone, and refuses one that is another's.
func (sc *Scope) Connect(ctx context.Context, id model.ConsentID, chosen []string) (cards []AccountCard, err error) {
	defer wrap(&err, "connect what sign-in %d chose", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		c, choices, err := sc.choices(ctx, tx, id, sqlConsentLock)
		if err != nil {
			return err
		}
		if choices, err = sc.picked(ctx, tx, c, choices, chosen); err != nil {
			return err
		}
		var told []model.ConnectedAccount
		for _, one := range choices {
			a, again, err := sc.connect(ctx, tx, c, one)
			if err != nil {
				return err
			}
			cards, told = append(cards, a), append(told, connected(a, again))
		}
		if err := sc.tellConnected(ctx, tx, told...); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlConsentEnd, sc.Actor.Tenant, id, sc.now())
		return err
	})
	return cards, err
}

// picked are the choices that were chosen, or the one that the sign-in is for.
func (sc *Scope) picked(ctx context.Context, tx pgx.Tx, c Consent, choices []Choice, chosen []string) (list []Choice, err error) {
	if c.Account != 0 {
		one, err := sc.same(ctx, tx, c, choices, chosen)
		return []Choice{one}, err
	}
	for _, id := range chosen {
		i := slices.IndexFunc(choices, func(one Choice) bool { return one.RemoteID == id })
		switch {
		case i < 0:
			return nil, model.RefuseField("chosen", "That was not among what the sign-in offered. Choose again.")
		case choices[i].Lacks != "":
			return nil, model.RefuseField("chosen", choices[i].Handle+" cannot be connected. "+choices[i].Lacks)
		}
		list = append(list, choices[i])
	}
	if len(list) == 0 {
		return nil, model.RefuseField("chosen", "Choose at least one.")
	}
	return list, nil
}

// same is the choice that is the account to be connected again. An account whose id
// nobody knows is whichever was chosen.
func (sc *Scope) same(ctx context.Context, tx pgx.Tx, c Consent, choices []Choice, chosen []string) (Choice, error) {
	a, err := sc.account(ctx, tx, c.Account, model.AccountsManage, sqlAccountGet)
	if err != nil {
		return Choice{}, err
	}
	want := a.RemoteID
	if want == "" && len(chosen) == 1 {
		want = chosen[0]
	}
	i := slices.IndexFunc(choices, func(one Choice) bool { return one.RemoteID == want && want != "" })
	switch {
	case a.RemoteID == "" && want == "":
		return Choice{}, model.RefuseField("chosen", "Choose which one "+a.Handle+" is.")
	case i < 0:
		return Choice{}, model.RefuseField("chosen", "You signed in as "+others(choices)+", which is not "+a.Handle+". Sign in there as somebody who can post as "+a.Handle+", or add the other account beside it.")
	case choices[i].Lacks != "":
		return Choice{}, model.RefuseField("chosen", choices[i].Lacks)
	}
	return choices[i], nil
}

func others(choices []Choice) string {
	switch len(choices) {
	case 0:
		return "somebody who may post nowhere"
	case 1:
		return cmp.Or(choices[0].Handle, "another account")
	}
	return "somebody with other accounts"
}

const sqlAccountSame = `
	SELECT id FROM tenant.accounts WHERE tenant_id = $1 AND client_id = $2 AND network = $3 AND address = $4 AND remote_id = $5 AND publisher = 'direct' AND remote_id <> '' ORDER BY id LIMIT 1`

// connect makes an account, or connects the one that is there again, and says which.
func (sc *Scope) connect(ctx context.Context, tx pgx.Tx, c Consent, one Choice) (a AccountCard, again bool, err error) {
	id, verb := c.Account, "reconnected"
	if id == 0 {
		err = tx.QueryRow(ctx, sqlAccountSame, sc.Actor.Tenant, c.Client, c.Network, c.Address, one.RemoteID).Scan(&id)
		if err != nil && !noRows(err) {
			return a, false, err
		}
	}
	if id == 0 {
		verb = "connected"
		if id, err = sc.insertAccount(ctx, tx, c.Client, c.Network, network.Direct, AccountForm{Handle: cmp.Or(one.Handle, one.Name, one.RemoteID), RemoteID: one.RemoteID, Address: c.Address}); err != nil {
			return a, false, err
		}
	}
	before, err := sc.account(ctx, tx, id, model.AccountsManage, sqlAccountLock)
	if err != nil {
		return a, false, err
	}
	creds := Credentials{Token: one.Token, Refresh: one.Refresh, Expires: one.Expires, RefreshExpires: one.RefreshExpires, Learned: Learned{RemoteID: one.RemoteID, Handle: one.Handle, Scopes: one.Scopes, Settings: one.Settings}}
	if err := sc.saveCredentials(ctx, tx, before, creds); err != nil {
		return a, false, err
	}
	detail := map[string]any{"handle": before.Handle, "network": c.Network}
	if verb == "reconnected" {
		detail["was"] = before.State
	}
	if err := sc.audit(ctx, tx, note{verb: verb, subject: "account", id: int64(id), client: c.Client, detail: detail}); err != nil {
		return a, false, err
	}
	a, err = sc.account(ctx, tx, id, model.AccountsManage, sqlAccountGet)
	return a, verb == "reconnected", err
}

// App is Herald's app at one server of a network that is many.
type App struct {
	ID     string
	Secret secret.Token
}

func appAAD(tenant model.TenantID, name network.Name, address string) string {
	return fmt.Sprintf("server_apps/%d/%s/%s", tenant, name, address)
}

const sqlAppGet = `SELECT app_id, app_secret FROM tenant.server_apps WHERE tenant_id = $1 AND network = $2 AND address = $3`

// ServerApp reads the app that was registered at a server; ok is false if none was,
// or if the key that its secret was sealed under is gone.
func (sc *Scope) ServerApp(ctx context.Context, name network.Name, address string) (app App, ok bool, err error) {
	defer wrap(&err, "read app at a server of %s", name)
	if !sc.Actor.MayAnywhere(model.AccountsManage) {
		return app, false, model.Refuse(model.Forbidden, "Your role does not allow that in this workspace. Ask an owner or admin.")
	}
	var sealed []byte
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlAppGet, sc.Actor.Tenant, name, address).Scan(&app.ID, &sealed)
	})
	if noRows(err) {
		return App{}, false, nil
	}
	if err != nil {
		return App{}, false, err
	}
	plain, err := sc.ring.Open(sealed, appAAD(sc.Actor.Tenant, name, address))
	if err != nil {
		return App{}, false, nil
	}
	app.Secret = secret.NewToken(plain)
	return app, true, nil
}

const sqlAppKeep = `
	INSERT INTO tenant.server_apps (tenant_id, network, address, app_id, app_secret, created_at) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (tenant_id, network, address) DO UPDATE SET app_id = excluded.app_id, app_secret = excluded.app_secret`

// KeepServerApp keeps an app that was registered, in place of one that was there.
func (sc *Scope) KeepServerApp(ctx context.Context, name network.Name, address string, app App) (err error) {
	defer wrap(&err, "keep app at a server of %s", name)
	if !sc.Actor.MayAnywhere(model.AccountsManage) {
		return model.Refuse(model.Forbidden, "Your role does not allow that in this workspace. Ask an owner or admin.")
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlAppKeep, sc.Actor.Tenant, name, address, app.ID, sc.ring.Seal(app.Secret.Reveal(), appAAD(sc.Actor.Tenant, name, address)), sc.now())
		return err
	})
}
