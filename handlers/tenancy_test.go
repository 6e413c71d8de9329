package handlers_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers"
	"herald/handlers/connect"
	"herald/handlers/desk"
	"herald/handlers/web"
)

// grounds is a whole Herald over HTTP, with two agencies that own one of
// everything.
type grounds struct {
	*dbtest.World
	t       *testing.T
	deps    handlers.Deps
	web     http.Handler
	north   *dbtest.Estate
	south   *dbtest.Estate
	picture []byte
	life    time.Duration
	watches map[model.TenantID]*dbtest.Watch
}

func newGrounds(t *testing.T, shard string) *grounds {
	t.Helper()
	g := &grounds{World: dbtest.New(t), t: t, life: 15 * time.Minute}
	blobs, err := blob.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g.deps = handlers.Deps{Changes: still{}, Presence: still{}, Hosts: noDNS{}, Store: g.Store, Ring: g.Ring, Blobs: blobs, Log: slog.New(slog.NewTextHandler(testLog{t}, nil)), Now: g.Clock.Now,
		BaseURL: "https://herald.example", URLLife: g.life, UploadBytes: 1 << 20, Cost: secret.Cost{}, Ready: g.Store.Ping, CheckAddress: func(string) error { return nil },
		CheckToken: func(context.Context, connect.Connection) (db.Learned, error) { return db.Learned{}, nil }, Networks: far{},
		Fetch: func(context.Context, string) (desk.Fetched, error) {
			return desk.Fetched{}, model.Refuse(model.Unprocessable, "Nothing is fetched here.")
		}}
	g.web = handlers.New(g.deps)
	g.north, g.south = g.Estate(t, "north", db.MainShard), g.Estate(t, "south", shard)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 40)), nil); err != nil {
		t.Fatal(err)
	}
	g.picture = b.Bytes()
	key := dbtest.Look[string](t, g.World, db.MainShard, `SELECT path FROM tenant.media WHERE id = $1`, g.north.Main.Media)
	if _, err := blobs.Put(t.Context(), key, bytes.NewReader(g.picture), blob.Options{Size: int64(len(g.picture))}); err != nil {
		t.Fatal(err)
	}
	g.watches = map[model.TenantID]*dbtest.Watch{g.north.ID: g.north.Watch(t), g.south.ID: g.south.Watch(t)}
	return g
}

// far is networks at which people can sign in, and that nobody reaches.
type far struct{ connect.Networks }

// Missing says that they can.
func (far) Missing(network.Name) string { return "" }

// Asks lists nothing.
func (far) Asks(network.Name) []string { return nil }

// Servers says that no network is many.
func (far) Servers(network.Name) bool { return false }

// Revoke ends nothing.
func (far) Revoke(context.Context, db.Parting) error { return nil }

// Authorize is a page somewhere.
func (far) Authorize(connect.Trip) string { return "https://network.example/" }

// testLog keeps what the edge logs, which is faults of ours only, with the test.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// watch notices what is written of a workspace, from the moment that the grounds
// were laid.
func (g *grounds) watch(of dbtest.Holding) *dbtest.Watch { return g.watches[of.ID] }

func (g *grounds) seen(of dbtest.Holding, id model.PostID) string {
	page, _ := of.Owner.Post(context.Background(), id)
	return fmt.Sprint(page.Post.Revision)
}

func (g *grounds) targetSeen(of dbtest.Holding, id model.TargetID) string {
	t, _ := of.Owner.Target(context.Background(), id)
	return fmt.Sprint(t.Revision)
}

func (g *grounds) accountSeen(of dbtest.Holding) string {
	a, _ := of.Owner.Account(context.Background(), of.Account)
	return fmt.Sprint(a.Revision)
}

func (g *grounds) mediaSeen(of dbtest.Holding) string {
	list, _ := of.Owner.Media(context.Background(), []model.MediaID{of.Media})
	if len(list) == 0 {
		return "0"
	}
	return fmt.Sprint(list[0].Revision)
}

func (g *grounds) request(of dbtest.Holding) db.InboxRequest {
	r, _ := of.Owner.Approval(context.Background(), of.Request)
	return r
}

func (g *grounds) pageToken(own dbtest.Holding) string {
	rs, _ := g.Store.Review(context.Background(), own.Token)
	return rs.PageToken()
}

