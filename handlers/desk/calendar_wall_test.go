package desk_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/desk"
	"herald/handlers/hooks"
	"herald/handlers/web"
)

// wall is an agency of two clients at work, over HTTP: acme in Berlin with two
// accounts, and york in New York.
type wall struct {
	*dbtest.World
	agency   *dbtest.Agency
	acme     model.ClientID
	york     model.ClientID
	mastodon model.AccountID
	hook     model.AccountID
	abroad   model.AccountID // york's
	edge     *web.Edge
	mux      http.Handler
}

func newWall(t *testing.T) *wall {
	t.Helper()
	w := dbtest.New(t)
	b := &wall{World: w, agency: w.Agency(t, "north", dbtest.SecondShard)}
	b.acme, b.york = b.agency.Client(t, "acme"), b.agency.Client(t, "york")
	b.zone(t, b.york, "America/New_York")
	b.mastodon = b.agency.Account(t, b.acme, network.Mastodon)
	b.hook = b.agency.Account(t, b.acme, network.Webhook)
	b.abroad = b.agency.Account(t, b.york, network.Mastodon)
	b.edge = &web.Edge{Store: w.Store, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: w.Clock.Now, Sessions: &web.Sessions{Store: w.Store, Now: w.Clock.Now}}
	mux := http.NewServeMux()
	(&desk.Desk{Edge: b.edge, Ring: w.Ring, URLLife: 15 * time.Minute, BaseURL: "https://herald.example", Networks: nobody{}}).Register(mux)
	hooks.Register(mux, hooks.Deps{Edge: b.edge, Ring: w.Ring})
	b.mux = mux
	return b
}

func (b *wall) zone(t *testing.T, client model.ClientID, zone string) {
	t.Helper()
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.clients SET zone = $3 WHERE tenant_id = $1 AND id = $2`, b.agency.ID, client, zone)
}

// member adds a person with a role who sees only the named clients.
func (b *wall) member(t *testing.T, role model.Role, clients ...model.ClientID) *db.Scope {
	t.Helper()
	access := map[model.ClientID][]model.Permission{}
	for _, c := range clients {
		access[c] = role.Grants()
	}
	return b.agency.Member(t, role, access)
}

// at plans an approved post for a wall clock time in a zone.
func (b *wall) at(t *testing.T, text, local, zone string, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	l, err := model.ParseLocal(local)
	if err != nil {
		t.Fatal(err)
	}
	when, err := model.Resolve(l, zone, model.Earlier)
	if err != nil {
		t.Fatal(err)
	}
	return b.when(t, text, when, accounts...)
}

func (b *wall) when(t *testing.T, text string, when model.When, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	page := b.agency.Approved(t, text, accounts...)
	page, err := b.agency.Owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when)
	if err != nil {
		t.Fatalf("schedule: %v", err)
	}
	return page
}

// push moves a target along legal edges, past the pipeline.
func (b *wall) push(t *testing.T, id model.TargetID, reason string, states ...model.State) {
	t.Helper()
	for _, s := range states {
		b.Super(t, dbtest.SecondShard, `
			UPDATE tenant.targets SET state = $3, reason = $4, owner = CASE WHEN $3 = 'publishing' THEN gen_random_uuid() END,
			       published_at = CASE WHEN $3 = 'published' THEN $5::timestamptz END, updated_at = $5::timestamptz
			 WHERE tenant_id = $1 AND id = $2`, b.agency.ID, id, s, reason, b.Clock.Now())
	}
	b.Super(t, dbtest.SecondShard, `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[(SELECT post_id FROM tenant.targets WHERE tenant_id = $1 AND id = $2)])`, b.agency.ID, id)
}

// browser is a person at work: it asks, as a form or as a page.
type browser func(method, path string, form url.Values) *httptest.ResponseRecorder

func (b *wall) as(t *testing.T, who *db.Scope) browser {
	t.Helper()
	w := httptest.NewRecorder()
	if err := b.edge.Sessions.SignIn(w, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
		t.Fatal(err)
	}
	cookie := w.Result().Cookies()[0]
	return func(method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.AddCookie(cookie)
		w := httptest.NewRecorder()
		b.mux.ServeHTTP(w, r)
		return w
	}
}

// within returns the words inside the first element of that id, and the element
// count of a class in it.
func within(t *testing.T, page *httptest.ResponseRecorder, id, class string) (words string, n int) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	var found *html.Node
	for node := range root.Descendants() {
		if found == nil && attr(node, "id") == id {
			found = node
		}
	}
	if found == nil {
		t.Fatalf("status %d, no element #%s:\n%s", page.Code, id, page.Body)
	}
	var b strings.Builder
	for node := range found.Descendants() {
		if node.Type == html.TextNode {
			b.WriteString(node.Data + " ")
		}
		for _, c := range strings.Fields(attr(node, "class")) {
			if c == class {
				n++
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " "), n
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// linkOf is where the page's link of that relation leads.
func linkOf(t *testing.T, page *httptest.ResponseRecorder, rel string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data == "a" && attr(n, "rel") == rel {
			return attr(n, "href")
		}
	}
	return ""
}
