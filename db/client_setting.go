package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"herald/db/model"
)

// ClientSetting is a client as its settings show it.
type ClientSetting struct {
	ID         model.ClientID
	Slug       string
	Name       string
	Zone       string
	LateCutoff *time.Duration // nil: the operator's setting
	PausedAt   *time.Time
	ArchivedAt *time.Time
	Accounts   int
	Planned    int // targets that are planned or on their way
}

// Seen is the state that a form of the client sends back.
func (c ClientSetting) Seen() string {
	return seenAs(c.Name, c.Zone, deref(c.LateCutoff, 0))
}

// ClientBlackout is a time in which nothing of a client is published.
type ClientBlackout struct {
	ID       model.BlackoutID
	From, To time.Time
	Reason   string
}

const sqlClientSettings = `
	SELECT c.id, c.slug, c.name, c.zone, c.late_cutoff, c.paused_at, c.archived_at,
	       (SELECT count(*) FROM tenant.accounts a WHERE a.tenant_id = c.tenant_id AND a.client_id = c.id AND a.state <> 'disabled') AS accounts,
	       (SELECT count(*) FROM tenant.targets t WHERE t.tenant_id = c.tenant_id AND t.client_id = c.id
	           AND t.state IN ('scheduled', 'queued', 'publishing', 'retry_scheduled', 'unknown_outcome')) AS planned
	  FROM tenant.clients c WHERE c.tenant_id = $1`

const sqlClientSettingList = sqlClientSettings + ` ORDER BY c.archived_at IS NOT NULL, c.name, c.id`

const sqlClientSettingGet = sqlClientSettings + ` AND c.id = $2`

// ClientSettings lists all clients, those that were put away last. It is for people
// who manage clients, and their roles reach every one.
func (sc *Scope) ClientSettings(ctx context.Context) (list []ClientSetting, err error) {
	defer wrap(&err, "list client settings")
	if err := sc.managesClients(); err != nil {
		return nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlClientSettingList, sc.Actor.Tenant)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[ClientSetting])
		return err
	})
	return list, err
}

func (sc *Scope) managesClients() error {
	if sc.Actor.MayAnywhere(model.ClientsManage) {
		return nil
	}
	return model.Refuse(model.Forbidden, "Only an owner or admin of the workspace can set up clients.")
}

const sqlBlackoutList = `SELECT id, from_at AS "from", to_at AS "to", reason FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2 ORDER BY from_at, to_at, id`

// ClientSetting reads one client with its blackouts, past ones too.
func (sc *Scope) ClientSetting(ctx context.Context, id model.ClientID) (c ClientSetting, blackouts []ClientBlackout, err error) {
	defer wrap(&err, "read client setting %d", id)
	if err := sc.need(model.ClientsManage, id, "client"); err != nil {
		return c, nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if c, err = sc.clientSetting(ctx, tx, id); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlBlackoutList, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		blackouts, err = pgx.CollectRows(rows, pgx.RowToStructByName[ClientBlackout])
		return err
	})
	return c, blackouts, err
}

func (sc *Scope) clientSetting(ctx context.Context, tx pgx.Tx, id model.ClientID) (c ClientSetting, err error) {
	rows, err := tx.Query(ctx, sqlClientSettingGet, sc.Actor.Tenant, id)
	if err != nil {
		return c, err
	}
	c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[ClientSetting])
	if noRows(err) {
		err = errNoClient
	}
	return c, err
}

var errNoClient = model.Refuse(model.NotFound, "There is no such client.")

// ClientForm is what an agency says of a client.
type ClientForm struct {
	Name       string
	Zone       string
	LateCutoff time.Duration // zero: the operator's setting
	Seen       string
}

func (f *ClientForm) check() (err error) {
	if f.Name, err = calledBy(f.Name); err != nil {
		return err
	}
	if f.LateCutoff != 0 && (f.LateCutoff < time.Minute || f.LateCutoff > 366*24*time.Hour) {
		return model.RefuseField("late_cutoff", "Say a number of hours from 1 to 8,784, or leave it empty.")
	}
	_, err = model.LoadZone(f.Zone)
	return err
}

