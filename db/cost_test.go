package db_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/network"
)

// recorder keeps the statements that a Pipeline sends, as they were sent.
type recorder struct {
	mu   sync.Mutex
	sent []pgx.TraceQueryStartData
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := strings.ToLower(data.SQL); s != "begin" && s != "commit" && s != "rollback" {
		r.sent = append(r.sent, data)
	}
	return ctx
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// take returns what was sent since it was last asked.
func (r *recorder) take() []pgx.TraceQueryStartData {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// asked is one question of the tick or the sweeper, and the indexes that may
// answer it: they hold only rows that still matter.
type asked struct {
	name  string
	index []string
	ask   func(context.Context, *db.Pipeline, time.Time) error
}

var questions = []asked{
	{"what does the relay owe", []string{"outbox_owed"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.Relay(ctx, db.MainShard, 500, func(context.Context, db.Event) error { return nil }))
	}},
	{"what is due", []string{"dispatch_due"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.TakeDue(ctx, now.Add(2*time.Second), 500, func([]db.Dispatch) error { return nil }))
	}},
	{"which mails are due", []string{"mails_owed"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.TakeMails(ctx, db.MainShard, now.Add(time.Minute), 8))
	}},
	{"which files are owed something", []string{"media_tasks_due", "media_tasks_in_turn"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.TakeMedia(ctx, db.MainShard, time.Minute, 500, func([]db.MediaTask) error { return nil }))
	}},
	{"which imports are due", []string{"imports_due"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.TakeImports(ctx, db.MainShard, 500, func([]db.ImportKey) error { return nil }))
	}},
	{"what was enqueued long ago", []string{"dispatch_enqueued"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.Enqueued(ctx, now.Add(-15*time.Minute), 10_000))
	}},
	{"whose time has passed", []string{"targets_owed"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.RestoreOwed(ctx, db.MainShard, now.Add(-15*time.Minute), 5_000))
	}},
	{"which plans has nobody scheduled", []string{"targets_unscheduled"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.Unscheduled(ctx, db.MainShard, now, 500))
	}},
	{"who is to be reminded", []string{"reminders_due"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.TakeReminders(ctx, db.MainShard, now, now, 500))
	}},
	{"which connections are to be renewed", []string{"accounts_renewed"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.TakeRenewals(ctx, db.MainShard, uuid.New(), time.Minute, 8))
	}},
	{"which connections end", []string{"accounts_ending"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.Ending(ctx, db.MainShard, now, 500))
	}},
	{"which sign-ins led nowhere", []string{"consents_unchosen"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.SweepConsents(ctx, db.MainShard, 5_000))
	}},
	{"which claims grew old", []string{"targets_claimed", "targets_in_flight"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return must(p.SweepClaims(ctx, db.MainShard, 10*time.Minute, now, now, 500))
	}},
	{"which host names are to be looked at", []string{"review_hosts_due"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.TakeHosts(ctx, 500))
	}},
	{"how far behind is it", []string{"dispatch_due"}, func(ctx context.Context, p *db.Pipeline, _ time.Time) error {
		return must(p.Backlog(ctx))
	}},
	{"what may be forgotten", []string{"dispatch_over"}, func(ctx context.Context, p *db.Pipeline, now time.Time) error {
		return p.Forget(ctx, now.Add(-30*24*time.Hour), 5_000)
	}},
}

