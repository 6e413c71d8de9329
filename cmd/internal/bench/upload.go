package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"herald/cmd/internal/embedded"
	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
)

// Upload is what a large file costs the process that serves, as the kernel counts
// its memory: all that is resident, the program's own pages among it.
type Upload struct {
	Bytes  int64
	Before int64         // bytes of memory at rest
	Peak   int64         // at most, while the file came
	Took   time.Duration // first byte sent to answer
}

// uploadBytes is how large the file is.
const uploadBytes = 2 << 30

// RunUpload measures the upload alone.
func RunUpload(ctx context.Context, asJSON bool, out io.Writer) error {
	return inWorld(ctx, func(w *world) error {
		cookie, err := w.member(ctx)
		if err != nil {
			return err
		}
		u, err := w.upload(ctx, cookie)
		if err != nil {
			return err
		}
		return write(out, asJSON, u)
	})
}

// upload has a real herald serve take a file by the tus protocol.
func (w *world) upload(ctx context.Context, cookie *http.Cookie) (u Upload, err error) {
	s, err := w.serve(ctx)
	if err != nil {
		return u, err
	}
	defer s.stop()
	if u.Before, err = s.memory("VmRSS"); err != nil {
		return u, err
	}
	u.Bytes = uploadBytes
	began := time.Now()
	if err := s.send(ctx, cookie, uploadBytes); err != nil {
		return u, err
	}
	u.Took = time.Since(began)
	u.Peak, err = s.memory("VmHWM")
	return u, err
}

// memberTenant is the workspace of member.
const memberTenant = 999_001

// member makes a workspace with a person in it, who is signed in.
func (w *world) member(ctx context.Context) (*http.Cookie, error) {
	user, err := w.owner(ctx, memberTenant, "bench@bench.example")
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, w.config.Database(time.Now))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	answer := httptest.NewRecorder()
	sessions := &web.Sessions{Store: store, Now: time.Now}
	if err := sessions.SignIn(answer, httptest.NewRequestWithContext(ctx, "POST", "/signin", nil), user); err != nil {
		return nil, err
	}
	return answer.Result().Cookies()[0], nil
}

// owner makes a workspace of a number on the main shard, with a person whose it is.
func (w *world) owner(ctx context.Context, tenant model.TenantID, email string) (user model.UserID, err error) {
	if err := w.workspace(ctx, db.MainShard, tenant); err != nil {
		return 0, err
	}
	err = w.super[db.MainShard].QueryRow(ctx, `
		WITH u AS (INSERT INTO control.users (email, name) VALUES ($2, 'Bench') RETURNING id)
		INSERT INTO control.memberships (workspace_id, user_id, role) SELECT $1, id, 'owner' FROM u RETURNING user_id`, tenant, email).Scan(&user)
	return user, err
}

// served is a herald serve of its own.
type served struct {
	cmd     *exec.Cmd
	address string
}

func (w *world) serve(ctx context.Context) (*served, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "serve")
	cmd.Env = append(plainEnviron(), "HERALD_DATABASE_URL="+w.config.DatabaseURL, "HERALD_SHARD_SECOND_URL="+w.config.ShardURLs[secondShard],
		"HERALD_REDIS_URL="+redisURL(w.rd), "HERALD_KEYS="+ringKey, "HERALD_MEDIA_URL=file://"+filepath.Join(w.dir, "media"), "HERALD_ADDR=127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &served{cmd: cmd}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, rest, _ := strings.Cut(line, "(listening on ")
	if s.address, _, _ = strings.Cut(rest, ")"); s.address == "" {
		s.stop()
		return nil, errors.New("herald serve did not start")
	}
	return s, nil
}

// plainEnviron is ours without Herald's settings.
func plainEnviron() (list []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "HERALD_") {
			list = append(list, entry)
		}
	}
	return list
}

func redisURL(s *embedded.Server) string {
	if s.Network == "unix" {
		return "redis-socket://" + s.Addr
	}
	return "redis://:" + s.Password + "@" + s.Addr
}

func (s *served) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// memory reads one of the kernel's figures; Linux alone has them.
func (s *served) memory(name string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("the kernel does not say %s", name)
}

// send uploads a video of which the head alone is one.
func (s *served) send(ctx context.Context, cookie *http.Cookie, size int64) error {
	ask := func(method, path string, body io.Reader, header ...string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, body)
		if err != nil {
			return nil, err
		}
		r.AddCookie(cookie)
		r.Header.Set("Tus-Resumable", "1.0.0")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if body != nil {
			r.ContentLength = size
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		say, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			return nil, fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, say)
		}
		return answer, nil
	}
	word := base64.StdEncoding.EncodeToString
	made, err := ask("POST", "/w/w999001/uploads", nil, "Upload-Length", fmt.Sprint(size), "Upload-Metadata", "client "+word([]byte("1"))+",filename "+word([]byte("film.mp4")))
	if err != nil {
		return err
	}
	head := []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")
	body := io.LimitReader(io.MultiReader(bytes.NewReader(head), rand.NewChaCha8([32]byte{})), size)
	last, err := ask("PATCH", made.Header.Get("Location"), body, "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream")
	if err == nil && last.Header.Get("Herald-Media") == "" {
		err = errors.New("the upload became no asset")
	}
	return err
}

func (u Upload) print(out io.Writer) {
	mb := func(n int64) float64 { return float64(n) / (1 << 20) }
	fmt.Fprintf(out, "an upload of %.1f GB: the serving process has %.0f MB resident at most (aim 64 MB), %.0f MB at rest; %.0f MB a second\n",
		float64(u.Bytes)/(1<<30), mb(u.Peak), mb(u.Before), mb(u.Bytes)/u.Took.Seconds())
}
