package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/sim"
)

// Fanout is one post with a picture to many accounts of many networks at once, beside
// the slowest of those networks alone.
type Fanout struct {
	Accounts int
	Networks int
	All      time.Duration // from "publish now" until all are public
	Slowest  network.Name
	Alone    time.Duration // the same of one account of the slowest network
	Staged   int           // uploads to the publisher that several targets share
	Sharing  int           // those targets
}

// fanned are the networks of the fan-out, three accounts of each; four accounts more
// are reached by a publisher, in one team there.
var (
	fanned = []network.Name{network.Bluesky, network.Discord, network.Facebook, network.GoogleBusiness, network.Instagram, network.LinkedIn,
		network.Mastodon, network.Slack, network.Telegram, network.Threads, network.Webhook, network.X}
	routed = []network.Name{network.Facebook, network.LinkedIn, network.Threads, network.X}
)

const (
	fanTenant = model.TenantID(999_002)
	fanUser   = "fan@bench.example"
)

// RunFanout measures the fan-out alone.
func RunFanout(ctx context.Context, asJSON bool, out io.Writer) error {
	return inWorld(ctx, func(w *world) error {
		f, err := w.fanout(ctx)
		if err != nil {
			return err
		}
		return write(out, asJSON, f)
	})
}

// fan is an agency whose post goes everywhere.
type fan struct {
	*world
	scope    *db.Scope
	loaf     []byte // its picture
	media    model.ContentMedia
	accounts []model.AccountID
	at       map[network.Name]model.AccountID // one of each network
	sharing  []model.AccountID
}

func (w *world) fanout(ctx context.Context) (f Fanout, err error) {
	store, err := db.Open(ctx, w.config.Database(time.Now))
	if err != nil {
		return f, err
	}
	defer store.Close()
	agency, err := w.agency(ctx, store)
	if err != nil {
		return f, err
	}
	server, stop, err := w.everywhere(ctx, agency.loaf)
	if err != nil {
		return f, err
	}
	defer stop()
	return agency.measure(ctx, server)
}

// measure publishes to each network alone and then to all at once.
func (a fan) measure(ctx context.Context, server *jobs.Server) (f Fanout, err error) {
	for _, name := range fanned {
		took, err := a.publish(ctx, server, string(name), a.at[name])
		if err != nil {
			return f, fmt.Errorf("%s alone: %w", name, err)
		}
		if took > f.Alone {
			f.Slowest, f.Alone = name, took
		}
	}
	a.sim.Reset()
	if f.All, err = a.publish(ctx, server, "everywhere", a.accounts...); err != nil {
		return f, fmt.Errorf("all at once: %w", err)
	}
	f.Accounts, f.Networks, f.Sharing = len(a.accounts), len(fanned), len(a.sharing)
	for _, c := range a.sim.Calls(network.Name(network.Bundle), "") {
		if strings.HasSuffix(c.Path, "/upload/") {
			f.Staged++
		}
	}
	return f, nil
}

// publish publishes now, and waits until every target is published.
func (a fan) publish(ctx context.Context, server *jobs.Server, text string, accounts ...model.AccountID) (time.Duration, error) {
	page, err := a.scope.SavePost(ctx, 0, db.PostForm{Content: model.Content{Text: "Bread " + text, Accounts: accounts, Media: []model.ContentMedia{a.media}}})
	if err != nil {
		return 0, err
	}
	if page, err = a.scope.SubmitPost(ctx, db.Submission{Post: page.Post.ID, Seen: page.Post.Revision}); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err = a.scope.PublishNow(ctx, page.Post.ID, page.Post.Revision); err != nil {
		return 0, err
	}
	server.Nudge()
	for time.Since(began) < time.Minute {
		var published, ended int
		if err := a.super[db.MainShard].QueryRow(ctx, `SELECT count(*) FILTER (WHERE state = 'published'), count(*) FILTER (WHERE state IN ('failed', 'needs_reconnect', 'cancelled'))
			FROM tenant.targets WHERE tenant_id = $1 AND post_id = $2`, fanTenant, page.Post.ID).Scan(&published, &ended); err != nil {
			return 0, err
		}
		switch {
		case published == len(accounts):
			return time.Since(began), nil
		case ended > 0:
			return 0, fmt.Errorf("%d of %d targets failed: %s", ended, len(accounts), a.why(ctx, page.Post.ID))
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0, fmt.Errorf("not all published after a minute: %s", a.why(ctx, page.Post.ID))
}

func (a fan) why(ctx context.Context, post model.PostID) (say string) {
	err := a.super[db.MainShard].QueryRow(ctx, `SELECT string_agg(concat_ws(' ', network, state, reason, say), '; ') FROM tenant.targets WHERE tenant_id = $1 AND post_id = $2 AND state <> 'published'`,
		fanTenant, post).Scan(&say)
	if err != nil {
		return err.Error()
	}
	return say
}

// everywhere starts a worker with all adapters and the picture's bytes.
func (w *world) everywhere(ctx context.Context, loaf []byte) (*jobs.Server, func(), error) {
	files := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "image/jpeg")
		_, _ = rw.Write(loaf)
	}))
	pipe, err := w.pipeline(ctx)
	if err != nil {
		files.Close()
		return nil, nil, err
	}
	d := w.deps(pipe, 64)
	d.Media, d.Aggregators = onePicture{files.URL, loaf}, w.config.Aggregators(time.Now)
	d.Settings.ReconcileAfter, d.Settings.Settle, d.Settings.RetryBase = 100*time.Millisecond, 200*time.Millisecond, 100*time.Millisecond
	server := jobs.NewServer(d)
	stop := func() { pipe.Close(); files.Close() }
	if err := server.Start(ctx); err != nil {
		stop()
		return nil, nil, err
	}
	return server, func() { server.Stop(); stop() }, nil
}

