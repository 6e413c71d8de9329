package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// eyes know what one member may read of a post's versions: all of it, or what the
// accounts of their clients get. What was written before any account was chosen is
// its writer's.
type eyes struct {
	user     model.UserID
	all      bool
	networks map[model.AccountID]network.Name // of the accounts that they may see
}

const sqlAccountsSeen = `SELECT id, network FROM tenant.accounts WHERE tenant_id = $1 AND id = ANY ($2) AND client_id = ANY ($3)`

func (sc *Scope) eyesFor(ctx context.Context, tx pgx.Tx, versions []Version) (e eyes, err error) {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	if e = (eyes{user: sc.Actor.User, all: all}); all {
		return e, nil
	}
	var accounts []model.AccountID
	for _, v := range versions {
		accounts = append(accounts, v.Content.Accounts...)
	}
	e.networks, err = sc.networksOf(ctx, tx, accounts, clients)
	return e, err
}

// networksOf are those of the accounts that belong to the clients.
func (sc *Scope) networksOf(ctx context.Context, tx pgx.Tx, accounts []model.AccountID, clients []model.ClientID) (map[model.AccountID]network.Name, error) {
	rows, err := tx.Query(ctx, sqlAccountsSeen, sc.Actor.Tenant, accounts, clients)
	if err != nil {
		return nil, err
	}
	names := map[model.AccountID]network.Name{}
	var id model.AccountID
	var name network.Name
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		names[id] = name
		return nil
	})
	return names, err
}

// content is what they may read of a version.
func (e eyes) content(v Version) model.Content {
	if e.all || len(v.Content.Accounts) == 0 && v.CreatedBy == e.user {
		return v.Content
	}
	return visible(v.Content, e.networks)
}

// words are the first ones of what a version says: the text for all, or to some
// only what their accounts get.
func (e eyes) words(v Version) string {
	seen := e.content(v)
	if e.all || len(v.Content.Accounts) == 0 {
		return model.Excerpt(seen.Text, 90)
	}
	var list []string
	for _, id := range seen.Accounts {
		list = append(list, model.Excerpt(seen.For(string(e.networks[id]), id).Text, 90))
	}
	slices.Sort(list)
	return model.Excerpt(strings.Join(slices.Compact(list), " / "), 90)
}
