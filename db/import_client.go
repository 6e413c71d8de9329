package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlImportCells = `SELECT cells, lines FROM tenant.imports WHERE tenant_id = $1 AND id = $2`

const sqlImportFiles = `
	SELECT DISTINCT ON (client_id, lower(name)) client_id, lower(name), id FROM tenant.media
	 WHERE tenant_id = $1 AND client_id = ANY ($2) AND lower(name) = ANY ($3) AND state NOT IN ('deleted', 'refused', 'quarantined') ORDER BY client_id, lower(name), id DESC`

// openImport reads the rows and what they are read by: what the table's client has, and
// what those have that its rows name.
func (sc *Scope) openImport(ctx context.Context, tx pgx.Tx, i Import) (in importing, cells [][]string, lines []int, err error) {
	in = importing{columns: i.Columns, dayFirst: i.DayFirst, client: ComposerClient{ID: i.ClientID, Name: i.Client, Zone: i.Zone}}
	if err = tx.QueryRow(ctx, sqlImportCells, sc.Actor.Tenant, i.ID).Scan(&cells, &lines); err != nil {
		return in, nil, nil, err
	}
	if in.labels, err = sc.labels(ctx, tx); err != nil {
		return in, nil, nil, err
	}
	if in.named, err = sc.importClients(ctx, tx, in, cells); err != nil {
		return in, nil, nil, err
	}
	return in, cells, lines, sc.equip(ctx, tx, &in, cells)
}

// importClients are the clients that rows name, among those the actor may write for, by
// their names in small letters. A name that two have names neither.
func (sc *Scope) importClients(ctx context.Context, tx pgx.Tx, in importing, cells [][]string) (map[string]*importing, error) {
	named := map[string]*importing{}
	if !slices.Contains(in.columns, ColumnClient) {
		return named, nil
	}
	ids, all := sc.Actor.ClientsWith(model.PostsWrite)
	rows, err := tx.Query(ctx, sqlComposerClients, sc.Actor.Tenant, all, ids, nil)
	if err != nil {
		return nil, err
	}
	clients, err := pgx.CollectRows(rows, pgx.RowToStructByName[ComposerClient])
	twice := map[string]int{}
	for _, c := range clients {
		twice[fold(c.Name)]++
	}
	for _, c := range clients {
		says := func(row []string) bool { return fold(in.cell(row, ColumnClient)) == fold(c.Name) }
		if twice[fold(c.Name)] == 1 && slices.ContainsFunc(cells, says) {
			named[fold(c.Name)] = &importing{columns: in.columns, dayFirst: in.dayFirst, labels: in.labels, client: c}
		}
	}
	return named, err
}

// equip reads accounts, times of silence and files of all clients of a table.
func (sc *Scope) equip(ctx context.Context, tx pgx.Tx, in *importing, cells [][]string) error {
	all := in.all()
	var ids []model.ClientID
	var targets []Target
	for _, one := range all {
		ids, targets = append(ids, one.client.ID), append(targets, Target{ClientID: one.client.ID})
	}
	rows, err := tx.Query(ctx, sqlComposerAccounts, sc.Actor.Tenant, false, ids, nil)
	if err != nil {
		return err
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowToStructByName[ComposerAccount])
	if err != nil {
		return err
	}
	facts, err := sc.timeFacts(ctx, tx, targets)
	if err != nil {
		return err
	}
	for _, one := range all {
		one.client.Accounts = slices.DeleteFunc(slices.Clone(accounts), func(a ComposerAccount) bool { return a.ClientID != one.client.ID })
		one.may = func(when model.When) error {
			if err := sc.timely(when); err != nil {
				return err
			}
			return facts.outsideBlackouts([]model.ClientID{one.client.ID}, when.At)
		}
	}
	return sc.importFiles(ctx, tx, all, cells)
}

// importFiles finds the files that rows name in the libraries of their clients.
func (sc *Scope) importFiles(ctx context.Context, tx pgx.Tx, all []*importing, cells [][]string) error {
	var names []string
	for _, row := range cells {
		for _, word := range fileWords(all[0].cell(row, ColumnMedia)) {
			if !isAddress(word) {
				names = append(names, strings.ToLower(word))
			}
		}
	}
	var ids []model.ClientID
	for _, one := range all {
		one.files = map[string]model.MediaID{}
		if sc.Actor.May(model.MediaView, one.client.ID) {
			ids = append(ids, one.client.ID)
		}
	}
	if len(names) == 0 || len(ids) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, sqlImportFiles, sc.Actor.Tenant, ids, names)
	if err != nil {
		return err
	}
	found := map[model.ClientID]map[string]model.MediaID{}
	var client model.ClientID
	var name string
	var id model.MediaID
	_, err = pgx.ForEachRow(rows, []any{&client, &name, &id}, func() error {
		if found[client] == nil {
			found[client] = map[string]model.MediaID{}
		}
		found[client][name] = id
		return nil
	})
	for _, one := range all {
		if files := found[one.client.ID]; files != nil {
			one.files = files
		}
	}
	return err
}
