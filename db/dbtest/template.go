package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/cluster"
)

// template is a migrated database that tests work in copies of. A copy that a test has
// left is emptied and used again, which is far quicker than copying some hundred files.
type template struct {
	name    string
	copying sync.Mutex // Postgres refuses a template that is being copied

	seeded []string // the tables that migrations filled
	mark   string   // what a copy that may be used again has in common with it

	mu     sync.Mutex
	spares []string
}

// theTemplates are the main database's, with the control plane, and a shard's.
var theTemplates = sync.OnceValues(func() (main, shard *template) {
	main = &template{name: "herald_main_" + strings.ToLower(rand.Text()[:8])}
	shard = &template{name: "herald_shard_" + strings.ToLower(rand.Text()[:8])}
	ctx := context.Background()
	for _, t := range []*template{main, shard} {
		must(run("CREATE DATABASE " + t.name))
	}
	_, err := db.Migrate(ctx, db.Address{URL: main.url()}, map[string]db.Address{SecondShard: {URL: shard.url()}})
	must(err)
	for _, t := range []*template{main, shard} {
		must(t.on(ctx, t.name, t.learn))
	}
	return main, shard
})

func (t *template) url() string { return Cluster().URL(cluster.Superuser, t.name) }

func must(err error) {
	if err != nil {
		panic("templates of the test databases: " + err.Error())
	}
}

// asNew is the name of a database with nothing in it but what migrations wrote.
func (t *template) asNew(tb testing.TB) string {
	if name, ok := t.spare(); ok {
		return name
	}
	return t.copied(tb)
}

func (t *template) copied(tb testing.TB) string {
	t.copying.Lock()
	defer t.copying.Unlock()
	name := "t_" + strings.ToLower(rand.Text()[:12])
	if err := run("CREATE DATABASE " + name + " TEMPLATE " + t.name + " STRATEGY FILE_COPY"); err != nil {
		tb.Errorf("copy %s: %v", t.name, err)
	}
	return name
}

func (t *template) spare() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.spares) - 1
	if last < 0 {
		return "", false
	}
	name := t.spares[last]
	t.spares = t.spares[:last]
	return name, true
}

// giveBack keeps a copy for another test, or drops it if a test did more to it than
// write rows.
func (t *template) giveBack(tb testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := t.on(ctx, name, t.empty); err != nil {
		if err := run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			tb.Logf("drop %s: %v", name, err)
		}
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spares = append(t.spares, name)
}

func (t *template) on(ctx context.Context, name string, do func(context.Context, *pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, Cluster().URL(cluster.Superuser, name))
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// learn reads what a copy is compared with.
func (t *template) learn(ctx context.Context, conn *pgx.Conn) error {
	tables, err := tablesOf(ctx, conn)
	if err != nil {
		return err
	}
	for _, table := range tables {
		var filled bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+table+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			t.seeded = append(t.seeded, table)
		}
	}
	t.mark, err = t.read(ctx, conn)
	return err
}

const planes = `relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('control', 'tenant'))`

func tablesOf(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND `+planes+` ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// catalogs are those that a change of tables, functions, rights, settings or
// statistics writes to.
var catalogs = []string{"pg_class", "pg_attribute", "pg_attrdef", "pg_proc", "pg_trigger", "pg_policy", "pg_constraint", "pg_index", "pg_namespace", "pg_statistic", "pg_db_role_setting"}

// read takes the mark of a database: the catalogs by their number of rows and the
// youngest of them, and what stands in the tables that migrations filled.
func (t *template) read(ctx context.Context, conn *pgx.Conn) (mark string, err error) {
	var parts []string
	for _, catalog := range catalogs {
		parts = append(parts, "(SELECT count(*) || ':' || coalesce(max(xmin::text::bigint), 0) FROM "+catalog+")")
	}
	for _, table := range t.seeded {
		parts = append(parts, "(SELECT md5(string_agg(x::text, ',' ORDER BY x::text)) FROM "+table+" x)")
	}
	err = conn.QueryRow(ctx, "SELECT concat_ws(' ', "+strings.Join(parts, ", ")+")").Scan(&mark)
	return mark, err
}

// grown is the size of a table in bytes from which it is not worth emptying.
const grown = 400_000

// empty takes away what a test wrote. It refuses when somebody is still at work in
// the database, when more than rows was changed, and when a table has grown.
func (t *template) empty(ctx context.Context, conn *pgx.Conn) error {
	if err := alone(ctx, conn); err != nil {
		return err
	}
	if mark, err := t.read(ctx, conn); err != nil || mark != t.mark {
		return errors.Join(errors.New("changed"), err)
	}
	_, err := conn.Exec(ctx, fmt.Sprintf(`DO $$
		DECLARE name regclass; size bigint;
		BEGIN
			SET LOCAL session_replication_role = replica;
			FOR name, size IN SELECT oid, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND %s LOOP
				IF size > %d THEN RAISE '%% has grown', name; END IF;
				IF size > 0 AND name::text <> ALL ('{%s}') THEN EXECUTE 'DELETE FROM ' || name; END IF;
			END LOOP;
			PERFORM setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND %s;
		END $$`, planes, grown, strings.Join(t.seeded, ","), planes))
	return err
}

// alone waits until nobody else is connected. Pools close their connections without
// waiting for the server.
func alone(ctx context.Context, conn *pgx.Conn) error {
	for range 200 {
		var others int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'").Scan(&others); err != nil || others == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("in use")
}
