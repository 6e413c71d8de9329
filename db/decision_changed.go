package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Changed is the refusal of a decision about a version that is no longer the
// post's, with what changed for the client. Nothing was recorded.
type Changed struct {
	model.Refusal
	Before, After []model.Preview
	Newer         model.RequestID // the open request about the newer version; zero if there is none
}

// Unwrap makes a Changed a Refusal to errors.As.
func (c *Changed) Unwrap() error { return &c.Refusal }

const sqlRequestNewer = `
	SELECT coalesce(max(id), 0) FROM tenant.approval_requests
	 WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND state = 'open' AND id > $4`

// changed makes the refusal that shows what the client's accounts would get now.
func (g *deciding) changed(ctx context.Context, tx pgx.Tx) error {
	no := &Changed{Refusal: model.Refusal{Kind: model.Conflict, Say: "This changed after you were asked, so nothing was recorded. Look at what is different, then decide on the newer version."}}
	now, err := g.sc.version(ctx, tx, g.row.CurrentID)
	if err != nil {
		return err
	}
	asked, err := model.ReadContent(g.row.Content)
	if err != nil {
		return err
	}
	accounts := slices.Concat(now.Content.Accounts, asked.Accounts)
	media := slices.Concat(now.Content.AllMedia(), asked.AllMedia())
	s, err := g.sc.stock(ctx, tx, accounts, media, []model.PostID{g.row.PostID})
	if err != nil {
		return err
	}
	if no.Before, err = s.previews(g.row.Content, g.row.PostID, g.row.VersionID, g.row.ClientID); err != nil {
		return err
	}
	if no.After, err = s.previews(now.Content.Canonical(), g.row.PostID, now.ID, g.row.ClientID); err != nil {
		return err
	}
	no.Before = s.comparable(no.Before, no.After, g.row.PostID, now.ID)
	if err := tx.QueryRow(ctx, sqlRequestNewer, g.sc.Actor.Tenant, g.row.PostID, g.row.ClientID, g.row.ID).Scan(&no.Newer); err != nil {
		return err
	}
	if no.Newer == 0 {
		no.Say = "This changed after you were asked, so nothing was recorded. Look at what is different; you can decide once the newer version has been submitted."
	}
	return no
}
