package jobs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks"
	"herald/jobs/networks/bluesky"
	"herald/jobs/networks/discord"
	"herald/jobs/networks/facebook"
	"herald/jobs/networks/googlebusiness"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/instagram"
	"herald/jobs/networks/linkedin"
	"herald/jobs/networks/mastodon"
	"herald/jobs/networks/telegram"
	"herald/jobs/networks/threads"
	"herald/jobs/networks/webhook"
	"herald/jobs/networks/x"
	"herald/jobs/sim"
)

// stack is the whole pipeline of one test: worker processes' insides over real
// Postgres on two shards, real Redis, and the real adapters against the
// simulated networks over HTTP. Its clock runs, and can be moved on.
type stack struct {
	*dbtest.World
	sim      *sim.Sim
	net      string // the simulated networks' address
	private  []netip.Prefix
	settings jobs.Settings
	redis    *redis.Client
	socket   string
	number   int
	ahead    atomic.Int64 // how far skip has moved the clock
	accounts atomic.Int64
	log      logged
}

// logged keeps what the workers log, for a failure's message.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps it.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()[max(0, l.b.Len()-4000):]
}

// quick are the design's times, shrunk so that a test sees their end.
func quick() jobs.Settings {
	s := jobs.Defaults()
	s.Tick, s.Lookahead = 50*time.Millisecond, 300*time.Millisecond
	s.RetryBase, s.RetryCap = 100*time.Millisecond, 400*time.Millisecond
	s.SweepEvery, s.StaleEnqueued, s.StaleInFlight = time.Second, 10*time.Second, 30*time.Second
	s.ReconcileAfter, s.Settle, s.ProviderTimeout, s.Workers = 200*time.Millisecond, 400*time.Millisecond, 10*time.Second, 8
	s.AccountCap = 100_000
	return s
}

func newStack(t *testing.T) *stack {
	t.Helper()
	s := &stack{World: dbtest.New(t), settings: quick(), private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	s.socket, s.number = redisNumber(t)
	s.redis = redisClient(s.socket, s.number)
	t.Cleanup(func() { s.redis.Close() })
	s.run(t)
	s.sim = sim.New(sim.Options{Now: s.Clock.Now})
	server := httptest.NewServer(s.sim.Handler())
	t.Cleanup(func() { s.sim.ClearFaults(); server.Close() })
	s.net = server.URL
	return s
}

// run lets the clock run, from noon.
func (s *stack) run(t *testing.T) {
	began := time.Now()
	beat := time.NewTicker(2 * time.Millisecond)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-beat.C:
				s.Clock.Set(dbtest.Noon.Add(time.Since(began) + time.Duration(s.ahead.Load())))
			}
		}
	}()
	t.Cleanup(func() { beat.Stop(); close(stop); <-done })
}

// skip moves the clock on by d.
func (s *stack) skip(d time.Duration) { s.ahead.Add(int64(d)) }

// adapters are the real ones, told where the simulated networks are.
func (s *stack) adapters() map[network.Name]networks.Adapter {
	o := httpx.Options{Timeout: s.settings.ProviderTimeout, Now: s.Clock.Now}
	env := func(name network.Name) networks.Env {
		return networks.Env{Base: s.net + "/" + string(name), HTTP: httpx.New(o), Guarded: httpx.NewGuarded(o, s.private), Now: s.Clock.Now}
	}
	return map[network.Name]networks.Adapter{
		network.Bluesky: bluesky.New(env(network.Bluesky)), network.Discord: discord.New(env(network.Discord)), network.Facebook: facebook.New(env(network.Facebook)),
		network.GoogleBusiness: googlebusiness.New(env(network.GoogleBusiness)), network.Instagram: instagram.New(env(network.Instagram)),
		network.LinkedIn: linkedin.New(env(network.LinkedIn)), network.Mastodon: mastodon.New(env(network.Mastodon)), network.Telegram: telegram.New(env(network.Telegram)),
		network.Threads: threads.New(env(network.Threads)), network.Webhook: webhook.New(env(network.Webhook)), network.X: x.New(env(network.X)),
	}
}

