package chaos

import (
	"fmt"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
)

// points are every step between an event in the outbox and a result that is
// written, in their order, where a worker can die.
var points = []string{"relay_upserted", "dispatch_enqueued", "before_claim", "claimed", "prepared", "before_commit", "after_commit", "before_finish", "finished"}

// TestACrashAtAnyStepEndsInOnePostOrAnHonestState: a real process is killed with
// kill -9 when it passes a step for the first or the third time, and started
// again. The long run tries both at every step.
func TestACrashAtAnyStepEndsInOnePostOrAnHonestState(t *testing.T) {
	t.Parallel()
	for i, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			s := g.spaces[i%len(g.spaces)]
			for _, nth := range passings(i) {
				g.crash(t, s, fmt.Sprintf("%s:%d", point, nth), nth)
			}
		})
	}
}

// passings are at which passing of a step the process dies. Relay and dispatch
// take everything at once.
func passings(step int) []int {
	switch {
	case step < 2:
		return []int{1}
	case *runs >= long:
		return []int{1, 3}
	case step%2 == 0:
		return []int{1}
	}
	return []int{3}
}

// crash has a worker with so many posts die at a step, and another take over.
func (g *ground) crash(t *testing.T, s *space, kill string, posts int) {
	t.Helper()
	began := time.Now()
	doomed := g.start(t, kill)
	written := map[string]model.PostID{}
	for range posts {
		text, page := g.post(t, s, 0)
		written[text] = page.Post.ID
	}
	select {
	case <-doomed.Done():
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: the worker never came to that step\n%s", kill, g.tail())
	}
	died := time.Since(began).Round(time.Millisecond)
	defer func() {
		t.Logf("%s: dead after %v, all well after %v", kill, died, time.Since(began).Round(time.Millisecond))
	}()
	if err := g.age(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := g.start(t, "")
	defer next.kill()
	for text, id := range written {
		for _, target := range g.await(t, s, id) {
			if v := g.judge(t, s, target, text); v != once && v != honest {
				t.Errorf("%s: on %s it is %s: %s (%s: %s)", kill, target.Network, v, target.State, target.Reason, target.Say)
			}
		}
	}
}

// await waits until every target of a post has ended. A task that dies with its
// worker comes back after up to two minutes: asynq's lease, and its rounds.
func (g *ground) await(t *testing.T, s *space, id model.PostID) []db.Target {
	t.Helper()
	for end := time.Now().Add(4*time.Minute + 2**outage); ; time.Sleep(40 * time.Millisecond) {
		targets := g.standing(t, s, id)
		if ended(targets) || time.Now().After(end) {
			return targets
		}
	}
}
