package httpx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"herald/jobs/networks/fault"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func itoa(n int) string { return strconv.Itoa(n) }

func get(t *testing.T, address string) *http.Request {
	t.Helper()
	return request(t, http.MethodGet, address, "")
}

func request(t *testing.T, method, address, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func loopback(t *testing.T) *Client {
	t.Helper()
	return NewGuarded(Options{Timeout: 5 * time.Second}, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
}

// trail keeps calls for a test.
type trail []Call

func (l *trail) Add(c Call) { *l = append(*l, c) }

// rawServer answers the first request of each connection with 200 and
// keep-alive; what it does with the second is the test's.
func rawServer(t *testing.T, second func(net.Conn)) (address string, requests *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	requests = new(atomic.Int32)
	serve := func(conn net.Conn) {
		defer conn.Close()
		r := bufio.NewReader(conn)
		for n := 1; ; n++ {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			requests.Add(1)
			if n == 2 {
				second(conn)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + l.Addr().String(), requests
}

func TestDoNeverSendsAWriteAgainWhenAReusedConnectionDies(t *testing.T) {
	t.Parallel()
	endings := map[string]func(net.Conn){
		"closed": func(c net.Conn) {},
		"reset":  func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
	}
	for name, ending := range endings {
		for _, body := range []string{"", "status=Hello"} {
			for _, key := range []string{"", "Idempotency-Key", "X-Idempotency-Key"} {
				t.Run(fmt.Sprintf("%s body=%q key=%q", name, body, key), func(t *testing.T) {
					t.Parallel()
					address, requests := rawServer(t, ending)
					c := New(Options{Timeout: 5 * time.Second})
					if _, err := c.Do(t.Context(), nil, Prepare, get(t, address)); err != nil {
						t.Fatalf("first call: %v", err)
					}
					req := request(t, http.MethodPost, address, body)
					if key != "" {
						req.Header.Set(key, "k1")
					}
					answer, err := c.Do(t.Context(), nil, Commit, req)
					if f := fault.Of(err); answer != nil || f == nil || f.Kind != fault.Unknown {
						t.Errorf("got %v, %v; want Unknown", answer, err)
					}
					if n := requests.Load(); n != 2 {
						t.Errorf("the server saw %d requests, want 2: the write was sent again", n)
					}
				})
			}
		}
	}
}

func TestDoSendsTheClientKeyUnderItsName(t *testing.T) {
	t.Parallel()
	var got, agent string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, agent = r.Header.Get("Idempotency-Key"), r.UserAgent()
	}))
	defer srv.Close()
	req := request(t, http.MethodPost, srv.URL, "x")
	req.Header.Set("Idempotency-Key", "k1")
	if _, err := New(Options{UserAgent: "Herald/1"}).Do(t.Context(), nil, Commit, req); err != nil {
		t.Fatal(err)
	}
	if got != "k1" || agent != "Herald/1" {
		t.Errorf("key %q, agent %q", got, agent)
	}
	if req.GetBody == nil || req.Header.Get("Idempotency-Key") != "k1" {
		t.Error("the caller's request was changed")
	}
}

func TestDoIsTransientWhileNothingWasSent(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	untrusted := httptest.NewTLSServer(nil)
	defer untrusted.Close()
	untrusted.Config.ErrorLog = nil
	plain := httptest.NewServer(nil)
	defer plain.Close()
	stalled, err := net.Listen("tcp", "127.0.0.1:0") // accepts, never speaks TLS
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()

	for name, tt := range map[string]struct{ address, code string }{
		"refused":   {closed.URL, "connection_refused"},
		"untrusted": {untrusted.URL, "tls"},
		"not TLS":   {strings.Replace(plain.URL, "http:", "https:", 1), "tls"},
		"stalled":   {"https://" + stalled.Addr().String(), "timeout"},
		"scheme":    {"gopher://127.0.0.1/", "call_failed"},
	} {
		var calls trail
		patience := 20 * time.Second
		if tt.code == "timeout" {
			patience = 300 * time.Millisecond
		}
		answer, err := New(Options{Timeout: patience}).Do(t.Context(), &calls, Commit, request(t, http.MethodPost, tt.address+"/x?access_token=hush", "b"))
		f := fault.Of(err)
		if answer != nil || f.Kind != fault.Transient || f.Code != tt.code {
			t.Errorf("%s: got %v, %+v; want Transient %s", name, answer, f, tt.code)
		}
		if len(calls) != 1 || calls[0].Error == "" || strings.Contains(calls[0].Error+err.Error(), "hush") {
			t.Errorf("%s: evidence %+v, error %v", name, calls, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = New(Options{}).Do(ctx, nil, Commit, request(t, http.MethodPost, plain.URL, "b"))
	if f := fault.Of(err); f.Kind != fault.Transient || f.Code != "cancelled" {
		t.Errorf("cancelled before sending: %+v", f)
	}
}

func TestDoIsTransientWhenAReusedConnectionTakesNoByte(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	defer srv.Close()
	var dead atomic.Bool
	var tries atomic.Int32
	c := New(Options{})
	c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{Conn: &deadConn{conn, &dead, &tries}}, err
	}
	if _, err := c.Do(t.Context(), nil, Prepare, get(t, srv.URL)); err != nil {
		t.Fatal(err)
	}
	dead.Store(true)
	_, err := c.Do(t.Context(), nil, Commit, request(t, http.MethodPost, srv.URL, "b"))
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want Transient", err)
	}
	if tries.Load() != 1 {
		t.Errorf("tried to write %d times, want once", tries.Load())
	}
}

// deadConn fails to write once dead is set, as a connection does that the other
// side reset.
type deadConn struct {
	net.Conn
	dead  *atomic.Bool
	tries *atomic.Int32
}

func (d *deadConn) Write(p []byte) (int, error) {
	if d.dead.Load() {
		d.tries.Add(1)
		return 0, syscall.EPIPE
	}
	return d.Conn.Write(p)
}

func TestDoIsUnknownOnCommitOnceBytesWereSent(t *testing.T) {
	t.Parallel()
	hijack := func(w http.ResponseWriter, say string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, say)
		conn.Close()
	}
	cases := map[string]struct {
		code    string
		status  int // of the answer that is kept; 0 for none
		handler http.HandlerFunc
	}{
		"closed without answer": {"connection_closed", 0, func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }},
		"not HTTP":              {"call_failed", 0, func(w http.ResponseWriter, _ *http.Request) { hijack(w, "hello\r\n\r\n") }},
		"stalls":                {"timeout", 0, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"stalls in the body": {"timeout", 200, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		"body cut off": {"answer_broken", 200, func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nX-Request-Id: r9\r\nContent-Length: 100\r\n\r\n{\"id\":")
		}},
		"body too large": {"answer_too_large", 200, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxBody+1)) }},
		"headers too large": {"call_failed", 0, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Much", strings.Repeat("x", maxHeader+1))
		}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that we left
				tt.handler(w, r)
			}))
			defer srv.Close()
			var steps sync.WaitGroup
			for step, want := range map[Step]fault.Kind{Commit: fault.Unknown, Prepare: fault.Transient, Find: fault.Transient} {
				steps.Go(func() { checkLost(t, srv.URL, step, want, tt.code, tt.status) })
			}
			steps.Wait()
		})
	}
}

