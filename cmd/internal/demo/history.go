package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/declare"
	"herald/cmd/internal/mailbox"
	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/mail"
	"herald/jobs/sim"
)

// history makes the demo's past month: people act and posts fall due by a clock
// that moves from one event to the next.
type history struct {
	clock *clock
	now   time.Time // where the month ends
	store *db.Store
	pipe  *db.Pipeline
	blobs blob.Store
	sim   *sim.Sim
	box   *mailbox.Mailbox
	album album

	publisher *jobs.Publisher
	ticker    *jobs.Ticker
	deliverer *mail.Deliverer

	people   map[string]*db.Scope // by the names of people
	clients  map[string]client    // by slug
	accounts map[string]account   // by client/network
	remote   map[string]string    // what the network calls it, by the same
	labels   map[labelling]model.LabelID
	hung     sync.Mutex
	assets   map[sheet]db.Asset // under hung
	acts     []act

	index *pgx.Conn // tells when the next dispatch is due
	moved bool      // an act may have left events or mails behind
	next  *time.Time
}

type client struct {
	ID   model.ClientID
	Zone string
}

type account struct {
	ID     model.AccountID
	Client model.ClientID
}

// act is something that somebody does at a time. After a quiet one the pipeline
// has nothing new to do.
type act struct {
	at    time.Time
	do    func(context.Context) error
	quiet bool
}

// makers is what a history is made with.
type makers struct {
	clock  *clock
	config boot.Config
	sim    *sim.Sim
	box    *mailbox.Mailbox
	redis  redis.UniversalClient
	album  album
	open   func(*boot.App) // lets the networks fetch media
}

// makeHistory fills empty databases. It uses the pipeline's own settings,
// whatever the operator shortened.
func makeHistory(ctx context.Context, m makers, doc declare.Document, drafts []draft) (err error) {
	m.config.Pipeline = jobs.Defaults()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	app := &boot.App{Config: m.config, Log: quiet, Now: m.clock.Now, Redis: m.redis}
	if app.Blobs, err = blob.OpenURL(m.config.MediaURL, m.config.MediaKeys); err != nil {
		return err
	}
	base := m.config.Database(m.clock.Now)
	base.Conns = 4 // each that is opened plans its statements anew, and little happens at once
	if app.Store, err = db.Open(ctx, base); err != nil {
		return err
	}
	defer app.Store.Close()
	if app.Pipe, err = db.OpenPipeline(ctx, base); err != nil {
		return err
	}
	defer app.Pipe.Close()
	m.open(app)
	h := &history{clock: m.clock, now: time.Now(), store: app.Store, pipe: app.Pipe, blobs: app.Blobs, sim: m.sim, box: m.box, album: m.album, assets: map[sheet]db.Asset{}}
	worker, err := app.Worker()
	if err != nil {
		return err
	}
	h.publisher, h.ticker, _ = worker.Verbs()
	defer h.publisher.Committer.Close()
	if h.index, err = pgx.Connect(ctx, m.config.DatabaseURL); err != nil {
		return err
	}
	defer h.index.Close(context.WithoutCancel(ctx))
	h.deliverer, err = mail.New(mail.Options{SMTPURL: m.box.SMTPURL(), From: m.config.MailFrom, BaseURL: m.config.BaseURL, Pipe: app.Pipe, Open: app.OpenBlob, Log: quiet, Now: m.clock.Now})
	if err != nil {
		return err
	}
	return h.make(ctx, doc, drafts)
}

// since is how long ago the agency began to use Herald.
const since = 17 * 24 * time.Hour

func (h *history) make(ctx context.Context, doc declare.Document, drafts []draft) error {
	h.clock.begin(h.now.Add(-since))
	defer h.clock.release()
	if _, err := declare.Apply(ctx, h.store, doc); err != nil {
		return err
	}
	if err := h.meet(ctx, doc); err != nil {
		return err
	}
	if err := h.label(ctx, drafts); err != nil {
		return err
	}
	if err := h.note(ctx); err != nil {
		return err
	}
	if err := h.plan(drafts); err != nil {
		return err
	}
	return h.play(ctx)
}

