package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// rig is the pipeline of one test without a queue: the verbs are called by hand.
type rig struct {
	*dbtest.World
	pipe     *db.Pipeline
	pub      *jobs.Publisher
	net      *pretend
	settings jobs.Settings
}

func newRig(t *testing.T, change ...func(*jobs.Settings)) *rig {
	t.Helper()
	return newRigIn(t, dbtest.New(t), change...)
}

func newRigIn(t *testing.T, w *dbtest.World, change ...func(*jobs.Settings)) *rig {
	t.Helper()
	r := &rig{World: w, net: &pretend{}, settings: jobs.Defaults()}
	for _, f := range change {
		f(&r.settings)
	}
	r.pub = r.process(t)
	r.pipe = r.pub.Pipe
	return r
}

// process is the publisher of one more worker process.
func (r *rig) process(t *testing.T) *jobs.Publisher {
	t.Helper()
	pipe, err := db.OpenPipeline(t.Context(), r.Options())
	if err != nil {
		t.Fatal(err)
	}
	committer := jobs.NewCommitter(pipe, r.guards())
	t.Cleanup(func() { committer.Close(); pipe.Close() })
	all := map[network.Name]networks.Adapter{network.Webhook: r.net, network.Mastodon: r.net, network.Facebook: r.net, network.Instagram: r.net}
	return &jobs.Publisher{Pipe: pipe, Committer: committer, Networks: all, Aggregators: map[network.Publisher]networks.Adapter{network.Bundle: r.net}, Media: noMedia{}, Settings: r.settings,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: r.Clock.Now}
}

func (r *rig) guards() db.Guards {
	return db.Guards{GuardStale: r.settings.GuardStale, RefreshAhead: 5 * time.Minute, LateCutoff: r.settings.LateCutoff, Grace: r.settings.SuspensionGrace,
		Hold: r.settings.RetryBase, AccountCap: r.settings.AccountCap, AccountWindow: r.settings.AccountWindow, Straight: []string{}}
}

type noMedia struct{}

func (noMedia) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, errors.New("no bytes here")
}

func (noMedia) URL(_ context.Context, tenant model.TenantID, m db.StoredMedia, _ time.Duration) (string, error) {
	return fmt.Sprintf("https://media.example/%d/%d", tenant, m.ID), nil
}

// due relays everything and returns the dispatches due now, as taken.
func (r *rig) due(t *testing.T) (list []db.Dispatch) {
	t.Helper()
	for _, shard := range r.pipe.Shards() {
		if _, err := r.pipe.Relay(t.Context(), shard, 500, func(context.Context, db.Event) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.pipe.TakeDue(t.Context(), r.Clock.Now(), 500, func(due []db.Dispatch) error { list = due; return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// work runs one dispatch as its task would.
func (r *rig) work(t *testing.T, d db.Dispatch) {
	t.Helper()
	var err error
	switch d.Task {
	case "publish":
		err = r.pub.Publish(t.Context(), d.Key, d.DueAt)
	case "reconcile":
		err = r.pub.Reconcile(t.Context(), d.Key)
	case "follow_up":
		err = r.pub.FollowUp(t.Context(), d.Key)
	}
	if err != nil {
		t.Fatalf("%s: %v", d.Task, err)
	}
}

func (r *rig) workAll(t *testing.T) {
	t.Helper()
	for _, d := range r.due(t) {
		r.work(t, d)
	}
}

// pretend is a network in memory whose next answers a test sets.
type pretend struct {
	mu       sync.Mutex
	prepare  []error
	commit   []error
	find     []networks.Finding
	stored   bool // a commit that fails has stored the post all the same
	prepares int
	commits  int
	public   []string // texts, in order
	media    [][]networks.Media
}

func (p *pretend) Prepare(_ context.Context, job networks.Job, _ networks.Handles) (networks.Ready, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prepares++
	if len(p.prepare) > 0 {
		err := p.prepare[0]
		p.prepare = p.prepare[1:]
		if err != nil {
			return networks.Ready{}, err
		}
	}
	return networks.Ready{Job: job}, nil
}

func (p *pretend) Commit(_ context.Context, ready networks.Ready) (networks.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if len(p.commit) > 0 {
		err := p.commit[0]
		p.commit = p.commit[1:]
		if err != nil {
			if p.stored {
				p.public = append(p.public, ready.Job.Post.Text)
			}
			return networks.Receipt{}, err
		}
	}
	p.public, p.media = append(p.public, ready.Job.Post.Text), append(p.media, ready.Job.Post.Media)
	id := fmt.Sprintf("post-%d", len(p.public))
	return networks.Receipt{ExternalID: id, Permalink: "https://net.example/" + id}, nil
}

func (p *pretend) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.find) == 0 {
		return networks.Finding{Verdict: networks.CantTell, Say: "nothing set"}, nil
	}
	f := p.find[0]
	p.find = p.find[1:]
	return f, nil
}

var errUnknown = fault.New(fault.Unknown, "timeout", "The network did not answer in time.")
