package desk_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/desk"
	"herald/handlers/web"
)

// office is an agency with one client and two accounts, and the desk over HTTP.
type office struct {
	*dbtest.World
	agency   *dbtest.Agency
	client   model.ClientID
	mastodon model.AccountID
	webhook  model.AccountID
	edge     *web.Edge
	mux      http.Handler
	asked    []connect.Connection // of which the network was asked
	answer   func(connect.Connection) (db.Learned, error)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	w := dbtest.New(t)
	o := &office{World: w, agency: w.Agency(t, "north", dbtest.SecondShard)}
	o.client = o.agency.Client(t, "acme")
	o.mastodon = o.agency.Account(t, o.client, network.Mastodon)
	o.webhook = o.agency.Account(t, o.client, network.Webhook)
	o.edge = &web.Edge{Store: w.Store, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: w.Clock.Now, Sessions: &web.Sessions{Store: w.Store, Now: w.Clock.Now}}
	mux := http.NewServeMux()
	d := &desk.Desk{Edge: o.edge, Ring: w.Ring, URLLife: 15 * time.Minute, CheckAddress: func(address string) error {
		if strings.Contains(address, "10.0.0.1") {
			return model.Refuse(model.Unprocessable, "That address lies inside a private network.")
		}
		return nil
	}}
	o.answer = func(connect.Connection) (db.Learned, error) { return db.Learned{}, nil }
	d.CheckToken = func(_ context.Context, c connect.Connection) (db.Learned, error) {
		o.asked = append(o.asked, c)
		return o.answer(c)
	}
	d.Networks = nobody{}
	d.Register(mux)
	o.mux = mux
	return o
}

// nobody is the networks of a Herald without apps: nobody can sign in anywhere.
type nobody struct{ connect.Networks }

// Missing says so.
func (nobody) Missing(network.Name) string { return "There is no app." }

// Asks lists a permission, for what an operator reads.
func (nobody) Asks(network.Name) []string { return []string{"a_permission_there"} }

// Servers says that no network is many.
func (nobody) Servers(network.Name) bool { return false }

// as makes a browser that a person is signed in with.
func (o *office) as(t *testing.T, who *db.Scope) func(method, path string, form ...string) *httptest.ResponseRecorder {
	t.Helper()
	first := httptest.NewRecorder()
	if err := o.edge.Sessions.SignIn(first, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
		t.Fatal(err)
	}
	cookie := first.Result().Cookies()[0]
	return func(method, path string, form ...string) *httptest.ResponseRecorder {
		values := url.Values{}
		for i := 0; i+1 < len(form); i += 2 {
			values.Add(form[i], form[i+1])
		}
		r := httptest.NewRequestWithContext(t.Context(), method, "/w/north"+path, strings.NewReader(values.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(cookie)
		w := httptest.NewRecorder()
		o.mux.ServeHTTP(w, r)
		return w
	}
}

func (o *office) seen(t *testing.T, id model.AccountID) string {
	t.Helper()
	return fmt.Sprint(dbtest.Look[int](t, o.World, dbtest.SecondShard, `SELECT revision FROM tenant.accounts WHERE id = $1`, id))
}

func (o *office) state(t *testing.T, id model.AccountID) string {
	t.Helper()
	return dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT state || CASE WHEN paused_at IS NULL THEN '' ELSE ' paused' END FROM tenant.accounts WHERE id = $1`, id)
}

// stranded plans a post on the account and lets the connection be lost.
func (o *office) stranded(t *testing.T, text string) model.PostID {
	t.Helper()
	page := o.agency.Due(t, text, time.Hour, o.mastodon)
	for _, state := range []string{"queued", "needs_reconnect"} {
		o.Super(t, dbtest.SecondShard, `UPDATE tenant.targets SET state = $2 WHERE post_id = $1`, page.Post.ID, state)
	}
	o.Super(t, dbtest.SecondShard, `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[$2::bigint])`, o.agency.ID, page.Post.ID)
	return page.Post.ID
}

func (o *office) lose(t *testing.T) {
	t.Helper()
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET state = 'needs_reconnect', last_error = 'The token was revoked.', last_error_at = $2, revision = revision + 1 WHERE id = $1`,
		o.mastodon, o.Clock.Now())
}

