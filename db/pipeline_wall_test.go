package db_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// pipelineCalls tries each function of the pipeline that is told a workspace with
// that of a stranger and ids that are north's: $1 is the stranger, $2 a target, $3
// its version, $4 an account, $5 a mail, $6 an event, $7 the owner of its claim, $8 an
// approval request.
var pipelineCalls = map[string]string{
	"sent_by_account": `SELECT count(*) FROM tenant.sent_by_account($1, $4, '2020-01-01')`,
	"claim_targets": `SELECT count(*) FROM tenant.claim_targets(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[99::bigint], ARRAY[$7::uuid],
		'2026-03-12', '{}', '5m', '5m', '24h', '1h', '1s', 25, '1h') WHERE verdict <> 'obsolete'`,
	"begin_commits": `SELECT count(*) FROM tenant.begin_commits(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$7::uuid], ARRAY['{}'::jsonb], '2026-03-12')`,
	"save_handles":  `SELECT count(*) FROM tenant.save_handles(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$7::uuid], ARRAY['{"x":"y"}'::jsonb])`,
	"finish_targets": `SELECT count(*) FROM tenant.finish_targets(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[1], ARRAY[$7::uuid], ARRAY['published'], ARRAY['published'], ARRAY[''], ARRAY[''],
		ARRAY[NULL::timestamptz], ARRAY[1], ARRAY[''], ARRAY[200], ARRAY[''], ARRAY['x'], ARRAY['x'], ARRAY[false], ARRAY[NULL::timestamptz], ARRAY['[]'::jsonb], ARRAY['{}'::jsonb], '2026-03-12')`,
	"account_faults":    `SELECT count(*) FROM (SELECT tenant.account_faults(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY['publishing'], ARRAY['auth'], ARRAY['x'], '2026-03-12')) x WHERE false`,
	"mark_relayed":      `SELECT count(*) FROM (SELECT tenant.mark_relayed(ARRAY[$1::bigint], ARRAY[$6::bigint], '2026-03-12')) x WHERE false`,
	"load_target":       `SELECT count(*) FROM tenant.load_target($1, $2, $3)`,
	"record_finding":    `SELECT tenant.record_finding($1, $2, $3, 99, 1, 'found', '', 'x', 'x', '[]', 'published', '', NULL, false, '2026-03-12')::int`,
	"save_receipt":      `SELECT count(*) FROM (SELECT tenant.save_receipt($1, $2, 'x', 'x', '[]', '', '2026-03-12')) x WHERE false`,
	"lease_refresh":     `SELECT count(*) FROM tenant.lease_refresh($1, $4, $7, '5m', '2026-03-12', '2026-03-13')`,
	"publisher_of":      `SELECT count(tenant.publisher_of($1, $4))`,
	"save_tokens":       `SELECT tenant.save_tokens($1, $4, $7, 'x', 'x', NULL, NULL, NULL, NULL)::int`,
	"drop_refresh":      `SELECT count(*) FROM (SELECT tenant.drop_refresh($1, $4, $7, true, NULL, 'x', '2026-03-12')) x WHERE false`,
	"told_ending":       `SELECT count(*) FROM (SELECT tenant.told_ending(ARRAY[$1::bigint], ARRAY[$4::bigint], (SELECT array_agg(warn_at) FROM (SELECT '2026-02-26'::timestamptz AS warn_at) x), '2026-03-12')) x WHERE false`,
	"put_off_renewal":   `SELECT count(*) FROM (SELECT tenant.put_off_renewal($1, $4, $7, '2026-03-12', 'x', '2026-03-12', '14d')) x WHERE false`,
	"limit_network_of":  `SELECT count(*) FROM tenant.limit_network_of($1, $4, '2026-03-12')`,
	"mend_accounts":     `SELECT count(*) FROM (SELECT tenant.mend_accounts(ARRAY[$1::bigint], ARRAY[$2::bigint])) x WHERE false`,
	"finish_mail":       `SELECT count(*) FROM (SELECT tenant.finish_mail($1, $5, true, '', NULL, false, '2026-03-12')) x WHERE false`,
	"told_unscheduled":  `SELECT count(*) FROM (SELECT tenant.told_unscheduled(array_fill($1::bigint, ARRAY[1000]), (SELECT array_agg(n) FROM generate_series(1, 1000) n), array_fill('2026-03-11 12:00+00'::timestamptz, ARRAY[1000]), '2026-03-12')) x WHERE false`,
	"put_off_reminders": `SELECT count(*) FROM (SELECT tenant.put_off_reminders($1, (SELECT array_agg(n) FROM generate_series(1, 1000) n), '2027-01-01', NULL)) x WHERE false`,
	"send_reminder":     `SELECT tenant.send_reminder($1, (SELECT array_agg(n) FROM generate_series(1, 1000) n), '2027-01-01', '2026-03-12', 'x', 'reminder', 'x@x.example', '', '{}', NULL, NULL, NULL, NULL)::int`,
	"mail_pictures":     `SELECT count(*) FROM tenant.mail_pictures($1, (SELECT array_agg(n) FROM generate_series(1, 1000) n))`,
	"log_host_deed":     `SELECT tenant.log_host_deed($1, 1000000 + $4, 1, 'host_live', NULL, 'x', '2026-03-12')::int`,
	"mail_look":         `SELECT count(*) FROM tenant.mail_look($1, $8)`,
	"notice_facts":      `SELECT count(*) FROM tenant.notice_facts($1, $2, $4)`,
	"drop_uploads":      `SELECT tenant.drop_uploads(ARRAY[$1::bigint], (SELECT array_agg(n) FROM generate_series(10000, 10100) n))`,
	"stage_media":       `SELECT count(*) FROM tenant.stage_media($1, $3, 'pretended', 'x', $7, '2026-03-12', '2026-03-13') WHERE verdict <> 'gone'`,
	"keep_staging":      `SELECT tenant.keep_staging($1, $3, 'pretended', 'y', $7, '2026-03-13')::int`,
	"finish_staging":    `SELECT tenant.finish_staging($1, $3, 'pretended', 'y', $7, 'handle', NULL, '2026-03-13')::int`,
	"reseal_values":     `SELECT tenant.reseal_values(ARRAY[$1::bigint, $1], ARRAY[$4::bigint, $5], ARRAY['refresh', 'mail'], ARRAY['x'::bytea, 'x'], ARRAY['y'::bytea, 'y'])`,
	"retime_targets":    `SELECT tenant.retime_targets(ARRAY[$1::bigint], ARRAY[$2::bigint], ARRAY[(SELECT '2026-03-11 12:00+00'::timestamptz)], ARRAY['2026-03-15'::timestamptz], '2026-03-12')`,
}

