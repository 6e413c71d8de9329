package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"text/template"
	"time"

	"herald/cmd/internal/declare"
	"herald/cmd/internal/mailbox"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/jobs/sim"
)

// agency is a workspace of its own for one test. Its bakery asks an approver who
// has no account; its museum asks nobody. Each has an account on every network.
type agency struct {
	slug  string
	owner *db.Scope
}

// password is everybody's.
const password = "correct horse battery"

const agencyYAML = `
plans:
  - {name: studio, posts_a_month: unlimited, media_bytes: unlimited}
users:
  - {email: anna@{{.Slug}}.example, name: Anna Berger, password: {{.Password}}}
  - {email: ben@{{.Slug}}.example, name: Ben Ohm, password: {{.Password}}}
workspaces:
  - slug: {{.Slug}}
    name: Studio {{.Slug}}
    zone: Europe/Berlin
    plan: studio
    shard: {{.Shard}}
    members:
      - {user: anna@{{.Slug}}.example, role: owner}
      - {user: ben@{{.Slug}}.example, role: admin}
    clients:
{{range .Clients}}
      - slug: {{.Slug}}
        name: {{.Name}}
        zone: {{.Zone}}
{{if .Approver}}
        approvers:
          - {email: {{.Approver}}, name: Hanna Vogt}
        stages:
          - {name: The client, rule: any, people: [{{.Approver}}]}
{{end}}
        accounts:
          - {slug: facebook, network: facebook, handle: {{.Name}}, remote_id: "{{.ID}}1", scopes: [pages_manage_posts, pages_read_engagement, pages_manage_engagement], token: page-token-{{.ID}}}
          - {slug: instagram, network: instagram, handle: {{.Slug}}.insta, remote_id: "{{.ID}}2", scopes: [instagram_basic, instagram_content_publish, instagram_manage_comments], token: token-{{.ID}}}
          - {slug: mastodon, network: mastodon, handle: "@{{.Slug}}@social.example", remote_id: "{{.ID}}3", address: https://social.example, scopes: [read, write], token: "{{.ID}}3:token"}
          - {slug: hook, network: webhook, handle: {{.Slug}} screens, address: {{.Nets}}/webhook/{{.Hook}}, token: a-secret-that-is-long-enough}
{{end}}
`

// client is a client in agencyYAML.
type client struct {
	Slug, Name, Zone, Approver, ID, Nets, Hook string
}

var agencies atomic.Int64