// send sends a request as a person who is signed in; nobody if who is nil.
func (g *grounds) send(who *db.Scope, pattern string, try try) *httptest.ResponseRecorder {
	g.t.Helper()
	method, _, _ := strings.Cut(pattern, " ")
	var body bytes.Buffer
	kind := "application/x-www-form-urlencoded"
	if try.file != nil {
		kind = multi(g.t, &body, try)
	} else {
		body.WriteString(try.form.Encode())
	}
	r := httptest.NewRequestWithContext(g.t.Context(), method, try.path, &body)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(try.tus); i += 2 {
		r.Header.Set(try.tus[i], try.tus[i+1])
	}
	if who != nil {
		w := httptest.NewRecorder()
		sessions := &web.Sessions{Store: g.Store, Secure: true, Now: g.Clock.Now}
		if err := sessions.SignIn(w, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
			g.t.Fatal(err)
		}
		r.AddCookie(w.Result().Cookies()[0])
	}
	w := httptest.NewRecorder()
	g.web.ServeHTTP(w, r)
	return w
}

func multi(t *testing.T, body *bytes.Buffer, try try) string {
	t.Helper()
	w := multipart.NewWriter(body)
	for name, values := range try.form {
		for _, v := range values {
			_ = w.WriteField(name, v)
		}
	}
	part, err := w.CreateFormFile("file", "new.jpg")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(try.file)
	_ = w.Close()
	return w.FormDataContentType()
}

// each calls f with every request of every route, in a fixed order: what is done
// to accounts comes late, and what takes something away comes last.
func (g *grounds) each(own, of dbtest.Holding, f func(pattern string, try try)) {
	order := slices.Sorted(maps.Keys(routes))
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(takesAway(a), takesAway(b)) })
	for _, pattern := range order {
		for _, try := range routes[pattern](g, own, of) {
			f(pattern, try)
		}
	}
}

// takesAway orders addresses by what is left of a thing after them.
func takesAway(pattern string) int {
	switch path.Base(pattern) {
	case "revocation":
		return 1
	case "removals", "removal":
		return 2
	case "archive":
		return 3
	case "end":
		return 3
	case "{token}": // an invitation that is taken is none any more
		return 4
	}
	return 0
}

func TestEveryAddressHasACase(t *testing.T) {
	t.Parallel()
	patterns := handlers.Patterns(handlers.Deps{})
	for _, p := range patterns {
		_, with := routes[p]
		_, without := withoutIDs[p]
		if with == without {
			t.Errorf("%s needs a case in routes, with a request for each position that takes an id, or a reason in withoutIDs", p)
		}
		if without && (strings.Contains(p, "{") && p != "GET /{$}") {
			t.Errorf("%s takes something from its path, so it needs a case", p)
		}
	}
	for p := range routes {
		if !slices.Contains(patterns, p) {
			t.Errorf("there is no address %s any more: take its case away", p)
		}
	}
}

// TestEveryAddressWithAnotherWorkspacesIds sends every request as the owner of
// one workspace with the ids of another, on two shards and on one: NotFound, and
// nothing is written anywhere.
func TestEveryAddressWithAnotherWorkspacesIds(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{dbtest.SecondShard, db.MainShard} {
		t.Run("on the shard "+shard, func(t *testing.T) {
			t.Parallel()
			g := newGrounds(t, shard)
			g.each(g.south.Main, g.north.Main, func(pattern string, try try) {
				g.refused(g.south.Owner, pattern, try, g.south.Main, g.north.Main)
			})
		})
	}
}

// TestEveryAddressWithAHiddenClientsIds does the same as a member who works for
// one client of the workspace, with the ids of the other.
func TestEveryAddressWithAHiddenClientsIds(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, dbtest.SecondShard)
	g.each(g.north.Other, g.north.Main, func(pattern string, try try) {
		g.refused(g.north.Half, pattern, try, g.north.Other, g.north.Main)
	})
}

// refused wants NotFound, without a word of the other's, and nothing written.
// Where the person may not use the address at all, that is the answer, whatever
// the ids.
func (g *grounds) refused(who *db.Scope, pattern string, try try, own, of dbtest.Holding) {
	g.t.Helper()
	w := g.send(who, pattern, try)
	want := http.StatusNotFound
	if needs, ok := (&desk.Desk{}).Patterns()[pattern]; ok && !who.Actor.MayAnywhere(needs) {
		want = http.StatusForbidden
	}
	title := fmt.Sprintf("%s with another's %s", pattern, try.name)
	switch {
	case try.free && w.Code < 400:
	case w.Code != want:
		g.t.Errorf("%s: status %d, want %d: %s", title, w.Code, want, words(w))
	}
	if strings.Contains(w.Body.String(), of.Mark) || strings.Contains(fmt.Sprint(w.Result().Header), of.Mark) {
		g.t.Errorf("%s shows what is another's: %s", title, words(w))
	}
	if changed := g.watch(own).Changed(g.t); len(changed) > 0 && !try.free {
		g.t.Errorf("%s was refused and wrote all the same: %v", title, changed)
	}
	if own.ID == of.ID {
		return
	}
	if changed := g.watch(of).Changed(g.t); len(changed) > 0 {
		g.t.Errorf("%s changed what is another's: %v", title, changed)
	}
}