// mediaCalls are those of the media queue: $1 is the stranger, $2 a task of
// north's, $3 its file, $4 the owner of its lease.
var mediaCalls = map[string]string{
	"begin_media":      `SELECT count(*) FROM tenant.begin_media($1, $2, $4, '2028-01-01', '2027-06-01')`,
	"hold_media":       `SELECT tenant.hold_media($1, $2, $4, '2028-01-01', 50)::int`,
	"wait_media":       `SELECT tenant.wait_media($1, $2, $4, '2028-01-01', 'x', 'x', true)::int`,
	"clean_media":      `SELECT tenant.clean_media($1, $2, $4)::int`,
	"refuse_media":     `SELECT tenant.refuse_media($1, $2, $4, 'refused', 'x', 'x')::int`,
	"ready_media":      `SELECT tenant.ready_media($1, $2, $4, 'x', 'x', 1, 'x', 'x', 1, 1, 1, 'herald', 'x', 'x', 'x', true, 1, false, 0, 1, '{x}', '2026-03-12')::int`,
	"finish_rendition": `SELECT tenant.finish_rendition($1, $2, $4, 'x', 'x', 1, 1, 1, 1, '', '2026-03-12')::int`,
	"media_serves":     `SELECT count(*) FROM tenant.media_serves($1, $3)`,
	"media_files":      `SELECT count(*) FROM tenant.media_files($1, $2, $4)`,
	"erase_media":      `SELECT tenant.erase_media($1, $2, $4)::int`,
	"drop_media":       `SELECT tenant.drop_media($1, $2, $4)::int`,
}

