package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
)

// notOwned are the tables of the tenant schema that belong to no workspace.
var notOwned = map[string]string{
	"target_moves":    "the state machine: the same for everybody, and nobody may write it",
	"schema_versions": "which migrations ran",
	"network_limits":  "the limits of the app as a whole: the same for everybody, and only the pipeline writes them",
}

// unledIndexes do not begin with tenant_id. Each serves a question that the
// pipeline asks about all workspaces at once, is not unique, and holds only rows
// that still matter.
var unledIndexes = map[string]string{
	"imports_due":         "workers take the imports that are due",
	"targets_counted":     "a quota of the app is counted over everybody",
	"accounts_ending":     "the sweeper looks for connections whose people are to be told",
	"accounts_renewed":    "the worker renews connections that are due, whoever's they are",
	"consents_unchosen":   "the sweeper deletes sign-ins that led nowhere",
	"media_tasks_due":     "the media queue takes what is due, whoever's it is",
	"outbox_owed":         "the relay takes the oldest events, whoever's they are",
	"outbox_over":         "the sweeper deletes relayed events by age",
	"mails_owed":          "the mailer takes what is due",
	"targets_claimed":     "the sweeper looks for claims that grew old",
	"staged_media_old":    "the sweeper forgets what was staged long ago",
	"uploads_due":         "the sweeper takes uploads that lay too long",
	"reminders_due":       "the sweeper takes what is due",
	"targets_unscheduled": "the sweeper looks for plans whose people are to be told",
	"targets_owed":        "the sweeper looks for targets whose time passed",
}

// looseReferences are columns that name a row of a workspace without a foreign
// key.
var looseReferences = map[string]string{
	"target_changes.target_id":  "history, written by the trigger of its target; a key would lock the target at every move",
	"attempts.target_id":        "written by claim_targets from the locked target itself; a key would cost a lock at every publish",
	"attempts.version_id":       "as target_id",
	"publish_guards.post_id":    "taken by claim_targets from the locked target itself, and gone after the call",
	"publish_guards.account_id": "as post_id",
	"account_rates.account_id":  "written by claim_targets from the locked target itself",
	"outbox.target_id":          "an event may outlive what it is about; whoever acts on it matches every part",
	"outbox.version_id":         "as target_id",
	"outbox.account_id":         "as target_id",
	"comments.version_id":       "what the post said when the remark was made; read by nothing",
	"attempts.request_id":       "the network's name of a request",
	"audit.client_id":           "the log stays when what it tells of is gone",
	"audit.approver_id":         "as client_id",
}

func collect[T any](t *testing.T, conn *pgx.Conn, sql string) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

// wantOnly fails for what is found and has no reason, and for reasons of what is
// not found any more.
func wantOnly(t *testing.T, what string, found []string, reasons map[string]string) {
	t.Helper()
	for _, f := range found {
		if reasons[f] == "" {
			t.Errorf("%s: %s", what, f)
		}
	}
	for name := range reasons {
		if !slices.Contains(found, name) {
			t.Errorf("%s: %s is excused and does not need it any more", what, name)
		}
	}
}

