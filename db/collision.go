package db

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Collision is what stands in the way of a post on one of its accounts: another
// post closer than the client wants, or one with the same words within a month.
// Nothing is refused for it.
type Collision struct {
	Post    model.PostID // zero for a post that is not stored
	DueAt   time.Time
	Account model.AccountID
	Handle  string
	Other   time.Time // when the other post is due
	Same    bool      // it has the same words; else it is close
}

// aims are posts on accounts at times, as one query asks about them.
type aims struct {
	posts    []model.PostID
	accounts []model.AccountID
	dues     []time.Time
	hashes   [][]byte // of the words; null: as the post's target carries them
}

// Each aim has at most two answers: the nearest other post, and the nearest with the
// same words. Both are found by index, whatever an account has.
const sqlCollisions = `
	WITH aim AS (SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::timestamptz[], $5::bytea[]) a(post_id, account_id, due_at, text_hash))
	SELECT a.post_id AS post, a.due_at, ac.id AS account, ac.handle, o.due_at AS other, false AS same
	  FROM aim a JOIN tenant.accounts ac ON ac.tenant_id = $1 AND ac.id = a.account_id JOIN tenant.clients c ON c.tenant_id = ac.tenant_id AND c.id = ac.client_id
	 CROSS JOIN LATERAL (
		SELECT t.due_at FROM tenant.targets t
		 WHERE t.tenant_id = $1 AND t.account_id = a.account_id AND t.post_id <> a.post_id AND t.state NOT IN ('cancelled', 'failed')
		   AND t.due_at > a.due_at - c.apart * interval '1 minute' AND t.due_at < a.due_at + c.apart * interval '1 minute'
		 ORDER BY abs(extract(epoch FROM t.due_at - a.due_at)) LIMIT 1) o
	UNION ALL
	SELECT a.post_id, a.due_at, ac.id, ac.handle, o.due_at, true
	  FROM aim a JOIN tenant.accounts ac ON ac.tenant_id = $1 AND ac.id = a.account_id
	 CROSS JOIN LATERAL (
		SELECT t.due_at FROM tenant.version_texts v
		  JOIN tenant.targets t ON t.tenant_id = v.tenant_id AND t.post_id = v.post_id AND t.account_id = v.account_id AND t.version_id = v.version_id
		 WHERE v.tenant_id = $1 AND v.account_id = a.account_id AND v.post_id <> a.post_id AND t.state NOT IN ('cancelled', 'failed')
		   AND v.text_hash = coalesce(a.text_hash, (SELECT m.text_hash FROM tenant.targets mt JOIN tenant.version_texts m ON m.tenant_id = mt.tenant_id AND m.version_id = mt.version_id AND m.account_id = mt.account_id
		                                             WHERE mt.tenant_id = $1 AND mt.post_id = a.post_id AND mt.account_id = a.account_id AND mt.due_at = a.due_at LIMIT 1))
		   AND t.due_at > a.due_at - interval '30 days' AND t.due_at < a.due_at + interval '30 days'
		 ORDER BY abs(extract(epoch FROM t.due_at - a.due_at)) LIMIT 1) o`

func (sc *Scope) collisions(ctx context.Context, tx pgx.Tx, a aims) ([]Collision, error) {
	if len(a.accounts) == 0 {
		a = aims{[]model.PostID{}, []model.AccountID{}, []time.Time{}, [][]byte{}}
	}
	rows, err := tx.Query(ctx, sqlCollisions, sc.Actor.Tenant, a.posts, a.accounts, a.dues, a.hashes)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Collision])
}

// collide marks the cards of days that collide with another post, in one query.
func (sc *Scope) collide(ctx context.Context, tx pgx.Tx, days []CalendarDay) error {
	var a aims
	for _, d := range days {
		for _, c := range d.Cards {
			for _, account := range c.Accounts {
				a.posts, a.accounts, a.dues, a.hashes = append(a.posts, c.Post), append(a.accounts, account), append(a.dues, c.DueAt), append(a.hashes, nil)
			}
		}
	}
	found, err := sc.collisions(ctx, tx, a)
	if err != nil {
		return err
	}
	of := map[Place][]Collision{}
	for _, one := range found {
		at := Place{one.DueAt.UTC(), int64(one.Post)}
		of[at] = append(of[at], one)
	}
	for _, d := range days {
		for i, c := range d.Cards {
			d.Cards[i].Collisions = of[Place{c.DueAt.UTC(), int64(c.Post)}]
		}
	}
	return nil
}

// Collisions says what a post would collide with at a time: words are what each of
// its accounts would get. The post itself, zero for a new one, is not in its own way.
func (sc *Scope) Collisions(ctx context.Context, post model.PostID, at time.Time, words map[model.AccountID]string) (list []Collision, err error) {
	defer wrap(&err, "find collisions of post %d", post)
	var a aims
	for account, text := range words {
		a.posts, a.accounts, a.dues, a.hashes = append(a.posts, post), append(a.accounts, account), append(a.dues, at), append(a.hashes, textHash(text))
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.accountsSeen(ctx, tx, a.accounts); err != nil {
			return err
		}
		list, err = sc.collisions(ctx, tx, a)
		return err
	})
	return list, err
}

const sqlAccountsCounted = `SELECT count(*) FROM tenant.accounts WHERE tenant_id = $1 AND id = ANY ($2) AND ($3 OR client_id = ANY ($4))`

// accountsSeen refuses accounts of which the actor sees no posts.
func (sc *Scope) accountsSeen(ctx context.Context, tx pgx.Tx, ids []model.AccountID) error {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	n := 0
	if err := tx.QueryRow(ctx, sqlAccountsCounted, sc.Actor.Tenant, ids, all, clients).Scan(&n); err != nil {
		return err
	}
	if n != len(ids) {
		return model.Refuse(model.NotFound, "There is no such account.")
	}
	return nil
}

// textHash tells the same words, however they are spaced and capitalised; nil for
// none.
func textHash(text string) []byte {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return []byte{} // nothing has this hash
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

const sqlVersionTexts = `
	INSERT INTO tenant.version_texts (tenant_id, version_id, post_id, account_id, text_hash)
	SELECT $1, $2, $3, x.account_id, x.text_hash FROM unnest($4::bigint[], $5::bytea[]) x(account_id, text_hash)`

// keepTexts keeps what a version says on each account, for later posts to be held
// against.
func (sc *Scope) keepTexts(ctx context.Context, tx pgx.Tx, post model.PostID, version model.VersionID, p plan) error {
	var accounts []model.AccountID
	var hashes [][]byte
	for _, part := range p.parts {
		if hash := textHash(part.draft.Text); len(hash) > 0 {
			accounts, hashes = append(accounts, part.account.ID), append(hashes, hash)
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, sqlVersionTexts, sc.Actor.Tenant, version, post, accounts, hashes)
	return err
}

const sqlClientApart = `UPDATE tenant.clients SET apart = $3 WHERE tenant_id = $1 AND id = $2`

// SetApart chooses how many minutes apart the posts of each account of a client
// should be; 0 warns of none.
func (sc *Scope) SetApart(ctx context.Context, client model.ClientID, minutes int) (err error) {
	defer wrap(&err, "set distance of posts of client %d", client)
	if err := sc.need(model.PostsWrite, client, "client"); err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, client); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlClientApart, sc.Actor.Tenant, client, minutes); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "apart_set", subject: "client", id: int64(client), client: client, detail: map[string]any{"minutes": minutes}})
	})
}