// onePicture is the one picture, as bytes and by its address.
type onePicture struct {
	base string
	raw  []byte
}

// Open gives its bytes.
func (s onePicture) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.raw)), nil
}

// URL is where networks fetch it.
func (s onePicture) URL(context.Context, model.TenantID, db.StoredMedia, time.Duration) (string, error) {
	return s.base + "/loaf.jpg", nil
}

// loaf is a JPEG of 800 x 800 pixels.
func loaf() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 800, 800)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// agency makes the workspace with its accounts, which the simulators know, and its
// picture.
func (w *world) agency(ctx context.Context, store *db.Store) (a fan, err error) {
	a = fan{world: w, loaf: loaf(), at: map[network.Name]model.AccountID{}}
	user, err := w.owner(ctx, fanTenant, fanUser)
	if err != nil {
		return a, err
	}
	if a.scope, err = store.Enter(ctx, user, fmt.Sprintf("w%d", fanTenant)); err != nil {
		return a, err
	}
	for i, name := range slices.Concat(fanned, fanned, fanned) {
		id, err := a.account(ctx, i, name, network.Direct)
		if err != nil {
			return a, err
		}
		a.at[name] = id
	}
	for i, name := range routed {
		id, err := a.account(ctx, 100+i, name, network.Bundle)
		if err != nil {
			return a, err
		}
		a.sharing = append(a.sharing, id)
	}
	return a, a.picture(ctx)
}

// account makes an account that its simulator knows.
func (a *fan) account(ctx context.Context, i int, name network.Name, p network.Publisher) (id model.AccountID, err error) {
	remote, address, host := fmt.Sprintf("%d", 70_000+i), "", name
	if p != network.Direct {
		remote, host = "70999", network.Name(p)
	}
	token := "token-" + remote
	whole := remote
	switch {
	case p != network.Direct:
	case name == network.GoogleBusiness:
		whole = "accounts/1/locations/" + remote
	case name == network.LinkedIn:
		whole = "urn:li:organization:" + remote
	case name == network.Mastodon:
		address = "https://social.example"
	case name == network.Webhook:
		address = "https://hooks.example/" + remote
	}
	a.sim.AddAccount(host, sim.Account{ID: remote, Token: token, Handle: "h" + remote})
	err = pgx.BeginFunc(ctx, a.super[db.MainShard], func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO tenant.accounts (tenant_id, id, client_id, slug, network, publisher, handle, remote_id, address) OVERRIDING SYSTEM VALUE
			VALUES ($1, $2, 1, $3, $4, $5, $3, $6, $7) RETURNING id`, fanTenant, accounts+i+1, fmt.Sprintf("fan%d", i), name, p, whole, address).Scan(&id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE tenant.accounts SET token = $3 WHERE tenant_id = $1 AND id = $2`, fanTenant, id, a.ring.Seal(token, db.TokenAAD(fanTenant, id, "token")))
		return err
	})
	a.accounts = append(a.accounts, id)
	return id, err
}

// picture puts a ready file into the library.
func (a *fan) picture(ctx context.Context) error {
	sum := sha256.Sum256(a.loaf)
	a.media = model.ContentMedia{SHA256: hex.EncodeToString(sum[:]), Alt: "A loaf of bread"}
	return a.super[db.MainShard].QueryRow(ctx, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, alt, created_at)
		VALUES ($1, 1, 'ready', 'image', 'image/jpeg', 'loaf.jpg', 'loaf.jpg', $2, $3, 800, 800, '', now()) RETURNING id`, fanTenant, sum[:], len(a.loaf)).Scan(&a.media.ID)
}

func (f Fanout) print(out io.Writer) {
	fmt.Fprintf(out, "one post to %d accounts of %d networks: public everywhere after %s; the slowest network alone, %s, %s: ratio %.1f\n",
		f.Accounts, f.Networks, ms(f.All), f.Slowest, ms(f.Alone), float64(f.All)/float64(f.Alone))
	fmt.Fprintf(out, "  its picture was handed to the publisher that %d of them share %d time (aim 1)\n", f.Sharing, f.Staged)
}
