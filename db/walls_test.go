package db_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// superuser is no role to change to: it is who connects.
const superuser = ""

// as connects to a shard as a role, past every Scope.
func as(t *testing.T, w *dbtest.World, shard, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.ShardURL[shard])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if role == superuser {
		return conn
	}
	if _, err := conn.Exec(t.Context(), "SET SESSION AUTHORIZATION "+pgx.Identifier{role}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	return conn
}

// code is the SQLSTATE of a refusal, with the constraint where one is named.
func code(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.TrimSpace(pg.Code + " " + pg.ConstraintName)
	}
	if err != nil {
		return err.Error()
	}
	return "done"
}

const forbidden = "42501" // insufficient_privilege: no grant, or a policy

// tenantTables lists the tables that hold what workspaces own.
func tenantTables(t *testing.T, w *dbtest.World) []string {
	t.Helper()
	return dbtest.Look[[]string](t, w, db.MainShard, `
		SELECT array_agg(c.relname::text ORDER BY c.relname) FROM pg_class c
		 WHERE c.relnamespace = 'tenant'::regnamespace AND c.relkind IN ('r', 'p')
		   AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)`)
}

// within tries statements of one transaction as a workspace; each in a savepoint,
// so that one refusal does not hide the next. Nothing is kept.
func within(t *testing.T, conn *pgx.Conn, tenant string, f func(try func(sql string, args ...any) (int64, error), tx pgx.Tx)) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `SELECT set_config('herald.tenant', $1, true)`, tenant); err != nil {
		t.Fatal(err)
	}
	f(func(sql string, args ...any) (int64, error) {
		var n int64
		err := pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
			tag, err := tx.Exec(t.Context(), sql, args...)
			n = tag.RowsAffected()
			return err
		})
		return n, err
	}, tx)
}

// TestWithoutTheScopesFilterAWorkspaceSeesItsOwnRows takes every WHERE away: as
// the app's role, with one workspace set, no statement on any table shows or
// touches a row of another.
func TestWithoutTheScopesFilterAWorkspaceSeesItsOwnRows(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	before := north.Imprint(t)
	for _, table := range tenantTables(t, w) {
		theirs, row := sample(t, w, table, north.ID)
		own, _ := sample(t, w, table, south.ID)
		if theirs == 0 || own == 0 {
			t.Errorf("%s has no row to try with: let dbtest.Holding make one", table)
			continue
		}
		within(t, as(t, w, db.MainShard, "herald_app"), idOf(south.ID), func(try func(string, ...any) (int64, error), tx pgx.Tx) {
			if n, err := try(`SELECT FROM tenant.` + table); err != nil || int(n) != own {
				t.Errorf("SELECT * FROM %s shows %d rows (%v), want south's own %d", table, n, err, own)
			}
			for _, sql := range []string{`UPDATE tenant.` + table + ` SET tenant_id = tenant_id WHERE tenant_id <> $1`, `DELETE FROM tenant.` + table + ` WHERE tenant_id <> $1`} {
				if n, err := try(sql, south.ID); n != 0 || err != nil && code(err) != forbidden {
					t.Errorf("%s touched %d rows: %v", sql, n, err)
				}
			}
			if _, err := try(insertCopy(t, w, table), row); code(err) != forbidden {
				t.Errorf("INSERT of a row of north's into %s: %s, want %s", table, code(err), forbidden)
			}
			n, err := try(`UPDATE tenant.`+table+` SET tenant_id = $1`, north.ID)
			if got := code(err); got != forbidden && got != "23514 targets_keep_identity" { // a trigger is asked first
				t.Errorf("giving rows of %s away: %d rows, %s, want %s", table, n, code(err), forbidden)
			}
		})
	}
	if changed := dbtest.Changed(before, north.Imprint(t)); len(changed) > 0 {
		t.Errorf("north changed: %v", changed)
	}
}

func idOf(id model.TenantID) string { return strconv.FormatInt(int64(id), 10) }