// words are the text of a page, for the message of a failure.
func words(w *httptest.ResponseRecorder) string {
	_, text, _ := strings.Cut(w.Body.String(), "<main")
	text = strings.Join(strings.Fields(tags.ReplaceAllString(html.UnescapeString("<main"+text), " ")), " ")
	return text[:min(len(text), 500)] + w.Header().Get("Location")
}

var tags = regexp.MustCompile(`<[^>]*>`)

// TestEveryAddressOfAnotherWorkspace sends what a member of one workspace sends at
// work, to its addresses, as a member of another and as nobody.
func TestEveryAddressOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, dbtest.SecondShard)
	of := g.north.Main
	before := of.Imprint(t)
	g.each(of, of, func(pattern string, try try) {
		if !strings.Contains(pattern, "/w/{slug}") {
			return
		}
		if w := g.send(g.south.Owner, pattern, try); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), of.Mark) {
			t.Errorf("%s as a stranger: status %d, want 404: %s", pattern, w.Code, words(w))
		}
		w := g.send(nil, pattern, try)
		if try.tus != nil {
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s as nobody: status %d, want 401: a client that uploads follows no page", pattern, w.Code)
			}
			return
		}
		to, asked := w.Header().Get("Location"), w.Code == http.StatusUnauthorized && strings.Contains(w.Body.String(), `action="/signin"`)
		if !asked && (w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/signin")) {
			t.Errorf("%s as nobody: status %d to %q, want the sign-in page", pattern, w.Code, to)
		}
	})
	if changed := dbtest.Changed(before, of.Imprint(t)); len(changed) > 0 {
		t.Errorf("strangers changed %v", changed)
	}
}

// TestEveryCaseIsWhatAPersonAtWorkSends proves the cases: with one's own ids they
// find what they name. What they find may have changed by the ones before, so a
// Conflict counts; what takes something away is tried where all is still there.
func TestEveryCaseIsWhatAPersonAtWorkSends(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		t.Run(fmt.Sprintf("taking away %t", away), func(t *testing.T) {
			t.Parallel()
			g := newGrounds(t, dbtest.SecondShard)
			of := g.north.Main
			done := map[string]bool{}
			g.each(of, of, func(pattern string, try try) {
				same := pattern + " " + try.path + " " + try.form.Encode() // with another workspace's ids they differ
				if try.odd || takesAway(pattern) > 0 != away || done[same] {
					return
				}
				done[same] = try.tus == nil
				w := g.send(g.north.Owner, pattern, try)
				if w.Code >= 500 || w.Code == http.StatusNotFound || w.Code == http.StatusForbidden {
					t.Errorf("%s with one's own %s: status %d: %s", pattern, try.name, w.Code, words(w))
				}
			})
		})
	}
}

// TestNamingAnotherWorkspacesClientConfirmsNothing: a post for two clients wants
// both confirmed by name, and a stranger's name is none of them.
func TestNamingAnotherWorkspacesClientConfirmsNothing(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	before := g.south.Imprint(t)
	form := url.Values{"do": {"save"}, "key": {"key-of-a-form-0123456789"}, "seen": {"0"}, "text": {"For both"},
		"account": {id(g.south.Main.Account), id(g.south.Other.Account)}, "named": {id(g.south.Main.Client), id(g.north.Main.Client)}}
	if w := g.send(g.south.Owner, "POST /w/{slug}/posts", try{path: "/w/south/posts", form: form}); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("status %d, want 422: %s", w.Code, words(w))
	}
	if changed := dbtest.Changed(before, g.south.Imprint(t)); len(changed) > 0 {
		t.Errorf("it was saved: %v", changed)
	}
}

// still ends every listening at once: nothing changes, and nobody waits.
type still struct{}

func (still) Attend(context.Context, model.TenantID, model.PostID, model.UserID, time.Time) map[model.UserID]time.Time {
	return nil
}

func (s still) Attended(tenant model.TenantID, _ model.PostID) (<-chan struct{}, func()) {
	return s.Listen(tenant)
}

func (still) Listen(model.TenantID) (<-chan struct{}, func()) {
	over := make(chan struct{})
	close(over)
	return over, func() {}
}
