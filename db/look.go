package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Look is how review pages and their mails appear: a client's, or the workspace's.
// What is empty in a client's is taken from the workspace's.
type Look struct {
	Name     string // in place of the workspace's
	Accent   model.Accent
	Logo     *model.MediaID // a picture of a client's library
	Revision int            // 0: nobody set it yet
}

// LookSetting is a look as its settings show it.
type LookSetting struct {
	Look
	Client    string // whose; empty for the workspace's
	House     Look   // the workspace's, of a client's
	LogoReady bool   // it was scanned, and can be shown
	LogoSay   string // why it cannot
}

const sqlLookRead = `SELECT name, accent, logo_id AS logo, revision FROM tenant.looks WHERE tenant_id = $1 AND coalesce(client_id, 0) = $2`

const sqlLookLogo = `SELECT state, reason FROM tenant.media WHERE tenant_id = $1 AND id = $2 AND state <> 'deleted'`

// Look reads the look of a client, or with zero the workspace's, for people who set it.
func (sc *Scope) Look(ctx context.Context, client model.ClientID) (l LookSetting, err error) {
	defer wrap(&err, "read look of client %d", client)
	if err := sc.setsLook(client); err != nil {
		return l, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if client != 0 {
			c, err := sc.clientSetting(ctx, tx, client)
			if err != nil {
				return err
			}
			l.Client = c.Name
		}
		if l.Look, err = sc.lookOf(ctx, tx, client); err != nil {
			return err
		}
		if l.House, err = sc.lookOf(ctx, tx, 0); err != nil {
			return err
		}
		return sc.logoStands(ctx, tx, &l)
	})
	return l, err
}

func (sc *Scope) setsLook(client model.ClientID) error {
	if client == 0 {
		return sc.manages()
	}
	return sc.need(model.ClientsManage, client, "client")
}

func (sc *Scope) lookOf(ctx context.Context, tx pgx.Tx, client model.ClientID) (l Look, err error) {
	rows, err := tx.Query(ctx, sqlLookRead, sc.Actor.Tenant, client)
	if err != nil {
		return l, err
	}
	l, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Look])
	if noRows(err) {
		return Look{}, nil
	}
	return l, err
}

// logoStands says whether the logo can be shown. One that was deleted is none.
func (sc *Scope) logoStands(ctx context.Context, tx pgx.Tx, l *LookSetting) error {
	if l.Logo == nil {
		return nil
	}
	var state MediaState
	err := tx.QueryRow(ctx, sqlLookLogo, sc.Actor.Tenant, *l.Logo).Scan(&state, &l.LogoSay)
	if noRows(err) {
		l.Logo = nil
		return nil
	}
	l.LogoReady = state == MediaReady
	return err
}

// LookForm is what somebody says of a look.
type LookForm struct {
	Name   string
	Accent string // as it was typed
	Logo   *model.MediaID
	Seen   int
}

const sqlLookInsert = `
	INSERT INTO tenant.looks AS l (tenant_id, client_id, name, accent, logo_id) SELECT $1, nullif($2::bigint, 0), $3, $4, $5 WHERE $6 = 0
	ON CONFLICT (tenant_id, coalesce(client_id, 0)) DO NOTHING`

const sqlLookUpdate = `
	UPDATE tenant.looks SET name = $3, accent = $4, logo_id = $5, revision = revision + 1
	 WHERE tenant_id = $1 AND coalesce(client_id, 0) = $2 AND revision = $6`

// KeepLook sets the look of a client, or with zero the workspace's. It refuses with
// Conflict if that changed since the form was drawn.
func (sc *Scope) KeepLook(ctx context.Context, client model.ClientID, f LookForm) (err error) {
	defer wrap(&err, "keep look of client %d", client)
	if err := sc.setsLook(client); err != nil {
		return err
	}
	if f.Name != "" {
		if f.Name, err = calledBy(f.Name); err != nil {
			return err
		}
	}
	accent, err := model.ParseAccent(f.Accent)
	if err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, client); err != nil {
			return err
		}
		if err := sc.mayBeLogo(ctx, tx, client, f.Logo); err != nil {
			return err
		}
		sql := sqlLookUpdate
		if f.Seen == 0 {
			sql = sqlLookInsert
		}
		did, err := tx.Exec(ctx, sql, sc.Actor.Tenant, client, f.Name, accent, f.Logo, f.Seen)
		if err != nil {
			return err
		}
		if did.RowsAffected() == 0 {
			return errStale
		}
		return sc.audit(ctx, tx, sc.lookNote(client, "look_set"))
	})
}