// TestEveryTableOfTheTenantSchemaIsWalled asks the catalogue: whose rows, row-level
// security forced, and tenant_id first in every key and every reference.
func TestEveryTableOfTheTenantSchemaIsWalled(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	for shard := range w.ShardURL {
		conn := as(t, w, shard, superuser)
		none := func(what, sql string) { t.Helper(); wantOnly(t, what, collect[string](t, conn, sql), nil) }

		wantOnly(t, "a table without tenant_id", collect[string](t, conn, `
			SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'tenant'::regnamespace AND c.relkind IN ('r', 'p')
			   AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnotnull AND a.atttypid = 'bigint'::regtype)`), notOwned)
		none("a view shows rows past the walls", `SELECT relname::text FROM pg_class WHERE relnamespace = 'tenant'::regnamespace AND relkind IN ('v', 'm', 'f')`)
		const owned = ` FROM pg_class c JOIN pg_attribute ta ON ta.attrelid = c.oid AND ta.attname = 'tenant_id'
			 WHERE c.relnamespace = 'tenant'::regnamespace AND c.relkind IN ('r', 'p')`
		none("row-level security is not forced", `SELECT c.relname::text`+owned+` AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`)
		none("no policy of its own workspace for reading and writing", `SELECT c.relname::text`+owned+` AND NOT EXISTS (
			SELECT FROM pg_policies p WHERE p.schemaname = 'tenant' AND p.tablename = c.relname AND p.policyname = 'own_workspace' AND p.permissive = 'PERMISSIVE'
			   AND p.cmd = 'ALL' AND p.roles = '{herald_app}' AND p.qual LIKE '%tenant_id = ( SELECT tenant.current_tenant()%' AND p.with_check = p.qual)`)
		none("a policy that lets in more", `SELECT tablename || '.' || policyname FROM pg_policies WHERE schemaname = 'tenant' AND permissive = 'PERMISSIVE'
			AND NOT (policyname = 'own_workspace' AND roles = '{herald_app}' OR policyname = 'pipeline' AND roles = '{herald_pipeline}')`)
		none("tenant_id does not lead the primary key", `SELECT c.relname::text`+owned+` AND NOT EXISTS (
			SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND k.conkey[1] = ta.attnum)`)
		none("tenant_id does not lead a unique key", `SELECT i.indexrelid::regclass::text`+strings.Replace(owned, " WHERE", " JOIN pg_index i ON i.indrelid = c.oid WHERE", 1)+` AND i.indisunique AND i.indkey[0] <> ta.attnum`)
		wantOnly(t, "tenant_id does not lead an index", collect[string](t, conn, `SELECT (SELECT relname::text FROM pg_class x WHERE x.oid = i.indexrelid)`+
			strings.Replace(owned, " WHERE", " JOIN pg_index i ON i.indrelid = c.oid WHERE", 1)+` AND i.indkey[0] <> ta.attnum`), unledIndexes)
		none("an index over all workspaces that is not partial", `SELECT i.indexrelid::regclass::text`+
			strings.Replace(owned, " WHERE", " JOIN pg_index i ON i.indrelid = c.oid WHERE", 1)+` AND i.indkey[0] <> ta.attnum AND i.indpred IS NULL`)
		none("tenant_id does not lead a foreign key on both sides", `SELECT f.conname::text`+strings.Replace(owned, " WHERE", " JOIN pg_constraint f ON f.conrelid = c.oid AND f.contype = 'f' WHERE", 1)+`
			AND NOT (f.conkey[1] = ta.attnum AND f.confkey[1] = (SELECT attnum FROM pg_attribute b WHERE b.attrelid = f.confrelid AND b.attname = 'tenant_id'))`)
		wantOnly(t, "a column names a row and no foreign key holds it", collect[string](t, conn, `SELECT c.relname || '.' || a.attname`+
			strings.Replace(owned, " WHERE", ` JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ANY ('{client_id,account_id,media_id,post_id,version_id,target_id,approver_id,stage_id,request_id,link_id}') WHERE`, 1)+`
			AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey))`), looseReferences)
	}
}

// TestTheRolesOwnNothingAndCannotPassTheWalls asks the catalogue about the roles
// that Herald works with.
func TestTheRolesOwnNothingAndCannotPassTheWalls(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	for shard := range w.ShardURL {
		conn := as(t, w, shard, superuser)
		none := func(what, sql string) { t.Helper(); wantOnly(t, what, collect[string](t, conn, sql), nil) }
		none("a role that may too much", `SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'herald\_%' AND rolname IN ('herald_app', 'herald_worker', 'herald_pipeline')
			AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)`)
		none("herald_pipeline signs in", `SELECT rolname::text FROM pg_roles WHERE rolname = 'herald_pipeline' AND rolcanlogin`)
		none("a role owns a table", `SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace IN (to_regnamespace('tenant'), to_regnamespace('control'))
			AND pg_get_userbyid(c.relowner) LIKE 'herald\_%' AND pg_get_userbyid(c.relowner) IN ('herald_app', 'herald_worker', 'herald_pipeline')`)
		none("a role is a member of another", `SELECT m.rolname || ' of ' || g.rolname FROM pg_auth_members am JOIN pg_roles m ON m.oid = am.member JOIN pg_roles g ON g.oid = am.roleid
			WHERE m.rolname IN ('herald_app', 'herald_worker', 'herald_pipeline')`)
		none("a role may make things in a schema", `SELECT r || ' in ' || s FROM unnest('{herald_app,herald_worker,herald_pipeline}'::text[]) r, unnest('{tenant,control}'::text[]) s
			WHERE to_regnamespace(s) IS NOT NULL AND has_schema_privilege(r, s, 'CREATE')`)
		// A function that runs as another role is the worker's, owned by the role that
		// the policies know, and cannot be led astray by a search path. analyze_grown
		// runs as the owner of the tables, as ANALYZE asks; it takes and gives no row,
		// and forced row-level security holds for it too.
		none("a function of the pipeline that is not the worker's alone", `SELECT p.oid::regprocedure::text FROM pg_proc p
			WHERE p.pronamespace = 'tenant'::regnamespace AND p.prosecdef AND NOT (has_function_privilege('herald_worker', p.oid, 'EXECUTE')
			  AND NOT has_function_privilege('herald_app', p.oid, 'EXECUTE') AND (pg_get_userbyid(p.proowner) = 'herald_pipeline' OR p.proname = 'analyze_grown')
			  AND 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig))`)
		none("a function that reads tables as whoever calls it, and is open to the worker", `SELECT p.oid::regprocedure::text FROM pg_proc p
			WHERE p.pronamespace = 'tenant'::regnamespace AND NOT p.prosecdef AND p.prorettype <> 'trigger'::regtype
			  AND p.proname NOT IN ('current_tenant', 'current_reviewer', 'recompute_posts', 'words_of', 'plan_reminders', 'replan_reminders', 'forget_reminders', 'hold_paused')`)
	}
}

