package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks"
	"herald/jobs/networks/blotato"
	"herald/jobs/networks/bundle"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/staging"
)

// commitCounter counts what a connection asks to be made durable: the committer's
// groups, each a transaction of one round trip, and statements by themselves.
type commitCounter struct{ n atomic.Int64 }

func (c *commitCounter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.Contains(d.SQL, "set_config('synchronous_commit', 'off', true)") {
		return ctx // nobody waits for the disk
	}
	if d.SQL == "commit" || d.SQL != "begin" && conn.PgConn().TxStatus() == 'I' {
		c.n.Add(1)
	}
	return ctx
}

func (*commitCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *commitCounter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*commitCounter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*commitCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// counted is a publisher by hand over the real adapters, whose commits are counted.
func (s *stack) counted(t *testing.T) (*rig, *commitCounter) {
	t.Helper()
	counter := &commitCounter{}
	o := s.Options()
	o.Tracer = counter
	pipe, err := db.OpenPipeline(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{World: s.World, pipe: pipe, settings: s.settings}
	committer := jobs.NewCommitter(pipe, r.guards())
	t.Cleanup(func() { committer.Close(); pipe.Close() })
	r.pub = &jobs.Publisher{Pipe: pipe, Committer: committer, Networks: s.adapters(), Media: pictures{t.Context(), s.files(t)}, Settings: s.settings,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: s.Clock.Now}
	return r, counter
}

// TestAPublishOfAllPicturesWaitsForThreeDurableCommits is what conform counts, asked
// of Postgres: a network that works on files is claimed several times, and none of
// them waits for more either.
func TestAPublishOfAllPicturesWaitsForThreeDurableCommits(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	r, counter := s.counted(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	for name, pictures := range map[network.Name]int{network.Facebook: 10, network.Mastodon: 4, network.X: 4, network.Bluesky: 4, network.LinkedIn: 20, network.Instagram: 10} {
		content := model.Content{Text: "All of them on " + string(name), Accounts: []model.AccountID{s.account(t, a, client, name)}}
		for i := range pictures {
			content.Media = append(content.Media, s.media(t, a, client, fmt.Sprintf("%s-%d", name, i)))
		}
		id := s.write(t, a, content, 0).Targets[0].ID
		var waited []int64
		s.await(t, string(name), func() bool {
			for _, d := range r.due(t) {
				before := counter.n.Load()
				r.work(t, d)
				if d.Task == "publish" {
					waited = append(waited, counter.n.Load()-before)
				}
			}
			return r.target(t, a, id).State == model.Published
		})
		for _, n := range waited {
			if n < 2 || n > 3 {
				t.Errorf("%s with %d pictures: its claims waited for %v durable commits, want 3 at most", name, pictures, waited)
			}
		}
	}
}

// TestAPublishByAPublisherWaitsForThreeDurableCommits: the turns at the files of a
// version are taken without waiting for the disk.
func TestAPublishByAPublisherWaitsForThreeDurableCommits(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	r, counter := s.counted(t)
	o := httpx.Options{Timeout: s.settings.ProviderTimeout, Now: s.Clock.Now}
	env := func(p network.Publisher) networks.Env {
		return networks.Env{Base: s.net + "/" + string(p), HTTP: httpx.New(o), Guarded: httpx.NewGuarded(o, s.private), Now: s.Clock.Now}
	}
	r.pub.Aggregators = map[network.Publisher]networks.Adapter{network.Bundle: bundle.New(env(network.Bundle)), network.Blotato: blotato.New(env(network.Blotato))}
	r.pub.Stager = staging.New(r.pub.Pipe, s.Clock.Now)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	for by := range r.pub.Aggregators {
		content := model.Content{Text: "All of them by " + string(by), Accounts: []model.AccountID{s.account(t, a, client, network.Facebook)}}
		s.Super(t, a.Shard, `UPDATE tenant.accounts SET publisher = $3, remote_id = 'team1', settings = '{"page_id": "1"}' WHERE tenant_id = $1 AND id = $2`, a.ID, content.Accounts[0], by)
		for i := range 10 {
			content.Media = append(content.Media, s.media(t, a, client, fmt.Sprintf("%s-%d", by, i)))
		}
		id := s.write(t, a, content, 0).Targets[0].ID
		var waited []int64
		s.await(t, string(by), func() bool {
			for _, d := range r.due(t) {
				before := counter.n.Load()
				r.work(t, d)
				if d.Task == "publish" {
					waited = append(waited, counter.n.Load()-before)
				}
			}
			return r.target(t, a, id).State == model.UnknownOutcome
		})
		if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.staged_media WHERE tenant_id = $1 AND publisher LIKE $2 || '/%' AND handle <> ''`, a.ID, by); n != 10 {
			t.Errorf("%s has %d files, want 10", by, n)
		}
		for _, n := range waited {
			if n < 2 || n > 3 {
				t.Errorf("%s: its claims waited for %v durable commits, want 3 at most", by, waited)
			}
		}
	}
}

// sluggish is a network whose answer comes when the claim is lost.
type sluggish struct {
	*pretend
	meanwhile func()
}

// Prepare hands on where to note.
func (s sluggish) Prepare(_ context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	h.Note("file", "f1")
	return networks.Ready{Job: job, Book: h}, nil
}

// Commit notes what the network called the post.
func (s sluggish) Commit(_ context.Context, ready networks.Ready) (networks.Receipt, error) {
	s.meanwhile()
	ready.Book.Note("submission", "s1")
	return networks.Receipt{}, fault.New(fault.Unknown, "accepted", "It has the post.")
}

func TestWhatASlowCommitNotedIsKeptThoughItsClaimIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Slow", 0, a.Account(t, a.Client(t, "bakery"), network.Facebook)).Targets[0].ID
	handles := func() string {
		return dbtest.Look[string](t, r.World, a.Shard, `SELECT handles::text FROM tenant.attempts WHERE target_id = $1`, id)
	}
	r.pub.Networks[network.Facebook] = sluggish{r.net, func() {
		if got := handles(); got != `{"file": "f1"}` {
			t.Errorf("in flight with %s", got)
		}
		r.Clock.Advance(r.settings.StaleInFlight + time.Second)
		if n, err := r.pipe.SweepClaims(t.Context(), a.Shard, r.settings.StaleInFlight, r.Clock.Now(), r.Clock.Now(), 10); err != nil || len(n) != 1 {
			t.Errorf("swept %v, %v", n, err)
		}
	}}
	r.workAll(t)
	if got := r.target(t, a, id); got.State != model.UnknownOutcome {
		t.Errorf("it is %s (%s)", got.State, got.Reason)
	}
	if got := handles(); got != `{"file": "f1", "submission": "s1"}` {
		t.Errorf("the look-up has %s", got)
	}
}

// forgetful is a network whose look-up and follow-up note something.
type forgetful struct{ *pretend }

// Commit does not say where the post is.
func (f forgetful) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	r, err := f.pretend.Commit(ctx, ready)
	r.Permalink = ""
	return r, err
}

// Follow notes how far it came.
func (forgetful) Follow(_ context.Context, _ networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if h.Get("container") == "" {
		h.Note("container", "c1")
		return r, errAway
	}
	r.Permalink = "https://net.example/" + h.Get("container")
	return r, nil
}

func TestWhatAFollowUpNotedIsThereForTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.pub.Networks[network.Facebook] = forgetful{r.net}
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Followed", 0, a.Account(t, a.Client(t, "bakery"), network.Facebook)).Targets[0].ID
	for range 3 {
		r.workAll(t)
		r.Clock.Advance(time.Hour)
	}
	if got := r.target(t, a, id); got.Permalink != "https://net.example/c1" {
		t.Errorf("the post is at %q", got.Permalink)
	}
}

// What follows a checkpoint goes on while it is written, and nothing that is written
// later comes before it.
func TestACheckpointIsWrittenWhileTheUploadGoesOn(t *testing.T) {
	t.Parallel()
	begun, end := make(chan string, 9), make(chan error)
	h := jobs.NewHandles(func(change map[string]string) error {
		begun <- fmt.Sprint(change)
		return <-end
	})
	h.Note("session", "s")
	for _, at := range []string{"1", "2", "3"} {
		if err := h.Checkpoint(t.Context(), "at", at); err != nil {
			t.Fatal(err)
		}
		if at != "1" {
			continue // what follows the first waits for it
		}
		if got := <-begun; got != "map[at:1 session:s]" {
			t.Errorf("wrote %s", got)
		}
	}
	saved := make(chan error)
	go func() { saved <- h.Save(t.Context(), "id", "7") }()
	select {
	case got := <-begun:
		t.Errorf("%s was written beside the checkpoint", got)
	case <-time.After(50 * time.Millisecond):
	}
	end <- errors.New("away") // what it held is noted again, but for what is newer
	if got := <-begun; got != "map[at:3 id:7 session:s]" {
		t.Errorf("then wrote %s", got)
	}
	end <- nil
	if err := <-saved; err != nil || h.Get("id") != "7" {
		t.Errorf("saved: %v", err)
	}
}

func TestWhoLostTheClaimStopsAtTheNextCheckpoint(t *testing.T) {
	t.Parallel()
	h := jobs.NewHandles(func(map[string]string) error { return db.ErrLostClaim })
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		err = h.Checkpoint(t.Context(), "at", fmt.Sprint(n))
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, db.ErrLostClaim) || fault.Of(err).Kind != fault.Transient {
		t.Errorf("got %v", err)
	}
}

func TestNotesAreWrittenOnceAndAFailedSaveLosesNone(t *testing.T) {
	t.Parallel()
	var wrote []string
	away := errors.New("away")
	h := jobs.NewHandles(func(change map[string]string) error {
		if away != nil {
			return away
		}
		wrote = append(wrote, fmt.Sprint(change))
		return nil
	})
	h.Note("a", "1")
	if err := h.Save(t.Context(), "b", "2"); fault.Of(err).Kind != fault.Transient || h.Get("a") != "1" || h.Get("b") != "" {
		t.Errorf("got %v with %q and %q", err, h.Get("a"), h.Get("b"))
	}
	away = nil
	h.Note("a", "3")
	h.Note("c", "0") // and saved anew before it was written
	for _, pair := range [][2]string{{"c", "4"}, {"b", "2"}} {
		if err := h.Save(t.Context(), pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(wrote); got != "[map[a:3 c:4] map[b:2]]" {
		t.Errorf("wrote %s", got)
	}
}