func TestAccountsShowWhichConnectionsEndSoon(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	linkedin, instagram := o.agency.Account(t, o.client, network.LinkedIn), o.agency.Account(t, o.client, network.Instagram)
	give := func(id model.AccountID, token, refresh time.Duration) {
		ends := any(nil)
		if refresh > 0 {
			ends = o.Clock.Now().Add(refresh)
		}
		o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET token_expires = $2, refresh_expires = $3, refresh_token = CASE WHEN $3::timestamptz IS NOT NULL THEN 'x'::bytea END WHERE id = $1`, id, o.Clock.Now().Add(token), ends)
	}
	const day = 24 * time.Hour
	give(linkedin, 15*day, 0)
	give(instagram, 50*day, 50*day)
	page := anna("GET", "/accounts")
	wantPage(t, page, 200, "Token runs out", "renews itself")
	if strings.Contains(page.Body.String(), "Ends soon") {
		t.Error("a connection that lasts is said to end soon")
	}
	give(linkedin, 60*day, 300*day)
	wantPage(t, anna("GET", "/accounts"), 200, "renews itself", "Connection ends")
	give(linkedin, 13*day, 0)
	give(instagram, 2*day, 2*day)
	wantPage(t, anna("GET", "/accounts"), 200, "Ends soon", "The connection ends soon", "Mon 23 Mar 2026, 13:00", "LinkedIn then asks for a person to sign in again", fmt.Sprintf("/accounts/%d#connection", linkedin),
		"Thu 12 Mar 2026, 13:00", "Herald renews it by itself and has not managed to")
	give(linkedin, -time.Minute, 0)
	if w := anna("GET", fmt.Sprintf("/accounts/%d", linkedin)); strings.Contains(w.Body.String(), "The connection ends soon") {
		t.Error("a connection that is over is said to end")
	}
}

func TestAccountsShowStateErrorAndWhatIsAffected(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	o.agency.Due(t, "Later", 3*time.Hour, o.mastodon)
	o.stranded(t, "Now")
	wantPage(t, anna("GET", "/accounts"), 200, "Client acme", "@mastodon-0", "Connected", "https://social.example", "Retry the affected post", "1 post", "Pause workspace", "Pause client")
	o.lose(t)
	w := anna("GET", "/accounts")
	wantPage(t, w, 200, "Needs reconnecting", "The token was revoked.", "1 post could not go out and waits here", fmt.Sprintf("/accounts/%d#connection", o.mastodon), "Tue 10 Mar 2026, 13:00")
	if strings.Contains(w.Body.String(), "Retry the affected post") {
		t.Error("a retry is offered before the account is connected again")
	}
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET state = 'active', last_error = NULL, token_expires = $2 WHERE id = $1`, o.mastodon, o.Clock.Now().Add(-time.Minute))
	wantPage(t, anna("GET", "/accounts"), 200, "Needs reconnecting", "Token ran out")
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET refresh_token = '\x01' WHERE id = $1`, o.mastodon)
	wantPage(t, anna("GET", "/accounts"), 200, "renews itself")
}

func TestAPausedAccountSaysWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d", o.mastodon)
	held := o.agency.Due(t, "Held back", time.Hour, o.mastodon).Post.ID
	wantPage(t, anna("GET", path), 200, "Planned</dt><dd>1 post")
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET paused_at = $2 WHERE id = $1`, o.mastodon, o.Clock.Now())
	o.Clock.Advance(2 * time.Hour)
	for _, state := range []string{"queued", "retry_scheduled"} {
		o.Super(t, dbtest.SecondShard, `UPDATE tenant.targets SET state = $2, reason = 'account_paused' WHERE post_id = $1`, held, state)
	}
	wantPage(t, anna("GET", path), 200, "Waiting</dt><dd>1 post, until the account is resumed", "Due since", "Tue 10 Mar 2026, 14:00", "Planned</dt><dd>nothing further")
	o.agency.Due(t, "Later", time.Hour, o.mastodon)
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET paused_at = NULL WHERE id = $1`, o.mastodon)
	w := anna("GET", path)
	wantPage(t, w, 200, "Waiting</dt><dd>1 post</dd>", "Planned</dt><dd>1 post</dd>", "Tue 10 Mar 2026, 16:00")
}

func TestAnAccountIsPausedAndResumedOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d/pause", o.mastodon)
	seen := o.seen(t, o.mastodon)
	wantPage(t, anna("POST", path, "paused", "true", "seen", seen), 303)
	if got := o.state(t, o.mastodon); got != "active paused" {
		t.Errorf("the account is %s", got)
	}
	wantPage(t, anna("GET", "/accounts"), 200, "is paused. What is due waits", "Resume account", "Paused since")
	wantPage(t, anna("POST", path, "paused", "false", "seen", seen), 409, "changed while you had it open")
	wantPage(t, anna("POST", path, "paused", "true", "seen", o.seen(t, o.mastodon)), 303)
	wantPage(t, anna("POST", path, "paused", "false", "seen", o.seen(t, o.mastodon)), 303)
	if n := dbtest.Look[int](t, o.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE subject = 'account' AND verb IN ('paused', 'resumed')`); n != 2 || o.state(t, o.mastodon) != "active" {
		t.Errorf("%d audit lines; the account is %s", n, o.state(t, o.mastodon))
	}
}

