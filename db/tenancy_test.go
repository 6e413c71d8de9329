package db_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// TestAnotherWorkspacesIdsAreNotFound calls every method of Scope with the ids of
// another workspace, which sits once on another shard and once on the same.
func TestAnotherWorkspacesIdsAreNotFound(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{dbtest.SecondShard, db.MainShard} {
		t.Run("on the shard "+shard, func(t *testing.T) {
			t.Parallel()
			w := dbtest.New(t)
			victim, stranger := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", shard)
			callAll(t, stranger.Owner, stranger.Main, victim.Main)
		})
	}
}

// TestAHiddenClientsIdsAreNotFound does the same as a member who works for one
// client, with the ids of the other.
func TestAHiddenClientsIdsAreNotFound(t *testing.T) {
	t.Parallel()
	e := dbtest.New(t).Estate(t, "north", dbtest.SecondShard)
	callAll(t, e.Half, e.Other, e.Main)
}

func callAll(t *testing.T, sc *db.Scope, own, of dbtest.Holding) {
	methods := scopeMethods()
	mine, theirs := own.Watch(t), of.Watch(t)
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		m := methods[name]
		if m.common && own.ID == of.ID {
			continue
		}
		for _, what := range slices.Sorted(maps.Keys(m.calls)) {
			got, err := m.calls[what](t.Context(), sc, own, of)
			title := strings.TrimSpace(name + " " + what)
			checkRefused(t, title, m, got, err, of.Mark)
			if changed := mine.Changed(t); len(changed) > 0 && !m.free {
				t.Errorf("%s was refused and wrote all the same: %v", title, changed)
			}
			if own.ID == of.ID {
				continue
			}
			if changed := theirs.Changed(t); len(changed) > 0 {
				t.Errorf("%s changed what is another's: %v", title, changed)
			}
		}
	}
}

// checkRefused wants NotFound, or an answer in which nothing of the other stands.
func checkRefused(t *testing.T, title string, m method, got any, err error, mark string) {
	t.Helper()
	shown, _ := json.Marshal(got)
	if strings.Contains(string(shown), mark) || strings.Contains(fmt.Sprintf("%+v", got), mark) {
		t.Errorf("%s showed what is another's: %s", title, shown)
	}
	no, refused := model.Refused(err)
	switch {
	case m.free && (err == nil || refused && no.Kind == model.Forbidden):
	case m.empty && err == nil:
	case m.whole && refused && no.Kind == model.Forbidden:
	case refused && no.Kind == model.NotFound:
		if strings.Contains(no.Say, mark) {
			t.Errorf("%s names what is another's in its refusal: %s", title, no.Say)
		}
	default:
		t.Errorf("%s: got %v, want NotFound", title, err)
	}
}

// TestOwnIdsAreFound proves the cases above: the same calls with one's own ids
// are carried out, so it is the wall that refuses the others.
func TestOwnIdsAreFound(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	agency := w.Agency(t, "north", dbtest.SecondShard)
	methods := scopeMethods()
	for n, name := range slices.Sorted(maps.Keys(methods)) {
		if n%60 == 59 { // there is an end to what one workspace may send within an hour
			agency = w.Agency(t, fmt.Sprintf("north-%d", n), dbtest.SecondShard)
		}
		for _, what := range slices.Sorted(maps.Keys(methods[name].calls)) {
			if methods[name].changes {
				continue // TestEveryChangeLeavesAnAuditLine carries those out
			}
			h := agency.Holding(t, strings.ToLower(strings.ReplaceAll(name+what, " ", "")))
			if _, err := methods[name].calls[what](t.Context(), agency.Owner, h, h); err != nil {
				t.Errorf("%s %s with one's own ids: %v", name, what, err)
			}
		}
	}
}

// TestAReviewLinkReachesItsOwnRequestsOnly uses the link of one client's approver
// with the requests of another's, of the same workspace and of another.
func TestAReviewLinkReachesItsOwnRequestsOnly(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	rs, err := w.Store.Review(t.Context(), north.Other.Token)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []dbtest.Holding{north.Main, south.Main, south.Other} {
		before := of.Imprint(t)
		d := decision(of)
		d.Request = of.Request
		out, err := rs.Decide(t.Context(), []db.Decision{d})
		if err != nil || !isNotFound(out[0].No) {
			t.Errorf("decide about %s: %+v, %v, want NotFound", of.Mark, out, err)
		}
		if _, err := rs.Comment(t.Context(), of.Request, "", "A remark"); !isNotFound(err) {
			t.Errorf("comment on %s: %v, want NotFound", of.Mark, err)
		}
		if changed := dbtest.Changed(before, of.Imprint(t)); len(changed) > 0 {
			t.Errorf("a link of %s changed %s: %v", north.Other.Mark, of.Mark, changed)
		}
	}
	page, err := rs.Page(t.Context())
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != north.Other.Request {
		t.Errorf("the page of the link: %+v, %v", page, err)
	}
}