// forEverybody are the functions that take no workspace: they hand out, or tidy,
// what is owed in all of them, each row with its workspace.
var forEverybody = map[string]string{
	"ending_connections": "connections whose people are to be told, each with its workspace",
	"count_connections":  "two numbers, of all workspaces together",
	"take_renewals":      "accounts whose renewal is due, each with its workspace",
	"sweep_consents":     "sign-ins that led nowhere",
	"take_outbox":        "events, oldest first",
	"take_mails":         "mails that are due",
	"analyze_grown":      "sizes of tables; it hands out nothing",
	"owed_targets":       "targets whose time passed",
	"sweep_claims":       "claims that grew old",
	"sweep_outbox":       "events that were relayed long ago",
	"take_media":         "tasks of the media queue that are due",
	"release_media":      "tasks that a lost queue held",
	"sent_by_app":        "times at which the app's posts at a network went out, each with its workspace",
	"limit_network":      "the limit of the app at a network, which is nobody's",
	"oldest_event":       "one time, of whichever workspace",
	"planned_times":      "plans that lie ahead, page by page",
	"take_reminders":     "reminders that are due, each with its workspace",
	"take_imports":       "imports that are due, each with its workspace",
	"unscheduled_plans":  "plans that nobody scheduled, each with its workspace",
	"add_notice":         "as add_mail; it looks for a mail of that workspace to go with",
	"add_mail":           "writes a new mail for the workspace it is told, and names no row",
	"expire_uploads":     "uploads that lay too long, each with its workspace",
	"sweep_staging":      "what was staged long ago",
	"sealed_accounts":    "sealed values, page by page, to be sealed again",
	"sealed_mails":       "sealed values, page by page, to be sealed again",
}

// TestPipelineFunctionsMatchEveryPart calls them with a workspace and ids that do
// not belong together: nothing is found, and nothing of either changes.
func TestPipelineFunctionsMatchEveryPart(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	h, owner := north.Main, "00000000-0000-0000-0000-000000000001"
	north.Push(t, h.PlannedTarget, "", model.Queued, model.Publishing)
	w.Super(t, db.MainShard, `UPDATE tenant.targets SET owner = $1, attempt_no = 1 WHERE id = $2`, owner, h.PlannedTarget)
	w.Super(t, db.MainShard, `INSERT INTO tenant.attempts (tenant_id, target_id, version_id, attempt_no, state, owner, began_at)
		SELECT tenant_id, id, version_id, 1, 'preparing', owner, '2026-03-12' FROM tenant.targets WHERE id = $1`, h.PlannedTarget)
	w.Super(t, db.MainShard, `INSERT INTO tenant.publish_guards SELECT tenant_id, post_id, account_id, owner, '2026-03-12' FROM tenant.targets WHERE id = $1`, h.PlannedTarget)
	w.Super(t, db.MainShard, `UPDATE tenant.accounts SET refresh_owner = $1, refresh_token = 'x', token_expires = '2026-03-12' WHERE id = $2`, owner, h.Account)
	w.Super(t, db.MainShard, `INSERT INTO tenant.staged_media (tenant_id, version_id, publisher, path, owner, leased_until)
		SELECT tenant_id, version_id, 'pretended', 'y', $1, '2027-01-01' FROM tenant.targets WHERE id = $2`, owner, h.PlannedTarget)
	look := func(sql string, args ...any) int64 { return dbtest.Look[int64](t, w, db.MainShard, sql, args...) }
	version := look(`SELECT version_id FROM tenant.targets WHERE id = $1`, h.PlannedTarget)
	mail, event := look(`SELECT max(id) FROM tenant.mails WHERE tenant_id = $1`, north.ID), look(`SELECT max(id) FROM tenant.outbox WHERE tenant_id = $1`, north.ID)
	before, theirs := north.Imprint(t), south.Imprint(t)
	conn := as(t, w, db.MainShard, "herald_worker")
	for name, sql := range pipelineCalls {
		n := int64(-1)
		// A cast of every argument, so that a call may leave some out.
		sql = `WITH told AS (SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::uuid, $8::bigint) ` + sql
		if err := conn.QueryRow(t.Context(), sql, south.ID, h.PlannedTarget, version, h.Account, mail, event, owner, h.Request).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s with south's name and north's ids: %d rows, %v", name, n, err)
		}
	}
	for _, changed := range [][]string{dbtest.Changed(before, north.Imprint(t)), dbtest.Changed(theirs, south.Imprint(t))} {
		if len(changed) > 0 {
			t.Errorf("the calls changed %v", changed)
		}
	}
}

