package demo

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/cmd/internal/embedded"
	"herald/db/model"
	"herald/jobs/darkroom"
)

func TestMain(m *testing.M) {
	darkroom.Serve()
	os.Exit(m.Run())
}

// visitor is a browser without a screen.
type visitor struct {
	t      *testing.T
	client *http.Client
}

func newVisitor(t *testing.T) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, &http.Client{Jar: jar, Timeout: time.Minute}}
}

// get reads a page, and insists on it.
func (v *visitor) get(address string) string {
	v.t.Helper()
	return v.read(v.client.Get(address))
}

func (v *visitor) post(address string, form url.Values) string {
	v.t.Helper()
	return v.read(v.client.PostForm(address, form))
}

func (v *visitor) read(res *http.Response, err error) string {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d %v\n%.600s", res.Request.URL.Path, res.StatusCode, err, body)
	}
	return string(body)
}

func start(t *testing.T, o Options) *Demo {
	t.Helper()
	d, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// column reads one column of the demo's database, past all walls.
func column(t *testing.T, d *Demo, sql string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.config.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestTheDemoIsWholeAndThereAgain is the README's first command without the
// compiler: an agency with a month of work, sign-in, an approval from a mailed
// link, and all of it after a restart.
func TestTheDemoIsWholeAndThereAgain(t *testing.T) {
	t.Parallel()
	o := Options{Addr: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "demo"), Environ: []string{"HERALD_LOG=json"}}
	d := start(t, o)
	if !d.New {
		t.Error("a first start found data")
	}
	everyState(t, d)
	signedIn(t, d)
	approve(t, d)
	secondDemo(t, o)
	posts, mails := len(d.sim.Posts("", "")), len(d.box.Mails())
	link := newestLink(t, d, "ruth@hemlock.example")
	d.Stop()

	again := start(t, o)
	if again.New {
		t.Error("the second start made new data")
	}
	if n := len(again.sim.Posts("", "")); n < posts {
		t.Errorf("the networks show %d posts, and showed %d", n, posts)
	}
	if n := len(again.box.Mails()); n < mails {
		t.Errorf("the mailbox has %d mails, and had %d", n, mails)
	}
	signedIn(t, again)
	if page := newVisitor(t).get(again.URL + link); !strings.Contains(page, "Hemlock Cabins") {
		t.Errorf("the review page of before:\n%.600s", page)
	}
	permalinks(t, again)
}

// everyState: whatever a target or a post can rest in is in the demo.
func everyState(t *testing.T, d *Demo) {
	t.Helper()
	targets := column(t, d, `SELECT DISTINCT state FROM tenant.targets`)
	for _, s := range model.States() {
		if !slices.Contains(targets, string(s)) && s != model.Queued && s != model.Publishing {
			t.Errorf("no target is %s", s)
		}
	}
	posts := column(t, d, `SELECT DISTINCT state FROM tenant.posts`)
	for _, s := range []model.PostState{model.PostDraft, model.PostInvalid, model.PostInReview, model.PostChangesRequested, model.PostApproved,
		model.PostScheduled, model.PostPublishing, model.PostPublished, model.PostPartiallyFailed, model.PostFailed, model.PostCancelled} {
		if !slices.Contains(posts, string(s)) {
			t.Errorf("no post is %s", s)
		}
	}
	reasons := column(t, d, `SELECT DISTINCT reason FROM tenant.targets`)
	for _, why := range []string{"missing_permission", "refused_by_network", "attempts_used_up", "needs_reconnect", "manual_check_required",
		"asking_the_network", "rate_limited", "account_paused", "found_by_look_up"} {
		if !slices.Contains(reasons, why) {
			t.Errorf("no target has the reason %s", why)
		}
	}
	if n := column(t, d, `SELECT count(*)::text FROM tenant.posts`)[0]; n != "80" {
		t.Errorf("%s posts", n)
	}
	if late := column(t, d, `SELECT id::text FROM tenant.targets WHERE published_at > due_at + interval '10 minutes' AND reason <> 'found_by_hand' AND attempts_used < 2`); len(late) > 0 {
		t.Errorf("published late: targets %v", late)
	}
}

func signedIn(t *testing.T, d *Demo) {
	t.Helper()
	for _, p := range people() {
		v := newVisitor(t)
		page := v.post(d.URL+"/signin", url.Values{"email": {p.email}, "password": {password}})
		if !strings.Contains(page, "Tidewater Studio") {
			t.Fatalf("%s sees\n%.600s", p.name, page)
		}
		if page = v.get(d.URL + "/w/" + workspace + "/calendar"); !strings.Contains(page, "Kornblume") {
			t.Errorf("the calendar of %s:\n%.600s", p.name, page)
		}
	}
}

// newestLink is the path of the newest review link that somebody was mailed.
func newestLink(t *testing.T, d *Demo, to string) string {
	t.Helper()
	for _, m := range d.box.Mails() {
		if found := reviewLink.FindString(m.Text); found != "" && slices.Contains(m.Recipients, to) {
			return found
		}
	}
	t.Fatalf("%s got no review link", to)
	return ""
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`)

// approve says yes to the first post of the newest mail to the bakery, as its
// approver would.
func approve(t *testing.T, d *Demo) {
	t.Helper()
	v := newVisitor(t)
	link := newestLink(t, d, "hanna@kornblume.example")
	_, rest, ok := strings.Cut(v.get(d.URL+link), link+`/decisions"`)
	form, _, end := strings.Cut(rest, "</form>")
	if !ok || !end {
		t.Fatal("the review page asks nothing")
	}
	fields := url.Values{"verdict": {"approve"}}
	for _, m := range hidden.FindAllStringSubmatch(form, -1) {
		fields.Set(m[1], m[2])
	}
	before := column(t, d, `SELECT count(*)::text FROM tenant.decisions`)
	if page := v.post(d.URL+link+"/decisions", fields); !strings.Contains(page, "Kornblume") {
		t.Errorf("the answer:\n%.600s", page)
	}
	if after := column(t, d, `SELECT count(*)::text FROM tenant.decisions`); slices.Equal(before, after) {
		t.Error("no decision was recorded")
	}
}

// secondDemo is refused the folder of the first.
func secondDemo(t *testing.T, o Options) {
	t.Helper()
	if d, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another demo runs with the data in") {
		if err == nil {
			d.Stop()
		}
		t.Errorf("a second demo on the folder: %v", err)
	}
}

