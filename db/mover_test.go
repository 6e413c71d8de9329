package db_test

import (
	"context"
	"testing"
	"time"

	"math/rand/v2"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// mover is one actor of the model test: sometimes a person, sometimes a worker.
type mover struct {
	t    *testing.T
	w    *dbtest.World
	a    *dbtest.Agency
	pipe *db.Pipeline
	r    *rand.Rand
}

func (m mover) act(id model.PostID) {
	page, err := m.a.Owner.Post(m.t.Context(), id)
	if err != nil {
		m.t.Errorf("read post: %v", err)
		return
	}
	target := page.Targets[m.r.IntN(len(page.Targets))]
	switch m.r.IntN(8) {
	case 0, 1:
		_, err = m.a.Owner.PublishNow(m.t.Context(), id, page.Post.Revision)
	case 2:
		_, err = m.a.Owner.CancelTarget(m.t.Context(), target.ID, target.Revision)
	case 3:
		_, err = m.a.Owner.RetryTarget(m.t.Context(), target.ID, target.Revision)
	case 4:
		_, err = m.a.Owner.ResolveLive(m.t.Context(), target.ID, target.Revision, "https://net.example/1")
	default:
		err = m.work()
	}
	if _, no := model.Refused(err); err != nil && !no {
		m.t.Errorf("a move failed, and not as a refusal: %v", err)
	}
}

// work relays, takes what is due, claims it and ends it in any way.
func (m mover) work() error {
	ctx := m.t.Context()
	if _, err := m.pipe.Relay(ctx, db.MainShard, 100, func(context.Context, db.Event) error { return nil }); err != nil {
		return err
	}
	var due []db.Dispatch
	if _, err := m.pipe.TakeDue(ctx, m.w.Clock.Now(), 3, func(d []db.Dispatch) error { due = d; return nil }); err != nil {
		return err
	}
	for _, d := range due {
		if err := m.publish(d); err != nil {
			return err
		}
	}
	return nil
}

func (m mover) publish(d db.Dispatch) error {
	guards := db.Guards{Straight: []string{}, GuardStale: 5 * time.Minute, RefreshAhead: 5 * time.Minute, LateCutoff: 24 * time.Hour, Grace: time.Hour, Hold: time.Second}
	owner := uuid.New()
	g := &db.Group{Claims: []db.Claim{{Key: d.Key, Owner: owner}}}
	if err := m.pipe.Write(m.t.Context(), d.Shard, guards, g); err != nil || g.Works[0].Verdict != db.Claimed {
		return err
	}
	ends := []model.State{model.Published, model.RetryScheduled, model.Failed, model.NeedsReconnect, model.UnknownOutcome}
	at := m.w.Clock.Now()
	res := db.Result{Key: d.Key, Owner: owner, Attempt: g.Works[0].Attempt, State: ends[m.r.IntN(len(ends))], Outcome: "transient", Used: true}
	if res.State == model.RetryScheduled || res.State == model.UnknownOutcome {
		res.Next = &at
	}
	return m.pipe.Write(m.t.Context(), d.Shard, guards, &db.Group{Results: []db.Result{res}})
}

// checkHistory reads every target's moves.
func checkHistory(t *testing.T, w *dbtest.World, a *dbtest.Agency) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.ShardURL[a.Shard])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `SELECT target_id, from_state, to_state FROM tenant.target_changes ORDER BY target_id, id`)
	if err != nil {
		t.Fatal(err)
	}
	last := map[int64]model.State{}
	published := map[int64]int{}
	var id int64
	var from, to model.State
	moves := 0
	if _, err := pgx.ForEachRow(rows, []any{&id, &from, &to}, func() error {
		moves++
		if !from.MayBecome(to) {
			t.Errorf("target %d moved %s -> %s, which is no edge", id, from, to)
		}
		if before, ok := last[id]; ok && before != from {
			t.Errorf("target %d moved from %s, but it was %s", id, from, before)
		}
		last[id] = to
		if to == model.Published {
			published[id]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for id, n := range published {
		if n != 1 {
			t.Errorf("target %d was published %d times", id, n)
		}
	}
	if moves < 20 {
		t.Errorf("only %d moves: the actors did next to nothing", moves)
	}
	for id, s := range last {
		now := dbtest.Look[model.State](t, w, a.Shard, `SELECT state FROM tenant.targets WHERE id = $1`, id)
		if now != s {
			t.Errorf("target %d is %s, but its history ends with %s", id, now, s)
		}
	}
}