// granted is what each role may do to the tables of the tenant schema beyond
// reading: INSERT, UPDATE, DELETE by their first letters. The insert-only ones are
// those with no U and no D: versions, moves, decisions, findings and the audit log
// above all.
var granted = map[string]struct{ app, pipeline string }{
	"account_rates":        {pipeline: "IU"},
	"accounts":             {app: "IU", pipeline: "IU"},
	"acts":                 {app: "IUD"},
	"approval_requests":    {app: "IU", pipeline: "I"},
	"approvers":            {app: "IU", pipeline: "I"},
	"attempts":             {pipeline: "IU"},
	"audit":                {app: "I", pipeline: "I"},
	"blackouts":            {app: "IUD", pipeline: "I"},
	"calendar_looks":       {app: "IU"},
	"client_access":        {app: "IUD", pipeline: "I"},
	"client_uses":          {app: "IU"},
	"clients":              {app: "IU", pipeline: "I"},
	"comment_files":        {app: "I"},
	"comment_mentions":     {app: "I"},
	"comments":             {app: "I", pipeline: "I"},
	"connect_links":        {app: "IU"},
	"consents":             {app: "IUD", pipeline: "D"},
	"day_notes":            {app: "ID"},
	"decisions":            {app: "I", pipeline: "I"},
	"escalation_people":    {app: "ID"},
	"feeds":                {app: "IU"},
	"findings":             {app: "I", pipeline: "I"},
	"import_columns":       {app: "IU"},
	"import_rows":          {app: "I"},
	"imports":              {app: "IUD", pipeline: "U"},
	"invitations":          {app: "IU"},
	"labels":               {app: "IUD"},
	"link_tags":            {app: "IU"},
	"link_cards":           {app: "IUD"},
	"looks":                {app: "IU"},
	"mail_stops":           {app: "ID"},
	"mails":                {app: "IU", pipeline: "IUD"},
	"media":                {app: "IU", pipeline: "IU"},
	"media_crops":          {app: "IUD"},
	"media_folders":        {app: "IUD"},
	"media_renditions":     {app: "IU", pipeline: "IUD"},
	"media_tasks":          {app: "IU", pipeline: "IUD"},
	"media_words":          {app: "ID"},
	"network_limits":       {pipeline: "IU"},
	"outbox":               {app: "I", pipeline: "IUD"},
	"post_holds":           {app: "IU"},
	"post_labels":          {app: "ID"},
	"post_versions":        {app: "I", pipeline: "I"},
	"posts":                {app: "IU", pipeline: "IU"},
	"publish_guards":       {pipeline: "IUD"},
	"reminders":            {app: "IUD", pipeline: "U"},
	"review_link_requests": {app: "I", pipeline: "I"},
	"review_links":         {app: "IU", pipeline: "I"},
	"server_apps":          {app: "IU"},
	"slots":                {app: "ID", pipeline: "I"},
	"stage_people":         {app: "ID", pipeline: "I"},
	"staged_media":         {pipeline: "IUD"},
	"stages":               {app: "IUD", pipeline: "I"},
	"suggestions":          {app: "IU"},
	"target_changes":       {app: "I", pipeline: "I"},
	"targets":              {app: "IU", pipeline: "IU"},
	"tenants":              {app: "IU", pipeline: "I"},
	"uploads":              {app: "IUD", pipeline: "UD"},
	"usage_months":         {pipeline: "IU"},
	"version_media":        {app: "I", pipeline: "I"},
	"version_texts":        {app: "I"},
	"wordings":             {app: "IUD"},
	"working_copies":       {app: "IUD"},
}