// TestMediaFunctionsMatchEveryPart does so with a task of the media queue, and
// then with its right workspace and a wrong owner.
func TestMediaFunctionsMatchEveryPart(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	owner, other := "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
	task := dbtest.Look[int64](t, w, db.MainShard, `UPDATE tenant.media_tasks SET owner = $2 WHERE tenant_id = $1 AND media_id = $3 RETURNING id`, north.ID, owner, north.Main.Media)
	w.Super(t, db.MainShard, `INSERT INTO tenant.media_tasks (tenant_id, media_id, next_at, owner, made_at) VALUES ($1, $2, '2027-01-01', $3, '2026-03-01')`, north.ID, north.Main.Media, owner)
	before, theirs := north.Imprint(t), south.Imprint(t)
	conn := as(t, w, db.MainShard, "herald_worker")
	call := func(what, name string, tenant model.TenantID, owner string) {
		n := int64(-1)
		sql := `WITH told AS (SELECT $1::bigint, $2::bigint, $3::bigint, $4::uuid) ` + mediaCalls[name]
		if err := conn.QueryRow(t.Context(), sql, tenant, task, north.Main.Media, owner).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s %s: %d rows, %v", name, what, n, err)
		}
	}
	for name := range mediaCalls {
		call("with south's name and north's ids", name, south.ID, owner)
		if name != "begin_media" && name != "media_serves" { // an owner is made by the one, and not asked for by the other
			call("with another owner", name, north.ID, other)
		}
	}
	for _, changed := range [][]string{dbtest.Changed(before, north.Imprint(t)), dbtest.Changed(theirs, south.Imprint(t))} {
		if len(changed) > 0 {
			t.Errorf("the calls changed %v", changed)
		}
	}
}

func TestEveryPipelineFunctionHasItsCall(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	exist := collect[string](t, as(t, w, db.MainShard, superuser), `SELECT proname::text FROM pg_proc WHERE pronamespace = 'tenant'::regnamespace AND prosecdef`)
	for _, name := range exist {
		if (pipelineCalls[name]+mediaCalls[name] == "") == (forEverybody[name] == "") {
			t.Errorf("tenant.%s needs a call in pipelineCalls, or a reason in forEverybody", name)
		}
	}
	if n := len(pipelineCalls) + len(mediaCalls) + len(forEverybody); n != len(exist) {
		t.Errorf("%d functions exist and %d are known: %v", len(exist), n, slices.Sorted(slices.Values(exist)))
	}
}

// TestTheAppCannotUseThePipelinesFunctions: a person's request reaches no
// function that passes the walls.
func TestTheAppCannotUseThePipelinesFunctions(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north := w.Agency(t, "north", db.MainShard)
	within(t, as(t, w, db.MainShard, "herald_app"), idOf(north.ID), func(try func(string, ...any) (int64, error), _ pgx.Tx) {
		for _, sql := range []string{`SELECT tenant.take_outbox(1)`, `SELECT tenant.take_mails(now(), now(), 1)`, `SELECT tenant.load_target(1, 1, 1)`} {
			if _, err := try(sql); code(err) != forbidden {
				t.Errorf("herald_app: %s: %s", sql, code(err))
			}
		}
	})
}