// AddClient makes a client. It refuses a name that another client of the workspace
// has, which the same form sent twice runs into as well.
func (sc *Scope) AddClient(ctx context.Context, f ClientForm) (c ClientSetting, err error) {
	defer wrap(&err, "add client")
	if err := f.check(); err != nil {
		return c, err
	}
	have, err := sc.ClientSettings(ctx)
	if err != nil {
		return c, err
	}
	if err := unlikeOthers(f.Name, have, 0); err != nil {
		return c, err
	}
	slug := freeSlug(f.Name, have)
	err = sc.arrange(ctx, DeclaredWorkspace{Clients: []DeclaredClient{{Slug: slug, Name: &f.Name, Zone: &f.Zone, LateCutoff: &f.LateCutoff}}}, func(_ context.Context, h *hand) error {
		return h.freshSlug(ctx, slug)
	})
	if err != nil {
		return c, err
	}
	if have, err = sc.ClientSettings(ctx); err != nil {
		return c, err
	}
	return have[slices.IndexFunc(have, func(c ClientSetting) bool { return c.Slug == slug })], nil
}

// freshSlug refuses a client that another form made meanwhile.
func (h *hand) freshSlug(ctx context.Context, slug string) error {
	var taken bool
	err := h.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM tenant.clients WHERE tenant_id = $1 AND slug = $2)`, h.ID, slug).Scan(&taken)
	if err == nil && taken {
		err = model.RefuseField("name", "There is a client of that name already.")
	}
	return err
}

func unlikeOthers(name string, have []ClientSetting, but model.ClientID) error {
	if slices.ContainsFunc(have, func(c ClientSetting) bool { return c.ID != but && strings.EqualFold(c.Name, name) }) {
		return model.RefuseField("name", "There is a client of that name already.")
	}
	return nil
}

// freeSlug makes a short name of a name, one that no other client has.
func freeSlug(name string, have []ClientSetting) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r) && b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := strings.Trim(b.String()[:min(b.Len(), 50)], "-")
	if base == "" {
		base = "client"
	}
	slug := base
	for n := 2; slices.ContainsFunc(have, func(c ClientSetting) bool { return c.Slug == slug }); n++ {
		slug = fmt.Sprintf("%s-%d", base, n)
	}
	return slug
}

// EditClient changes a client's name, zone and late cut-off. It refuses with Conflict
// if they changed since the form was drawn.
func (sc *Scope) EditClient(ctx context.Context, id model.ClientID, f ClientForm) (err error) {
	defer wrap(&err, "edit client %d", id)
	if err := f.check(); err != nil {
		return err
	}
	c, _, err := sc.ClientSetting(ctx, id)
	if err != nil {
		return err
	}
	all, err := sc.ClientSettings(ctx)
	if err == nil {
		err = unlikeOthers(f.Name, all, id)
	}
	if err != nil {
		return err
	}
	said := DeclaredClient{Slug: c.Slug, Name: &f.Name, Zone: &f.Zone, LateCutoff: &f.LateCutoff}
	return sc.arrange(ctx, DeclaredWorkspace{Clients: []DeclaredClient{said}}, func(ctx context.Context, h *hand) error {
		now, err := sc.clientSetting(ctx, h.tx, id)
		if err == nil && now.Seen() != f.Seen {
			err = errStale
		}
		return err
	})
}

// ArchiveClient puts a client away, or takes it out again. It refuses while something
// of the client is planned or on its way; one that was put away stays paused when it
// comes back, until somebody resumes it.
func (sc *Scope) ArchiveClient(ctx context.Context, id model.ClientID, archived bool) (name string, err error) {
	defer wrap(&err, "archive client %d", id)
	c, _, err := sc.ClientSetting(ctx, id)
	if err != nil {
		return "", err
	}
	return c.Name, sc.arrange(ctx, DeclaredWorkspace{Clients: []DeclaredClient{{Slug: c.Slug, Archived: &archived}}}, nil)
}

const sqlBlackoutAdd = `
	INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason)
	SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2 AND from_at = $3 AND to_at = $4)`

const blackoutsMost = 200

const sqlBlackoutCount = `SELECT count(*) FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2`

const sqlBlackoutInside = `
	SELECT count(*) FROM tenant.targets t
	 WHERE t.tenant_id = $1 AND t.client_id = $2 AND t.state IN ('scheduled', 'retry_scheduled')
	   AND coalesce(t.next_at, t.due_at) >= $3 AND coalesce(t.next_at, t.due_at) < $4`

// AddBlackout keeps a client silent for a time on the client's own clocks, and says
// how much is planned inside: that waits for the end. The same once more changes
// nothing.
func (sc *Scope) AddBlackout(ctx context.Context, id model.ClientID, from, to model.LocalTime, reason string) (inside int, err error) {
	defer wrap(&err, "add blackout of client %d", id)
	if err := sc.need(model.ClientsManage, id, "client"); err != nil {
		return 0, err
	}
	if reason, err = calledBy(reason); err != nil {
		return 0, model.RefuseField("reason", "Say why, in at most 100 characters: people who plan posts read it.")
	}
	return inside, sc.write(ctx, func(tx pgx.Tx) error {
		var name string
		var paused *time.Time
		if err := tx.QueryRow(ctx, sqlClientLock, sc.Actor.Tenant, id).Scan(&name, &paused); noRows(err) {
			return errNoClient
		} else if err != nil {
			return err
		}
		c, err := sc.clientSetting(ctx, tx, id)
		if err != nil {
			return err
		}
		b, err := blackoutOf(from, to, c.Zone)
		if err != nil {
			return err
		}
		inside, err = sc.addBlackout(ctx, tx, id, b, reason)
		return err
	})
}

func (sc *Scope) addBlackout(ctx context.Context, tx pgx.Tx, id model.ClientID, b blackoutRow, reason string) (inside int, err error) {
	var have int
	if err := tx.QueryRow(ctx, sqlBlackoutCount, sc.Actor.Tenant, id).Scan(&have); err != nil {
		return 0, err
	}
	if have >= blackoutsMost {
		return 0, model.Refuse(model.Unprocessable, fmt.Sprintf("A client has at most %d blackouts. Remove some that are over.", blackoutsMost))
	}
	did, err := tx.Exec(ctx, sqlBlackoutAdd, sc.Actor.Tenant, id, b.From, b.To, reason)
	if err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, sqlBlackoutInside, sc.Actor.Tenant, id, b.From, b.To).Scan(&inside); err != nil || did.RowsAffected() == 0 {
		return inside, err
	}
	return inside, sc.audit(ctx, tx, note{verb: "blackout_added", subject: "client", id: int64(id), client: id})
}

// blackoutOf is a blackout by the clocks of a zone. Of an hour that comes twice it
// takes the larger part.
func blackoutOf(from, to model.LocalTime, zone string) (b blackoutRow, err error) {
	first, err := model.Resolve(from, zone, model.Earlier)
	if err != nil {
		return b, model.RefuseField("from", sayOf(err))
	}
	last, err := model.Resolve(to, zone, model.Later)
	if err != nil {
		return b, model.RefuseField("to", sayOf(err))
	}
	if !last.At.After(first.At) {
		return b, model.RefuseField("to", "A blackout ends after it begins.")
	}
	return blackoutRow{From: first.At, To: last.At}, nil
}

func sayOf(err error) string {
	if no, ok := model.Refused(err); ok {
		return no.Say
	}
	return err.Error()
}

const sqlBlackoutRemove = `DELETE FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2 AND id = $3`

// RemoveBlackout takes a blackout away. What was put off to its end already still
// goes out then.
func (sc *Scope) RemoveBlackout(ctx context.Context, client model.ClientID, id model.BlackoutID) (err error) {
	defer wrap(&err, "remove blackout %d", id)
	if err := sc.need(model.ClientsManage, client, "client"); err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, sqlBlackoutRemove, sc.Actor.Tenant, client, id)
		if err != nil {
			return err
		}
		if did.RowsAffected() == 0 {
			return model.Refuse(model.NotFound, "There is no such blackout.")
		}
		return sc.audit(ctx, tx, note{verb: "blackout_removed", subject: "client", id: int64(client), client: client})
	})
}
