package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"herald/cmd/internal/embedded"
	"herald/db"
	"herald/db/cluster"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/sim"
)

// ground is what worker processes of one test stand on: two shards, a Redis of
// their own, the simulated networks, and a clock that is the machine's.
type ground struct {
	*dbtest.World
	redis  *redis.Client
	socket string
	sim    *sim.Sim
	net    string
	media  string // folder
	said   string // file that the workers write into
	spaces []*space
	texts  atomic.Int64
}

// space is a workspace with an account on each of three networks: one that can
// prove absence, one with a weak look-up, one without any.
type space struct {
	*dbtest.Agency
	client   model.ClientID
	accounts []model.AccountID
	file     model.ContentMedia
}

func newGround(t *testing.T) *ground {
	t.Helper()
	g := &ground{World: dbtest.New(t), media: t.TempDir(), said: filepath.Join(t.TempDir(), "workers.log")}
	rd, err := embedded.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rd.Stop)
	if rd.Network != "unix" {
		t.Fatal("redis-server is missing: run `go tool task setup`")
	}
	g.socket = rd.Addr
	g.redis = redis.NewClient(&redis.Options{Network: rd.Network, Addr: rd.Addr})
	t.Cleanup(func() { g.redis.Close() })
	g.run(t)
	g.sim = sim.New(sim.Options{})
	server := httptest.NewServer(g.sim.Handler())
	t.Cleanup(func() { g.sim.ClearFaults(); server.Close() })
	g.net = server.URL
	for i, shard := range []string{db.MainShard, dbtest.SecondShard} {
		g.spaces = append(g.spaces, g.space(t, fmt.Sprintf("space%d", i), shard))
	}
	return g
}

// run keeps the world's clock at the machine's, which the workers go by.
func (g *ground) run(t *testing.T) {
	g.Clock.Set(time.Now())
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		beat := time.NewTicker(5 * time.Millisecond)
		defer beat.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-beat.C:
				g.Clock.Set(now)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

func (g *ground) space(t *testing.T, slug, shard string) *space {
	t.Helper()
	a := g.Agency(t, slug, shard)
	s := &space{Agency: a, client: a.Client(t, "bakery")}
	for i, net := range []network.Name{network.Mastodon, network.Facebook, network.Webhook} {
		id := a.Account(t, s.client, net)
		remote := strconv.Itoa(7000 + 10*len(g.spaces) + i)
		token, address := "token-"+remote, map[network.Name]string{network.Mastodon: "https://social.example", network.Webhook: "https://hooks.example/" + remote}[net]
		g.Super(t, shard, `UPDATE tenant.accounts SET remote_id = $3, address = $4, token = $5 WHERE tenant_id = $1 AND id = $2`, a.ID, id, remote, address,
			g.Ring.Seal(token, db.TokenAAD(a.ID, id, "token")))
		g.sim.AddAccount(net, sim.Account{ID: remote, Token: token, Handle: "h" + remote})
		s.accounts = append(s.accounts, id)
	}
	s.file = g.picture(t, s)
	return s
}

// picture adds a picture to a workspace's library and to the folder.
func (g *ground) picture(t *testing.T, s *space) model.ContentMedia {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 400, 400)), nil); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("tenants/%d/media/2026/03/%s.jpg", s.ID, uuid.New())
	if err := os.MkdirAll(filepath.Join(g.media, filepath.Dir(path)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.media, path), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	id := dbtest.Look[model.MediaID](t, g.World, s.Shard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', 'loaf.jpg', $3, $4, $5, 400, 400, $6) RETURNING id`, s.ID, s.client, path, sum[:], b.Len(), g.Clock.Now())
	return model.ContentMedia{ID: id, SHA256: hex.EncodeToString(sum[:])}
}

// post plans a post for the three accounts, with a picture on the network that
// takes its bytes, so that there is a step before the commit too.
func (g *ground) post(t *testing.T, s *space, after time.Duration) (text string, page db.PostPage) {
	t.Helper()
	text = fmt.Sprintf("Bread number %d", g.texts.Add(1))
	content := model.Content{Text: text, Accounts: s.accounts, Variants: map[string]model.Variant{"mastodon": {Media: &[]model.ContentMedia{s.file}}}}
	page, err := s.Owner.SavePost(t.Context(), 0, db.PostForm{Content: content, Named: []model.ClientID{s.client}})
	if err != nil {
		t.Fatal(err)
	}
	id := page.Post.ID
	g.Super(t, s.Shard, `UPDATE tenant.posts SET approved_version_id = current_version_id, review = 'approved' WHERE tenant_id = $1 AND id = $2`, s.ID, id)
	g.Super(t, s.Shard, `UPDATE tenant.targets SET state = 'ready' WHERE tenant_id = $1 AND post_id = $2 AND state = 'draft'`, s.ID, id)
	when, err := model.At(time.Now().Add(after), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if page, err = s.Owner.SchedulePost(t.Context(), id, page.Post.Revision, when); err != nil {
		t.Fatal(err)
	}
	return text, page
}

// environment is what a worker process is told; kill names its fail-point.
func (g *ground) environment(kill string) []string {
	list := []string{
		"HERALD_TEST_WORKER=1", "HERALD_TEST_KILL=" + kill, "HERALD_DATABASE_URL=" + g.ControlURL, "HERALD_SHARD_SECOND_URL=" + g.ShardURL[dbtest.SecondShard],
		"HERALD_REDIS_URL=redis-socket://" + g.socket, "HERALD_KEYS=a passphrase for tests that is long enough to be one", "HERALD_MEDIA_URL=file://" + g.media,
		"HERALD_ALLOW_PRIVATE_TARGETS=127.0.0.0/8", "HERALD_TICK=100ms", "HERALD_LOOKAHEAD=500ms", "HERALD_RETRY_BASE=200ms", "HERALD_RETRY_CAP=1s",
		"HERALD_SWEEP_EVERY=1s", "HERALD_STALE_ENQUEUED=6s", "HERALD_STALE_IN_FLIGHT=3s", "HERALD_GUARD_STALE=3s", "HERALD_RECONCILE_AFTER=200ms", "HERALD_SETTLE=2s",
		"HERALD_PROVIDER_TIMEOUT=1s", "HERALD_ACCOUNT_RATE_LIMIT=1000000/h", "HERALD_WORKERS=8",
	}
	for _, net := range []string{"FACEBOOK", "INSTAGRAM", "MASTODON", "WEBHOOK"} {
		list = append(list, "HERALD_"+net+"_API_URL="+g.net+"/"+strings.ToLower(net))
	}
	return list
}

// process is one worker.
type process struct{ *cluster.Process }

// start starts a worker process, which ends with the test.
func (g *ground) start(t *testing.T, kill string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.OpenFile(g.said, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(self)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), g.environment(kill)...), said, said
	cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool { return strings.HasPrefix(e, "HERALD_TEST_DATABASE_URL=") })
	p, err := cluster.Spawn(cmd, nil, syscall.SIGKILL, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(syscall.SIGKILL, time.Second) })
	return &process{p}
}