// TestTheStoresDoorsKnowWhoseIdsTheyAre tries the doors that make a Scope, or
// stand in for one, with another workspace's names.
func TestTheStoresDoorsKnowWhoseIdsTheyAre(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	north, south := w.Estate(t, "north", db.MainShard), w.Estate(t, "south", db.MainShard)
	user := south.Owner.Actor.User
	if _, err := w.Store.Enter(t.Context(), user, "north"); !isNotFound(err) {
		t.Errorf("enter another's workspace: %v", err)
	}
	if _, err := w.Store.MemberMedia(t.Context(), user, north.ID, north.Main.Media); !isNotFound(err) {
		t.Errorf("a file of another's workspace: %v", err)
	}
	if _, err := w.Store.MemberMedia(t.Context(), user, south.ID, north.Main.Media); !isNotFound(err) {
		t.Errorf("another's file in one's own workspace: %v", err)
	}
	if _, err := w.Store.MemberMedia(t.Context(), north.Half.Actor.User, north.ID, north.Main.Media); !isNotFound(err) {
		t.Errorf("a file of a hidden client: %v", err)
	}
	if _, err := w.Store.LinkedMedia(t.Context(), south.ID, north.Main.Media); !isNotFound(err) {
		t.Errorf("a link to another's file: %v", err)
	}
	made := dbtest.Look[model.RenditionID](t, w, db.MainShard, `UPDATE tenant.media_renditions SET state = 'ready', path = 'x' WHERE tenant_id = $1 AND media_id = $2 RETURNING id`, north.ID, north.Main.Media)
	for what, ask := range map[string]func() (string, error){
		"another's rendition":           func() (string, error) { return w.Store.RenditionPath(t.Context(), south.ID, north.Main.Media, made) },
		"a rendition of another file":   func() (string, error) { return w.Store.RenditionPath(t.Context(), north.ID, north.Other.Media, made) },
		"a rendition by one's own file": func() (string, error) { return w.Store.RenditionPath(t.Context(), south.ID, south.Main.Media, made) },
	} {
		if path, err := ask(); !isNotFound(err) {
			t.Errorf("%s: %q, %v", what, path, err)
		}
	}
	if path, err := w.Store.RenditionPath(t.Context(), north.ID, north.Main.Media, made); err != nil || path != "x" {
		t.Errorf("one's own rendition: %q, %v", path, err)
	}
	_, random, _ := strings.Cut(north.Main.Token, ".")
	southern, _, _ := strings.Cut(south.Main.Token, ".")
	if _, err := w.Store.Review(t.Context(), southern+"."+random); !isNotFound(err) {
		t.Errorf("a link carried to another workspace: %v", err)
	}
	// Requests of both ask south's owner.
	w.Super(t, south.Shard, `UPDATE tenant.approval_requests SET stages = jsonb_set(stages, '{0,people}', jsonb_build_array(jsonb_build_object('user', $1::bigint, 'name', '')))`, south.Owner.Actor.User)
	frame, err := w.Store.Frame(t.Context(), south.Owner)
	if err != nil || len(frame.Workspaces) != 1 || frame.Workspaces[0].Slug != "south" || frame.Waiting != 2 {
		t.Errorf("the frame of south: %+v, %v", frame, err)
	}
}

// TestNoPermissionAtAClientWidensTheRole: what a person was granted at a client
// stays in the shard when the role is lowered in the control plane, and counts no
// more than the role does.
func TestNoPermissionAtAClientWidensTheRole(t *testing.T) {
	t.Parallel()
	h := dbtest.New(t).Agency(t, "north", dbtest.SecondShard).Holding(t, "main")
	all := map[model.ClientID][]model.Permission{h.Client: model.Owner.Grants()}
	for _, role := range []model.Role{model.Viewer, model.Editor, model.Manager} {
		sc := h.Member(t, role, all)
		for _, p := range model.Owner.Grants() {
			if got, want := sc.Actor.May(p, h.Client), slices.Contains(role.Grants(), p); got != want {
				t.Errorf("a %s who was granted %s at the client: may %v, want %v", role, p, got, want)
			}
		}
	}
	viewer := h.Member(t, model.Viewer, all)
	if _, err := viewer.CancelTarget(t.Context(), h.PlannedTarget, targetSeen(h, h.PlannedTarget)); err == nil {
		t.Error("a viewer cancelled a target")
	}
}

// TestAStageCountsOnNobodyWhoseRoleDoesNotApprove: a grant that outlived its role
// makes nobody an approver, or a stage of everyone would wait for ever.
func TestAStageCountsOnNobodyWhoseRoleDoesNotApprove(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	grants := map[model.ClientID][]model.Permission{h.client: model.Manager.Grants()}
	manager, viewer := h.Member(t, model.Manager, grants), h.Member(t, model.Viewer, grants)
	h.stage(t, h.client, 1, model.Everyone, person(manager), person(viewer))
	page := h.submit(t, h.Post(t, "Fresh bread", h.account))[0]
	asked := h.request(t, page.Post.ID, h.client)
	if people := asked.Current().People; len(people) != 1 || people[0].User != manager.Actor.User {
		t.Errorf("asked are %+v, want the manager alone", people)
	}
}

func isNotFound(err error) bool {
	no, ok := model.Refused(err)
	return ok && no.Kind == model.NotFound
}
