package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

const (
	connectLife    = 14 * 24 * time.Hour // of a connect link
	connectAnHour  = 100                 // links that one member sends
	connectNoteMax = 1000                // characters
)

// ConnectLink is a link by which somebody of a client connects its accounts, as the
// agency sees it.
type ConnectLink struct {
	ID        model.ConnectLinkID
	Name      string
	Email     string
	Networks  []network.Name
	Note      string
	Connected int // how often an account was connected by it
	CreatedAt time.Time
	ExpiresAt time.Time
}

// ConnectLinks are the links of one client that work.
type ConnectLinks struct {
	Client ClientAccounts
	Open   []ConnectLink
	Again  ConnectLink // of which a fresh one is to be sent; zero if none is
}

// ConnectLinkForm is what a link is made of.
type ConnectLinkForm struct {
	Key      string // of the form: the same one again sends nothing more
	Name     string
	Email    string
	Networks []network.Name
	Note     string
}

const sqlConnectLinkColumns = `SELECT id, name, email, networks, note, connected, created_at, expires_at FROM tenant.connect_links WHERE tenant_id = $1 AND client_id = $2`

const sqlConnectLinksOpen = sqlConnectLinkColumns + ` AND revoked_at IS NULL AND ended_at IS NULL AND expires_at > $3 ORDER BY id DESC`

const sqlConnectLinkGet = sqlConnectLinkColumns + ` AND id = $3`

const sqlConnectClient = `SELECT id, slug, name, zone, paused_at FROM tenant.clients WHERE tenant_id = $1 AND id = $2 AND archived_at IS NULL`

// ConnectLinks lists the links of a client that work, and reads the one that a fresh
// one is to be like (zero: none is). The actor needs accounts.manage at the client.
func (sc *Scope) ConnectLinks(ctx context.Context, client model.ClientID, again model.ConnectLinkID) (l ConnectLinks, err error) {
	defer wrap(&err, "list connect links of client %d", client)
	if err := sc.need(model.AccountsManage, client, "client"); err != nil {
		return l, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlConnectClient, sc.Actor.Tenant, client)
		if err != nil {
			return err
		}
		if l.Client, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[ClientAccounts]); noRows(err) {
			return model.Refuse(model.NotFound, "There is no such client.")
		} else if err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlConnectLinksOpen, sc.Actor.Tenant, client, sc.now()); err != nil {
			return err
		}
		if l.Open, err = pgx.CollectRows(rows, pgx.RowToStructByName[ConnectLink]); err != nil || again == 0 {
			return err
		}
		if rows, err = tx.Query(ctx, sqlConnectLinkGet, sc.Actor.Tenant, client, again); err != nil {
			return err
		}
		if l.Again, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[ConnectLink]); noRows(err) {
			return errNoLinkOfOurs
		}
		return err
	})
	return l, err
}

var errNoLinkOfOurs = model.Refuse(model.NotFound, "There is no such link.")

// tidy checks the form, and takes away what people leave around words.
func (f *ConnectLinkForm) tidy() (err error) {
	f.Name, f.Note = strings.TrimSpace(f.Name), strings.TrimSpace(strings.ReplaceAll(f.Note, "\r\n", "\n"))
	switch {
	case network.Blank(f.Name) || !plainLine(f.Name) || utf8.RuneCountInString(f.Name) > 100:
		return model.RefuseField("name", "Write the name of the person, on one line.")
	case len(f.Networks) == 0:
		return model.RefuseField("networks", "Choose at least one network.")
	case !utf8.ValidString(f.Note) || utf8.RuneCountInString(f.Note) > connectNoteMax:
		return model.RefuseField("note", fmt.Sprintf("A note has at most %d characters.", connectNoteMax))
	}
	slices.Sort(f.Networks)
	f.Networks = slices.Compact(f.Networks)
	for _, name := range f.Networks {
		if n, ok := network.Get(name); !ok || len(n.SignIns)+len(n.Entries) == 0 {
			return model.RefuseField("networks", "Choose among the networks that are here.")
		}
	}
	f.Email, err = cleanEmail(f.Email)
	return err
}

// One member's links are counted one at a time.
const sqlConnectTurn = `SELECT pg_advisory_xact_lock(hashtextextended('connect links ' || $1::bigint || ' ' || $2::bigint, 0))`