// TestTheCostOfATickFollowsWhatIsDue puts 10,000 finished and future rows beside
// three that are due into every table that the tick and the sweeper ask, and
// 10,000 workspaces around them, then
// counts what each question reads: it uses its partial index, scans no table, and
// reads as many rows as are due. With -v it prints the plans.
func TestTheCostOfATickFollowsWhatIsDue(t *testing.T) {
	t.Parallel()
	w := dbtest.Untouched(t)
	rec := &recorder{}
	o := w.Options()
	o.Tracer = rec
	pipe, err := db.OpenPipeline(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	sent := map[string][]pgx.TraceQueryStartData{}
	for _, q := range questions { // while there is nothing, so that nothing is taken
		if err := q.ask(t.Context(), pipe, w.Clock.Now()); err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		sent[q.name] = rec.take()
	}
	crowd(t, w)
	w.Super(t, db.MainShard, `ANALYZE`)
	for _, plans := range []string{"force_custom_plan", "force_generic_plan"} {
		scale := newScale(t, w, plans)
		for _, q := range questions {
			scale.weigh(t, q, sent[q.name])
		}
	}
}

// crowd fills a workspace with 5,000 rows that are over and 5,000 that lie ahead,
// and three that are due, in each table; three of what is over may be forgotten.
func crowd(t *testing.T, w *dbtest.World) {
	t.Helper()
	a := w.Agency(t, "north", db.MainShard)
	page := a.Post(t, "Fresh bread", a.Account(t, a.Client(t, "bakery"), network.Webhook))
	conn := as(t, w, db.MainShard, superuser)
	const kinds = `(SELECT n, CASE WHEN n <= 5000 THEN 'over' WHEN n <= 10000 THEN 'ahead' ELSE 'due' END AS kind,
	                       CASE WHEN n <= 3 THEN interval '40 days' ELSE '0' END AS old FROM generate_series(1, 10003) n) r`
	for _, sql := range []string{
		`SET session_replication_role = replica`, // no triggers, no foreign keys: these rows only have to be many
		`INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at, relayed_at)
		 SELECT $1, 'crowd' || n, 'target.publish', n, n, 1, $2, $2, CASE WHEN n <= 10000 THEN $2::timestamptz - old END FROM ` + kinds,
		`INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, state, due_at, local_at, zone, occurrence, next_at, published_at, owner, claimed_at, created_at, updated_at)
		 SELECT $1, 1000000 + n, n, t.client_id, t.account_id, t.network,
		        CASE kind WHEN 'over' THEN 'published' WHEN 'ahead' THEN 'scheduled' ELSE CASE n WHEN 10003 THEN 'publishing' ELSE 'scheduled' END END,
		        x.at, x.at::timestamp, 'UTC', '', CASE WHEN kind <> 'over' AND n <> 10003 THEN x.at END, CASE kind WHEN 'over' THEN x.at END,
		        CASE n WHEN 10003 THEN gen_random_uuid() END, CASE n WHEN 10003 THEN x.at END, $2, $2
		   FROM tenant.targets t, ` + kinds + ` CROSS JOIN LATERAL (SELECT $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' ELSE interval '-1 day' END AS at) x WHERE t.id = $3`,
		`INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, state, due_at, local_at, zone, occurrence, remind_at, created_at, updated_at)
		 SELECT $1, 2000000 + n, n, t.client_id, t.account_id, t.network, 'ready', x.at, x.at::timestamp, 'UTC', '', CASE WHEN kind <> 'over' THEN x.at END, $2, $2
		   FROM tenant.targets t, ` + kinds + ` CROSS JOIN LATERAL (SELECT $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' ELSE interval '-1 day' END AS at) x WHERE t.id = $3`,
		`INSERT INTO tenant.attempts (tenant_id, target_id, version_id, attempt_no, state, owner, began_at)
		 SELECT tenant_id, id, version_id, attempt_no, CASE state WHEN 'publishing' THEN 'in_flight' ELSE 'published' END, owner, $2
		   FROM tenant.targets WHERE tenant_id = $1 AND state IN ('publishing', 'published')`,
		`INSERT INTO tenant.posts (tenant_id, id, approved_version_id, created_by, created_at, updated_at) OVERRIDING SYSTEM VALUE SELECT $1, 1000000 + n, n, 1, $2, $2 FROM ` + kinds,
		`INSERT INTO tenant.post_versions (tenant_id, id, post_id, number, content, created_by, created_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, n, 1000000 + n, 1, '{}', 1, $2 FROM ` + kinds + ` WHERE kind = 'due'`,
		`INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state) SELECT 1000 + n, 'w' || n, 'W', 'UTC', 'active' FROM ` + kinds,
		`INSERT INTO control.publish_dispatch_index (tenant_id, target_id, version_id, task, shard, seq, due_at, status, enqueued_at, updated_at)
		 SELECT $1, n, n, 'publish', 'main', 1, $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' ELSE interval '-1 hour' END,
		        CASE WHEN kind = 'over' THEN 'done' WHEN n = 10003 THEN 'enqueued' ELSE 'pending' END, $2::timestamptz - interval '1 hour', $2::timestamptz - old FROM ` + kinds,
		`INSERT INTO tenant.media_tasks (tenant_id, media_id, next_at, made_at)
		 SELECT $1, n, $2::timestamptz + CASE kind WHEN 'due' THEN interval '-1 hour' ELSE n * interval '1 hour' END, $2 FROM ` + kinds,
		`INSERT INTO tenant.imports (tenant_id, client_id, user_id, name, hash, head, cells, lines, columns, day_first, state, next_at, created_at)
		 SELECT $1, 1, 1, 'x', '', '{}', '[]', '{}', '{}', false, CASE kind WHEN 'over' THEN 'done' WHEN 'ahead' THEN 'running' ELSE 'queued' END,
		        $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' WHEN 'due' THEN interval '-1 hour' END, $2 FROM ` + kinds,
		`INSERT INTO tenant.media (tenant_id, id, client_id, state, kind, type, name, path, sha256, bytes, created_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, n, 1, 'scanning', 'image', 'image/jpeg', 'x', '', sha256(n::text::bytea), 1, $2 FROM ` + kinds,
		`INSERT INTO tenant.approval_requests (tenant_id, id, post_id, version_id, content_hash, client_id, stages, state, asked_by, asked_at, closed_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, n, n, n, '', c.id, '[]', CASE kind WHEN 'over' THEN 'approved' ELSE 'open' END, 1, $2, CASE kind WHEN 'over' THEN $2::timestamptz END FROM tenant.clients c, ` + kinds,
		`INSERT INTO tenant.reminders (tenant_id, request_id, kind, user_id, next_at)
		 SELECT $1, n, 'remind', n, CASE kind WHEN 'due' THEN $2::timestamptz - interval '1 hour' WHEN 'ahead' THEN $2::timestamptz + n * interval '1 hour' END FROM ` + kinds,
		`INSERT INTO tenant.accounts (tenant_id, id, client_id, slug, network, handle, token, refresh_token, token_expires, renew_at, ends_at, warn_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, 1000000 + n, c.id, 'crowd' || n, 'x', 'x', 'x', 'x', $2, x.at, x.at + interval '14 days', x.at
		   FROM tenant.clients c, ` + kinds + ` CROSS JOIN LATERAL (SELECT $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' WHEN 'due' THEN interval '-1 hour' END AS at) x WHERE c.tenant_id = $1`,
		`INSERT INTO tenant.consents (tenant_id, client_id, user_id, network, state_hash, browser_hash, verifier, created_at, expires_at)
		 SELECT $1, 1, 1, 'x', sha256(n::text::bytea), sha256('x'), 'x', $2::timestamptz - interval '3 hours', $2::timestamptz + CASE kind WHEN 'due' THEN interval '-1 hour' ELSE n * interval '1 hour' END FROM ` + kinds,
		`INSERT INTO control.review_hosts (workspace_id, client_id, host, token, made_at, next_at)
		 SELECT $1, n, 'review-' || n || '.example', 'x', $2, $2::timestamptz + CASE kind WHEN 'due' THEN interval '-1 hour' ELSE n * interval '1 hour' END FROM ` + kinds,
		`INSERT INTO tenant.mails (tenant_id, key, kind, to_email, content, next_at, sent_at, made_at)
		 SELECT $1, 'crowd' || n, 'x', 'x@x.example', '{}', $2::timestamptz + CASE kind WHEN 'ahead' THEN n * interval '1 hour' ELSE interval '-1 hour' END,
		        CASE kind WHEN 'over' THEN $2::timestamptz END, $2 FROM ` + kinds,
	} {
		args := []any{a.ID, w.Clock.Now(), page.Targets[0].ID}
		if n := strings.Count(sql, "$3"); n == 0 {
			args = args[:2]
		}
		if !strings.Contains(sql, "$1") {
			args = nil
		}
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// A worker's whole run of one target: $1 to $3 name it, $4 is the claim's owner, $5 now.
const (
	claimOne  = `SELECT FROM tenant.claim_targets(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[9::bigint], ARRAY[$4::uuid], $5, '{}', '5m', '5m', '24h', '1h', '1s', 25, '1h')`
	saveOne   = `SELECT FROM tenant.save_handles(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$4::uuid], ARRAY['{"x":"y"}'::jsonb]), (SELECT $5::timestamptz) now`
	beginOne  = `SELECT FROM tenant.begin_commits(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$4::uuid], ARRAY['{}'::jsonb], $5)`
	finishOne = `SELECT FROM tenant.finish_targets(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$4::uuid], ARRAY['published'], ARRAY['published'], ARRAY[''], ARRAY[''],
		ARRAY[NULL::timestamptz], ARRAY[1], ARRAY[''], ARRAY[200], ARRAY[''], ARRAY['x'], ARRAY['x'], ARRAY[false], ARRAY[NULL::timestamptz], ARRAY['[]'::jsonb], ARRAY['{}'::jsonb], $5)`
	mendOne = `SELECT tenant.mend_accounts(ARRAY[$1::bigint], ARRAY[$2::bigint]) FROM (SELECT $3::bigint, $4::uuid, $5::timestamptz) rest`
)

// TestAPublishReadsOnlyWhatItIsAbout makes the plans of a publish while every table
// is empty, and known to be; then 10,000 targets of the same workspace come, and one
// publish must still read by its keys, at once and without waiting for autovacuum.
func TestAPublishReadsOnlyWhatItIsAbout(t *testing.T) {
	t.Parallel()
	w := dbtest.Untouched(t)
	w.Super(t, db.MainShard, `ANALYZE`)
	scale := newScale(t, w, "force_generic_plan")
	owner := "00000000-0000-0000-0000-000000000007"
	run := func(tenant, target, version int64) (list []pgx.TraceQueryStartData) {
		for _, sql := range []string{claimOne, saveOne, beginOne, finishOne, mendOne} {
			list = append(list, pgx.TraceQueryStartData{SQL: sql, Args: []any{tenant, target, version, owner, w.Clock.Now()}})
		}
		return list
	}
	for _, one := range run(0, 0, 0) {
		if _, err := scale.conn.Exec(t.Context(), one.SQL, one.Args...); err != nil {
			t.Fatal(err)
		}
	}
	crowd(t, w)
	pipe, err := db.OpenPipeline(t.Context(), w.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := pipe.AnalyzeGrown(t.Context(), db.MainShard); err != nil {
		t.Fatal(err)
	}
	var tenant, target, version int64
	if err := as(t, w, db.MainShard, superuser).QueryRow(t.Context(), `SELECT tenant_id, id, version_id FROM tenant.targets WHERE state = 'scheduled' AND due_at < $1 LIMIT 1`, w.Clock.Now()).
		Scan(&tenant, &target, &version); err != nil {
		t.Fatal(err)
	}
	scale.weigh(t, asked{name: "one publish", index: []string{"attempts_pkey"}}, run(tenant, target, version))
}

// scale is a connection that says what a statement read.
type scale struct {
	conn  *pgx.Conn
	plans string
	said  []string // plans that the server wrote down
}

func newScale(t *testing.T, w *dbtest.World, plans string) *scale {
	t.Helper()
	s := &scale{plans: plans}
	config, err := pgx.ParseConfig(w.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.said = append(s.said, n.Message) }
	if s.conn, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close(context.Background()) })
	if _, err := s.conn.Exec(t.Context(), "LOAD 'auto_explain'"); err != nil {
		t.Logf("this server cannot write plans down, so only what is read counts: %v", err)
	}
	for _, sql := range []string{"SET auto_explain.log_min_duration = 0", "SET auto_explain.log_nested_statements = on", "SET client_min_messages = log",
		"SET plan_cache_mode = " + plans, "SET SESSION AUTHORIZATION herald_worker"} {
		if _, err := s.conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return s
}

// What this connection has read of tables and indexes since the server last added
// it up, which it does not do inside a transaction.
const sqlReadings = `
	SELECT (CASE c.relkind WHEN 'r' THEN 'all of ' ELSE '' END || c.relname) AS name, pg_stat_get_xact_numscans(c.oid) AS scans, pg_stat_get_xact_tuples_returned(c.oid) AS rows
	  FROM pg_class c WHERE c.relnamespace IN (to_regnamespace('tenant'), to_regnamespace('control')) AND c.relkind IN ('r', 'i')`

type reading struct{ Scans, Rows int64 }

func (s *scale) readings(t *testing.T, tx pgx.Tx) map[string]reading {
	t.Helper()
	rows, err := tx.Query(t.Context(), sqlReadings)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]reading{}
	var name string
	var r reading
	if _, err := pgx.ForEachRow(rows, []any{&name, &r.Scans, &r.Rows}, func() error { all[name] = r; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// weigh runs a question's statements and takes them back.
func (s *scale) weigh(t *testing.T, q asked, list []pgx.TraceQueryStartData) {
	t.Helper()
	tx, err := s.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	before, answers := s.readings(t, tx), int64(0)
	s.said = nil
	for _, one := range list {
		tag, err := tx.Exec(t.Context(), one.SQL, one.Args...)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		answers += tag.RowsAffected()
	}
	t.Logf("%s (%s):\n%s", q.name, s.plans, planLines(s.said))
	rows, used := int64(0), map[string]int64{}
	for name, r := range s.readings(t, tx) {
		if r.Scans > before[name].Scans {
			used[name] = r.Rows - before[name].Rows
			rows += used[name]
		}
		if read := used[name]; strings.HasPrefix(name, "all of ") && read > 0 {
			t.Errorf("%s (%s) reads %s, %d rows", q.name, s.plans, name, read)
		}
	}
	if !slices.ContainsFunc(q.index, func(name string) bool { _, ok := used[name]; return ok }) {
		t.Errorf("%s (%s): %v was not used: %v", q.name, s.plans, q.index, used)
	}
	if answers == 0 || rows > 60 {
		t.Errorf("%s (%s): %d answers by reading %d rows; a few are due, and 10,000 are not: %v", q.name, s.plans, answers, rows, used)
	}
	t.Logf("%s (%s): %d answers by reading %v", q.name, s.plans, answers, used)
}

// planLines keeps of what the server wrote down the steps of the plans.
func planLines(said []string) string {
	var out []string
	for _, one := range said {
		if strings.Contains(one, "pg_stat_get_xact") {
			continue // our own question
		}
		for line := range strings.SplitSeq(one, "\n") {
			if strings.Contains(line, "(cost=") || strings.Contains(line, " Cond: ") || strings.Contains(line, "Filter: ") {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}