// worker makes a worker process's inside with connections of its own.
func (s *stack) worker(t *testing.T, change ...func(*jobs.Deps)) *jobs.Server {
	t.Helper()
	pipe, err := db.OpenPipeline(t.Context(), s.Options())
	if err != nil {
		t.Fatal(err)
	}
	client := redisClient(s.socket, s.number)
	d := jobs.Deps{Pipe: pipe, Redis: client, Networks: s.adapters(), Media: pictures{t.Context(), s.files(t)}, Mail: noMail{},
		Settings: s.settings, Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: s.Clock.Now}
	for _, f := range change {
		f(&d)
	}
	server := jobs.NewServer(d)
	t.Cleanup(func() { pipe.Close(); client.Close() })
	return server
}

// start starts a worker for the rest of the test.
func (s *stack) start(t *testing.T, change ...func(*jobs.Deps)) *jobs.Server {
	t.Helper()
	server := s.worker(t, change...)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

type noMail struct{}

func (noMail) Deliver(context.Context, string) error { return nil }

// await waits until ok, for what a test cannot know the moment of.
func (s *stack) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	began := time.Now()
	defer func() { t.Logf("%s: %v", what, time.Since(began).Round(10*time.Millisecond)) }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(15 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain: %s\n%s", what, s.picture(t))
}

// picture is where everything stands, for a failure's message.
func (s *stack) picture(t *testing.T) string {
	var b bytes.Buffer
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		fmt.Fprintf(&b, "%s: %s\n", shard, dbtest.Look[string](t, s.World, shard, `
			SELECT coalesce(string_agg(concat_ws(' ', network, id, state, reason, say, 'attempt', attempt_no), E'\n'), '') FROM
			(SELECT * FROM tenant.targets WHERE state <> 'published' ORDER BY id LIMIT 20) t`))
	}
	b.WriteString(dbtest.Look[string](t, s.World, db.MainShard, `
		SELECT coalesce(string_agg(concat_ws(' ', task, target_id, seq, status), E'\n'), '') FROM (SELECT * FROM control.publish_dispatch_index WHERE status <> 'done' LIMIT 20) d`))
	b.WriteString("\n" + s.log.tail())
	return b.String()
}

// settled says whether nothing is on its way any more: no target and no dispatch.
func (s *stack) settled(t *testing.T) bool {
	t.Helper()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		if dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.targets WHERE state IN ('scheduled', 'queued', 'publishing', 'retry_scheduled', 'unknown_outcome')`)+
			dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.outbox WHERE relayed_at IS NULL`) > 0 {
			return false
		}
	}
	return dbtest.Look[int](t, s.World, db.MainShard, `SELECT count(*) FROM control.publish_dispatch_index WHERE status IN ('pending', 'enqueued')`) == 0
}

// account makes an account of a client that exists on the simulated network too.
func (s *stack) account(t *testing.T, a *dbtest.Agency, client model.ClientID, net network.Name) model.AccountID {
	t.Helper()
	id := a.Account(t, client, net)
	n := 5000 + s.accounts.Add(1)
	number, token := strconv.FormatInt(n, 10), fmt.Sprintf("token-%d", n)
	remote, address := number, ""
	switch net {
	case network.GoogleBusiness:
		remote = "accounts/1/locations/" + number
	case network.LinkedIn:
		remote = "urn:li:organization:" + number
	case network.Mastodon:
		address = "https://social.example"
	case network.Webhook:
		address = "https://hooks.example/" + number
	}
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET remote_id = $3, address = $4, token = $5 WHERE tenant_id = $1 AND id = $2`, a.ID, id,
		remote, address, s.Ring.Seal(token, db.TokenAAD(a.ID, id, "token")))
	s.sim.AddAccount(net, sim.Account{ID: number, Token: token, Handle: "h" + number})
	return id
}

// remote is what the simulated network calls an account: the end of the whole name
// that some networks have.
func (s *stack) remote(t *testing.T, a *dbtest.Agency, id model.AccountID) string {
	t.Helper()
	whole := dbtest.Look[string](t, s.World, a.Shard, `SELECT remote_id FROM tenant.accounts WHERE tenant_id = $1 AND id = $2`, a.ID, id)
	return whole[strings.LastIndexAny(whole, "/:")+1:]
}

// public is how many posts with a text the public sees on all networks.
func (s *stack) public(text string) (n int) {
	for _, p := range s.sim.Posts("", "") {
		if p.Text == text {
			n++
		}
	}
	return n
}

// commits are the calls that were to make something public.
func (s *stack) commits() []sim.Call {
	return slices.DeleteFunc(s.sim.Calls("", ""), func(c sim.Call) bool { return c.Step != sim.Commit })
}

// picture adds a ready picture to a client's library.
func (s *stack) media(t *testing.T, a *dbtest.Agency, client model.ClientID, name string) model.ContentMedia {
	t.Helper()
	raw := picture(name)
	sum := sha256.Sum256(raw)
	id := dbtest.Look[model.MediaID](t, s.World, a.Shard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, alt, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', $3, $3, $4, $5, 400, 400, '', $6) RETURNING id`,
		a.ID, client, name, sum[:], len(raw), s.Clock.Now())
	return model.ContentMedia{ID: id, SHA256: hex.EncodeToString(sum[:]), Alt: "A loaf of bread"}
}