const sqlConnectLately = `
	SELECT count(*), coalesce(bool_or(form_key = nullif($4, '')), false) FROM tenant.connect_links WHERE tenant_id = $1 AND made_by = $2 AND created_at > $3`

const sqlConnectLinkInsert = `
	INSERT INTO tenant.connect_links (tenant_id, client_id, name, email, networks, note, token_hash, made_by, form_key, created_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, ''), $10, $11) RETURNING id`

// SendConnectLink mails somebody of a client a link by which to connect accounts at the
// networks of the form, for two weeks. The same form again, by its key, mails nothing
// more. It refuses more than anybody would send in an hour.
func (sc *Scope) SendConnectLink(ctx context.Context, client model.ClientID, f ConnectLinkForm) (err error) {
	defer wrap(&err, "send connect link for client %d", client)
	if err := sc.need(model.AccountsManage, client, "client"); err != nil {
		return err
	}
	if err := f.tidy(); err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlConnectTurn, sc.Actor.Tenant, sc.Actor.User); err != nil {
			return err
		}
		var lately int
		var sent bool
		if err := tx.QueryRow(ctx, sqlConnectLately, sc.Actor.Tenant, sc.Actor.User, sc.now().Add(-time.Hour), f.Key).Scan(&lately, &sent); err != nil || sent {
			return err
		}
		if lately >= connectAnHour {
			return model.Refuse(model.TooMany, "You have sent very many links within the hour. Try again later.")
		}
		return sc.sendConnectLink(ctx, tx, client, f)
	})
}

func (sc *Scope) sendConnectLink(ctx context.Context, tx pgx.Tx, client model.ClientID, f ConnectLinkForm) error {
	var c ClientAccounts
	rows, err := tx.Query(ctx, sqlConnectClient, sc.Actor.Tenant, client)
	if err != nil {
		return err
	}
	if c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[ClientAccounts]); noRows(err) {
		return model.Refuse(model.NotFound, "There is no such client.")
	} else if err != nil {
		return err
	}
	token, hash := newReviewToken(sc.Actor.Tenant)
	now, until := sc.now(), sc.now().Add(connectLife)
	var id model.ConnectLinkID
	if err := tx.QueryRow(ctx, sqlConnectLinkInsert, sc.Actor.Tenant, client, f.Name, f.Email, f.Networks, f.Note, hash[:], sc.Actor.User, f.Key, now, until).Scan(&id); err != nil {
		return err
	}
	look, err := sc.shownLook(ctx, tx, client)
	if err != nil {
		return err
	}
	content := model.ConnectMail{Agency: look.Name, Client: c.Name, Person: sc.Actor.Name, Note: f.Note, Until: until, Zone: c.Zone}
	for _, name := range f.Networks {
		content.Networks = append(content.Networks, string(name))
	}
	key := fmt.Sprintf("%s:%d", model.MailConnectLink, id)
	sealed := sc.ring.Seal(token, MailAAD(sc.Actor.Tenant, key))
	if _, err := tx.Exec(ctx, sqlMailInsert, sc.Actor.Tenant, key, model.MailConnectLink, f.Email, f.Name, content, sealed, now, now); err != nil {
		return err
	}
	return sc.audit(ctx, tx, note{verb: "connect_link_sent", subject: "client", id: int64(client), client: client, detail: map[string]any{"link": id, "to": f.Name}})
}

const sqlConnectLinkWhose = `SELECT client_id, name FROM tenant.connect_links WHERE tenant_id = $1 AND id = $2`

const sqlConnectLinkRevoke = `UPDATE tenant.connect_links SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`

// RevokeConnectLink takes a link back: from now on it opens nothing, and a sign-in that
// was begun by it connects nothing. It is safe to do twice.
func (sc *Scope) RevokeConnectLink(ctx context.Context, id model.ConnectLinkID) (client model.ClientID, err error) {
	defer wrap(&err, "revoke connect link %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, sqlConnectLinkWhose, sc.Actor.Tenant, id).Scan(&client, &name)
		if noRows(err) {
			return errNoLinkOfOurs
		}
		if err != nil {
			return err
		}
		if err := sc.need(model.AccountsManage, client, "link"); err != nil {
			return err
		}
		did, err := tx.Exec(ctx, sqlConnectLinkRevoke, sc.Actor.Tenant, id, sc.now())
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "connect_link_revoked", subject: "client", id: int64(client), client: client, detail: map[string]any{"link": id, "to": name}})
	})
	return client, err
}