// permalinks lead to pages of the simulated networks, those of before too.
func permalinks(t *testing.T, d *Demo) {
	t.Helper()
	list := column(t, d, `SELECT DISTINCT ON (network) permalink FROM tenant.targets WHERE state = 'published' AND permalink <> '' ORDER BY network, published_at`)
	if len(list) < 3 {
		t.Errorf("permalinks: %v", list)
	}
	for _, link := range list {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		newVisitor(t).get(d.Networks + u.Path)
	}
}

func TestADatabaseThatWasNotFilledToTheEndIsMadeAnew(t *testing.T) {
	t.Parallel()
	pg, err := embedded.Postgres(t.Context(), filepath.Join(t.TempDir(), "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pg.Stop)
	base := database{pg, pg.URL(embedded.Superuser, databaseName)}
	full := func() bool {
		is, err := base.full(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	leave := func() {
		conn, err := pgx.Connect(t.Context(), base.hurried())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), "CREATE TABLE left_behind ()"); err != nil {
			t.Fatal(err)
		}
	}
	if full() {
		t.Error("an empty server holds a demo")
	}
	leave()
	if full() {
		t.Error("a half-filled database counts as whole")
	}
	leave() // it is gone, so it can be made
	if err := base.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !full() {
		t.Error("a settled database does not count as whole")
	}
}

func TestADemoTakesNoPortThatIsTaken(t *testing.T) {
	t.Parallel()
	l, err := listenWeb(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Start(t.Context(), Options{Addr: l.Addr().String(), Data: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "something else listens on "+l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func TestADemoRefusesSettingsThatHeraldDoesNotHave(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{Addr: "127.0.0.1:0", Data: t.TempDir(), Environ: []string{"HERALD_ADDRR=x"}})
	if err == nil || !strings.Contains(err.Error(), "HERALD_ADDR") {
		t.Errorf("got %v", err)
	}
}

func TestFreshEmptiesADemosFolderAndNoOther(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	precious := filepath.Join(other, "media")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := openFolder(other, true); err == nil {
		f.close()
		t.Error("a folder with a stranger's files was taken")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}

	ours := t.TempDir()
	f, err := openFolder(ours, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ring(); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(ours, "notes.txt")
	if err := os.WriteFile(beside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.close()
	f, err = openFolder(ours, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if _, err := os.Stat(f.file(keysFile)); err == nil {
		t.Error("the old keys are still there")
	}
	if _, err := os.Stat(beside); err != nil {
		t.Errorf("a file that is not the demo's: %v", err)
	}
}

func TestTheKeysStayAndAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	f, err := openFolder(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	first, err := f.ring()
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.ring()
	if err != nil || first.Derive("x") != second.Derive("x") {
		t.Errorf("another ring, %v", err)
	}
	if info, err := os.Stat(f.file(keysFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestThePostsReadWellWheneverTheDemoIsMade holds times and texts to what the
// networks and the clock allow, at awkward hours and on the days of clock changes.
func TestThePostsReadWellWheneverTheDemoIsMade(t *testing.T) {
	t.Parallel()
	drafts, err := readDrafts()
	if err != nil {
		t.Fatal(err)
	}
	zones := map[string]string{"kornblume": "Europe/Berlin", "mare": "Europe/Lisbon", "hemlock": "America/New_York"}
	for _, now := range []string{"2026-03-10T12:00:00Z", "2026-03-29T00:30:00Z", "2026-10-25T23:59:59Z", "2026-11-01T05:30:00Z", "2027-01-01T00:00:01Z", "2028-02-29T09:00:00Z"} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAgency(at); err != nil {
			t.Errorf("%s: %v", now, err)
		}
		for _, d := range drafts {
			when, err := d.when(at, zones[d.Client])
			if err != nil {
				t.Fatalf("%s: %v", now, err)
			}
			if text := words(d.Text+d.Revised, when); strings.ContainsAny(text, "{}") {
				t.Errorf("%s: %s", now, text)
			}
			if ahead := when.At.After(at); !when.At.IsZero() && ahead != strings.HasPrefix(d.Due, "+") {
				t.Errorf("%s: a post due %q is planned for %s", now, d.Due, when.At)
			}
		}
	}
}
