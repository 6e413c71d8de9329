package db_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestAnApprovedPostIsScheduledWithItsOutboxEvent(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		w := dbtest.New(t)
		a := w.Agency(t, "north", shard)
		client := a.Client(t, "bakery")
		page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, client, network.Webhook), a.Account(t, client, network.Mastodon))
		if page.Post.State != model.PostScheduled {
			t.Errorf("%s: post is %s, want scheduled", shard, page.Post.State)
		}
		for _, target := range page.Targets {
			if target.State != model.Scheduled || target.DueAt == nil || !target.DueAt.Equal(dbtest.Noon.Add(time.Hour)) {
				t.Errorf("%s: target %+v, want scheduled for an hour from noon", shard, target)
			}
		}
		if n := dbtest.Look[int](t, w, shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'target.publish'`); n != 2 {
			t.Errorf("%s: %d events, want 2", shard, n)
		}
	}
}
