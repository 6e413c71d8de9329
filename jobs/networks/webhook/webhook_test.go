package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// receiver is a receiver that does what the documentation asks of one.
type receiver struct {
	mu     sync.Mutex
	secret string
	seen   map[string]int // deliveries by id
	heads  []http.Header
	bodies []string
	answer http.HandlerFunc // instead of 200
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.heads, r.bodies = append(r.heads, req.Header.Clone()), append(r.bodies, string(raw))
	answer := r.answer
	ok := r.verify(req.Header, raw)
	if ok {
		r.seen[req.Header.Get("X-Delivery-Id")]++
	}
	r.mu.Unlock()
	switch {
	case !ok:
		w.WriteHeader(http.StatusUnauthorized)
	case answer != nil:
		answer(w, req)
	}
}

func (r *receiver) verify(h http.Header, raw []byte) bool {
	sent, err := strconv.ParseInt(h.Get("X-Timestamp"), 10, 64)
	if err != nil || math.Abs(float64(noon.Unix()-sent)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(r.secret))
	fmt.Fprintf(mac, "%d.%s", sent, raw)
	for part := range strings.SplitSeq(h.Get("X-Signature-256"), ",") {
		got, err := hex.DecodeString(strings.TrimPrefix(part, "sha256="))
		if err == nil && hmac.Equal(got, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

func setUp(t *testing.T) (*receiver, *Adapter, networks.Job) {
	t.Helper()
	r := &receiver{secret: "s3cret", seen: map[string]int{}}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	now := func() time.Time { return noon }
	a := New(networks.Env{Now: now,
		Guarded: httpx.NewGuarded(httpx.Options{Timeout: 5 * time.Second, Now: now}, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})})
	return r, a, networks.Job{Key: "job-1", Attempt: 1,
		Account: networks.Account{Network: network.Webhook, Handle: "@bakery", Address: srv.URL + "/hooks/catch/abc?key=hush", Token: secret.NewToken("s3cret")},
		Post:    networks.Post{Format: network.FormatText, Text: "Fresh bread"}}
}

func deliver(t *testing.T, a *Adapter, job networks.Job) (networks.Receipt, error) {
	t.Helper()
	ready, err := a.Prepare(t.Context(), job, nil)
	if err != nil {
		return networks.Receipt{}, err
	}
	return a.Commit(t.Context(), ready)
}

func TestTheSignatureIsThatOfTheVector(t *testing.T) {
	t.Parallel()
	got := sign(secret.NewToken("secret"), "1700000000", []byte(`{"a":1}`))
	if want := "sha256=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestADeliveryHasTheDocumentedBodyAndHeaders(t *testing.T) {
	t.Parallel()
	r, a, job := setUp(t)
	job.Post = networks.Post{Format: network.FormatImages, Text: "Bread & <b>butter</b>\nToday", Link: "https://bakery.example/?a=1&b=2", FirstComment: "More inside",
		Options: map[string]string{network.OptTitle: "Fresh"},
		Media: []networks.Media{
			{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 6, Width: 800, Height: 600, Alt: "A loaf"}, Name: "bread.png", URL: "https://herald.example/m/1?s=x&e=y"},
			{Media: network.Media{Kind: network.Video, Type: "video/mp4", Duration: 12500 * time.Millisecond}, URL: "https://herald.example/m/2"},
		}}
	receipt, err := deliver(t, a, job)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/delivery.json")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.bodies[0], strings.TrimSpace(strings.Replace(string(want), "DELIVERY", receipt.ExternalID, 1)); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	h := r.heads[0]
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Event": "post.publish", "X-Attempt": "1", "X-Timestamp": "1777636800", "X-Delivery-Id": receipt.ExternalID} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(receipt.ExternalID, job.Key) || len(receipt.ExternalID) != 32 {
		t.Errorf("delivery id %q", receipt.ExternalID)
	}
}

func TestAllAttemptsOfAPostHaveOneDeliveryID(t *testing.T) {
	t.Parallel()
	r, a, job := setUp(t)
	r.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	_, err := deliver(t, a, job)
	if f := fault.Of(err); f == nil || f.Kind != fault.Unknown {
		t.Fatalf("got %v, want Unknown", err)
	}
	finding, err := a.Find(t.Context(), job, nil, networks.Window{})
	if err != nil || finding.Verdict != networks.Absent || !strings.Contains(finding.Say, "recognises a repeated delivery") {
		t.Fatalf("finding %+v, %v", finding, err)
	}
	r.answer = nil
	job.Attempt = 2
	receipt, err := deliver(t, a, job)
	if err != nil || r.seen[receipt.ExternalID] != 2 || len(r.seen) != 1 || r.heads[1].Get("X-Attempt") != "2" {
		t.Errorf("%v; deliveries by id: %v", err, r.seen)
	}
	job.Key = "job-2"
	if _, err := deliver(t, a, job); err != nil || len(r.seen) != 2 {
		t.Errorf("%v; two posts share an id: %v", err, r.seen)
	}
}