// meet learns who the people, clients and accounts are by now.
func (h *history) meet(ctx context.Context, doc declare.Document) error {
	h.people, h.clients = map[string]*db.Scope{}, map[string]client{}
	h.accounts, h.remote = map[string]account{}, map[string]string{}
	for _, p := range people() {
		user, ok, err := h.store.UserByEmail(ctx, p.email)
		if err != nil || !ok {
			return fmt.Errorf("%s is not there: %w", p.email, err)
		}
		if h.people[p.name], err = h.store.Enter(ctx, user.ID, workspace); err != nil {
			return err
		}
	}
	list, err := h.people["nora"].ComposerClients(ctx, nil)
	if err != nil {
		return err
	}
	for _, declared := range doc.Workspaces[0].Clients {
		for _, c := range list {
			if c.Name == *declared.Name {
				h.meetClient(declared, c)
			}
		}
	}
	return nil
}

func (h *history) meetClient(declared db.DeclaredClient, c db.ComposerClient) {
	h.clients[declared.Slug] = client{c.ID, c.Zone}
	for _, a := range c.Accounts {
		h.accounts[place(declared.Slug, a.Network)] = account{a.ID, c.ID}
	}
	for _, a := range declared.Accounts {
		h.remote[place(declared.Slug, *a.Network)] = remoteID(a.RemoteID, a.Address)
	}
}

// place names an account: no client here has two on one network.
func place(client string, n network.Name) string { return client + "/" + string(n) }

// at plans an act. What lies beyond now never happens.
func (h *history) at(at time.Time, do func(context.Context) error) {
	if at.Before(h.now) {
		h.acts = append(h.acts, act{at: at, do: do})
	}
}

func (h *history) quietly(at time.Time, do func(context.Context) error) {
	if at.Before(h.now) {
		h.acts = append(h.acts, act{at, do, true})
	}
}

// play lets everything happen in its order: people's acts, side by side where
// they have the same time, and between them what falls due.
func (h *history) play(ctx context.Context) error {
	slices.SortStableFunc(h.acts, func(a, b act) int { return a.at.Compare(b.at) })
	for rest := h.acts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].at.Equal(rest[0].at) {
			n++
		}
		if err := h.work(ctx, rest[0].at); err != nil {
			return err
		}
		h.clock.forward(rest[0].at)
		if err := h.together(ctx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return h.work(ctx, h.now)
}

func (h *history) together(ctx context.Context, acts []act) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, a := range acts {
		h.moved = h.moved || !a.quiet
		g.Go(func() error {
			if err := a.do(ctx); err != nil {
				return fmt.Errorf("%s: %w", a.at.Format(time.DateTime), err)
			}
			return nil
		})
	}
	return g.Wait()
}

// work does what the pipeline owes up to a time, each thing at its own, and what
// of it is due at one instant side by side.
func (h *history) work(ctx context.Context, until time.Time) error {
	if err := h.relay(ctx); err != nil {
		return err
	}
	for h.next != nil && !h.next.After(until) {
		h.clock.forward(*h.next)
		if err := h.dispatch(ctx); err != nil {
			return err
		}
		h.moved = true
		if err := h.relay(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

const sqlNextDue = `SELECT min(due_at) FROM control.publish_dispatch_index WHERE status = 'pending'`

// relay moves what was committed into the dispatch index and into mailboxes, if
// anything may have been.
func (h *history) relay(ctx context.Context) error {
	if !h.moved {
		return nil
	}
	h.moved = false
	for _, shard := range h.pipe.Shards() {
		if _, err := h.ticker.Relay(ctx, shard); err != nil {
			return err
		}
		if err := h.deliverer.Deliver(ctx, shard); err != nil {
			return err
		}
	}
	return h.index.QueryRow(ctx, sqlNextDue).Scan(&h.next)
}

// dispatch runs what is due now.
func (h *history) dispatch(ctx context.Context) error {
	var due []db.Dispatch
	_, err := h.pipe.TakeDue(ctx, h.clock.Now(), 500, func(list []db.Dispatch) error {
		due = list
		return nil
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, d := range due {
		g.Go(func() error { return h.run(ctx, d) })
	}
	return g.Wait()
}

// run is one task.
func (h *history) run(ctx context.Context, d db.Dispatch) error {
	switch d.Task {
	case "publish":
		return h.publisher.Publish(ctx, d.Key, d.DueAt)
	case "reconcile":
		return h.publisher.Reconcile(ctx, d.Key)
	case "follow_up":
		return h.publisher.FollowUp(ctx, d.Key)
	}
	return fmt.Errorf("there is no task %q", d.Task)
}
