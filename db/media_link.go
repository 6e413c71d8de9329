package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

var errNoFile = model.Refuse(model.NotFound, "There is no such file.")

const sqlWorkspaceOfMember = `
	SELECT w.slug FROM control.workspaces w
	  JOIN control.memberships m ON m.workspace_id = w.id AND m.user_id = $2 WHERE w.id = $1`

// MemberMedia reads an asset that is ready for a signed-in person who followed a
// link to it. It refuses with NotFound unless the person has media.view for its
// client, and one that is not ready whoever asks: what is in quarantine is
// reached by no link, issued when it may.
func (s *Store) MemberMedia(ctx context.Context, user model.UserID, tenant model.TenantID, id model.MediaID) (a Asset, err error) {
	defer wrap(&err, "read media %d", id)
	var slug string
	err = s.control.QueryRow(ctx, sqlWorkspaceOfMember, tenant, user).Scan(&slug)
	if noRows(err) {
		return a, errNoFile
	}
	if err != nil {
		return a, err
	}
	sc, err := s.Enter(ctx, user, slug)
	if err != nil {
		return a, err
	}
	list, err := sc.Media(ctx, []model.MediaID{id})
	if err != nil {
		return a, err
	}
	return served(list)
}

// served lets an asset out only while it is ready.
func served(list []Asset) (Asset, error) {
	if len(list) == 0 || list[0].State != "ready" {
		return Asset{}, errNoFile
	}
	return list[0], nil
}

// LinkedMedia reads an asset that is ready, for whoever holds a signed link that
// is enough by itself. The caller has verified the signature.
func (s *Store) LinkedMedia(ctx context.Context, tenant model.TenantID, id model.MediaID) (a Asset, err error) {
	defer wrap(&err, "read media %d", id)
	sc, err := s.linked(ctx, tenant)
	if err != nil {
		return a, err
	}
	list, err := sc.assets(ctx, sqlMediaGet, []model.MediaID{id})
	if err != nil {
		return a, err
	}
	return served(list)
}

// linked is the workspace of a link, and nobody in it.
func (s *Store) linked(ctx context.Context, tenant model.TenantID) (*Scope, error) {
	rows, err := s.control.Query(ctx, sqlReviewWorkspace, tenant)
	if err != nil {
		return nil, err
	}
	w, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Workspace])
	if noRows(err) {
		return nil, errNoFile
	}
	if err != nil {
		return nil, err
	}
	pool, err := s.shard(w.Shard)
	if err != nil {
		return nil, err
	}
	return &Scope{Workspace: w, Actor: model.Actor{Tenant: w.ID}, pool: pool, control: s.control, ring: s.ring, now: s.now, changed: s.changed}, nil
}

const sqlRenditionPath = `SELECT path FROM tenant.media_renditions WHERE tenant_id = $1 AND media_id = $2 AND id = $3 AND state = 'ready'`

// RenditionPath is where a rendition of an asset lies. The caller has found out
// that whoever asks may see the asset.
func (s *Store) RenditionPath(ctx context.Context, tenant model.TenantID, of model.MediaID, id model.RenditionID) (path string, err error) {
	defer wrap(&err, "read rendition %d", id)
	sc, err := s.linked(ctx, tenant)
	if err != nil {
		return "", err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlRenditionPath, tenant, of, id).Scan(&path)
	})
	if noRows(err) {
		return "", errNoFile
	}
	return path, err
}