func TestReconnectingKeepsSettingsAndOffersARetry(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d", o.mastodon)
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET settings = '{"max_characters":"900"}', refresh_owner = gen_random_uuid() WHERE id = $1`, o.mastodon)
	post := o.stranded(t, "Grand opening")
	o.lose(t)
	wantPage(t, anna("POST", path+"/retries"), 422, "has lost its connection")
	wantPage(t, anna("POST", path+"/connection", "seen", o.seen(t, o.mastodon), "token", ""), 422, "Paste the new token")
	wantPage(t, anna("POST", path+"/connection", "seen", o.seen(t, o.mastodon), "token", "with space"), 422, "no spaces or line breaks")
	wantPage(t, anna("POST", path+"/connection", "seen", o.seen(t, o.mastodon), "token", "new", "expires", "2026-03-29T02:30"), 422, "does not exist")
	wantPage(t, anna("POST", path+"/connection", "seen", o.seen(t, o.mastodon), "token", "new", "expires", "2020-01-01T00:00"), 422, "run out already")
	wantPage(t, anna("POST", path+"/connection", "seen", o.seen(t, o.mastodon), "token", "new-token", "expires", "2026-06-01T12:00"), 303)
	sealed := dbtest.Look[[]byte](t, o.World, dbtest.SecondShard, `SELECT token FROM tenant.accounts WHERE id = $1 AND last_error IS NULL AND refresh_owner IS NULL AND settings = '{"max_characters":"900"}' AND token_expires = '2026-06-01 10:00Z'`, o.mastodon)
	if plain, err := o.Ring.Open(sealed, db.TokenAAD(o.agency.ID, o.mastodon, "token")); err != nil || plain != "new-token" {
		t.Errorf("the token opens as %q, %v", plain, err)
	}
	target := func() string {
		return dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT t.state || '/' || p.state FROM tenant.targets t JOIN tenant.posts p ON p.id = t.post_id WHERE t.post_id = $1`, post)
	}
	if got := target(); !strings.HasPrefix(got, "needs_reconnect") {
		t.Errorf("reconnecting alone moved the target to %s", got)
	}
	wantPage(t, anna("GET", path), 200, "is connected again. One post is waiting for a retry.", "Retry the affected post")
	wantPage(t, anna("POST", path+"/retries"), 303)
	if got := target(); got != "scheduled/scheduled" {
		t.Errorf("after the retry: %s", got)
	}
	if n := dbtest.Look[int](t, o.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.outbox o JOIN tenant.targets t ON t.id = o.target_id AND t.seq = o.seq WHERE o.kind = 'target.publish' AND t.due_at = $1`, o.Clock.Now()); n != 1 {
		t.Errorf("%d events ask for it now", n)
	}
	wantPage(t, anna("POST", path+"/retries"), 409, "No post waits for @mastodon-0 any more")
}

func TestAPastedTokenIsCheckedAtItsNetworkAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d/connection", o.mastodon)
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET settings = '{"max_characters":"900"}', scopes = '{read}' WHERE id = $1`, o.mastodon)
	o.lose(t)
	stored := func() string {
		return dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT concat_ws(' ', state, remote_id, settings, scopes) FROM tenant.accounts WHERE id = $1`, o.mastodon)
	}
	before, paste := stored(), func(token string) *httptest.ResponseRecorder {
		return anna("POST", path, "seen", o.seen(t, o.mastodon), "token", token)
	}
	o.answer = func(connect.Connection) (db.Learned, error) {
		return db.Learned{}, model.RefuseField("token", "Mastodon does not accept this token.")
	}
	wantPage(t, paste("wrong"), 422, "Mastodon does not accept this token.")
	o.answer = func(connect.Connection) (db.Learned, error) {
		return db.Learned{RemoteID: "99", Handle: "@cafe@social.example"}, nil
	}
	wantPage(t, paste("anothers"), 422, "This token belongs to @cafe@social.example, not to @mastodon-0.")
	wantPage(t, paste("no good"), 422, "no spaces or line breaks")
	if got := stored(); got != before || len(o.asked) != 2 || o.asked[0].Token.Reveal() != "wrong" || o.asked[0].Address != "https://social.example" || o.asked[0].Settings["max_characters"] != "900" {
		t.Errorf("stored %s, was %s; asked %+v", got, before, o.asked)
	}
	o.answer = func(connect.Connection) (db.Learned, error) {
		return db.Learned{RemoteID: "1000", Scopes: []string{"write"}, Settings: map[string]string{"max_characters": "500", "description_limit": "700"}}, nil
	}
	wantPage(t, paste("right"), 303)
	if got := stored(); got != `active 1000 {"max_characters": "900", "description_limit": "700"} {write}` {
		t.Errorf("after connecting: %s", got)
	}
	viewer := o.as(t, o.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{o.client: model.Viewer.Grants()}))
	if w := viewer("POST", path, "seen", o.seen(t, o.mastodon), "token", "mine"); w.Code != 403 || len(o.asked) != 3 {
		t.Errorf("who may not: %d, and the network was asked %d times", w.Code, len(o.asked))
	}
}

func TestAnAccountThatIsAddedLearnsItsIDAndCannotBeAddedTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	add := func(handle string) *httptest.ResponseRecorder {
		return anna("POST", "/accounts", "network", "mastodon", "client", fmt.Sprint(o.client), "handle", handle, "address", "https://new.example", "token", "pasted")
	}
	o.answer = func(connect.Connection) (db.Learned, error) {
		return db.Learned{}, model.RefuseField("token", "Mastodon could not be reached.")
	}
	wantPage(t, add("@bakery"), 422, "Mastodon could not be reached.", `value="@bakery"`)
	o.answer = func(connect.Connection) (db.Learned, error) { return db.Learned{RemoteID: "77"}, nil }
	wantPage(t, add("@bakery"), 303)
	wantPage(t, add("The bakery"), 409, "already has an account for this address")
	if n := dbtest.Look[int](t, o.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.accounts WHERE address = 'https://new.example' AND remote_id = '77'`); n != 1 {
		t.Errorf("%d accounts", n)
	}
}

