package db_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// TestPlansFollowTheirWallClockWhenAZonesRuleChanges pretends that Berlin gave up
// its summer time: what was planned for nine in July is an hour later in UTC.
func TestPlansFollowTheirWallClockWhenAZonesRuleChanges(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", dbtest.SecondShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Webhook)
	page := a.Approved(t, "Summer bread", account)
	when, err := model.Resolve(model.LocalTime{Date: model.Date{Year: 2026, Month: 7, Day: 1}, Hour: 9}, "Europe/Berlin", model.Once)
	if err != nil {
		t.Fatal(err)
	}
	if page, err = a.Owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when); err != nil {
		t.Fatal(err)
	}
	pipe, err := db.OpenPipeline(t.Context(), w.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if n, err := pipe.Retime(t.Context(), dbtest.SecondShard, model.Resolve); n != 0 || err != nil {
		t.Errorf("with the same rules %d plans moved, %v", n, err)
	}
	winter := func(local model.LocalTime, zone string, o model.Occurrence) (model.When, error) {
		return model.Resolve(local, "Africa/Lagos", o) // an hour ahead of UTC all year
	}
	if n, err := pipe.Retime(t.Context(), dbtest.SecondShard, winter); n != 1 || err != nil {
		t.Fatalf("with a new rule %d plans moved, %v; want 1", n, err)
	}
	target, err := a.Owner.Target(t.Context(), page.Targets[0].ID)
	if err != nil || !target.DueAt.Equal(time.Date(2026, 7, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("due %v, %v; want 08:00 UTC", target.DueAt, err)
	}
	if due := dbtest.Look[time.Time](t, w, dbtest.SecondShard, `SELECT due_at FROM tenant.outbox ORDER BY id DESC LIMIT 1`); !due.Equal(*target.DueAt) {
		t.Errorf("the last event says %v, want %v", due, target.DueAt)
	}
}