// picture is a JPEG that looks different for every name.
func picture(name string) []byte {
	if raw, ok := drawn.Load(name); ok {
		return raw.([]byte)
	}
	sum := sha256.Sum256([]byte(name))
	img := image.NewRGBA(image.Rect(0, 0, 400, 400))
	for i := range img.Pix {
		img.Pix[i] = sum[i%4+i/40_000%24] | 3 // four bands of colour; no alpha below opaque counts in JPEG
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err)
	}
	drawn.Store(name, b.Bytes())
	return b.Bytes()
}

var drawn sync.Map

// pictures is where workers get the bytes, and networks that pull their address.
type pictures struct {
	ctx  context.Context
	base string
}

// Open gives the picture of a name.
func (pictures) Open(_ context.Context, path string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(picture(path))), nil
}

// URL is where a network fetches it.
func (p pictures) URL(_ context.Context, _ model.TenantID, m db.StoredMedia, _ time.Duration) (string, error) {
	return p.base + "/" + m.Path, nil
}

func (s *stack) files(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		_, _ = w.Write(picture(r.URL.Path[1:]))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// write makes an approved post of content that is due after a while.
func (s *stack) write(t *testing.T, a *dbtest.Agency, content model.Content, after time.Duration) db.PostPage {
	t.Helper()
	page := s.approved(t, a, content)
	when, err := model.At(s.Clock.Now().Add(after), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	page, err = a.Owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when)
	if err != nil {
		t.Fatalf("schedule: %v", err)
	}
	return page
}

// approved makes a post of content and approves it past the workflow.
func (s *stack) approved(t *testing.T, a *dbtest.Agency, content model.Content) db.PostPage {
	t.Helper()
	var named []model.ClientID
	for _, id := range content.Accounts {
		named = append(named, dbtest.Look[model.ClientID](t, s.World, a.Shard, `SELECT client_id FROM tenant.accounts WHERE tenant_id = $1 AND id = $2`, a.ID, id))
	}
	slices.Sort(named)
	page, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: content, Named: slices.Compact(named)})
	if err != nil {
		t.Fatalf("save post: %v", err)
	}
	for _, target := range page.Targets {
		if target.State != model.Draft {
			t.Fatalf("a target of %q is %s: %+v", content.Text, target.State, target.Problems)
		}
	}
	id := page.Post.ID
	s.Super(t, a.Shard, `UPDATE tenant.posts SET approved_version_id = current_version_id, review = 'approved' WHERE tenant_id = $1 AND id = $2`, a.ID, id)
	s.Super(t, a.Shard, `UPDATE tenant.targets SET state = 'ready' WHERE tenant_id = $1 AND post_id = $2 AND state = 'draft'`, a.ID, id)
	s.Super(t, a.Shard, `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[$2::bigint])`, a.ID, id)
	if page, err = a.Owner.Post(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return page
}
