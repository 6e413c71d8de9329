package signin

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/secret"
)

func (r *rig) forget(t *testing.T, email string) (status int, body string) {
	t.Helper()
	got := r.do(t, "POST", "/forgotten", url.Values{"email": {email}})
	return got.Code, got.Body.String()
}

// forgetful is somebody in two workspaces who was mailed a link.
func (r *rig) forgetful(t *testing.T) (path string) {
	t.Helper()
	r.person(t, "anna@nord.example", cheap, "bay", "nord")
	if status, body := r.forget(t, " Anna@nord.example "); status != 200 || !strings.Contains(body, "Look into your mail") {
		t.Fatalf("%d %s", status, body)
	}
	return "/passwords/" + r.link(t, "anna@nord.example")
}

// link is the token of the newest link that was mailed to an address.
func (r *rig) link(t *testing.T, email string) string {
	t.Helper()
	row := ` FROM tenant.mails WHERE to_email = $1 AND kind = 'password_link' ORDER BY id DESC LIMIT 1`
	tenant, key := dbtest.Look[model.TenantID](t, r.World, db.MainShard, `SELECT tenant_id`+row, email), dbtest.Look[string](t, r.World, db.MainShard, `SELECT key`+row, email)
	token, err := r.Ring.Open(dbtest.Look[[]byte](t, r.World, db.MainShard, `SELECT sealed`+row, email), db.MailAAD(tenant, key))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestAForgottenPasswordIsChosenAnewByALinkThatWorksOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.forgetful(t)
	r.want(t, r.try(t, "anna@nord.example", password), 303, "/calendar")
	elsewhere := r.jar
	r.jar = map[string]string{}
	for range 2 {
		r.want(t, r.do(t, "GET", path, nil), 200, "anna@nord.example")
	}
	r.want(t, r.do(t, "POST", path, url.Values{"secret": {"short"}}), 422, "Use ten characters or more.")
	r.want(t, r.do(t, "POST", path, url.Values{"secret": {"another horse battery"}}), 303, "/w/bay/calendar")
	r.want(t, r.do(t, "GET", "/w/bay/calendar", nil), 200, "calendar of bay")
	r.want(t, r.do(t, "GET", path, nil), 410, "does not work any more")
	r.want(t, r.do(t, "POST", path, url.Values{"secret": {"a third horse battery"}}), 410, "does not work any more")

	r.jar = elsewhere
	r.want(t, r.do(t, "GET", "/w/bay/calendar", nil), 303, "/signin")
	r.jar = map[string]string{}
	r.want(t, r.try(t, "anna@nord.example", password), 422, sayWrong)
	r.want(t, r.try(t, "anna@nord.example", "another horse battery"), 303, "/calendar")
	if verb := dbtest.Look[string](t, r.World, db.MainShard, `SELECT verb FROM tenant.audit ORDER BY id DESC LIMIT 1`); verb != "password_reset" {
		t.Errorf("the audit log says %q", verb)
	}
}

func TestAskingForALinkNeverTellsWhoIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.forgetful(t)
	r.Super(t, db.MainShard, `INSERT INTO control.users (email, name) VALUES ('none@nord.example', 'No Password')`)
	_, known := r.forget(t, "anna@nord.example")
	for _, email := range []string{"who@nord.example", "none@nord.example", "a\x00@b", "\xff@\xfe"} {
		began := time.Now()
		status, body := r.forget(t, email)
		if status != 200 || !strings.Contains(body, "Look into your mail") {
			t.Errorf("%q: %d", email, status)
		}
		if took := time.Since(began); took < answerAfter {
			t.Errorf("%q was answered after %s, before what owes a mail would be", email, took)
		}
		if email == "who@nord.example" && strings.ReplaceAll(body, email, "anna@nord.example") != known {
			t.Errorf("the answers differ:\n%s\n%s", body, known)
		}
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.mails`); n != 2 {
		t.Errorf("%d mails", n)
	}
	for _, email := range []string{"", "anna", strings.Repeat("a", 300) + "@b"} {
		if status, body := r.forget(t, email); status != 422 || !strings.Contains(body, "Write your e-mail address") {
			t.Errorf("%q: %d %s", email, status, body)
		}
	}
}

func TestLinksRunOutAndAreFewAndAloneInTheirMail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.forgetful(t)
	r.forget(t, "anna@nord.example")
	second := "/passwords/" + r.link(t, "anna@nord.example")
	r.want(t, r.do(t, "GET", first, nil), 200, "Choose a new password")
	r.want(t, r.do(t, "GET", second, nil), 200, "Choose a new password")
	for _, email := range []string{"anna@nord.example", "who@nord.example"} {
		for range 3 {
			r.forget(t, email)
		}
		if status, body := r.forget(t, email); status != 429 || !strings.Contains(body, "Too many tries") || !strings.Contains(body, email) {
			t.Errorf("%s: %d", email, status)
		}
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.mails`); n != 3 {
		t.Errorf("%d mails", n)
	}
	token := strings.TrimPrefix(first, "/passwords/")
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.password_links WHERE position($1 IN token_hash::text) > 0`, token); n != 0 {
		t.Error("a token is stored as it is")
	}
	r.Clock.Advance(time.Hour)
	r.want(t, r.do(t, "GET", first, nil), 410, "older than an hour")
	r.want(t, r.do(t, "POST", first, url.Values{"secret": {"another horse battery"}}), 410, "older than an hour")
	r.want(t, r.do(t, "GET", "/passwords/"+strings.Repeat("x", 3000), nil), 410, "Ask for another")
}

func TestALinkLetsOneOfManyThrough(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := strings.TrimPrefix(r.forgetful(t), "/passwords/")
	hash, err := secret.HashPassword(t.Context(), "another horse battery", cheap)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	through := make(chan bool, 8)
	for range cap(through) {
		all.Go(func() {
			_, err := r.Store.UsePasswordLink(t.Context(), token, hash)
			through <- err == nil
		})
	}
	all.Wait()
	close(through)
	n := 0
	for ok := range through {
		if ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d got through", n)
	}
}

func TestADisabledPersonGetsNoWayIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.forgetful(t)
	r.Super(t, db.MainShard, `UPDATE control.users SET disabled_at = now() WHERE email = 'anna@nord.example'`)
	r.want(t, r.do(t, "GET", path, nil), 410, "does not work any more")
	r.want(t, r.do(t, "POST", path, url.Values{"secret": {"another horse battery"}}), 410, "does not work any more")
	r.forget(t, "anna@nord.example")
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.mails`); n != 1 {
		t.Errorf("%d mails", n)
	}
}
