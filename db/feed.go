package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// Feed is a secret address at which calendar programs read what is planned.
type Feed struct {
	ID        model.FeedID
	ClientID  model.ClientID // zero: every client that its owner may see
	Client    string
	CreatedAt time.Time
}

const sqlFeedList = `
	SELECT f.id, coalesce(f.client_id, 0) AS client_id, coalesce(c.name, '') AS client, f.created_at
	  FROM tenant.feeds f LEFT JOIN tenant.clients c ON c.tenant_id = f.tenant_id AND c.id = f.client_id
	 WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.revoked_at IS NULL ORDER BY c.name NULLS FIRST, f.id`

// Feeds lists the actor's own feeds, and the clients one can be made for.
func (sc *Scope) Feeds(ctx context.Context) (feeds []Feed, clients []CalendarClient, err error) {
	defer wrap(&err, "list feeds")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if clients, err = sc.calendarClients(ctx, tx); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlFeedList, sc.Actor.Tenant, sc.Actor.User)
		if err != nil {
			return err
		}
		feeds, err = pgx.CollectRows(rows, pgx.RowToStructByName[Feed])
		return err
	})
	return feeds, clients, err
}

const sqlFeedReplace = `
	UPDATE tenant.feeds SET revoked_at = $4 WHERE tenant_id = $1 AND user_id = $2 AND coalesce(client_id, 0) = $3 AND revoked_at IS NULL`

const sqlFeedInsert = `INSERT INTO tenant.feeds (tenant_id, user_id, client_id, token_hash, created_at) VALUES ($1, $2, nullif($3::bigint, 0), $4, $5)`

// MakeFeed makes an address for all clients that the actor may see, or for one. An
// older address of the same kind ends. The token is told this once; the same form
// again, by its key, tells the same one, and ends none. A form whose address ended
// meanwhile is a Conflict.
func (sc *Scope) MakeFeed(ctx context.Context, client model.ClientID, key string) (token string, err error) {
	defer wrap(&err, "make feed")
	token = sc.feedToken(client, key)
	return token, sc.write(ctx, func(tx pgx.Tx) error { return sc.makeFeed(ctx, tx, client, token) })
}

// feedToken follows from the form's key, so that nothing need be kept for telling
// it again.
func (sc *Scope) feedToken(client model.ClientID, key string) string {
	token, _ := newReviewToken(sc.Actor.Tenant)
	if key == "" {
		return token
	}
	prefix, _, _ := strings.Cut(token, ".")
	return prefix + "." + sc.ring.Derive(fmt.Sprintf("feed %d %d %d %s", sc.Actor.Tenant, sc.Actor.User, client, key))
}

// A person's forms take turns, so that each sees what the one before it made.
const sqlFeedTurn = `SELECT pg_advisory_xact_lock(hashtextextended('feed ' || $1::bigint || ' ' || $2::bigint, 0))`

const sqlFeedMade = `SELECT revoked_at IS NOT NULL FROM tenant.feeds WHERE tenant_id = $1 AND token_hash = $2`

func (sc *Scope) makeFeed(ctx context.Context, tx pgx.Tx, client model.ClientID, token string) error {
	if err := sc.feedFor(ctx, tx, client); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlFeedTurn, sc.Actor.Tenant, sc.Actor.User); err != nil {
		return err
	}
	hash, ended := secret.HashToken(token), false
	switch err := tx.QueryRow(ctx, sqlFeedMade, sc.Actor.Tenant, hash[:]).Scan(&ended); {
	case err == nil && ended:
		return model.Refuse(model.Conflict, "This form made an address before, which has ended. Open the page again to make another.")
	case !noRows(err):
		return err
	}
	if _, err := tx.Exec(ctx, sqlFeedReplace, sc.Actor.Tenant, sc.Actor.User, client, sc.now()); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlFeedInsert, sc.Actor.Tenant, sc.Actor.User, client, hash[:], sc.now()); err != nil {
		return err
	}
	return sc.audit(ctx, tx, sc.feedNote("feed_made", client))
}

// feedFor refuses a client that the actor may not see.
func (sc *Scope) feedFor(ctx context.Context, tx pgx.Tx, client model.ClientID) error {
	clients, err := sc.calendarClients(ctx, tx)
	if err != nil || client == 0 {
		return err
	}
	_, err = sc.newSieve(CalendarFilter{Clients: []model.ClientID{client}}, Choices{Clients: clients})
	return err
}

