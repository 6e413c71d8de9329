package signin

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// invite asks somebody to see one client of a new workspace, and returns the path of
// the link.
func (r *rig) invite(t *testing.T, email string) (*dbtest.Agency, string) {
	t.Helper()
	a := r.Agency(t, "nord", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	if err := a.Owner.Invite(t.Context(), email, db.MemberForm{Role: model.Editor, Access: map[model.ClientID][]model.Permission{client: {model.PostsWrite}}}); err != nil {
		t.Fatal(err)
	}
	return a, "/invitations/" + a.Mailed(t, strings.ToLower(strings.TrimSpace(email)))
}

func (r *rig) join(t *testing.T, path, name, word string) *httptest.ResponseRecorder {
	t.Helper()
	return r.do(t, "POST", path, url.Values{"name": {name}, "secret": {word}})
}

func TestSomebodyNewJoinsByALinkThatWorksOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, path := r.invite(t, "Mia@Nord.example ")
	r.want(t, r.do(t, "GET", path, nil), 200, "Join Agency nord")
	r.want(t, r.join(t, path, "Mia", "short"), 422, "Use ten characters or more.")
	r.want(t, r.join(t, path, " \t", password), 422, "Say a name.")
	r.want(t, r.join(t, path, "Mia Berg", "mia@nord.example"), 422, "too easy to guess")
	r.want(t, r.join(t, path, "Mia  Berg", password), 303, "/w/nord/calendar")
	r.want(t, r.do(t, "GET", "/w/nord/calendar", nil), 200, "calendar of nord")
	r.want(t, r.do(t, "GET", path, nil), 410, "does not work any more")
	r.want(t, r.join(t, path, "Mallory", "another horse battery"), 410, "does not work any more")

	r.jar = map[string]string{}
	r.want(t, r.try(t, "mia@nord.example", password), 303, "/w/nord/calendar")
	id := dbtest.Look[model.UserID](t, r.World, db.MainShard, `SELECT id FROM control.users WHERE email = 'mia@nord.example' AND name = 'Mia Berg'`)
	mia := a.Enter(t, id)
	if mia.Actor.Role != model.Editor || len(mia.Actor.Clients) != 1 || mia.Actor.MayAnywhere(model.MediaWrite) || !mia.Actor.MayAnywhere(model.PostsView) {
		t.Errorf("the new member is %+v", mia.Actor)
	}
	if verb := dbtest.Look[string](t, r.World, a.Shard, `SELECT verb FROM tenant.audit WHERE tenant_id = $1 AND user_id = $2`, a.ID, id); verb != "joined" && verb != "declared" {
		t.Errorf("the audit log says %q", verb)
	}
}

func TestWhoHasAPasswordSignsInToJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mia := r.person(t, "mia@nord.example", cheap) // in no workspace
	r.person(t, "ola@bay.example", cheap, "bay")
	_, path := r.invite(t, "mia@nord.example")
	r.want(t, r.join(t, path, "Mallory", "another horse battery"), 403, "Sign in as the person who was invited")
	r.want(t, r.do(t, "GET", path, nil), 200, "/signin?next=%2Finvitations%2F")
	r.want(t, r.try(t, "ola@bay.example", password), 303, "/w/bay/calendar")
	r.want(t, r.do(t, "GET", path, nil), 200, "signed in as somebody else")
	r.want(t, r.join(t, path, "", ""), 403, "Sign in as the person who was invited")

	r.jar = map[string]string{}
	signed := r.do(t, "POST", "/signin", url.Values{"email": {"mia@nord.example"}, "password": {password}, "next": {path}})
	r.want(t, signed, 303, path)
	r.want(t, r.do(t, "GET", "/signin?next="+url.QueryEscape(path), nil), 303, path)
	r.want(t, r.do(t, "GET", path, nil), 200, "Join")
	r.want(t, r.join(t, path, "", ""), 303, "/w/nord/calendar")
	r.want(t, r.do(t, "GET", "/w/nord/calendar", nil), 200, "calendar of nord")
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.memberships WHERE user_id = $1`, mia); n != 1 {
		t.Errorf("%d memberships", n)
	}
}

func TestAnInvitationEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, path := r.invite(t, "mia@nord.example")
	open := func() model.InvitationID {
		return dbtest.Look[model.InvitationID](t, r.World, a.Shard, `SELECT id FROM tenant.invitations WHERE tenant_id = $1 AND revoked_at IS NULL`, a.ID)
	}
	if _, err := a.Owner.InviteAgain(t.Context(), open()); err != nil {
		t.Fatal(err)
	}
	r.want(t, r.do(t, "GET", path, nil), 410, "a newer one was sent")
	path = "/invitations/" + a.Mailed(t, "mia@nord.example")
	r.Clock.Advance(7*24*time.Hour + time.Second)
	r.want(t, r.do(t, "GET", path, nil), 410, "ran out")
	r.want(t, r.join(t, path, "Mia", password), 410, "ran out")
	r.Clock.Advance(-time.Minute)
	if _, err := a.Owner.RevokeInvitation(t.Context(), open()); err != nil {
		t.Fatal(err)
	}
	r.want(t, r.join(t, path, "Mia", password), 410, "taken back")
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM control.users WHERE email = 'mia@nord.example'`); n != 0 {
		t.Error("a link that had ended made a person")
	}
}

// TestTwoPeopleCannotUseOneLink has two browsers join at once.
func TestTwoPeopleCannotUseOneLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, path := r.invite(t, "mia@nord.example")
	codes := make([]int, 2)
	var both sync.WaitGroup
	for i, word := range []string{"the first of two words", "the second of two words"} {
		both.Go(func() {
			one := &rig{World: r.World, web: r.web, at: r.at, jar: map[string]string{}}
			codes[i] = one.join(t, path, "Mia", word).Code
		})
	}
	both.Wait()
	if codes[0]+codes[1] != 303+410 {
		t.Errorf("the answers are %v, want one 303 and one 410", codes)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1 AND verb = 'joined'`, a.ID); n != 1 {
		t.Errorf("%d people joined", n)
	}
}
