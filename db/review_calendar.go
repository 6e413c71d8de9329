package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// ReviewMonth is a month of what a client's approver may see planned and published:
// the client's own posts, once they are approved.
type ReviewMonth struct {
	First model.Date
	Posts []PlannedPost // by time
	More  bool          // there are more than a page shows
}

// PlannedPost is one post at one time.
type PlannedPost struct {
	Post     model.PostID
	DueAt    time.Time
	Excerpt  string
	Networks []network.Name
	Shown    []string // what each of the client's targets shows
	Live     []LivePost
}

// LivePost is where a published target is.
type LivePost struct {
	Network network.Name `json:"network"`
	Address string       `json:"address"`
}

// reviewMonthPosts is how many posts a month's page shows.
const reviewMonthPosts = 500

const sqlReviewMonth = `
	SELECT t.post_id AS post, t.due_at, coalesce(string_agg(DISTINCT nullif(tenant.words_of(v.content, t.network), ''), ' / '), '') AS excerpt,
	       array_agg(DISTINCT t.network) AS networks, array_agg(s.shown) AS shown,
	       coalesce(jsonb_agg(jsonb_build_object('network', t.network, 'address', t.permalink) ORDER BY t.network, t.id) FILTER (WHERE t.state = 'published' AND t.permalink <> ''), '[]') AS live
	  FROM tenant.targets t
	  JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 CROSS JOIN LATERAL (SELECT ` + targetShows + ` AS shown) s
	 WHERE t.tenant_id = $1 AND t.client_id = $2 AND t.due_at >= $3 AND t.due_at < $4 AND s.shown = ANY ($5)
	 GROUP BY t.due_at, t.post_id ORDER BY t.due_at, t.post_id LIMIT $6`

// Month reads the month around a day, in the person's zone; a zero day is today. What is
// not approved is not in it, nor anything of another client.
func (rs *ReviewScope) Month(ctx context.Context, day model.Date) (m ReviewMonth, err error) {
	defer wrap(&err, "read review calendar")
	if day, err = rs.sc.dayOr(day, rs.Zone); err != nil {
		return m, err
	}
	m.First = model.Date{Year: day.Year, Month: day.Month, Day: 1}
	from, err := dayStart(m.First, rs.Zone)
	if err != nil {
		return m, err
	}
	next := time.Date(day.Year, day.Month+1, 1, 0, 0, 0, 0, time.UTC)
	to, err := dayStart(model.Date{Year: next.Year(), Month: next.Month(), Day: 1}, rs.Zone)
	if err != nil {
		return m, err
	}
	err = rs.read(ctx, func(tx pgx.Tx) error {
		m.Posts, err = readList[PlannedPost](ctx, tx, sqlReviewMonth, rs.sc.Actor.Tenant, rs.who.ClientID, from, to, clientSees, reviewMonthPosts+1)
		return err
	})
	if m.More = len(m.Posts) > reviewMonthPosts; m.More {
		m.Posts = m.Posts[:reviewMonthPosts]
	}
	return m, err
}

const sqlApproverZone = `UPDATE tenant.approvers SET zone = nullif($3, '') WHERE tenant_id = $1 AND id = $2 AND zone IS DISTINCT FROM nullif($3, '')`

// SetZone has times shown to the person in a zone of their own, on every link and in
// every mail from now on; an empty one is the client's.
func (rs *ReviewScope) SetZone(ctx context.Context, zone string) (err error) {
	defer wrap(&err, "set zone by link")
	if rs.gone != nil {
		return rs.gone
	}
	if zone != "" {
		if _, err := model.LoadZone(zone); err != nil {
			return err
		}
	}
	return rs.sc.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sqlApproverZone, rs.sc.Actor.Tenant, rs.who.ID, zone)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return rs.sc.auditBy(ctx, tx, rs.self(), note{verb: "zone_chosen", subject: "approver", id: int64(rs.who.ID), client: rs.who.ClientID, detail: map[string]any{"zone": zone}})
	})
}
