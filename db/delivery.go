package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// OnTime is how late a post may be published and still count as on time.
const OnTime = time.Minute

// DeliveryFilter is what a report is about: what was due in [From, To) and has been
// due by now, and what was approved then.
type DeliveryFilter struct {
	From, To time.Time
	Zone     string         // whose days are counted
	Client   model.ClientID // zero: every client that the actor may see
}

// DeliveryDay is what was due on one day for one client.
type DeliveryDay struct {
	Client  model.ClientID
	Day     time.Time // midnight UTC of the day in the filter's zone
	Due     int
	OnTime  int // published within OnTime of when it was due
	Late    int // published later
	ByHand  int // a person saw it live; when it appeared is not known
	Failed  int
	Held    int // of Waiting: somebody holds them
	Waiting int // none of that yet: on its way, or to be reconnected or looked at
}

// Lateness is how late what was published was, of one client or, with zero, of all.
type Lateness struct {
	Client   model.ClientID
	P50, P95 time.Duration
}

// FailureReason is how often posts failed for one reason.
type FailureReason struct {
	Client model.ClientID
	Reason string // short and stable, as targets carry it
	Count  int
}

// ApprovalTime is how long approvals took, of one client or, with zero, of all.
type ApprovalTime struct {
	Client model.ClientID
	Count  int
	P50    time.Duration // from being asked to the last word
}

// Delivery is a report of how posts went out.
type Delivery struct {
	Clients   []CalendarClient
	Days      []DeliveryDay
	Lateness  []Lateness
	Reasons   []FailureReason
	Approvals []ApprovalTime
}

// deliveryDue picks what was due, by tenant, whether all clients are seen, which,
// from, to, and now.
const deliveryDue = `
	  FROM tenant.targets t
	 WHERE t.tenant_id = $1 AND ($2 OR t.client_id = ANY ($3)) AND t.due_at >= $4 AND t.due_at < least($5::timestamptz, $6::timestamptz)
	   AND t.state IN ('published', 'failed', 'queued', 'publishing', 'retry_scheduled', 'unknown_outcome', 'needs_reconnect', 'scheduled')`

const sqlDeliveryDays = `
	SELECT t.client_id AS client, (t.due_at AT TIME ZONE $7)::date::timestamp AT TIME ZONE 'UTC' AS day, count(*) AS due,
	       count(*) FILTER (WHERE t.state = 'published' AND t.reason <> 'found_by_hand' AND t.published_at <= t.due_at + $8::interval) AS on_time,
	       count(*) FILTER (WHERE t.state = 'published' AND t.reason <> 'found_by_hand' AND t.published_at > t.due_at + $8::interval) AS late,
	       count(*) FILTER (WHERE t.state = 'published' AND t.reason = 'found_by_hand') AS by_hand,
	       count(*) FILTER (WHERE t.state = 'failed') AS failed,
	       count(*) FILTER (WHERE t.state = 'retry_scheduled' AND t.reason = 'held') AS held,
	       count(*) FILTER (WHERE t.state NOT IN ('published', 'failed')) AS waiting` + deliveryDue + `
	 GROUP BY 1, 2 ORDER BY 2, 1`

const sqlDeliveryLateness = `
	SELECT coalesce(client_id, 0), (p[1] * 1000)::bigint, (p[2] * 1000)::bigint FROM (
		SELECT t.client_id, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(extract(epoch FROM t.published_at - t.due_at), 0)::float8) AS p` + deliveryDue + `
		   AND t.state = 'published' AND t.reason <> 'found_by_hand'
		 GROUP BY GROUPING SETS ((t.client_id), ())) x WHERE p IS NOT NULL`

const sqlDeliveryReasons = `
	SELECT t.client_id AS client, t.reason, count(*) AS count` + deliveryDue + ` AND t.state = 'failed' GROUP BY 1, 2 ORDER BY 3 DESC, 2, 1`

