package db_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
)

// TestEveryChangeLeavesAnAuditLine carries out each method of Scope that changes
// something, first with an audit log that refuses lines: then nothing at all may
// have happened, which shows that line and change are one transaction. After
// that it has to succeed and leave a line. A change of another database owes its line
// instead, which is written later. Methods that are said to change
// nothing have to leave everything as it is.
func TestEveryChangeLeavesAnAuditLine(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	agency := w.Agency(t, "north", dbtest.SecondShard)
	w.Super(t, agency.Shard, `
		CREATE FUNCTION public.refuse_line() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no line today'; END $$`)
	w.Super(t, agency.Shard, `CREATE TRIGGER no_line BEFORE INSERT ON tenant.audit FOR EACH ROW EXECUTE FUNCTION public.refuse_line()`)
	methods := scopeMethods()
	for n, name := range slices.Sorted(maps.Keys(methods)) {
		if n%10 == 9 { // there is an end to what one workspace may have
			w.Super(t, agency.Shard, `ALTER TABLE tenant.audit DISABLE TRIGGER no_line`)
			agency = w.Agency(t, fmt.Sprintf("north-%d", n), dbtest.SecondShard)
		}
		for _, what := range slices.Sorted(maps.Keys(methods[name].calls)) {
			w.Super(t, agency.Shard, `ALTER TABLE tenant.audit DISABLE TRIGGER no_line`)
			h := agency.Holding(t, strings.ToLower(strings.ReplaceAll(name+what, " ", "")))
			a := audited{t, w, strings.TrimSpace(name + " " + what), h, methods[name].calls[what], methods[name].owes}
			switch {
			case methods[name].quiet != "":
				a.changesQuietly()
			case methods[name].changes:
				a.changes()
			default:
				a.changesNothing()
			}
		}
	}
}

// audited is one call on a holding that nothing else uses.
type audited struct {
	t     *testing.T
	w     *dbtest.World
	title string
	h     dbtest.Holding
	call  call
	owes  bool // the change is of another database: it owes its line, which a worker writes
}

func (a audited) run() error {
	_, err := a.call(a.t.Context(), a.h.Owner, a.h, a.h)
	return err
}

// pay writes what is owed, as a sweeper does.
func (a audited) pay() error {
	pipe, err := db.OpenPipeline(a.t.Context(), a.w.Options())
	if err != nil {
		return err
	}
	defer pipe.Close()
	return pipe.LogHostDeeds(a.t.Context(), a.w.Clock.Now())
}

func (a audited) changes() {
	watch, lines := a.h.Watch(a.t), a.lines()
	a.w.Super(a.t, a.h.Shard, `ALTER TABLE tenant.audit ENABLE TRIGGER no_line`)
	if err := a.run(); err == nil || !strings.Contains(err.Error(), "no line today") {
		a.t.Errorf("%s without an audit log: got %v, want its refusal", a.title, err)
	}
	if changed := watch.Changed(a.t); len(changed) > 0 {
		a.t.Errorf("%s changed something without its audit line: %v", a.title, changed)
	}
	a.w.Super(a.t, a.h.Shard, `ALTER TABLE tenant.audit DISABLE TRIGGER no_line`)
	again := a.run
	if a.owes {
		again = a.pay
	}
	if err := again(); err != nil {
		a.t.Errorf("%s: %v", a.title, err)
	}
	if a.lines() == lines {
		a.t.Errorf("%s left no audit line", a.title)
	}
	who := dbtest.Look[int64](a.t, a.w, a.h.Shard, `SELECT coalesce(user_id, 0) FROM tenant.audit WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1`, a.h.ID)
	if who != int64(a.h.Owner.Actor.User) {
		a.t.Errorf("%s: its audit line names user %d, want %d", a.title, who, a.h.Owner.Actor.User)
	}
}

// changesQuietly is a change that leaves no line.
func (a audited) changesQuietly() {
	watch, lines := a.h.Watch(a.t), a.lines()
	if err := a.run(); err != nil {
		a.t.Errorf("%s: %v", a.title, err)
	}
	if len(watch.Changed(a.t)) == 0 {
		a.t.Errorf("%s is said to change something, and changed nothing", a.title)
	}
	if a.lines() != lines {
		a.t.Errorf("%s is excused from an audit line, and leaves one", a.title)
	}
}

func (a audited) changesNothing() {
	watch := a.h.Watch(a.t)
	if err := a.run(); err != nil {
		a.t.Errorf("%s: %v", a.title, err)
	}
	if changed := watch.Changed(a.t); len(changed) > 0 {
		a.t.Errorf("%s is said to change nothing, and changed %v", a.title, changed)
	}
}

func (a audited) lines() int {
	return dbtest.Look[int](a.t, a.w, a.h.Shard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1`, a.h.ID)
}

// TestAReviewersChangesLeaveAuditLines does the same for what an approver does by
// a link. Such a line names the approver.
func TestAReviewersChangesLeaveAuditLines(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	agency := w.Agency(t, "north", dbtest.SecondShard)
	for name, act := range map[string]func(*db.ReviewScope, dbtest.Holding) error{
		"decide": func(rs *db.ReviewScope, h dbtest.Holding) error {
			d := decision(h)
			d.Request = h.Request
			out, err := rs.Decide(t.Context(), []db.Decision{d})
			if err != nil {
				return err
			}
			return out[0].No
		},
		"comment": func(rs *db.ReviewScope, h dbtest.Holding) error {
			_, err := rs.Comment(t.Context(), h.Request, "", "A remark")
			return err
		},
		"fresh": func(rs *db.ReviewScope, _ dbtest.Holding) error { return rs.AskFreshLink(t.Context(), "") },
	} {
		h := agency.Holding(t, name)
		rs, err := w.Store.Review(t.Context(), h.Token)
		if err != nil {
			t.Fatal(err)
		}
		if err := act(rs, h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := dbtest.Look[int](t, w, agency.Shard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1 AND approver_id = $2 AND user_id IS NULL`, agency.ID, h.Approver); n != 1 {
			t.Errorf("%s left %d audit lines of the approver, want 1", name, n)
		}
	}
}

// TestTheAuditLogOnlyGrows tries to change and to delete lines, as each role and
// as one that no grant stops.
func TestTheAuditLogOnlyGrows(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	h := w.Agency(t, "north", dbtest.SecondShard).Holding(t, "main")
	before := h.Imprint(t)
	for _, role := range []string{"herald_app", "herald_worker", "herald_pipeline", superuser} {
		for _, sql := range []string{`UPDATE tenant.audit SET name = 'nobody'`, `DELETE FROM tenant.audit`, `TRUNCATE tenant.audit`} {
			if role == superuser && strings.HasPrefix(sql, "TRUNCATE") {
				continue // a superuser can drop the table as well
			}
			conn := as(t, w, h.Shard, role)
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `SELECT set_config('herald.tenant', $1::bigint::text, true)`, h.ID); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			if err == nil {
				t.Errorf("%s may %s", role, sql)
			}
		}
	}
	if changed := dbtest.Changed(before, h.Imprint(t)); len(changed) > 0 {
		t.Errorf("the log changed: %v", changed)
	}
}