// sample counts a workspace's rows of a table, and returns one that a trigger has
// no reason to refuse.
func sample(t *testing.T, w *dbtest.World, table string, tenant model.TenantID) (n int, row map[string]any) {
	t.Helper()
	n = dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM tenant.`+table+` WHERE tenant_id = $1`, tenant)
	if n > 0 {
		row = dbtest.Look[map[string]any](t, w, db.MainShard, `
			SELECT to_jsonb(r) FROM tenant.`+table+` r WHERE tenant_id = $1 ORDER BY to_jsonb(r)->>'state' = 'draft' DESC NULLS LAST LIMIT 1`, tenant)
	}
	return n, row
}

// insertCopy is a statement that puts a row, given as JSON, into a table.
func insertCopy(t *testing.T, w *dbtest.World, table string) string {
	t.Helper()
	columns := dbtest.Look[string](t, w, db.MainShard, `
		SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
		 WHERE attrelid = ('tenant.' || $1)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`, table)
	return `INSERT INTO tenant.` + table + ` (` + columns + `) OVERRIDING SYSTEM VALUE SELECT ` + columns + ` FROM jsonb_populate_record(NULL::tenant.` + table + `, $1)`
}

// TestWithoutAWorkspaceThereIsNothing: forgetting to set one shows no row and
// writes none, whether it was never set or is empty.
func TestWithoutAWorkspaceThereIsNothing(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north := w.Estate(t, "north", db.MainShard)
	fresh := as(t, w, db.MainShard, "herald_app")
	for _, table := range tenantTables(t, w) {
		var n int
		if err := fresh.QueryRow(t.Context(), `SELECT count(*) FROM tenant.`+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s shows %d rows to nobody: %v", table, n, err)
		}
		_, row := sample(t, w, table, north.ID)
		within(t, as(t, w, db.MainShard, "herald_app"), "", func(try func(string, ...any) (int64, error), _ pgx.Tx) {
			if n, err := try(`SELECT FROM tenant.` + table); n != 0 || err != nil {
				t.Errorf("%s shows %d rows to an empty setting: %v", table, n, err)
			}
			if _, err := try(insertCopy(t, w, table), row); code(err) != forbidden {
				t.Errorf("%s takes a row of nobody's: %s", table, code(err))
			}
		})
	}
}

// TestTheWorkersRoleCannotTouchATable: it has the functions and nothing else.
func TestTheWorkersRoleCannotTouchATable(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north := w.Estate(t, "north", db.MainShard)
	conn := as(t, w, db.MainShard, "herald_worker")
	for _, table := range tenantTables(t, w) {
		_, row := sample(t, w, table, north.ID)
		within(t, conn, idOf(north.ID), func(try func(string, ...any) (int64, error), _ pgx.Tx) {
			for _, sql := range []string{`SELECT FROM tenant.` + table, `UPDATE tenant.` + table + ` SET tenant_id = tenant_id`, `DELETE FROM tenant.` + table} {
				if _, err := try(sql); code(err) != forbidden {
					t.Errorf("herald_worker: %s: %s, want %s", sql, code(err), forbidden)
				}
			}
			if _, err := try(insertCopy(t, w, table), row); code(err) != forbidden {
				t.Errorf("herald_worker inserts into %s: %s", table, code(err))
			}
		})
	}
}

// reference is one foreign key between two tables of workspaces.
type reference struct {
	Name  string
	Table string
	To    string
	Set   string // assignments that point at a row r of To
	Has   string // a row has values for all of them
}

const sqlReferences = `
	SELECT f.conname::text AS name, f.conrelid::regclass::text AS "table", f.confrelid::regclass::text AS "to",
	       coalesce(string_agg(format('%I = r.%I', a.attname, b.attname), ', ') FILTER (WHERE a.attname <> 'tenant_id' AND a.attidentity = ''), '') AS set,
	       coalesce(string_agg(format('%I IS NOT NULL', a.attname), ' AND ') FILTER (WHERE a.attname <> 'tenant_id' AND a.attidentity = ''), '') AS has
	  FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k(from_col, to_col)
	  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.from_col
	  JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.to_col
	 WHERE f.contype = 'f' AND f.connamespace = 'tenant'::regnamespace
	 GROUP BY f.oid, f.conname, f.conrelid, f.confrelid ORDER BY 1`

// dropReferences takes away what points at a table, and what else it points at,
// so that nothing but the key under test stands in the way.
const dropReferences = `
	DO $drop$ DECLARE f record; BEGIN
		FOR f IN SELECT conname, conrelid::regclass AS relation FROM pg_constraint WHERE contype = 'f' AND conname <> '$2'
		            AND (confrelid = '$1'::regclass OR conrelid = '$1'::regclass) LOOP
			EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', f.relation, f.conname);
		END LOOP;
	END $drop$`

// TestNoForeignKeyPointsAcrossWorkspaces takes each foreign key and, as one whom
// no policy stops, tries to point a row of one workspace at a row of another.
func TestNoForeignKeyPointsAcrossWorkspaces(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	conn := as(t, w, db.MainShard, superuser)
	rows, err := conn.Query(t.Context(), sqlReferences)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[reference])
	if err != nil || len(list) < 20 {
		t.Fatalf("%d foreign keys: %v", len(list), err)
	}
	for _, r := range list {
		if r.Set == "" {
			continue // tenant_id alone: it points at the workspace itself
		}
		within(t, conn, "", func(try func(string, ...any) (int64, error), tx pgx.Tx) {
			for _, sql := range []string{`ALTER TABLE ` + r.Table + ` DISABLE TRIGGER USER`, strings.NewReplacer("$1", r.Table, "$2", r.Name).Replace(dropReferences)} {
				if _, err := try(sql); err != nil {
					t.Fatal(err)
				}
			}
			n, err := try(`UPDATE `+r.Table+` x SET `+r.Set+` FROM (SELECT * FROM `+r.To+` WHERE tenant_id = $2 LIMIT 1) r
				WHERE x.ctid = (SELECT ctid FROM `+r.Table+` WHERE tenant_id = $1 AND `+r.Has+` LIMIT 1)`, north.ID, south.ID)
			if want := "23503 " + r.Name; code(err) != want {
				t.Errorf("%s: pointing a row of %s at south's %s: %d rows, %s, want %s", r.Name, r.Table, r.To, n, code(err), want)
			}
		})
	}
}

// TestTheWorkspaceDoesNotOutliveItsTransaction uses a pool of one connection, so
// that whoever comes next gets the very connection that the Scope used.
func TestTheWorkspaceDoesNotOutliveItsTransaction(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north := w.Estate(t, "north", dbtest.SecondShard)
	o := w.Options()
	o.Conns = 1
	store, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	sc, err := store.Enter(t.Context(), north.Owner.Actor.User, north.Slug)
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(t *testing.T){
		"a read":         func(t *testing.T) { wantDone(t, must(sc.Post(t.Context(), north.Main.Draft))) },
		"a change":       func(t *testing.T) { wantDone(t, must(sc.PauseClient(t.Context(), north.Main.Client, true))) },
		"a refusal":      func(t *testing.T) { _, _ = sc.Post(t.Context(), 1) },
		"a review page":  func(t *testing.T) { readReview(t, store, north.Main.Token) },
		"a broken query": func(t *testing.T) { _ = db.Write(t.Context(), sc, broken("SELECT 1 / 0")) },
		"no query":       func(t *testing.T) { _ = db.Write(t.Context(), sc, func(pgx.Tx) error { return errors.New("no") }) },
		"a panic":        func(t *testing.T) { panics(t, sc) },
		"a lost context": func(t *testing.T) { loses(t, sc) },
		"a nested try":   func(t *testing.T) { _ = db.Write(t.Context(), sc, nested) },
	} {
		t.Run("after "+name, func(t *testing.T) {
			use(t)
			var tenant, user, reviewer string
			var rows int
			err := db.Pool(sc).QueryRow(t.Context(), `SELECT coalesce(current_setting('herald.tenant', true), ''), coalesce(current_setting('herald.user', true), ''),
				coalesce(current_setting('herald.reviewer', true), ''), (SELECT count(*) FROM tenant.posts)`).Scan(&tenant, &user, &reviewer, &rows)
			if err != nil || tenant+user+reviewer != "" || rows != 0 {
				t.Errorf("the next one on the connection sees workspace %q, user %q, reviewer %q and %d posts: %v", tenant, user, reviewer, rows, err)
			}
		})
	}
}

func must[T any](_ T, err error) error { return err }

func wantDone(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readReview(t *testing.T, store *db.Store, token string) {
	t.Helper()
	rs, err := store.Review(t.Context(), token)
	wantDone(t, err)
	wantDone(t, must(rs.Page(t.Context())))
}

func broken(sql string) func(pgx.Tx) error {
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(context.Background(), sql)
		return err
	}
}

func nested(tx pgx.Tx) error {
	err := pgx.BeginFunc(context.Background(), tx, broken("SELECT 1 / 0"))
	if code(err) == "22012" {
		return nil
	}
	return err
}

func panics(t *testing.T, sc *db.Scope) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("nothing panicked")
		}
	}()
	_ = db.Write(t.Context(), sc, func(pgx.Tx) error { panic("half-way") })
}

func loses(t *testing.T, sc *db.Scope) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, sc, func(tx pgx.Tx) error {
		cancel()
		_, err := tx.Exec(ctx, "SELECT pg_sleep(10)")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}