const sqlDeliveryApprovals = `
	SELECT coalesce(r.client_id, 0), count(*), coalesce((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.closed_at - r.asked_at)::float8) * 1000)::bigint, 0)
	  FROM tenant.approval_requests r
	 WHERE r.tenant_id = $1 AND ($2 OR r.client_id = ANY ($3)) AND r.state = 'approved' AND r.closed_at >= $4 AND r.closed_at < $5
	 GROUP BY GROUPING SETS ((r.client_id), ())`

// Delivery reports how what was due in a period went out. It refuses with NotFound a
// client that the actor may not see.
func (sc *Scope) Delivery(ctx context.Context, f DeliveryFilter) (d Delivery, err error) {
	defer wrap(&err, "report delivery")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if d.Clients, err = sc.calendarClients(ctx, tx); err != nil {
			return err
		}
		args, err := sc.deliveryArgs(f, d.Clients)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlDeliveryDays, append(args, f.Zone, OnTime)...)
		if err != nil {
			return err
		}
		if d.Days, err = pgx.CollectRows(rows, pgx.RowToStructByName[DeliveryDay]); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlDeliveryLateness, args...); err != nil {
			return err
		}
		d.Lateness, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (l Lateness, err error) {
			var p50, p95 int64
			err = r.Scan(&l.Client, &p50, &p95)
			l.P50, l.P95 = time.Duration(p50)*time.Millisecond, time.Duration(p95)*time.Millisecond
			return l, err
		})
		if err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlDeliveryReasons, args...); err != nil {
			return err
		}
		if d.Reasons, err = pgx.CollectRows(rows, pgx.RowToStructByName[FailureReason]); err != nil {
			return err
		}
		d.Approvals, err = sc.deliveryApprovals(ctx, tx, args[:5])
		return err
	})
	return d, err
}

func (sc *Scope) deliveryApprovals(ctx context.Context, tx pgx.Tx, args []any) ([]ApprovalTime, error) {
	rows, err := tx.Query(ctx, sqlDeliveryApprovals, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (a ApprovalTime, err error) {
		var p50 int64
		err = r.Scan(&a.Client, &a.Count, &p50)
		a.P50 = time.Duration(p50) * time.Millisecond
		return a, err
	})
}

// deliveryArgs are those of deliveryDue.
func (sc *Scope) deliveryArgs(f DeliveryFilter, clients []CalendarClient) ([]any, error) {
	visible, all := sc.Actor.ClientsWith(model.PostsView)
	if f.Client != 0 {
		if !slices.ContainsFunc(clients, func(c CalendarClient) bool { return c.ID == f.Client }) {
			return nil, errNoClient
		}
		visible, all = []model.ClientID{f.Client}, false
	}
	return []any{sc.Actor.Tenant, all, visible, f.From, f.To, sc.now()}, nil
}

// DeliveryPost is one line of a report that is taken along: one post on one account.
type DeliveryPost struct {
	Client      string
	Network     string
	Account     string
	Zone        string // the client's
	Due         time.Time
	PublishedAt *time.Time
	State       model.State
	Reason      string
	Permalink   string
	Post        model.PostID
	Attempts    int
}

// deliveryMost is how many lines a report has at most.
const deliveryMost = 20000

const sqlDeliveryPosts = `
	SELECT c.name AS client, t.network, a.handle AS account, c.zone, t.due_at AS due, t.published_at, t.state, t.reason, t.permalink, t.post_id AS post, t.attempt_no AS attempts
	  FROM (SELECT *` + deliveryDue + ` ORDER BY t.due_at, t.id LIMIT $7) t
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id
	  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
	 ORDER BY t.due_at, t.id`

// DeliveryPosts lists the posts behind a report, the first 20,000.
func (sc *Scope) DeliveryPosts(ctx context.Context, f DeliveryFilter) (list []DeliveryPost, err error) {
	defer wrap(&err, "list delivery")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		clients, err := sc.calendarClients(ctx, tx)
		if err != nil {
			return err
		}
		args, err := sc.deliveryArgs(f, clients)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlDeliveryPosts, append(args, deliveryMost)...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[DeliveryPost])
		return err
	})
	return list, err
}
