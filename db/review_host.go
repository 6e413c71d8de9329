package db

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/net/idna"

	"herald/db/model"
)

// ReviewHost is a host name under which review links open.
type ReviewHost struct {
	Host    string // in ASCII; empty: there is none
	Token   string // to stand in its DNS
	OwnedAt *time.Time
	LiveAt  *time.Time
	Say     string // what the last look missed

	LookedAt *time.Time // last
	Misses   int        // looks that missed since it last worked
	NextAt   time.Time  // when it is looked at again
}

// Spelled is the name as people read it.
func (h ReviewHost) Spelled() string {
	if name, err := idna.Display.ToUnicode(h.Host); err == nil {
		return name
	}
	return h.Host
}

const sqlHostGet = `SELECT host, token, owned_at, live_at, say, looked_at, misses, next_at FROM control.review_hosts WHERE workspace_id = $1 AND client_id = $2`

// ReviewHost reads the host name of a client, or with zero that of the workspace, for
// people who set it.
func (sc *Scope) ReviewHost(ctx context.Context, client model.ClientID) (h ReviewHost, err error) {
	defer wrap(&err, "read review host of client %d", client)
	if err := sc.hasLook(ctx, client); err != nil {
		return h, err
	}
	rows, err := sc.control.Query(ctx, sqlHostGet, sc.Actor.Tenant, client)
	if err != nil {
		return h, err
	}
	h, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[ReviewHost])
	if noRows(err) {
		return ReviewHost{}, nil
	}
	return h, err
}

// hasLook refuses whose look the actor may not set, and a client that there is not.
func (sc *Scope) hasLook(ctx context.Context, client model.ClientID) error {
	_, err := sc.Look(ctx, client)
	return err
}

// hostName reads what somebody typed, and refuses what is no name of their own. own is
// the name of this Herald itself.
func hostName(typed, own string) (string, error) {
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(typed)), "."))
	if err != nil {
		return "", model.RefuseField("host", "This is no host name. Write it as in review.agency.example.")
	}
	if err := model.CheckHost(host); err != nil {
		return "", err
	}
	if host == model.HostOf(own) {
		return "", model.RefuseField("host", "This name belongs to Herald itself. Take one of your own domain.")
	}
	return host, nil
}

var errHostTaken = model.RefuseField("host", "This name is in use already. If it is yours, remove it where it is used, or ask who hosts Herald.")

const sqlHostHeld = `SELECT EXISTS (SELECT FROM control.review_hosts WHERE host = $1 AND owned_at IS NOT NULL AND (workspace_id, client_id) <> ($2, $3))`

const sqlHostKeep = `
	INSERT INTO control.review_hosts AS h (workspace_id, client_id, host, token, made_at, next_at) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (workspace_id, client_id) DO UPDATE SET host = excluded.host, token = excluded.token, made_at = excluded.made_at, owned_at = NULL, live_at = NULL, say = '',
	       looked_at = NULL, misses = 0, next_at = excluded.next_at
	 WHERE h.host <> excluded.host`

// KeepReviewHost names the host of a client, or with zero of the workspace. It is used
// once CheckedReviewHost says so. It refuses at "host" what is no name, what is own, the
// name of this Herald, and what somebody else holds. The same name again changes nothing.
func (sc *Scope) KeepReviewHost(ctx context.Context, client model.ClientID, typed, own string) (err error) {
	defer wrap(&err, "keep review host of client %d", client)
	if err := sc.hasLook(ctx, client); err != nil {
		return err
	}
	host, err := hostName(typed, own)
	if err != nil {
		return err
	}
	var held bool
	if err := sc.control.QueryRow(ctx, sqlHostHeld, host, sc.Actor.Tenant, client).Scan(&held); err != nil {
		return err
	}
	if held {
		return errHostTaken
	}
	return sc.hostDeed(ctx, client, "host_set", sqlHostKeep, sc.Actor.Tenant, client, host, strings.ToLower(rand.Text()), sc.now(), sc.now().Add(hostLookAgain))
}

const sqlHostRemove = `DELETE FROM control.review_hosts WHERE workspace_id = $1 AND client_id = $2`

// RemoveReviewHost gives the name up. Links that were mailed under it no longer lead to
// their page by it; Herald's own address still does. Twice is once.
func (sc *Scope) RemoveReviewHost(ctx context.Context, client model.ClientID) (err error) {
	defer wrap(&err, "remove review host of client %d", client)
	if err := sc.hasLook(ctx, client); err != nil {
		return err
	}
	return sc.hostDeed(ctx, client, "host_removed", sqlHostRemove, sc.Actor.Tenant, client)
}

// CheckedReviewHost writes down what a look at the name found. It refuses at "host" what
// somebody else came to hold meanwhile, and with Conflict a name that was changed.
func (sc *Scope) CheckedReviewHost(ctx context.Context, client model.ClientID, f HostFinding) (err error) {
	defer wrap(&err, "write down the look at a review host of client %d", client)
	was, err := sc.ReviewHost(ctx, client)
	if err != nil {
		return err
	}
	if was.Host != f.Host {
		return errStale
	}
	args, verb := was.found(sc.Actor.Tenant, client, f, false, sc.now())
	err = sc.hostDeed(ctx, client, verb, sqlHostFound, args...)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.ConstraintName == "review_hosts_one_holder" {
		return errHostTaken
	}
	return err
}

// HeldHost is a name that somebody showed to be theirs.
type HeldHost struct {
	Host        string
	WorkspaceID model.TenantID
	ClientID    model.ClientID // zero: all clients of the workspace
	Token       string
}

const sqlHostsHeld = `SELECT host, workspace_id, client_id, token FROM control.review_hosts WHERE owned_at IS NOT NULL`

// HeldHosts are all of them, for whoever answers requests.
func (s *Store) HeldHosts(ctx context.Context) (_ []HeldHost, err error) {
	defer wrap(&err, "list review hosts")
	return readList[HeldHost](ctx, s.control, sqlHostsHeld)
}

// At says whether the name is of the link's workspace and client.
func (rs *ReviewScope) At(h HeldHost) bool { return h.of(rs.sc.Actor.Tenant, rs.who.ClientID) }

// At says whether the name is of the person's workspace and client.
func (rm *ReminderScope) At(h HeldHost) bool { return h.of(rm.sc.Actor.Tenant, rm.of) }

func (h HeldHost) of(tenant model.TenantID, client model.ClientID) bool {
	return h.WorkspaceID == tenant && (h.ClientID == 0 || h.ClientID == client)
}

const sqlHostMailed = `
	SELECT host FROM control.review_hosts WHERE workspace_id = $1 AND client_id IN (0, $2) AND live_at IS NOT NULL ORDER BY client_id DESC LIMIT 1`

// hostOf is the name that a mail to a client's approver leads to; empty: Herald's own.
func (p *Pipeline) hostOf(ctx context.Context, tenant model.TenantID, client model.ClientID) (host string, err error) {
	err = p.control.QueryRow(ctx, sqlHostMailed, tenant, client).Scan(&host)
	if noRows(err) {
		err = nil
	}
	return host, err
}