func TestBothSecretsSignWhileTheyAreExchanged(t *testing.T) {
	t.Parallel()
	r, a, job := setUp(t)
	job.Account.Token, job.Account.Refresh = secret.NewToken("new"), secret.NewToken("old")
	for _, known := range []string{"new", "old"} {
		r.secret = known
		if _, err := deliver(t, a, job); err != nil {
			t.Errorf("a receiver that knows the %s secret: %v", known, err)
		}
	}
	r.secret = "other"
	_, err := deliver(t, a, job)
	if f := fault.Of(err); f == nil || f.Kind != fault.Auth || f.Code != "signature" {
		t.Errorf("a receiver that knows neither: %v", err)
	}
}

func TestEachAnswerHasItsClass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		retry  string
		kind   fault.Kind // empty for success
		code   string
		wait   time.Duration
	}{
		{200, "", "", "", 0}, {201, "", "", "", 0}, {202, "", "", "", 0}, {204, "", "", "", 0}, {299, "", "", "", 0},
		{301, "", fault.Validation, "redirect", 0}, {302, "", fault.Validation, "redirect", 0}, {307, "", fault.Validation, "redirect", 0}, {308, "", fault.Validation, "redirect", 0},
		{400, "", fault.Validation, "http_400", 0}, {401, "", fault.Auth, "signature", 0}, {403, "", fault.Permission, "forbidden", 0}, {404, "", fault.Permission, "not_found", 0},
		{405, "", fault.Permission, "not_found", 0}, {410, "", fault.Permission, "gone", 0}, {413, "", fault.Validation, "too_large", 0}, {422, "", fault.Validation, "http_422", 0},
		{408, "", fault.Unknown, "http_408", 0},
		{429, "", fault.RateLimited, "http_429", 0}, {429, "90", fault.RateLimited, "http_429", 90 * time.Second}, {429, "Fri, 01 May 2026 12:10:00 GMT", fault.RateLimited, "http_429", 10 * time.Minute},
		{429, "999999999", fault.RateLimited, "http_429", 24 * time.Hour},
		{503, "60", fault.RateLimited, "http_503", time.Minute}, {503, "Fri, 01 May 2026 12:10:00 GMT", fault.RateLimited, "http_503", 10 * time.Minute},
		{503, "", fault.Unknown, "http_503", 0}, {500, "", fault.Unknown, "http_500", 0}, {500, "60", fault.Unknown, "http_500", 0}, {502, "", fault.Unknown, "http_502", 0}, {504, "", fault.Unknown, "http_504", 0},
	} {
		t.Run(fmt.Sprint(tt.status, tt.retry), func(t *testing.T) {
			t.Parallel()
			r, a, job := setUp(t)
			r.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				if tt.retry != "" {
					w.Header().Set("Retry-After", tt.retry)
				}
				w.WriteHeader(tt.status)
				if tt.status != 204 {
					_, _ = io.WriteString(w, `{"error":"inner words of the receiver"}`)
				}
			}
			_, err := deliver(t, a, job)
			if len(r.heads) != 1 {
				t.Errorf("%d requests, want 1", len(r.heads))
			}
			if tt.kind == "" {
				if err != nil {
					t.Errorf("got %v, want success", err)
				}
				return
			}
			f := fault.Of(err)
			if f == nil || f.Kind != tt.kind || f.Code != tt.code || f.Wait != tt.wait || f.Status != tt.status {
				t.Fatalf("got %+v, want %s (%s) wait %v", f, tt.kind, tt.code, tt.wait)
			}
			if !strings.HasSuffix(f.Say, ".") || strings.Contains(fmt.Sprint(f.Say, err), "inner words") {
				t.Errorf("says %q", f.Say)
			}
		})
	}
}

func TestAnAcceptedDeliveryCountsEvenIfTheAnswerBreaksOff(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"huge": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")
			conn.Close()
		},
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>ok</html>") },
	} {
		r, a, job := setUp(t)
		r.answer = answer
		if receipt, err := deliver(t, a, job); err != nil || receipt.ExternalID == "" || receipt.Permalink != "" {
			t.Errorf("%s: %+v, %v", name, receipt, err)
		}
	}
}