// checkLost makes a call whose answer does not come whole.
func checkLost(t *testing.T, address string, step Step, want fault.Kind, code string, status int) {
	patience := 30 * time.Second
	if code == "timeout" {
		patience = 3 * time.Second
	}
	var calls trail
	answer, err := New(Options{Timeout: patience}).Do(t.Context(), &calls, step, request(t, http.MethodPost, address+"/p?t=hush", "b"))
	f := fault.Of(err)
	if f == nil || f.Kind != want || f.Code != code || f.Say == "" {
		t.Errorf("%s: got %v (%+v), want %s %s", step, err, f, want, code)
	}
	if (answer == nil) != (status == 0) || (answer != nil && answer.Status != status) {
		t.Errorf("%s: kept answer %+v", step, answer)
	}
	if len(calls) != 1 || calls[0].Status != status || strings.Contains(fmt.Sprint(calls, err), "hush") {
		t.Errorf("%s: evidence %+v", step, calls)
	}
}

func TestDoKeepsEvidenceWithoutQueryOrToken(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Fb-Trace-Id", "A1b 2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "body")
	}))
	defer srv.Close()
	var calls trail
	c := New(Options{Now: func() time.Time { return noon }})
	req := request(t, http.MethodPost, srv.URL+"/bot12:AbC/send?access_token=hush", "b")
	answer, err := c.Do(t.Context(), Hide(&calls, "12:AbC"), Commit, req)
	if err != nil || answer.Status != http.StatusTeapot || string(answer.Body) != "body" || answer.RequestID != "A1b2" || !answer.At.Equal(noon) {
		t.Fatalf("answer %+v, %v", answer, err)
	}
	want := Call{Step: Commit, Method: "POST", Host: req.URL.Host, Path: "/bot***/send", Status: 418, RequestID: "A1b2", Began: noon}
	if len(calls) != 1 || calls[0] != want {
		t.Errorf("evidence %+v, want %+v", calls, want)
	}
	if Hide(nil, "x") != nil {
		t.Error("hiding in no trail makes one")
	}
}