func TestGrantsAreTheseAndNoOthers(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	conn := as(t, w, db.MainShard, superuser)
	rights := collect[string](t, conn, `SELECT relname || ' ' || role || ' ' || string_agg(left(may, 1), '' ORDER BY nr) FROM pg_class,
			unnest(ARRAY['app', 'worker', 'pipeline']) role, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) WITH ORDINALITY m(may, nr)
		WHERE relnamespace = 'tenant'::regnamespace AND relkind IN ('r', 'p') AND has_table_privilege('herald_' || role, oid, may)
		GROUP BY relname, role ORDER BY 1`)
	var want []string
	for table, may := range granted {
		for role, letters := range map[string]string{"app": may.app, "pipeline": may.pipeline} {
			if letters != "" {
				want = append(want, table+" "+role+" "+letters)
			}
		}
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(rights)), want) {
		t.Errorf("grants\n got %q\nwant %q", rights, want)
	}
	columns := collect[string](t, conn, `SELECT DISTINCT grantee || ' ' || privilege_type || ' ' || table_name || '.' || column_name FROM information_schema.column_privileges p
		WHERE table_schema = 'tenant' AND grantee LIKE 'herald%' AND privilege_type <> 'SELECT'
		  AND NOT has_table_privilege(grantee::name, (table_schema || '.' || table_name)::text, privilege_type)`)
	if want := []string{"herald_pipeline UPDATE clients.tenant_id", "herald_pipeline UPDATE tenants.tenant_id"}; !slices.Equal(columns, want) {
		t.Errorf("grants on single columns: %v, want %v", columns, want)
	}
	if got := collect[string](t, conn, `SELECT relname::text FROM pg_class WHERE relnamespace = 'tenant'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'schema_versions'
		AND (has_table_privilege('herald_worker', oid, 'SELECT') OR has_any_column_privilege('herald_worker', oid, 'SELECT, INSERT, UPDATE, REFERENCES'))`); len(got) > 0 {
		t.Errorf("herald_worker reaches %v", got)
	}
}

// TestTheOwnerOfTheTablesSeesNoRow migrates as an owner that is no superuser,
// which also shows that none is needed. Forced row-level security holds for it.
func TestTheOwnerOfTheTablesSeesNoRow(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	name := fmt.Sprintf("owner_%d", rand.Uint64())
	admin := as(t, w, db.MainShard, superuser)
	for _, sql := range []string{
		"CREATE ROLE " + name + " LOGIN NOSUPERUSER CREATEROLE NOBYPASSRLS",
		"GRANT herald_app, herald_worker, herald_pipeline TO " + name + " WITH ADMIN OPTION",
		"CREATE DATABASE " + name + " OWNER " + name,
	} {
		if strings.HasPrefix(sql, "GRANT") && dbtest.Look[int](t, w, db.MainShard, `SELECT current_setting('server_version_num')::int`) < 160000 {
			continue // before 16, CREATEROLE is enough
		}
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	at, err := url.Parse(w.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	at.User, at.Path = url.User(name), "/"+name
	t.Cleanup(func() {
		ctx := context.Background()
		for _, sql := range []string{"DROP DATABASE " + name + " WITH (FORCE)", "DROP ROLE " + name} {
			if _, err := admin.Exec(ctx, sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
	if _, err := db.Migrate(t.Context(), db.Address{URL: at.String()}, nil); err != nil {
		t.Fatalf("migrate as an ordinary owner: %v", err)
	}
	owner, err := pgx.Connect(t.Context(), at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(context.Background())
	seeded := *at
	seeded.User = mustParse(t, w.ControlURL).User
	plantTenant(t, seeded.String())
	for _, set := range []string{"", "1"} {
		within(t, owner, set, func(try func(string, ...any) (int64, error), _ pgx.Tx) {
			for _, sql := range []string{`SELECT FROM tenant.tenants`, `SELECT FROM tenant.clients`, `UPDATE tenant.clients SET name = 'x'`, `DELETE FROM tenant.clients`} {
				if n, err := try(sql); n != 0 {
					t.Errorf("the owner, with herald.tenant %q: %s: %d rows, %v", set, sql, n, err)
				}
			}
		})
	}
	if n := collect[string](t, owner, `SELECT g.rolname::text FROM pg_auth_members am JOIN pg_roles g ON g.oid = am.roleid
		WHERE am.member = current_user::regrole AND g.rolname LIKE 'herald%' AND pg_has_role(current_user, g.oid, 'USAGE')`); len(n) > 0 {
		t.Errorf("the owner acts as %v without asking, so their policies let it in", n)
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// plantTenant puts a workspace with a client into a database, past the walls.
func plantTenant(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), `
		INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state) VALUES (1, 'north', 'North', 'UTC', 'active');
		INSERT INTO tenant.clients (tenant_id, slug, name, zone) VALUES (1, 'acme', 'Acme', 'UTC')`)
	if err != nil {
		t.Fatal(err)
	}
}
