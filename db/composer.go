package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// ComposerClient is a client that the actor may write for, with the accounts
// that a post may go to.
type ComposerClient struct {
	ID       model.ClientID
	Name     string
	Zone     string
	Stages   int               // of its workflow; none means approved on submit
	Accounts []ComposerAccount `db:"-"`
}

// ComposerAccount is one account that a post may go to.
type ComposerAccount struct {
	ID       model.AccountID
	ClientID model.ClientID
	Network  network.Name
	Handle   string
	State    string // active, needs_reconnect, or disabled where the post has it already
	Paused   bool
	Slots    bool // it has queue slots
	Settings map[string]string
}

const sqlComposerClients = `
	SELECT c.id, c.name, c.zone, (SELECT count(*) FROM tenant.stages s WHERE s.tenant_id = c.tenant_id AND s.client_id = c.id) AS stages
	  FROM tenant.clients c
	 WHERE c.tenant_id = $1 AND ($2 OR c.id = ANY ($3))
	   AND (c.archived_at IS NULL OR EXISTS (SELECT FROM tenant.accounts a WHERE a.tenant_id = c.tenant_id AND a.client_id = c.id AND a.id = ANY ($4)))
	 ORDER BY c.name, c.id`

const sqlComposerAccounts = `
	SELECT id, client_id, network, handle, state, paused_at IS NOT NULL AS paused, settings,
	       EXISTS (SELECT FROM tenant.slots s WHERE s.tenant_id = accounts.tenant_id AND s.account_id = accounts.id) AS slots
	  FROM tenant.accounts
	 WHERE tenant_id = $1 AND ($2 OR client_id = ANY ($3)) AND (state <> 'disabled' OR id = ANY ($4)) ORDER BY network, handle, id`

// ComposerClients lists the clients that the actor may write for. Accounts that
// are switched off and clients that are put away are left out, unless they are
// among kept: those the post goes to already.
func (sc *Scope) ComposerClients(ctx context.Context, kept []model.AccountID) (list []ComposerClient, err error) {
	defer wrap(&err, "list clients to write for")
	ids, all := sc.Actor.ClientsWith(model.PostsWrite)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlComposerClients, sc.Actor.Tenant, all, ids, kept)
		if err != nil {
			return err
		}
		if list, err = pgx.CollectRows(rows, pgx.RowToStructByName[ComposerClient]); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlComposerAccounts, sc.Actor.Tenant, all, ids, kept); err != nil {
			return err
		}
		accounts, err := pgx.CollectRows(rows, pgx.RowToStructByName[ComposerAccount])
		for _, a := range accounts {
			for i := range list {
				if list[i].ID == a.ClientID {
					list[i].Accounts = append(list[i].Accounts, a)
				}
			}
		}
		return err
	})
	return list, err
}

// Checked is a form as its networks see it, before anything is saved.
type Checked struct {
	Content model.Content // with the hashes of the media filled in
	Targets []CheckedTarget
}

// CheckedTarget is what one account would get, and what its network says of it.
type CheckedTarget struct {
	AccountID model.AccountID
	ClientID  model.ClientID
	Client    string
	Handle    string
	Network   *network.Network // as this account counts; nil if Herald does not know it
	Draft     network.Draft
	Media     []model.MediaID
	Links     []network.Tagging // as they were written and as they go out
	Recipes   []string          // how each of Media is sent; network.ParseRecipe reads them
	Problems  []network.Problem
}

const sqlClientsOfAccounts = `SELECT DISTINCT client_id FROM tenant.accounts WHERE tenant_id = $1 AND id = ANY ($2)`

// CheckPost says what each account would get and what is wrong with it. It saves
// nothing, and it asks no confirmation by name. It refuses accounts and files
// that SavePost would refuse. A when that is set is held against blackouts too.
func (sc *Scope) CheckPost(ctx context.Context, id model.PostID, form PostForm, when model.When) (checked Checked, err error) {
	defer wrap(&err, "check post %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		var old PostPage
		if id != 0 {
			if old, err = sc.postPage(ctx, tx, id, sqlPostGet); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, sqlClientsOfAccounts, sc.Actor.Tenant, form.Content.Accounts)
		if err != nil {
			return err
		}
		if form.Named, err = pgx.CollectRows(rows, pgx.RowTo[model.ClientID]); err != nil {
			return err
		}
		p, err := sc.plan(ctx, tx, old, form)
		if err != nil {
			return err
		}
		checked = checkedOf(p)
		return sc.mayPlanAt(ctx, tx, p, when)
	})
	return checked, err
}

func checkedOf(p plan) Checked {
	c := Checked{Content: p.content}
	for _, t := range p.parts {
		c.Targets = append(c.Targets, CheckedTarget{AccountID: t.account.ID, ClientID: t.account.ClientID, Client: t.account.Client,
			Handle: t.account.Handle, Network: t.net, Draft: t.draft, Media: t.media, Links: t.links, Recipes: t.recipes, Problems: t.problems})
	}
	return c
}

// mayPlanAt refuses a time that has passed, is too far ahead or lies in a blackout of one of the
// plan's clients. A zero when asks nothing.
func (sc *Scope) mayPlanAt(ctx context.Context, tx pgx.Tx, p plan, when model.When) error {
	if when.At.IsZero() {
		return nil
	}
	if err := sc.timely(when); err != nil {
		return err
	}
	return sc.outsideBlackouts(ctx, tx, p.clients(), when)
}

func (sc *Scope) outsideBlackouts(ctx context.Context, tx pgx.Tx, clients []model.ClientID, when model.When) error {
	var targets []Target
	for _, id := range clients {
		targets = append(targets, Target{ClientID: id})
	}
	// Targets without accounts: nothing is asked about connections.
	return sc.mayPublishAt(ctx, tx, targets, when)
}

// CreatePost makes a post from a form that carries a key. Sending the same form
// again makes no second post: it comes back with again set, as it is by now.
func (sc *Scope) CreatePost(ctx context.Context, key string, form PostForm) (page PostPage, again bool, err error) {
	defer wrap(&err, "create post")
	if len(form.Content.Accounts) > maxTargets {
		return page, false, model.RefuseField("accounts", fmt.Sprintf("A post goes to at most %d accounts. Make a second post for the others.", maxTargets))
	}
	if page, again, err = sc.postOfForm(ctx, key); err != nil || again {
		return page, again, err
	}
	err = sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if page, err = sc.createPost(ctx, tx, form); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlPostFormKey, sc.Actor.Tenant, page.Post.ID, key)
		return err
	})
	if isUnique(err) { // the same form came twice at once, and the other was first
		return sc.postOfForm(ctx, key)
	}
	return page, false, refused(err)
}

const sqlPostFormKey = `UPDATE tenant.posts SET form_key = $3 WHERE tenant_id = $1 AND id = $2`

const sqlPostOfForm = `SELECT id FROM tenant.posts WHERE tenant_id = $1 AND created_by = $2 AND form_key = $3`

// postOfForm finds the post that the actor made with a form's key.
func (sc *Scope) postOfForm(ctx context.Context, key string) (page PostPage, found bool, err error) {
	err = sc.read(ctx, func(tx pgx.Tx) error {
		var id model.PostID
		err := tx.QueryRow(ctx, sqlPostOfForm, sc.Actor.Tenant, sc.Actor.User, key).Scan(&id)
		if noRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		page, err = sc.postPage(ctx, tx, id, sqlPostGet)
		return err
	})
	return page, found, err
}
