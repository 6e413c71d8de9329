package dbtest

import (
	"testing"

	"herald/db"
)

// after is the address of the main shard's database that a test left, and of the one
// that the next test gets.
func after(t *testing.T, do func(*testing.T, *World)) (left, next string, w *World) {
	t.Helper()
	t.Run("left", func(t *testing.T) {
		w := New(t)
		left = w.ControlURL
		do(t, w)
	})
	w = New(t)
	return left, w.ControlURL, w
}

func TestADatabaseIsUsedAgainWithoutItsRows(t *testing.T) {
	left, next, w := after(t, func(t *testing.T, w *World) { w.Agency(t, "north", db.MainShard).Holding(t, "main") })
	if left != next {
		t.Error("a database that has only rows more was not used again")
	}
	for _, table := range []string{"control.workspaces", "tenant.tenants", "tenant.targets", "tenant.post_versions"} {
		if n := Look[int](t, w, db.MainShard, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
	if n := Look[int](t, w, db.MainShard, "SELECT count(*) FROM tenant.target_moves"); n == 0 {
		t.Error("what migrations wrote is gone")
	}
}

func TestADatabaseThatWasChangedIsNotUsedAgain(t *testing.T) {
	for _, sql := range []string{
		"ALTER TABLE tenant.targets DISABLE TRIGGER USER",
		"DELETE FROM tenant.target_moves WHERE to_state = 'published'",
		"GRANT DELETE ON tenant.posts TO herald_app",
		"CREATE FUNCTION tenant.more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"ANALYZE tenant.target_moves",
		"INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state) SELECT g, 's' || g, repeat('x', 200), 'UTC', 'active' FROM generate_series(1, 3000) g",
	} {
		left, next, _ := after(t, func(t *testing.T, w *World) { w.Super(t, db.MainShard, sql) })
		if left == next {
			t.Errorf("used again after %s", sql)
		}
	}
}
