package signin

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
)

var cheap = secret.Cost{Time: 1, Memory: 64, Threads: 1}

const password = "correct horse battery"

// rig is the sign-in pages over a world, and a browser.
type rig struct {
	*dbtest.World
	web http.Handler
	at  string // the browser's network address
	jar map[string]string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	w := dbtest.New(t)
	edge := &web.Edge{Store: w.Store, Log: slog.New(slog.DiscardHandler), Now: w.Clock.Now, Sessions: &web.Sessions{Store: w.Store, Now: w.Clock.Now}}
	mux := http.NewServeMux()
	Register(web.Intake{Mux: mux, Edge: edge, Bodies: map[string]web.Body{"POST /signin": FormBytes}}, edge, w.Ring, cheap)
	mux.Handle("GET /w/{slug}/calendar", edge.Signed(model.PostsView, func(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
		_, err := fmt.Fprint(w, "calendar of ", scope.Workspace.Slug)
		return err
	}))
	return &rig{World: w, web: http.NewCrossOriginProtection().Handler(mux), at: "192.0.2.1:4000", jar: map[string]string{}}
}

// person makes somebody with a password in the workspaces.
func (r *rig) person(t *testing.T, email string, cost secret.Cost, workspaces ...string) model.UserID {
	t.Helper()
	hash, err := secret.HashPassword(t.Context(), password, cost)
	if err != nil {
		t.Fatal(err)
	}
	id := dbtest.Look[model.UserID](t, r.World, db.MainShard, `INSERT INTO control.users (email, name, password_hash) VALUES ($1, 'Anna', $2) RETURNING id`, email, hash)
	for _, slug := range workspaces {
		a := r.Agency(t, slug, db.MainShard)
		r.Super(t, db.MainShard, `INSERT INTO control.memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')`, a.ID, id)
	}
	return id
}

func (r *rig) do(t *testing.T, method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
	req.RemoteAddr = r.at
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	for name, value := range r.jar {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	got := httptest.NewRecorder()
	r.web.ServeHTTP(got, req)
	for _, c := range got.Result().Cookies() {
		if r.jar[c.Name] = c.Value; c.MaxAge < 0 {
			delete(r.jar, c.Name)
		}
	}
	return got
}

func (r *rig) try(t *testing.T, email, word string) *httptest.ResponseRecorder {
	t.Helper()
	return r.do(t, "POST", "/signin", url.Values{"email": {email}, "password": {word}})
}

func (r *rig) want(t *testing.T, got *httptest.ResponseRecorder, status int, says string) {
	t.Helper()
	if got.Code != status || !strings.Contains(got.Body.String()+got.Header().Get("Location"), says) {
		t.Fatalf("got %d to %q, want %d saying %q\n%s", got.Code, got.Header().Get("Location"), status, says, got.Body)
	}
}

func TestSigningInLeadsToTheCalendarAndOutAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "bay", "nord")
	r.want(t, r.do(t, "GET", "/w/bay/calendar", nil), 303, "/signin?next=%2Fw%2Fbay%2Fcalendar")
	r.want(t, r.do(t, "GET", "/signin?next=/w/bay/calendar", nil), 200, `name="next" value="/w/bay/calendar"`)
	r.want(t, r.try(t, "  Anna@NORD.example ", password), 303, "/w/bay/calendar")
	r.want(t, r.do(t, "GET", "/w/bay/calendar", nil), 200, "calendar of bay")
	r.want(t, r.do(t, "GET", "/signin", nil), 303, "/w/bay/calendar")
	r.want(t, r.do(t, "POST", "/signout", url.Values{}, "Referer", "http://example.com/w/nord/posts/7"), 303, "/signin")
	r.want(t, r.do(t, "GET", "/w/bay/calendar", nil), 303, "/signin")
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord/calendar")
}

func TestAWrongPasswordAndAnUnknownAddressLookTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	r.Super(t, db.MainShard, `INSERT INTO control.users (email, name) VALUES ('none@nord.example', 'No Password')`)
	wrong := r.try(t, "anna@nord.example", "not this one").Body.String()
	for _, email := range []string{"who@nord.example", "none@nord.example", "", "a\x00b", "\xff\xfe", strings.Repeat("a", 5000)} {
		got := r.try(t, email, password)
		r.want(t, got, 422, sayWrong)
		if email == "who@nord.example" && got.Body.String() != strings.ReplaceAll(wrong, "anna@", "who@") {
			t.Error("the two answers differ")
		}
	}
	if strings.Contains(wrong, "not this one") {
		t.Error("the page repeats the password")
	}
}