// gone says whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// kill ends it as a power cut would.
func (p *process) kill() { p.Stop(syscall.SIGKILL, time.Second) }

var queues = []string{"publish", "publish_bulk", "look_up", "clock"}

// age lets the minute pass after which asynq takes the tasks of a dead worker
// for lost.
func (g *ground) age(ctx context.Context) error {
	for _, queue := range queues {
		key := "asynq:{" + queue + "}:lease"
		tasks, err := g.redis.ZRange(ctx, key, 0, -1).Result()
		if err != nil {
			return err
		}
		for _, task := range tasks {
			if err := g.redis.ZAddXX(ctx, key, redis.Z{Score: 1, Member: task}).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reading holds lanes off the database while TestChaos has it stopped.
var reading sync.RWMutex

// standing is how a post's targets stand.
func (g *ground) standing(t *testing.T, s *space, id model.PostID) []db.Target {
	t.Helper()
	reading.RLock()
	defer reading.RUnlock()
	page, err := s.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return page.Targets
}

func ended(targets []db.Target) bool {
	return !slices.ContainsFunc(targets, func(t db.Target) bool { return !t.State.Ended() })
}

// verdict is what became of one target.
type verdict string

const (
	once   verdict = "once"   // public once and published
	honest verdict = "honest" // not known, and said so: a person looks
	double verdict = "double"
	lost   verdict = "lost"
)

// judge compares what a target says with what the public sees. Where a network
// has no sure look-up a person may be asked, whether it is there or not.
func (g *ground) judge(t *testing.T, s *space, target db.Target, text string) verdict {
	t.Helper()
	reading.RLock()
	defer reading.RUnlock()
	remote := dbtest.Look[string](t, g.World, s.Shard, `SELECT remote_id FROM tenant.accounts WHERE tenant_id = $1 AND id = $2`, s.ID, target.AccountID)
	public := 0
	for _, p := range g.sim.Posts(target.Network, remote) {
		if p.Text == text {
			public++
		}
	}
	switch {
	case public > 1:
		return double
	case target.State == model.Published && public == 1:
		return once
	case target.State == model.Failed && target.Reason == "manual_check_required" && target.Network == network.Facebook:
		return honest
	}
	return lost
}

// tail is the end of what the workers said.
func (g *ground) tail() string {
	raw, _ := os.ReadFile(g.said)
	return string(raw[max(0, len(raw)-6000):])
}
