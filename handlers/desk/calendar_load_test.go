package desk_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// counter counts the statements of a Store.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// crowd adds n planned targets on one account around March 2026, past the Scope.
func (b *wall) crowd(t *testing.T, n int) {
	t.Helper()
	b.Super(t, dbtest.SecondShard, `
		INSERT INTO tenant.posts (tenant_id, state, review, excerpt, created_by, created_at, updated_at)
		SELECT $1, 'scheduled', 'approved', 'crowd ' || g, $2, now(), $3::timestamptz - g * interval '1 minute' FROM generate_series(1, $4::int) g`, b.agency.ID, b.agency.Owner.Actor.User, dbtest.Noon, n)
	b.Super(t, dbtest.SecondShard, `
		INSERT INTO tenant.post_versions (tenant_id, post_id, number, content, created_by, created_at)
		SELECT tenant_id, id, 1, '{}', created_by, created_at FROM tenant.posts p WHERE tenant_id = $1 AND excerpt LIKE 'crowd%'
		   AND NOT EXISTS (SELECT FROM tenant.post_versions v WHERE v.tenant_id = p.tenant_id AND v.post_id = p.id)`, b.agency.ID)
	b.Super(t, dbtest.SecondShard, `
		INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, due_at, local_at, zone, occurrence, created_at, updated_at)
		SELECT v.tenant_id, v.post_id, v.id, $2, $3, 'mastodon', $4::timestamptz + (v.post_id % 5000 - 2500) * interval '17 minutes', now(), 'Europe/Berlin', '', now(), now()
		  FROM tenant.post_versions v WHERE v.tenant_id = $1 AND v.content = '{}'
		   AND NOT EXISTS (SELECT FROM tenant.targets t WHERE t.tenant_id = v.tenant_id AND t.version_id = v.id)`, b.agency.ID, b.acme, b.mastodon, dbtest.Noon)
	b.Super(t, dbtest.SecondShard, `ANALYZE tenant.posts, tenant.targets`)
}

func TestPagesTakeTheSameStatementsHoweverMuchIsPlanned(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	count := &counter{}
	options := b.Options()
	options.Tracer = count
	store, err := db.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	scope, err := store.Enter(t.Context(), b.agency.Owner.Actor.User, "north")
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"month": func() error {
			_, err := scope.Calendar(t.Context(), db.MonthSpan, model.Date{}, db.CalendarFilter{})
			return err
		},
		"delivery": func() error {
			_, err := scope.Delivery(t.Context(), db.DeliveryFilter{From: dbtest.Noon.AddDate(0, -2, 0), To: dbtest.Noon.AddDate(0, 2, 0), Zone: "UTC"})
			return err
		},
		"list": func() error {
			_, err := scope.CalendarList(t.Context(), model.Date{}, db.Page{}, db.CalendarFilter{})
			return err
		},
		"posts": func() error {
			_, err := scope.Posts(t.Context(), db.Page{}, db.CalendarFilter{})
			return err
		},
	}
	measure := func() map[string]int64 {
		taken := map[string]int64{}
		for name, read := range reads {
			before := count.n.Load()
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			taken[name] = count.n.Load() - before
		}
		return taken
	}
	b.crowd(t, 3)
	few := measure()
	b.crowd(t, 3000)
	many := measure()
	for name := range reads {
		if few[name] != many[name] || few[name] > 10 {
			t.Errorf("%s: %d statements for 3 targets, %d for 3003", name, few[name], many[name])
		}
	}
}

// spread puts every planned post of the crowd on all four networks and two
// clients, ended in several ways, with as many words as a list shows: no card of
// a month can hold more.
func (b *wall) spread(t *testing.T) {
	t.Helper()
	b.Super(t, dbtest.SecondShard, `
		UPDATE tenant.targets t SET due_at = $2::timestamptz + n * interval '30 minutes'
		  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM tenant.targets WHERE tenant_id = $1) c WHERE t.tenant_id = $1 AND t.id = c.id`, b.agency.ID, dbtest.Noon.AddDate(0, 0, -16))
	for account, state := range map[model.AccountID]string{b.agency.Account(t, b.acme, network.Facebook): "invalid", b.agency.Account(t, b.acme, network.Instagram): "draft", b.hook: "draft", b.abroad: "draft"} {
		b.Super(t, dbtest.SecondShard, `
			INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, due_at, local_at, zone, occurrence, created_at, updated_at)
			SELECT t.tenant_id, t.post_id, t.version_id, a.client_id, a.id, a.network, t.due_at, t.local_at, t.zone, '', now(), now()
			  FROM tenant.targets t JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = $2 WHERE t.tenant_id = $1 AND t.account_id = $3`, b.agency.ID, account, b.mastodon)
		b.Super(t, dbtest.SecondShard, `UPDATE tenant.targets SET state = $3 WHERE tenant_id = $1 AND account_id = $2 AND state <> $3`, b.agency.ID, account, state)
	}
	for i, name := range []string{"Spring", "Recipes"} {
		b.Super(t, dbtest.SecondShard, `
			WITH l AS (INSERT INTO tenant.labels (tenant_id, kind, name, tint, created_at) VALUES ($1, 'label', $2, $3, now()) RETURNING *)
			INSERT INTO tenant.post_labels (tenant_id, post_id, label_id, kind) SELECT l.tenant_id, p.id, l.id, l.kind FROM l JOIN tenant.posts p ON p.tenant_id = l.tenant_id`, b.agency.ID, name, i)
	}
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.posts SET excerpt = rpad(excerpt, 140, ' and many more words') WHERE tenant_id = $1`, b.agency.ID)
	b.Super(t, dbtest.SecondShard, `ANALYZE tenant.posts, tenant.targets`)
}

func TestAMonthOfTenThousandStaysASmallPage(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	b.crowd(t, 2000)
	b.spread(t)
	page := b.as(t, b.agency.Owner)("GET", "/w/north/calendar?date=2026-03", nil)
	wantPage(t, page, 200, " more")
	if n := page.Body.Len(); n > 120<<10 {
		t.Errorf("the month is %d KB", n>>10)
	}
	if cards := strings.Count(page.Body.String(), `class="plan"`); cards == 0 || cards > 3*42 {
		t.Errorf("%d cards", cards)
	}
}