// What argon2id costs is the memory it fills, so that is counted, alone: time
// would say more of the machine than of the code.
func TestAnUnknownAddressCostsAsMuchAsAKnownOne(t *testing.T) {
	r := newRig(t)
	dear := secret.Cost{Time: 1, Memory: 32 << 10, Threads: 1}
	r.person(t, "anna@nord.example", dear, "nord")
	d := &door{Edge: &web.Edge{Store: r.Store}, cost: dear}
	filled := func(email string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, ok, err := d.check(t.Context(), email, "wrong password"); ok || err != nil {
			t.Fatalf("%s: %v, %v", email, ok, err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	known, unknown := filled("anna@nord.example"), filled("who@nord.example")
	if known < 32<<20 || unknown < known*9/10 {
		t.Errorf("an unknown address fills %d bytes, a known one %d; want 32 MiB each", unknown, known)
	}
}

func TestTooManyTriesAreRefusedEvenWithTheRightPassword(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	for range perPair.Burst {
		r.want(t, r.try(t, "anna@nord.example", "wrong"), 422, sayWrong)
	}
	got := r.try(t, "anna@nord.example", password)
	r.want(t, got, 429, "Too many tries. Try again in 2 minutes.")
	if got.Header().Get("Retry-After") != "120" {
		t.Errorf("Retry-After is %q", got.Header().Get("Retry-After"))
	}
	r.Clock.Advance(100 * time.Second)
	r.want(t, r.try(t, "anna@nord.example", password), 429, "Try again in 20 seconds.")
	r.Clock.Advance(20 * time.Second)
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord/calendar")
	for range perPair.Burst { // a right one empties the bucket
		r.want(t, r.try(t, "anna@nord.example", "wrong"), 422, sayWrong)
	}
}

func TestOneClientCannotTryManyAddresses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	r.at = "[2001:db8:1:2::1]:4000"
	for i := range perClient.Burst {
		r.want(t, r.try(t, fmt.Sprintf("p%d@nord.example", i), password), 422, sayWrong)
	}
	r.at = "[2001:db8:1:2:ffff::9]:5000" // the same customer's network
	r.want(t, r.do(t, "POST", "/signin", url.Values{"email": {"anna@nord.example"}, "password": {password}}, "X-Forwarded-For", "203.0.113.7"), 429, "Try again in 15 seconds.")
	r.at = "[2001:db8:1:3::1]:4000"
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord/calendar")
}

func TestVisitorsOfATrustedProxyAreToldApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	r.web = web.Behind([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, r.web)
	r.at = "10.0.0.1:4000"
	from := func(who, email string) *httptest.ResponseRecorder {
		return r.do(t, "POST", "/signin", url.Values{"email": {email}, "password": {password}}, "X-Forwarded-For", who)
	}
	for i := range perClient.Burst { // writing another name each time does not help
		r.want(t, from(fmt.Sprintf("198.51.100.%d, 203.0.113.7", i), fmt.Sprintf("p%d@nord.example", i)), 422, sayWrong)
	}
	r.want(t, from("198.51.100.99, 203.0.113.7", "anna@nord.example"), 429, "Try again in 15 seconds.")
	r.want(t, from("203.0.113.8", "anna@nord.example"), 303, "/w/nord/calendar")
}

// TestNobodyIsShutOutByTriesFromElsewhere has outsiders guess at Anna's password
// from one address, and then from many.
func TestNobodyIsShutOutByTriesFromElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	home := "198.51.100.7:4000"
	browser := func(jar map[string]string, at string) { r.jar, r.at = jar, at }
	from := func(n int) string { return fmt.Sprintf("192.0.2.%d:4000", n) }
	for range 3 * perPerson.Burst { // one address alone, for an hour and a half
		browser(map[string]string{}, from(1))
		if got := r.try(t, "anna@nord.example", "wrong"); got.Code == 303 {
			t.Fatal("a wrong password opens")
		}
		r.Clock.Advance(time.Minute)
	}
	browser(map[string]string{}, home)
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	known := map[string]string{deviceCookie: r.jar[deviceCookie]}
	tried := 0
	for n := 2; n < 60; n++ { // many addresses together are slowed down
		browser(map[string]string{}, from(n))
		for range perPair.Burst {
			if r.try(t, "anna@nord.example", "wrong").Code == 422 {
				tried++
			}
		}
	}
	if tried > perPerson.Burst {
		t.Errorf("%d guesses at once from many addresses", tried)
	}
	browser(map[string]string{}, "203.0.113.1:4000")
	r.want(t, r.try(t, "anna@nord.example", password), 429, "Too many tries")
	browser(known, "203.0.113.1:4000") // and who signed in with this browser before gets in from anywhere
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
}

// TestACookieOfADeviceIsGoodForItsPersonAndSlowly tries what a stolen one is worth.
func TestACookieOfADeviceIsGoodForItsPersonAndSlowly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	stolen := r.jar[deviceCookie]
	for i := range perPair.Burst {
		r.jar, r.at = map[string]string{deviceCookie: stolen}, fmt.Sprintf("192.0.2.%d:4000", 100+i)
		r.want(t, r.try(t, "anna@nord.example", "wrong"), 422, sayWrong)
	}
	r.want(t, r.try(t, "anna@nord.example", "wrong"), 429, "Too many tries")
	d := &door{Edge: &web.Edge{Now: r.Clock.Now}, ring: r.Ring}
	for value, email := range map[string]string{stolen: "bert@nord.example", stolen + "A": "anna@nord.example", "": "anna@nord.example"} {
		req := httptest.NewRequest("POST", "/signin", nil)
		req.AddCookie(&http.Cookie{Name: deviceCookie, Value: value})
		if _, known := d.device(req, email); known {
			t.Errorf("%q is taken for a device of %s", value, email)
		}
	}
}

