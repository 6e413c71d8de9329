package db_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// traced is an agency's owner, and records the statements that come of what it does.
func traced(t *testing.T, w *dbtest.World, a *dbtest.Agency) (*db.Scope, *recorder) {
	t.Helper()
	rec := &recorder{}
	o := w.Options()
	o.Tracer = rec
	store, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	sc, err := store.Enter(t.Context(), a.Owner.Actor.User, a.Slug)
	if err != nil {
		t.Fatal(err)
	}
	return sc, rec
}

// TestFiftyPostsTakeAHandfulOfStatements moves, schedules, cancels and labels one
// post and fifty: no statement is sent for each.
func TestFiftyPostsTakeAHandfulOfStatements(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "acme"), network.Mastodon)
	sc, rec := traced(t, w, a)
	var posts []db.PostPage
	for range 51 {
		posts = append(posts, a.Due(t, "words", 48*time.Hour, account))
	}
	acts := func(from, to int) (list []db.PostAct) {
		for _, p := range posts[from:to] {
			now, err := a.Owner.Post(t.Context(), p.Post.ID)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, db.PostAct{Post: p.Post.ID, Seen: now.Post.Revision})
		}
		return list
	}
	later := func(now model.When) (model.When, error) { return model.At(now.At.Add(time.Hour), now.Zone) }
	for _, c := range []struct {
		name string
		act  func([]db.PostAct) (db.Acted, error)
	}{
		{"move", func(l []db.PostAct) (db.Acted, error) { return sc.MovePosts(t.Context(), "", l, later) }},
		{"move cards", func(l []db.PostAct) (out db.Acted, err error) {
			var cards []db.CardMove
			for _, p := range l {
				cards = append(cards, db.CardMove{Post: p.Post, From: dbtest.Noon.Add(49 * time.Hour), To: later})
			}
			moved, err := sc.MoveCards(t.Context(), cards)
			return db.Acted{Moved: moved, Done: make([]db.Done, len(moved))}, err
		}},
		{"schedule", func(l []db.PostAct) (db.Acted, error) { return sc.SchedulePosts(t.Context(), "", l) }},
		{"cancel", func(l []db.PostAct) (db.Acted, error) { return sc.CancelPosts(t.Context(), "", l) }},
	} {
		count := map[int]int{}
		for _, span := range [][2]int{{0, 1}, {1, 51}} {
			list := acts(span[0], span[1])
			rec.take()
			out, err := c.act(list)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for _, one := range out.Done {
				if one.No != nil {
					t.Fatalf("%s: %v", c.name, one.No)
				}
			}
			count[len(list)] = len(rec.take())
		}
		if count[50] > count[1] || count[50] > 16 {
			t.Errorf("%s: %d statements for one post, %d for fifty", c.name, count[1], count[50])
		}
		t.Logf("%s: %d statements", c.name, count[50])
	}
}