var secretIn = regexp.MustCompile(`<code>([A-Za-z0-9_-]{43})</code>`)

func TestAWebhookIsAddedAndItsSecretShownOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	wantPage(t, anna("GET", fmt.Sprintf("/accounts/new?network=webhook&client=%d", o.client)), 200, "Let Herald make one", "Client acme")
	form := []string{"network", "webhook", "client", fmt.Sprint(o.client), "handle", "Shop hook", "address", "https://hooks.example/new", "make", "true"}
	w := anna("POST", "/accounts", form...)
	wantPage(t, w, 201, "The signing secret", "Shop hook")
	m := secretIn.FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatal("no secret on the page")
	}
	id := dbtest.Look[model.AccountID](t, o.World, dbtest.SecondShard, `SELECT id FROM tenant.accounts WHERE slug = 'webhook-shop-hook' AND state = 'active' AND connected_by = $1`, o.agency.Owner.Actor.User)
	sealed := dbtest.Look[[]byte](t, o.World, dbtest.SecondShard, `SELECT token FROM tenant.accounts WHERE id = $1`, id)
	if plain, err := o.Ring.Open(sealed, db.TokenAAD(o.agency.ID, id, "token")); err != nil || plain != m[1] {
		t.Errorf("stored %q, shown %q, %v", plain, m[1], err)
	}
	again := anna("GET", fmt.Sprintf("/accounts/%d", id))
	if strings.Contains(again.Body.String(), m[1]) || w.Header().Get("Cache-Control") != "no-store" {
		t.Error("the secret is shown twice, or may be cached")
	}
	wantPage(t, anna("POST", "/accounts", form...), 409, "already has an account for this address")
	rotated := anna("POST", fmt.Sprintf("/accounts/%d/connection", id), "make", "true", "seen", o.seen(t, id))
	wantPage(t, rotated, 200, "The signing secret")
	if next := secretIn.FindStringSubmatch(rotated.Body.String()); next == nil || next[1] == m[1] {
		t.Error("the secret was not replaced")
	}
}

func TestAddingAnAccountRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	for want, change := range map[string][]string{
		"That address lies inside a private network":                                     {"address", "https://10.0.0.1"},
		"Give the server alone, without what comes after its name: https://new.example.": {"address", "https://New.example/@anna"},
		"two dots in a row":                        {"address", "https://a..example"},
		"The port in the address is a number":      {"address", "https://new.example:0"},
		"already has an account for this address.": {"handle", "@mastodon-0", "address", "HTTPS://Social.Example.:443/"},
		"Give the address":                         {"address", ""},
		"Say what people know this account by":     {"handle", " "},
		"Paste the new token":                      {"token", ""},
		"is connected by signing in there":         {"network", "facebook"},
		"already has an account for this address":  {"handle", "@MASTODON-0", "address", "https://social.example"},
	} {
		form := []string{"client", fmt.Sprint(o.client)}
		for _, f := range [][2]string{{"network", "mastodon"}, {"handle", "@new"}, {"address", "https://new.example"}, {"token", "abc"}} {
			value := f[1]
			for i := 0; i+1 < len(change); i += 2 {
				if change[i] == f[0] {
					value = change[i+1]
				}
			}
			form = append(form, f[0], value)
		}
		w := anna("POST", "/accounts", form...)
		if (w.Code != 422 && w.Code != 409) || !strings.Contains(w.Body.String(), want) {
			t.Errorf("want %q, got %d:\n%s", want, w.Code, w.Body)
		}
	}
	wantPage(t, anna("POST", "/accounts", "network", "webhook", "client", fmt.Sprint(o.client), "handle", "x", "address", "https://x.example", "make", "false", "token", "short"), 422, "at least 16 characters")
	wantPage(t, anna("POST", "/accounts", "network", "mastodon", "client", fmt.Sprint(o.client), "handle", "@new", "address", "HTTPS://New.Example./", "token", "abc"), 303)
	if got := dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT address FROM tenant.accounts WHERE handle = '@new'`); got != "https://new.example" {
		t.Errorf("kept as %s", got)
	}
	typed := anna("POST", "/accounts", "network", "webhook", "client", fmt.Sprint(o.client), "handle", "y", "address", "https://anna:pw@x.example/in?a=b", "make", "true")
	wantPage(t, typed, 422, "Leave user name and password out of the address.", "https://anna:pw@x.example/in?a=b")
}

func TestEditingMergesSettings(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d", o.mastodon)
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET settings = '{"max_characters":"900","learned":"x","note":"n"}' WHERE id = $1`, o.mastodon)
	wantPage(t, anna("GET", path), 200, `name="setting.learned"`, "Save details")
	base := []string{"seen", o.seen(t, o.mastodon), "handle", "@bakery", "address", "https://social.example"}
	wantPage(t, anna("POST", path, append(base, "setting.max_characters", "1000", "setting.note", "", "new_key", "mood", "new_value", "good")...), 303)
	if got := dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT handle || settings::text FROM tenant.accounts WHERE id = $1`, o.mastodon); got != `@bakery{"mood": "good", "learned": "x", "max_characters": "1000"}` {
		t.Errorf("got %s", got)
	}
	wantPage(t, anna("POST", path, base...), 409, "changed while you had it open")
	wantPage(t, anna("POST", path, "seen", o.seen(t, o.mastodon), "handle", "@bread"), 303)
	if got := dbtest.Look[string](t, o.World, dbtest.SecondShard, `SELECT handle || remote_id || address FROM tenant.accounts WHERE id = $1`, o.mastodon); got != "@bread1000https://social.example" {
		t.Errorf("a form without the fields left %s", got)
	}
	base[1] = o.seen(t, o.mastodon)
	base[5] = "https://10.0.0.1/"
	wantPage(t, anna("POST", path, base...), 422, "private network", `value="https://10.0.0.1/"`)
}

func TestAnAccountIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna, path := o.as(t, o.agency.Owner), fmt.Sprintf("/accounts/%d", o.mastodon)
	wantPage(t, anna("POST", path+"/state", "on", "false", "seen", o.seen(t, o.mastodon)), 303)
	wantPage(t, anna("GET", path), 200, "is disabled. It takes no posts", "Enable account", "Disabled")
	wantPage(t, anna("POST", path+"/state", "on", "true", "seen", o.seen(t, o.mastodon)), 303)
	if got := o.state(t, o.mastodon); got != "active" {
		t.Errorf("enabled again it is %s", got)
	}
	o.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET state = 'disabled', token = NULL WHERE id = $1`, o.mastodon)
	wantPage(t, anna("POST", path+"/state", "on", "true", "seen", o.seen(t, o.mastodon)), 303)
	if got := o.state(t, o.mastodon); got != "needs_reconnect" {
		t.Errorf("enabled without a token it is %s", got)
	}
}

