package jobs_test

import (
	"testing"
	"time"

	"herald/db/model"
)

// TestWhatABlackoutHeldBackIsNotMissed has a blackout that is longer than the
// client's late cut-off.
func TestWhatABlackoutHeldBackIsNotMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.hold(t, "north")
	end := h.Clock.Now().Add(72 * time.Hour)
	h.sql(t, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, $3, $4, 'Stocktaking')`, h.client, h.Clock.Now(), end)
	h.workOne(t)
	held := r.target(t, h.agency, h.target)
	if held.State != model.RetryScheduled || held.Reason != "blackout" || held.NextAt == nil || !held.NextAt.Equal(end) {
		t.Fatalf("target is %s (%s) until %v, want put off to %v", held.State, held.Reason, held.NextAt, end)
	}
	r.Clock.Set(end)
	h.workOne(t)
	if s := r.target(t, h.agency, h.target); s.State != model.Published || r.net.commits != 1 {
		t.Errorf("after the blackout it is %s (%s), %d commits", s.State, s.Reason, r.net.commits)
	}
}
