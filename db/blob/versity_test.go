//go:build real_s3

// A real S3 server takes minutes to build the first time, so the tests on it are
// behind a tag that test:full sets; there they fail, and do not skip, without it.

package blob_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"herald/db/blob"
	"herald/db/blob/blobtest"
	"herald/db/cluster"
)

// versity starts the server that docker-compose.yml names, on a folder of its
// own, and makes the bucket.
func versity(t *testing.T) (endpoint string, client *minio.Client) {
	t.Helper()
	path, err := exec.Command("go", "tool", "-modfile=../../.tools/s3.mod", "-n", "versitygw").Output()
	if err != nil {
		t.Fatalf("build the S3 server: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(strings.TrimSpace(string(path)), "--quiet", "--port", addr, "posix", t.TempDir())
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessID, "ROOT_SECRET_KEY="+secret, "VGW_REGION=us-east-1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	p, err := cluster.Spawn(cmd, nil, syscall.SIGTERM, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(syscall.SIGTERM, 5*time.Second) })
	client, err = minio.New(addr, &minio.Options{Creds: credentials.NewStaticV4(accessID, secret, ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}); err != nil { // asked again until it answers
		p.Stop(syscall.SIGKILL, 0)
		t.Fatalf("make the bucket: %v\n%s", err, said.String())
	}
	return "http://" + addr, client
}

func TestS3PassesTheStoreSuiteOnARealServer(t *testing.T) {
	endpoint, client := versity(t)
	s, err := blob.OpenURL("s3://"+bucket+"?endpoint="+endpoint, right())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("suite", func(t *testing.T) { blobtest.Run(t, func(t *testing.T) blob.Store { return s }) })
	t.Run("left behind", func(t *testing.T) {
		for o := range client.ListObjects(t.Context(), bucket, minio.ListObjectsOptions{Recursive: true}) {
			if o.Err != nil || strings.Contains(o.Key, ".rest") {
				t.Errorf("%s: %v", o.Key, o.Err)
			}
		}
	})
	t.Run("busy", func(t *testing.T) { staysBusy(t, endpoint) })
	t.Run("address runs out", func(t *testing.T) { runsOut(t, s) })
	t.Run("credentials", func(t *testing.T) {
		for _, keys := range []blob.Credentials{{ID: "nobody", Secret: secret}, {ID: accessID, Secret: "guess"}} {
			s, err := blob.OpenURL("s3://"+bucket+"?endpoint="+endpoint, keys)
			if err != nil {
				t.Fatal(err)
			}
			if err := blob.Check(t.Context(), s); !errors.Is(err, blob.ErrDenied) {
				t.Errorf("%s: %v", keys.ID, err)
			}
		}
	})
	t.Run("no bucket", func(t *testing.T) {
		s, err := blob.OpenURL("s3://elsewhere?endpoint="+endpoint, right())
		if err != nil {
			t.Fatal(err)
		}
		if err := blob.Check(t.Context(), s); !errors.Is(err, blob.ErrBucket) {
			t.Errorf("got %v", err)
		}
	})
}

// staysBusy puts, reads and deletes through a proxy that answers the first two calls
// of each kind in the server's stead, as a busy store does.
func staysBusy(t *testing.T, endpoint string) {
	behind, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	busy := map[string]int{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Host = r.In.Host // which the signature covers
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		call := r.Method + r.URL.String()
		busy[call]++
		turned := busy[call] <= 2
		lock.Unlock()
		if !turned {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
	}))
	t.Cleanup(front.Close)
	s, err := blob.OpenURL("s3://"+bucket+"?endpoint="+front.URL, right())
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range bodies {
		key, err := put(t, s, size)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o, err := s.Open(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(o); err != nil || !bytes.Equal(got, blobtest.Body(1, size)) {
			t.Errorf("%s: %d bytes back, %v", name, len(got), err)
		}
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	turned := 0
	for _, n := range busy {
		turned += min(n, 2)
	}
	if turned < 12 {
		t.Errorf("only %d calls were turned away: %v", turned, busy)
	}
}

// runsOut asks by an address that lives a second until it is refused.
func runsOut(t *testing.T, s blob.Store) {
	key, err := put(t, s, 10)
	if err != nil {
		t.Fatal(err)
	}
	url, _, err := s.Presign(t.Context(), key, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode == http.StatusForbidden {
			return
		}
	}
	t.Error("the address was good for more than twenty seconds")
}