// newAgency declares an agency as herald apply would, on one of the shards in
// turn, and opens its accounts on the networks.
func newAgency(t *testing.T) *agency {
	t.Helper()
	n := agencies.Add(1)
	a := &agency{slug: fmt.Sprintf("a%d", n)}
	shard := db.MainShard
	if n%2 == 0 {
		shard = secondShard
	}
	clients := []client{
		{Slug: "bakery", Name: "Bakery", Zone: "Europe/Berlin", Approver: a.approver(), ID: fmt.Sprintf("%d10", 700+n), Nets: here.nets.URL, Hook: a.slug + "-bakery"},
		{Slug: "museum", Name: "Museum", Zone: "America/New_York", ID: fmt.Sprintf("%d20", 700+n), Nets: here.nets.URL, Hook: a.slug + "-museum"},
	}
	var text bytes.Buffer
	err := template.Must(template.New("agency").Parse(agencyYAML)).Execute(&text,
		map[string]any{"Slug": a.slug, "Password": password, "Shard": shard, "Clients": clients})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := declare.Parse(declare.Source{Name: "agency.yaml", Text: text.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := declare.Apply(t.Context(), here.app.Store, doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		here.sim.AddAccount(network.Webhook, sim.Account{ID: c.Hook, Token: "a-secret-that-is-long-enough", Name: c.Hook})
		here.sim.AddAccount(network.Mastodon, sim.Account{ID: c.ID + "3", Handle: a.slug + c.Slug})
	}
	a.owner = a.scope(t, a.anna())
	return a
}

func (a *agency) anna() string     { return "anna@" + a.slug + ".example" }
func (a *agency) ben() string      { return "ben@" + a.slug + ".example" }
func (a *agency) approver() string { return "hanna@bakery-of-" + a.slug + ".example" }
func (a *agency) path(rest string) string {
	return "/w/" + a.slug + rest
}

// user is a member's id.
func user(t *testing.T, email string) model.UserID {
	t.Helper()
	u, ok, err := here.app.Store.UserByEmail(t.Context(), email)
	if err != nil || !ok {
		t.Fatalf("no user %s: %v", email, err)
	}
	return u.ID
}

// scope is what a member may do, without a browser: for what a test only stands on.
func (a *agency) scope(t *testing.T, email string) *db.Scope {
	t.Helper()
	scope, err := here.app.Store.Enter(t.Context(), user(t, email), a.slug)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

// session is a cookie of somebody who has signed in.
func (a *agency) session(t *testing.T, email string) *http.Cookie {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	sessions := &web.Sessions{Store: here.app.Store, Now: time.Now}
	if err := sessions.SignIn(w, r, user(t, email)); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0]
}

// account finds an account by client and network.
func (a *agency) account(t *testing.T, client string, name network.Name) model.AccountID {
	t.Helper()
	list, err := a.owner.ComposerClients(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		for _, one := range c.Accounts {
			if strings.EqualFold(c.Name, client) && one.Network == name {
				return one.ID
			}
		}
	}
	t.Fatalf("%s has no account on %s", client, name)
	return 0
}

// remote is what a network calls an account.
func (a *agency) remote(client string, name network.Name) string {
	if name == network.Webhook {
		return a.slug + "-" + client
	}
	number := strings.TrimPrefix(a.slug, "a")
	var n int64
	_, _ = fmt.Sscan(number, &n)
	return fmt.Sprintf("%d%d%d", 700+n, map[string]int{"bakery": 10, "museum": 20}[client], map[network.Name]int{network.Facebook: 1, network.Instagram: 2, network.Mastodon: 3}[name])
}

// write makes a post for accounts of one client.
func (a *agency) write(t *testing.T, text string, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	page, err := a.owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: text, Accounts: accounts}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// rewrite saves a post with other content.
func (a *agency) rewrite(t *testing.T, page db.PostPage, content model.Content) db.PostPage {
	t.Helper()
	page, err := a.owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// submitted is a written post that was submitted.
func (a *agency) submitted(t *testing.T, text string, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	page := a.write(t, text, accounts...)
	page, err := a.owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// published sends a post of the museum, which asks nobody, on its way.
func (a *agency) published(t *testing.T, text string, names ...network.Name) db.PostPage {
	t.Helper()
	var accounts []model.AccountID
	for _, name := range names {
		accounts = append(accounts, a.account(t, "museum", name))
	}
	page := a.submitted(t, text, accounts...)
	page, err := a.owner.PublishNow(t.Context(), page.Post.ID, page.Post.Revision)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// fault tells a network to go wrong for one of the agency's accounts.
func (a *agency) fault(t *testing.T, client string, f sim.Fault) {
	t.Helper()
	f.Account = a.remote(client, f.Network)
	if err := here.sim.Fault(f); err != nil {
		t.Fatal(err)
	}
}

// posts are what the public sees of one of the agency's accounts.
func (a *agency) posts(client string, name network.Name) []sim.Post {
	return here.sim.Posts(name, a.remote(client, name))
}

// patience is how long a test waits for anything on a busy machine.
const patience = 75 * time.Second

// eventually waits for something that does not show on a page.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

var reviewLink = regexp.MustCompile(`https?://\S+/review/[A-Za-z0-9_.~-]+`)

// letter waits for a mail to somebody that is not among those already seen.
func letter(t *testing.T, to string, seen int) mailbox.Mail {
	t.Helper()
	var mine []mailbox.Mail
	eventually(t, "a mail to "+to, func() bool {
		mine = nil
		for _, m := range here.box.Mails() {
			for _, r := range m.Recipients {
				if r == to {
					mine = append(mine, m)
				}
			}
		}
		return len(mine) > seen
	})
	return mine[0]
}

// link is the review link of the newest mail to the approver.
func (a *agency) link(t *testing.T, seen int) string {
	t.Helper()
	return linkIn(t, letter(t, a.approver(), seen), reviewLink)
}

func linkIn(t *testing.T, m mailbox.Mail, shape *regexp.Regexp) string {
	t.Helper()
	found := shape.FindString(m.Text)
	if found == "" {
		t.Fatalf("no such link in the mail: %s", m.Text)
	}
	return found
}

func postID(n int64) model.PostID { return model.PostID(n) }

// due is the wall clock that the first target of a post is planned for.
func (a *agency) due(t *testing.T, page db.PostPage) time.Time {
	t.Helper()
	now, err := a.owner.Post(t.Context(), page.Post.ID)
	if err != nil || now.Targets[0].LocalAt == nil {
		t.Fatalf("no time: %v", err)
	}
	return *now.Targets[0].LocalAt
}