// lookNote is a line of the log about the look of a client, or of the workspace.
func (sc *Scope) lookNote(client model.ClientID, verb string) note {
	if client == 0 {
		return note{verb: verb, subject: "workspace", id: int64(sc.Actor.Tenant)}
	}
	return note{verb: verb, subject: "client", id: int64(client), client: client}
}

const sqlLogoClient = `SELECT client_id, kind FROM tenant.media WHERE tenant_id = $1 AND id = $2 AND state NOT IN ('deleted', 'refused', 'quarantined')`

// mayBeLogo refuses what is no picture, and of another client where the look is of one.
func (sc *Scope) mayBeLogo(ctx context.Context, tx pgx.Tx, client model.ClientID, logo *model.MediaID) error {
	if logo == nil {
		return nil
	}
	var of model.ClientID
	var kind network.MediaKind
	err := tx.QueryRow(ctx, sqlLogoClient, sc.Actor.Tenant, *logo).Scan(&of, &kind)
	if noRows(err) || err == nil && client != 0 && of != client {
		return errNoLogo
	}
	if err == nil && kind != network.Image {
		return model.RefuseField("file", "A logo is a picture. Choose a PNG, JPEG, WebP or GIF file.")
	}
	return err
}

var errNoLogo = model.Refuse(model.NotFound, "There is no such picture.")

// ShownLook is what a client's approver sees.
type ShownLook struct {
	Name   string // whose page it is
	Accent model.Accent
	Logo   model.MediaID // zero if there is none to be shown
	Own    bool          // somebody set something, so Herald steps back
}

const sqlLookShown = `
	SELECT coalesce(nullif(own.name, ''), house.name, ''), coalesce(nullif(own.accent, ''), house.accent, ''),
	       coalesce((SELECT m.id FROM tenant.media m WHERE m.tenant_id = $1 AND m.id = coalesce(own.logo_id, house.logo_id) AND m.state = 'ready' AND m.thumb_path <> ''), 0)
	  FROM (VALUES (1)) one
	  LEFT JOIN tenant.looks own ON own.tenant_id = $1 AND own.client_id = $2
	  LEFT JOIN tenant.looks house ON house.tenant_id = $1 AND house.client_id IS NULL`

// shownLook is how what a client sees looks; without any, it is in the workspace's name.
func (sc *Scope) shownLook(ctx context.Context, tx pgx.Tx, client model.ClientID) (l ShownLook, err error) {
	err = tx.QueryRow(ctx, sqlLookShown, sc.Actor.Tenant, client).Scan(&l.Name, &l.Accent, &l.Logo)
	l.Own = l.Name != "" || l.Accent != "" || l.Logo != 0
	if l.Name == "" {
		l.Name = sc.Workspace.Name
	}
	return l, err
}

// MailLook is how a mail looks.
type MailLook struct {
	ClientID model.ClientID
	Name     string // empty: the workspace's own
	Accent   model.Accent
	Logo     string // in the store of media; empty if there is none
	Host     string `db:"-"` // under which its links open; empty: Herald\'s own
}

// MailLook is how a mail about an approval request looks.
func (p *Pipeline) MailLook(ctx context.Context, shard string, tenant model.TenantID, request model.RequestID) (l MailLook, err error) {
	defer wrap(&err, "read look of a mail about request %d", request)
	pool, err := p.shard(shard)
	if err != nil {
		return l, err
	}
	list, err := readList[MailLook](ctx, pool, `SELECT * FROM tenant.mail_look($1, $2)`, tenant, request)
	if err != nil || len(list) == 0 {
		return l, err
	}
	l = list[0]
	l.Host, err = p.hostOf(ctx, tenant, l.ClientID)
	return l, err
}