func (sc *Scope) feedNote(verb string, client model.ClientID) note {
	if client == 0 {
		return note{verb: verb, subject: "workspace", id: int64(sc.Actor.Tenant)}
	}
	return note{verb: verb, subject: "client", id: int64(client), client: client}
}

const sqlFeedRevoke = `
	UPDATE tenant.feeds SET revoked_at = $4 WHERE tenant_id = $1 AND id = $2 AND user_id = $3 AND revoked_at IS NULL RETURNING coalesce(client_id, 0)`

// RevokeFeed ends one of the actor's feeds. Another's, and one that ended, is not
// there.
func (sc *Scope) RevokeFeed(ctx context.Context, id model.FeedID) (err error) {
	defer wrap(&err, "revoke feed %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		var client model.ClientID
		err := tx.QueryRow(ctx, sqlFeedRevoke, sc.Actor.Tenant, id, sc.Actor.User, sc.now()).Scan(&client)
		if noRows(err) {
			return model.Refuse(model.NotFound, "There is no such feed.")
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, sc.feedNote("feed_revoked", client))
	})
}

const sqlFeedOpen = `SELECT user_id, coalesce(client_id, 0) FROM tenant.feeds WHERE tenant_id = $1 AND token_hash = $2 AND revoked_at IS NULL`

var errNoFeed = model.Refuse(model.NotFound, "This calendar address does not work any more. Make a new one in Herald.")

// Feed opens a feed: the Scope of its owner as of now, and the one client it is
// for, zero for all. It refuses with NotFound what is no feed, what was revoked,
// and one whose owner may not see it any more.
func (s *Store) Feed(ctx context.Context, token string) (_ *Scope, client model.ClientID, err error) {
	defer wrap(&err, "open feed")
	w, err := s.reviewWorkspace(ctx, token)
	if _, no := model.Refused(err); no {
		return nil, 0, errNoFeed
	}
	if err != nil {
		return nil, 0, err
	}
	pool, err := s.shard(w.Shard)
	if err != nil {
		return nil, 0, err
	}
	hash := secret.HashToken(token)
	var user model.UserID
	door := &Scope{Workspace: w, Actor: model.Actor{Tenant: w.ID}, pool: pool, control: s.control, now: s.now}
	err = door.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlFeedOpen, w.ID, hash[:]).Scan(&user, &client)
	})
	if noRows(err) {
		return nil, 0, errNoFeed
	}
	if err != nil {
		return nil, 0, err
	}
	sc, err := s.Enter(ctx, user, w.Slug)
	if _, no := model.Refused(err); no || err == nil && (client != 0 && !sc.Actor.May(model.PostsView, client) || !sc.Actor.MayAnywhere(model.PostsView)) {
		return nil, 0, errNoFeed
	}
	return sc, client, err
}

// What a feed holds: a stretch around now, and not more than a program can take.
const (
	feedBack  = 60 * 24 * time.Hour
	feedAhead = 366 * 24 * time.Hour
	feedCards = 2000
)

const sqlFeedCards = calendarCards + `
	   AND t.due_at >= $11 AND t.due_at < $12
	 GROUP BY t.due_at, t.post_id ORDER BY t.due_at, t.post_id LIMIT $13`

// clientSees are the words of targets that a feed for one client shows: what is
// decided. Drafts are the agency's own.
var clientSees = []string{"approved", "scheduled", "held", "publishing", "retry_scheduled", "published"}

// FeedCards reads what a feed shows, from two months ago to a year from now.
func (sc *Scope) FeedCards(ctx context.Context, client model.ClientID) (cards []CalendarCard, clients []CalendarClient, err error) {
	defer wrap(&err, "read feed")
	f := CalendarFilter{}
	if client != 0 {
		f.Clients, f.States = []model.ClientID{client}, clientSees
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if clients, err = sc.calendarClients(ctx, tx); err != nil {
			return err
		}
		s, err := sc.newSieve(f, Choices{Clients: clients})
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlFeedCards, append(s.args, sc.now().Add(-feedBack), sc.now().Add(feedAhead), feedCards)...)
		if err != nil {
			return err
		}
		cards, err = pgx.CollectRows(rows, pgx.RowToStructByName[CalendarCard])
		return err
	})
	return cards, clients, err
}
