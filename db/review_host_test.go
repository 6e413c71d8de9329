package db_test

import (
	"context"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
)

// TestAHostNameChangesOverOneConnection: the control plane and the workspace share it, and
// whoever held it for one while waiting for the other would wait for ever.
func TestAHostNameChangesOverOneConnection(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	o := w.Options()
	o.Conns = 1
	store, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sc, err := store.Enter(ctx, a.Owner.Actor.User, "north")
	if err != nil {
		t.Fatal(err)
	}
	const host = "review.agency.example"
	for _, do := range []func() error{
		func() error { return sc.KeepReviewHost(ctx, 0, host, "") },
		func() error { return sc.KeepReviewHost(ctx, 0, host, "") }, // the same again
		func() error { return sc.CheckedReviewHost(ctx, 0, db.HostFinding{Host: host, Owned: true, Live: true}) },
		func() error { return sc.RemoveReviewHost(ctx, 0) },
		func() error { return sc.RemoveReviewHost(ctx, 0) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	for verb, want := range map[string]int{"host_set": 1, "host_live": 1, "host_removed": 1} {
		if n := dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM tenant.audit WHERE verb = $1`, verb); n != want {
			t.Errorf("%s: %d lines", verb, n)
		}
	}
	if n := dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM control.review_host_deeds`); n != 0 {
		t.Errorf("%d lines are still owed", n)
	}
}