func TestClientAndWorkspaceArePaused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	paused := func() string {
		return fmt.Sprint(dbtest.Look[bool](t, o.World, dbtest.SecondShard, `SELECT paused_at IS NOT NULL FROM tenant.clients WHERE id = $1`, o.client),
			dbtest.Look[bool](t, o.World, dbtest.SecondShard, `SELECT paused_at IS NOT NULL FROM tenant.tenants`),
			dbtest.Look[bool](t, o.World, db.MainShard, `SELECT paused_at IS NOT NULL FROM control.workspaces WHERE id = $1`, o.agency.ID))
	}
	client := fmt.Sprintf("/clients/%d/pause", o.client)
	wantPage(t, anna("POST", client, "paused", "true"), 303)
	wantPage(t, anna("POST", "/pause", "paused", "true"), 303)
	wantPage(t, anna("GET", "/accounts"), 200, "The workspace is paused", "Resume client", "Resume workspace")
	if got := paused(); got != "true true true" {
		t.Errorf("client, shard, control: %s", got)
	}
	// A crash between the planes: asking again repairs it.
	o.Super(t, db.MainShard, `UPDATE control.workspaces SET paused_at = NULL`)
	wantPage(t, anna("POST", "/pause", "paused", "true"), 303)
	if got := paused(); got != "true true true" {
		t.Errorf("after the repair: %s", got)
	}
	wantPage(t, anna("POST", client, "paused", "false"), 303)
	wantPage(t, anna("POST", "/pause", "paused", "false"), 303)
	if got := paused(); got != "false false false" {
		t.Errorf("resumed: %s", got)
	}
}