func TestTriesAtOnceDoNotGetPastTheBucket(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := db.Bucket{Kind: "test", Burst: 5, Drip: time.Minute}
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 20 {
		wg.Go(func() {
			wait, err := r.Store.Take(t.Context(), b, "x")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if wait == 0 {
				taken++
			}
		})
	}
	wg.Wait()
	if taken != b.Burst {
		t.Errorf("%d of 20 got in", taken)
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.throttles WHERE position('x'::bytea IN who) > 0 AND length(who) < 32`); n != 0 {
		t.Error("the bucket keeps who it is about in the open")
	}
}

func TestSigningInRotatesTheSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user := r.person(t, "anna@nord.example", cheap, "nord")
	// A session that somebody planted before.
	hash := secret.HashToken("planted")
	if err := r.Store.AddSession(t.Context(), db.Session{Hash: hash, Data: []byte{}, Expires: r.Clock.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	r.jar["herald_session"] = "planted"
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	first := r.jar["herald_session"]
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	if second := r.jar["herald_session"]; first == "planted" || second == first || second == "" {
		t.Errorf("sessions %q, then %q", first, second)
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.sessions WHERE user_id = $1`, user); n != 1 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestTheCookieIsKeptFromScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	for _, c := range r.try(t, "anna@nord.example", password).Result().Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != map[string]string{deviceCookie: "/signin"}[c.Name] && c.Path != "/" {
			t.Errorf("cookie %+v", c)
		}
	}
	r.want(t, r.do(t, "POST", "/signin", url.Values{"email": {"anna@nord.example"}, "password": {password}}, "Sec-Fetch-Site", "cross-site"), 403, "")
}

func TestNobodyIsSentToAnotherSite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	for _, next := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "\\\\evil.example", "/\t/evil.example", "javascript:alert(1)", "evil", "/signin", "/signout", "/"} {
		got := r.do(t, "POST", "/signin", url.Values{"email": {"anna@nord.example"}, "password": {password}, "next": {next}})
		r.want(t, got, 303, "/w/nord/calendar")
		r.want(t, r.do(t, "GET", "/signin?next="+url.QueryEscape(next), nil), 303, "/w/nord/calendar")
		r.jar = map[string]string{}
		if page := r.do(t, "GET", "/signin?next="+url.QueryEscape(next), nil).Body.String(); strings.Contains(page, "evil") {
			t.Errorf("the form takes %q over", next)
		}
	}
	r.want(t, r.do(t, "POST", "/signin", url.Values{"email": {"anna@nord.example"}, "password": {password}, "next": {"/w/nord/posts/7?tab=x"}}), 303, "/w/nord/posts/7?tab=x")
}

func TestWhoIsInNoWorkspaceIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user := r.person(t, "anna@nord.example", cheap)
	r.want(t, r.try(t, "anna@nord.example", password), 403, sayNobody)
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.sessions WHERE user_id = $1`, user); n != 0 {
		t.Error("a session was made all the same")
	}
	r.person(t, "ben@nord.example", cheap, "nord")
	r.want(t, r.try(t, "ben@nord.example", password), 303, "/w/nord")
	r.Super(t, db.MainShard, `DELETE FROM control.memberships`)
	r.want(t, r.do(t, "GET", "/signin", nil), 403, sayNobody)
}

func TestADisabledPersonIsOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", cheap, "nord")
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	r.Super(t, db.MainShard, `UPDATE control.users SET disabled_at = now()`)
	r.want(t, r.do(t, "GET", "/w/nord/calendar", nil), 303, "/signin")
	r.want(t, r.try(t, "anna@nord.example", password), 422, sayWrong)
}

func TestAnOldHashIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.person(t, "anna@nord.example", secret.Cost{Time: 2, Memory: 64, Threads: 1}, "nord")
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
	if hash := dbtest.Look[string](t, r.World, db.MainShard, `SELECT password_hash FROM control.users WHERE email = 'anna@nord.example'`); !strings.Contains(hash, "m=64,t=1,p=1") {
		t.Errorf("the hash is still %s", hash)
	}
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/w/nord")
}

func TestAFormThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.want(t, r.try(t, "anna@nord.example", strings.Repeat("x", int(FormBytes))), 413, "more than this form may hold, which is 1 MB")
	r.want(t, r.try(t, "anna@nord.example", strings.Repeat("x", 2000)), 422, sayWrong)
}
