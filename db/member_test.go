package db_test

import (
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	me := a.Owner.Actor.User
	seen := func(id model.UserID) string {
		m, _, err := a.Owner.Member(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return m.Seen()
	}
	_, err := a.Owner.EditMember(t.Context(), me, db.MemberForm{Role: model.Admin, Seen: seen(me)})
	refusedWith(t, err, "takes the last owner")
	_, err = a.Owner.RemoveMember(t.Context(), me, seen(me))
	refusedWith(t, err, "make somebody else an owner first")
	other := a.Member(t, model.Admin, nil)
	if _, err := a.Owner.EditMember(t.Context(), other.Actor.User, db.MemberForm{Role: model.Owner, Seen: seen(other.Actor.User)}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Owner.RemoveMember(t.Context(), me, seen(me)); err != nil {
		t.Errorf("an owner leaves to another: %v", err)
	}
	if _, err := w.Store.Enter(t.Context(), me, "north"); !isNotFound(err) {
		t.Errorf("who was removed: %v", err)
	}
}

// refusedWith wants a refusal that says words.
func refusedWith(t *testing.T, err error, words string) {
	t.Helper()
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, words) {
		t.Errorf("got %v, want a refusal that says %q", err, words)
	}
}

func TestAnAdminMakesAndChangesNoOwner(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	admin, editor := a.Member(t, model.Admin, nil), a.Member(t, model.Viewer, nil)
	m, _, err := admin.Member(t.Context(), editor.Actor.User)
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.EditMember(t.Context(), m.ID, db.MemberForm{Role: model.Owner, Seen: m.Seen()})
	refusedWith(t, err, "Only an owner")
	_, err = admin.RemoveMember(t.Context(), a.Owner.Actor.User, "")
	refusedWith(t, err, "Only an owner")
	refusedWith(t, admin.Invite(t.Context(), "new@north.example", db.MemberForm{Role: model.Owner}), "Only an owner")
	if _, err := admin.EditMember(t.Context(), m.ID, db.MemberForm{Role: model.Admin, Seen: m.Seen()}); err != nil {
		t.Errorf("an admin makes an admin: %v", err)
	}
	_, err = admin.EditMember(t.Context(), m.ID, db.MemberForm{Role: model.Admin, Seen: m.Seen()})
	refusedWith(t, err, "Somebody changed this meanwhile")
}

// TestAMemberIsGivenNoMoreThanTheRoleAllows asks for more than an editor has.
func TestAMemberIsGivenNoMoreThanTheRoleAllows(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", dbtest.SecondShard)
	one, two := a.Client(t, "one"), a.Client(t, "two")
	mia := a.Member(t, model.Manager, map[model.ClientID][]model.Permission{one: model.Manager.Grants(), two: model.Manager.Grants()})
	m, _, err := a.Owner.Member(t.Context(), mia.Actor.User)
	if err != nil {
		t.Fatal(err)
	}
	f := db.MemberForm{Role: model.Editor, Seen: m.Seen(), Access: map[model.ClientID][]model.Permission{one: {model.PostsWrite, model.PostsApprove, model.WorkspaceManage, "made.up"}}}
	if _, err := a.Owner.EditMember(t.Context(), m.ID, f); err != nil {
		t.Fatal(err)
	}
	mia = a.Enter(t, m.ID)
	if got := mia.Actor.Clients; len(got) != 1 || len(got[one]) != 2 || !mia.Actor.May(model.PostsView, one) || mia.Actor.May(model.PostsApprove, one) {
		t.Errorf("the member may %v", got)
	}
	f.Access, f.Seen = nil, ""
	_, err = a.Owner.EditMember(t.Context(), m.ID, f)
	refusedWith(t, err, "Choose at least one client")
}

// TestAStageKeepsSomebodyWhoCanApprove removes the only person of a stage.
func TestAStageKeepsSomebodyWhoCanApprove(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	mia := a.Member(t, model.Manager, map[model.ClientID][]model.Permission{client: model.Manager.Grants()})
	w.Super(t, a.Shard, `WITH s AS (INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, 'Check', 'any') RETURNING id)
		INSERT INTO tenant.stage_people (tenant_id, stage_id, user_id) SELECT $1, id, $3 FROM s`, a.ID, client, mia.Actor.User)
	m, _, err := a.Owner.Member(t.Context(), mia.Actor.User)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Owner.RemoveMember(t.Context(), m.ID, m.Seen())
	refusedWith(t, err, `the stage "Check"`)
	if _, err := w.Store.Enter(t.Context(), m.ID, "north"); err != nil {
		t.Errorf("the member is gone all the same: %v", err)
	}
}

func TestAClientIsPutAwayOnlyWhenNothingIsOnItsWay(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	h := w.Agency(t, "north", db.MainShard).Holding(t, "bakery")
	_, err := h.Owner.ArchiveClient(t.Context(), h.Client, true)
	refusedWith(t, err, "planned or on their way")
	c, err := h.Owner.AddClient(t.Context(), db.ClientForm{Name: " Café  Zürich ", Zone: "Europe/Zurich", LateCutoff: 90 * time.Minute})
	if err != nil || c.Name != "Café Zürich" || c.Slug != "cafe-zurich" || *c.LateCutoff != 90*time.Minute {
		t.Fatalf("the client is %+v, %v", c, err)
	}
	for _, name := range []string{"café zürich", "CAFÉ ZÜRICH"} {
		_, err = h.Owner.AddClient(t.Context(), db.ClientForm{Name: name, Zone: "Europe/Zurich"})
		refusedWith(t, err, "a client of that name")
	}
	like, err := h.Owner.AddClient(t.Context(), db.ClientForm{Name: "Cafe Zurich!", Zone: "Europe/Zurich"})
	if err != nil || like.Slug != "cafe-zurich-2" {
		t.Errorf("a name that is nearly the same: %+v, %v", like, err)
	}
	if _, err := h.Owner.ArchiveClient(t.Context(), c.ID, true); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Owner.ArchiveClient(t.Context(), c.ID, false); err != nil {
		t.Fatal(err)
	}
	c, _, err = h.Owner.ClientSetting(t.Context(), c.ID)
	if err != nil || c.ArchivedAt != nil || c.PausedAt == nil {
		t.Errorf("a client that came back is %+v, %v; want it paused", c, err)
	}
}

func TestABlackoutTellsWhatIsPlannedInside(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	h := w.Agency(t, "north", db.MainShard).Holding(t, "bakery")
	day := model.LocalOf(w.Clock.Now().Add(24 * time.Hour)).Date
	from, to := model.LocalTime{Date: day}, model.LocalTime{Date: day, Hour: 23, Minute: 59}
	for range 2 { // the same form twice
		inside, err := h.Owner.AddBlackout(t.Context(), h.Client, from, to, "Works outing")
		if err != nil || inside != 1 {
			t.Errorf("%d inside, %v; want the one that is planned", inside, err)
		}
	}
	_, blackouts, err := h.Owner.ClientSetting(t.Context(), h.Client)
	if err != nil || len(blackouts) != 2 { // one of the holding
		t.Errorf("%+v, %v", blackouts, err)
	}
	_, err = h.Owner.AddBlackout(t.Context(), h.Client, to, from, "Backwards")
	refusedWith(t, err, "ends after it begins")
	_, err = h.Owner.AddBlackout(t.Context(), h.Client, from, to, " ")
	refusedWith(t, err, "Say why")
}
