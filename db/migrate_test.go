package db_test

import (
	"testing"

	"herald/db/dbtest"
)

func TestTheAppsRoleSeesThatNoMigrationLacks(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	if n, err := w.Store.Behind(t.Context()); err != nil || n != 0 {
		t.Errorf("%d lack, %v", n, err)
	}
}