func TestAccountsKeepToRoles(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	other := o.agency.Client(t, "other")
	hidden := o.agency.Account(t, other, network.Webhook)
	viewer := o.as(t, o.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{o.client: model.Viewer.Grants()}))
	manager := o.as(t, o.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{o.client: model.Manager.Grants()}))
	page := viewer("GET", "/accounts")
	wantPage(t, page, 200, "@mastodon-0")
	for _, word := range []string{"Client other", "Pause", "Reconnect", "Add account", "<form method=\"post\" action=\"/w/north/accounts"} {
		if strings.Contains(page.Body.String(), word) {
			t.Errorf("a viewer sees %q", word)
		}
	}
	wantPage(t, manager("GET", "/accounts"), 200, "Pause account", "Add account")
	for _, path := range []string{"", "/connection", "/pause", "/state", "/retries"} {
		own, foreign := fmt.Sprintf("/accounts/%d%s", o.mastodon, path), fmt.Sprintf("/accounts/%d%s", hidden, path)
		wantPage(t, viewer("POST", own, "seen", "1", "make", "true"), 403)
		wantPage(t, manager("POST", foreign, "seen", "1", "make", "true"), 404)
	}
	wantPage(t, manager("GET", fmt.Sprintf("/accounts/%d", hidden)), 404)
	mixed := o.as(t, o.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{o.client: model.Viewer.Grants(), other: model.Manager.Grants()}))
	for _, path := range []string{"", "/connection", "/pause", "/state", "/retries"} {
		wantPage(t, mixed("POST", fmt.Sprintf("/accounts/%d%s", o.mastodon, path), "seen", "1", "token", "x", "handle", "x", "address", "https://social.example", "paused", "true"), 403)
	}
	wantPage(t, mixed("POST", "/accounts", "network", "webhook", "client", fmt.Sprint(o.client), "handle", "x", "address", "https://x.example", "make", "true"), 403)
	wantPage(t, manager("POST", fmt.Sprintf("/clients/%d/pause", o.client), "paused", "true"), 403)
	wantPage(t, manager("POST", "/pause", "paused", "true"), 403)
	wantPage(t, manager("POST", "/accounts", "network", "webhook", "client", fmt.Sprint(other), "handle", "x", "address", "https://x.example", "make", "true"), 404, "no such client")
}

func TestAccountsRefuseForeignIDsInEveryPosition(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	south := o.Agency(t, "south", dbtest.SecondShard)
	client := south.Client(t, "theirs")
	account := south.Account(t, client, network.Webhook)
	anna := o.as(t, o.agency.Owner)
	for _, bad := range []string{fmt.Sprint(account), "0", "-1", "x", "9223372036854775807", "99999999999999999999"} {
		wantPage(t, anna("GET", "/accounts/"+bad), 404)
		for _, path := range []string{"", "/connection", "/pause", "/state", "/retries"} {
			wantPage(t, anna("POST", "/accounts/"+bad+path, "seen", "1", "token", "x", "handle", "x", "paused", "true"), 404)
		}
	}
	for _, bad := range []string{fmt.Sprint(client), "0", "x"} {
		wantPage(t, anna("POST", "/clients/"+bad+"/pause", "paused", "true"), 404)
		wantPage(t, anna("POST", "/accounts", "network", "webhook", "client", bad, "handle", "x", "address", "https://x.example", "make", "true"), 404)
	}
	if n := dbtest.Look[int](t, o.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1`, south.ID); n != 0 {
		t.Errorf("%d lines in the other workspace", n)
	}
}