func TestALostAnswerIsUnknownAndAnUnreachableReceiverIsTransient(t *testing.T) {
	t.Parallel()
	r, a, job := setUp(t)
	r.answer = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	_, err := deliver(t, a, job)
	if f := fault.Of(err); f == nil || f.Kind != fault.Unknown {
		t.Errorf("closed without an answer: %v", err)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	job.Account.Address = closed.URL
	_, err = deliver(t, a, job)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
		t.Errorf("connection refused: %v", err)
	}
}

func TestOnlyAnOrdinaryHTTPSAddressBecomesThePermalink(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"url":"https://bakery.example/p/1?a=b"}`:                      "https://bakery.example/p/1?a=b",
		`{"url":"http://bakery.example/p/1"}`:                           "",
		`{"url":"javascript:alert(1)"}`:                                 "",
		`{"url":"https://u:p@bakery.example/"}`:                         "",
		`{"url":"https:///p"}`:                                          "",
		`{"url":7}`:                                                     "",
		`{"url":"https://x.example/` + strings.Repeat("a", 3000) + `"}`: "",
		`[]`: "", `nonsense`: "", ``: "",
	} {
		if got := permalink([]byte(body)); got != want {
			t.Errorf("%.60s: %q, want %q", body, got, want)
		}
	}
}

func FuzzPermalinkIsAnHTTPSAddressOrNothing(f *testing.F) {
	f.Add([]byte(`{"url":"https://bakery.example/p/1"}`))
	f.Add([]byte(`{"url":"https://a\nb/"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := permalink(raw); got != "" && (!strings.HasPrefix(got, "https://") || strings.ContainsAny(got, " \n\"<>")) {
			t.Errorf("%q gives %q", raw, got)
		}
	})
}

func TestAddressesInsideAreRefusedAndNeverTriedAgain(t *testing.T) {
	t.Parallel()
	_, a, job := setUp(t)
	for _, address := range []string{"https://10.0.0.1/hook", "http://169.254.169.254/latest/meta-data/", "https://[::1]/", "http://8.8.8.8/", "ftp://bakery.example/", "", "https://u:p@bakery.example/"} {
		job.Account.Address = address
		_, err := deliver(t, a, job)
		if f := fault.Of(err); f == nil || f.Kind != fault.Validation || strings.Contains(f.Say, "10.0") {
			t.Errorf("%q: got %v, want Validation", address, err)
		}
	}
}

func TestPrepareRefusesWhatCannotBeDeliveredWhole(t *testing.T) {
	t.Parallel()
	_, a, job := setUp(t)
	bare := job
	bare.Account.Token = secret.Token{}
	if f := fault.Of(second(a.Prepare(t.Context(), bare, nil))); f == nil || f.Kind != fault.Auth {
		t.Errorf("without a secret: %v", f)
	}
	job.Post.Media = []networks.Media{{Media: network.Media{Kind: network.Image}}}
	if f := fault.Of(second(a.Prepare(t.Context(), job, nil))); f == nil || f.Kind != fault.Validation {
		t.Errorf("without an address of the picture: %v", f)
	}
}

func second(_ networks.Ready, err error) error { return err }

// trail keeps calls for a test.
type trail []httpx.Call

func (l *trail) Add(c httpx.Call) { *l = append(*l, c) }

func TestTheEvidenceDoesNotHoldThePathOfTheAddress(t *testing.T) {
	t.Parallel()
	_, a, job := setUp(t)
	var calls trail
	job.Trail = &calls
	if _, err := deliver(t, a, job); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", calls); len(calls) != 1 || calls[0].Path != "***" || strings.Contains(text, "abc") || strings.Contains(text, "hush") {
		t.Errorf("evidence %s", text)
	}
}

func TestTheConfiguredBaseStandsForEveryHost(t *testing.T) {
	t.Parallel()
	a := New(networks.Env{Base: "http://127.0.0.1:9700/webhook/"})
	for address, want := range map[string]string{
		"https://hooks.example/acct?x=1":       "http://127.0.0.1:9700/webhook/acct?x=1",
		"http://127.0.0.1:9700/webhook/acct":   "http://127.0.0.1:9700/webhook/acct",
		" https://hooks.example":               "http://127.0.0.1:9700/webhook/",
		"http://127.0.0.1:9700/webhook-b/acct": "http://127.0.0.1:9700/webhook/webhook-b/acct",
	} {
		if got := a.address(networks.Account{Address: address}); got != want {
			t.Errorf("%q goes to %q, want %q", address, got, want)
		}
	}
	if got := New(networks.Env{}).address(networks.Account{Address: "https://hooks.example/a"}); got != "https://hooks.example/a" {
		t.Errorf("without a base: %q", got)
	}
}
