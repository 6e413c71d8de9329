package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestTheTableOfMovesIsTheCodesTable(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	for shard := range w.ShardURL {
		for _, from := range model.States() {
			stored := dbtest.Look[[]string](t, w, shard, `SELECT coalesce(array_agg(to_state ORDER BY to_state), '{}') FROM tenant.target_moves WHERE from_state = $1`, from)
			var coded []string
			for _, to := range model.Moves(from) {
				coded = append(coded, string(to))
			}
			slices.Sort(coded)
			if !slices.Equal(stored, coded) && len(stored)+len(coded) > 0 {
				t.Errorf("%s: from %s the table has %v, the code %v", shard, from, stored, coded)
			}
		}
	}
}

// TestEveryPairOfStatesIsTriedAgainstTheDatabase forces a target into each state
// and tries to move it to each other one: the database takes the edges of the
// table and no others, whoever asks.
func TestEveryPairOfStatesIsTriedAgainstTheDatabase(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", dbtest.SecondShard)
	page := a.Post(t, "Fresh bread", a.Account(t, a.Client(t, "bakery"), network.Webhook))
	id := page.Targets[0].ID
	conn, err := pgx.Connect(t.Context(), w.ShardURL[dbtest.SecondShard])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, from := range model.States() {
		for _, to := range model.States() {
			if from == to {
				continue
			}
			err := tryMove(t, conn, a.ID, id, from, to)
			if from.MayBecome(to) && err != nil {
				t.Errorf("%s -> %s is an edge, and the database says %v", from, to, err)
			}
			if !from.MayBecome(to) && err == nil {
				t.Errorf("%s -> %s is no edge, and the database took it", from, to)
			}
		}
	}
}

const sqlForceState = `
	UPDATE tenant.targets SET state = $3, owner = CASE WHEN $3 = 'publishing' THEN gen_random_uuid() END,
	       due_at = now(), local_at = now(), zone = 'UTC', occurrence = '', published_at = CASE WHEN $3 = 'published' THEN now() END
	 WHERE tenant_id = $1 AND id = $2`

func tryMove(t *testing.T, conn *pgx.Conn, tenant model.TenantID, id model.TargetID, from, to model.State) error {
	t.Helper()
	ctx := t.Context()
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	for _, sql := range []string{"SET LOCAL session_replication_role = replica"} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec(ctx, sqlForceState, tenant, id, from); err != nil {
		t.Fatalf("force %s: %v", from, err)
	}
	if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = origin"); err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(ctx, sqlForceState, tenant, id, to)
	return err
}

func TestATargetCannotBeBornBeyondReady(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	page := a.Post(t, "Fresh bread", a.Account(t, a.Client(t, "bakery"), network.Webhook))
	conn, err := pgx.Connect(t.Context(), w.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, s := range model.States() {
		other := a.Account(t, page.Targets[0].ClientID, network.Webhook)
		_, err := conn.Exec(t.Context(), `
			INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, state, owner, due_at, local_at, zone, occurrence, published_at, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, 'webhook', $6, CASE WHEN $6 = 'publishing' THEN gen_random_uuid() END, now(), now(), 'UTC', '', now(), now(), now())`,
			a.ID, page.Post.ID, page.Version.ID, page.Targets[0].ClientID, other, s)
		if editable := s == model.Draft || s == model.Invalid || s == model.Ready; editable != (err == nil) {
			t.Errorf("born as %s: %v", s, err)
		}
	}
}

func TestVersionsAreNeverChanged(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	page := a.Post(t, "Fresh bread", a.Account(t, a.Client(t, "bakery"), network.Webhook))
	conn, err := pgx.Connect(t.Context(), w.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range []string{
		`UPDATE tenant.post_versions SET content = 'other' WHERE id = $1`,
		`UPDATE tenant.post_versions SET created_by = 9 WHERE id = $1`,
		`DELETE FROM tenant.post_versions WHERE id = $1`,
	} {
		if _, err := conn.Exec(t.Context(), sql, page.Version.ID); err == nil {
			t.Errorf("the database took %q", sql)
		}
	}
	hash := page.Version.Content.Hash()
	if got := dbtest.Look[[]byte](t, w, db.MainShard, `SELECT content_hash FROM tenant.post_versions WHERE id = $1`, page.Version.ID); !slices.Equal(got, hash[:]) {
		t.Errorf("the database's hash %x is not the code's %x", got, hash)
	}
}

// TestRandomMovesOfManyActorsLeaveNothingIllegal lets actors do what people and
// workers may do, at once and in any order, and then reads the history: every
// step an edge, each target's steps joined end to end, no target published twice.
func TestRandomMovesOfManyActorsLeaveNothingIllegal(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	pipe, err := db.OpenPipeline(t.Context(), w.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var posts []db.PostPage
	for i := range 6 {
		posts = append(posts, a.Approved(t, fmt.Sprintf("post %d", i), a.Account(t, client, network.Webhook), a.Account(t, client, network.Mastodon)))
	}
	var wg sync.WaitGroup
	for actor := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(actor)))
			for range 60 {
				m := mover{t, w, a, pipe, r}
				m.act(posts[r.IntN(len(posts))].Post.ID)
			}
		})
	}
	wg.Wait()
	checkHistory(t, w, a)
}