func TestDoFollowsNoRedirectOfAWriteNorOfAConfiguredHost(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var hits atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			http.Redirect(w, r, "/elsewhere", status)
		}))
		defer srv.Close()
		for _, tt := range []struct {
			c      *Client
			method string
		}{{New(Options{}), "POST"}, {New(Options{}), "GET"}, {loopback(t), "POST"}, {loopback(t), "PUT"}, {loopback(t), "DELETE"}} {
			hits.Store(0)
			answer, err := tt.c.Do(t.Context(), nil, Commit, request(t, tt.method, srv.URL, "b"))
			if err != nil || answer.Status != status || hits.Load() != 1 {
				t.Errorf("%s %d: %v, %v after %d requests", tt.method, status, answer, err, hits.Load())
			}
		}
	}
}

func TestGuardedReadFollowsTwoRedirectsEachChecked(t *testing.T) {
	t.Parallel()
	var seen []http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.Header) }))
	defer other.Close()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for from, to := range map[string]string{
		"/a": "/b", "/b": "/c", "/c": "/d", "/other": other.URL + "/x", "/inside": "http://10.0.0.1/", "/metadata": "http://169.254.169.254/latest",
		"/user": strings.Replace(other.URL, "http://", "http://u:p@", 1), "/file": "file:///etc/passwd", "/self": "/end",
	} {
		mux.Handle(from, http.RedirectHandler(to, http.StatusFound))
	}
	mux.HandleFunc("/end", func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.Header) })
	do := func(path string) (*Answer, error) {
		req := get(t, srv.URL+path+"?token=hush")
		req.Header.Set("Authorization", "Bearer hush")
		req.Header.Set("X-Api-Key", "hush")
		return loopback(t).Do(t.Context(), nil, Find, req)
	}
	if a, err := do("/b"); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("two redirects: %v, %v", a, err)
	}
	if a, err := do("/a"); err != nil || a.Status != http.StatusFound {
		t.Errorf("three redirects: %v, %v; want the third back", a, err)
	}
	for _, path := range []string{"/inside", "/metadata", "/user", "/file"} {
		if a, err := do(path); a != nil || fault.Of(err) == nil || fault.Of(err).Code != "address_refused" {
			t.Errorf("%s: %v, %v; want address_refused", path, a, err)
		}
	}
	if _, err := do("/self"); err != nil || len(seen) != 1 || seen[0].Get("Authorization") == "" {
		t.Errorf("same origin: %v, headers %v; want the credential kept", err, seen)
	}
	if _, err := do("/other"); err != nil || len(seen) != 2 || strings.Contains(fmt.Sprint(seen[1]), "hush") {
		t.Errorf("other origin: %v, headers %v; want no credential", err, seen)
	}
}

func TestUploadStreamsWithItsLengthAndGetsTimeBySize(t *testing.T) {
	t.Parallel()
	var length int64
	var form map[string][]string
	var file, contentType string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		length = r.ContentLength // only the whole upload gets here
		form = r.MultipartForm.Value
		part := r.MultipartForm.File["file"][0]
		contentType = part.Header.Get("Content-Type")
		f, _ := part.Open()
		b, _ := io.ReadAll(f)
		file = part.Filename + ":" + string(b)
	}))
	defer srv.Close()
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("pixels")), nil }
	upload := func(size int64) (*Answer, error) {
		req, err := NewUpload(t.Context(), srv.URL, map[string]string{"description": "a \"b\"\r\nc", "focus": "0,0"},
			File{Field: "file", Name: "q\"\r\nx.png", Type: "image/png", Size: size, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		return New(Options{Timeout: 5 * time.Second}).Do(t.Context(), nil, Prepare, req)
	}
	answer, err := upload(6)
	if err != nil || answer.Status != 200 || length <= 6 || !strings.HasSuffix(file, ":pixels") || contentType != "image/png" || form["description"][0] != "a \"b\"\r\nc" {
		t.Errorf("%v, %v: length %d, file %q (%s), form %v", answer, err, length, file, contentType, form)
	}
	for _, wrong := range []int64{5, 7} {
		if answer, err := upload(wrong); err == nil && answer.OK() {
			t.Errorf("a file of 6 bytes announced as %d went through", wrong)
		}
	}
	if _, err := NewUpload(t.Context(), srv.URL, nil, File{Open: open}, File{Open: func(context.Context) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }}); err == nil {
		t.Error("a file that cannot be opened is no reason to send the other")
	}
	if d := allowance(&http.Request{Body: http.NoBody, ContentLength: 100 << 20}); d < 2*time.Minute || d > 10*time.Minute {
		t.Errorf("100 MB are given %v", d)
	}
}
