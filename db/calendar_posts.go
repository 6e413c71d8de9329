package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// PostRow is a post in a list, with what its targets say as far as the actor may
// see them.
type PostRow struct {
	ID        model.PostID
	Review    string
	Excerpt   string
	Revision  int
	UpdatedAt time.Time
	Archived  bool
	Networks  []network.Name
	Clients   []model.ClientID
	Labels    []model.LabelID
	Shown     []string   // what each target shows; empty for a post without targets
	DueAt     *time.Time // the earliest planned time
	Again     int        // failed targets that are safe to retry
}

// PostList is a page of the posts, newest change first.
type PostList struct {
	Zone  string
	Posts []PostRow
	Newer Place // zero if there is nothing newer
	Older Place
	Choices
}

// A post shows where one of its targets gets through the filter. One that has
// no targets yet belongs to its writer and to those who see every client.
const postListSieve = `
	SELECT p.id, p.review, w.words AS excerpt, p.revision, p.updated_at, p.archived_at IS NOT NULL AS archived,
	       coalesce(s.networks, '{}') AS networks, coalesce(s.clients, '{}') AS clients, coalesce(s.shown, '{}') AS shown, s.due_at, coalesce(s.again, 0) AS again, ` + labelsOf + `p.id) AS labels
	  FROM tenant.posts p
	  LEFT JOIN LATERAL (
		SELECT array_agg(DISTINCT t.network) AS networks, array_agg(DISTINCT t.client_id) AS clients, array_agg(` + targetShows + ` ORDER BY t.id) AS shown,
		       min(t.due_at) AS due_at,
		       count(*) FILTER (WHERE t.state = 'failed' AND t.reason <> 'manual_check_required' OR t.state = 'needs_reconnect') AS again
		  FROM tenant.targets t
		 WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id AND ($11 OR t.client_id = ANY ($12))) s ON true
	 CROSS JOIN LATERAL (SELECT CASE WHEN $11 THEN` + postWords + `$12` + postWordsOf + ` AS words) w
	 WHERE p.tenant_id = $1 AND ($6 = '' OR w.words ILIKE $6) AND (p.archived_at IS NULL OR $13) AND (cardinality($15::bigint[]) = 0 OR p.id = ANY ($15))` + postSieve + `
	   AND CASE WHEN EXISTS (SELECT FROM tenant.targets t WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id)
	            THEN EXISTS (SELECT FROM tenant.targets t
	                 WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id AND ($2 OR t.client_id = ANY ($3))
	                   AND (cardinality($4::bigint[]) = 0 OR t.account_id = ANY ($4)) AND (cardinality($5::text[]) = 0 OR t.network = ANY ($5))
	                   AND (cardinality($7::text[]) = 0 OR ` + targetShows + ` = ANY ($7)))
	            ELSE $14 <> 0 AND ($11 OR p.created_by = $14) AND cardinality($4::bigint[]) = 0 AND cardinality($5::text[]) = 0
	                 AND (cardinality($7::text[]) = 0 OR p.review = ANY ($7)) END`

const sqlPostsOlder = postListSieve + `
	   AND ($17::bigint = 0 OR (p.updated_at, p.id) < ($16, $17))
	 ORDER BY p.updated_at DESC, p.id DESC LIMIT $18`

const sqlPostsNewer = postListSieve + `
	   AND (p.updated_at, p.id) > ($16, $17)
	 ORDER BY p.updated_at, p.id LIMIT $18`

// listPosts is how many posts a page of the list has.
const listPosts = 40

// Posts reads a page of the posts that the actor may see: at least one of their
// targets is of a client it may see, and gets through the filter. It refuses as
// Calendar does.
func (sc *Scope) Posts(ctx context.Context, page Page, f CalendarFilter) (l PostList, err error) {
	defer wrap(&err, "list posts")
	authors, err := sc.authors(ctx)
	if err != nil {
		return l, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) (err error) {
		var s sieve
		if l.Choices, s, err = sc.openSieve(ctx, tx, f, authors); err != nil {
			return err
		}
		l.Zone = s.zone
		visible, all := sc.Actor.ClientsWith(model.PostsView)
		s.args[6] = some(f.States)
		writer := sc.Actor.User
		if len(f.Clients) > 0 {
			writer = 0 // a post without targets is of no client
		}
		s.args = append(s.args, all, visible, slices.Contains(f.States, "cancelled"), writer, some(f.Posts))
		return sc.fillPosts(ctx, tx, &l, s, page)
	})
	return l, err
}

func (sc *Scope) fillPosts(ctx context.Context, tx pgx.Tx, l *PostList, s sieve, page Page) error {
	from, there, back := page.After, sqlPostsOlder, sqlPostsNewer
	if page.Before != (Place{}) {
		from, there, back = page.Before, sqlPostsNewer, sqlPostsOlder
	}
	posts, err := sc.postRows(ctx, tx, there, s, from, listPosts+1)
	if err != nil {
		return err
	}
	more := len(posts) > listPosts
	l.Posts = posts[:min(len(posts), listPosts)]
	if len(l.Posts) == 0 {
		return nil
	}
	if more {
		l.Older = l.Posts[len(l.Posts)-1].place()
	}
	if page != (Page{}) {
		behind, err := sc.postRows(ctx, tx, back, s, l.Posts[0].place(), 1)
		if err != nil {
			return err
		}
		if len(behind) > 0 {
			l.Newer = l.Posts[0].place()
		}
	}
	if page.Before != (Place{}) {
		l.Newer, l.Older = l.Older, l.Newer
		slices.Reverse(l.Posts)
	}
	return nil
}

func (p PostRow) place() Place { return Place{p.UpdatedAt, int64(p.ID)} }

func (sc *Scope) postRows(ctx context.Context, tx pgx.Tx, sql string, s sieve, from Place, limit int) ([]PostRow, error) {
	rows, err := tx.Query(ctx, sql, append(slices.Clone(s.args), from.At, from.ID, limit)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[PostRow])
}
