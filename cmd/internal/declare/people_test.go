package declare

import (
	"slices"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// staffed is an agency whose bakery is asked in two stages.
const staffed = `
plans: [{name: studio}]
users:
  - {email: anna@nord.example, name: Anna}
  - {email: eve@nord.example, name: Eve}
  - {email: ole@nord.example, name: Ole}
workspaces:
  - slug: nord
    name: Nord
    zone: Europe/Berlin
    plan: studio
    shard: second
    members:
      - {user: anna@nord.example, role: owner}
      - {user: eve@nord.example, role: manager, clients: {bakery: all}}
      - {user: ole@nord.example, role: editor, clients: {bakery: all}}
    clients:
      - slug: bakery
        name: Bakery
        zone: Europe/Berlin
        approvers: [{email: mia@bakery.example, name: Mia}, {email: lee@bakery.example, name: Lee}]
        stages:
          - {name: Agency, people: [eve@nord.example]}
          - {name: Client, rule: all, people: [mia@bakery.example, lee@bakery.example]}
        accounts: [{slug: toots, network: mastodon, handle: "@bakery", address: https://social.example, token: t}]
`

func enter(t *testing.T, w *dbtest.World, email string) *db.Scope {
	t.Helper()
	user := dbtest.Look[model.UserID](t, w, db.MainShard, `SELECT id FROM control.users WHERE email = $1`, email)
	scope, err := w.Store.Enter(t.Context(), user, "nord")
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

// asked submits a post of Ole's to the bakery.
func asked(t *testing.T, w *dbtest.World, text string) db.PostPage {
	t.Helper()
	ole := enter(t, w, "ole@nord.example")
	account := dbtest.Look[model.AccountID](t, w, dbtest.SecondShard, `SELECT id FROM tenant.accounts`)
	page, err := ole.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: text, Accounts: []model.AccountID{account}}})
	if err == nil {
		page, err = ole.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func request(t *testing.T, w *dbtest.World, post model.PostID) db.InboxRequest {
	t.Helper()
	list, err := enter(t, w, "anna@nord.example").PostApprovals(t.Context(), post)
	if err != nil || len(list) == 0 {
		t.Fatalf("no request: %v", err)
	}
	return list[0] // the newest
}

// approves lets a member say yes, or, by the newest link, an approver.
func approves(t *testing.T, w *dbtest.World, who string, post model.PostID) db.Decided {
	t.Helper()
	r := request(t, w, post)
	d := db.Decision{Request: r.ID, Verdict: model.Approve, Hash: r.Hash, Stage: r.Stage}
	if strings.HasSuffix(who, "@nord.example") {
		out, err := enter(t, w, who).Decide(t.Context(), r.ID, d)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	key := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT key FROM tenant.mails WHERE to_email = $1 AND sealed IS NOT NULL ORDER BY id DESC LIMIT 1`, who)
	sealed := dbtest.Look[[]byte](t, w, dbtest.SecondShard, `SELECT sealed FROM tenant.mails WHERE key = $1`, key)
	token, err := w.Ring.Open(sealed, db.MailAAD(enter(t, w, "anna@nord.example").Workspace.ID, key))
	if err != nil {
		t.Fatal(err)
	}
	rs, err := w.Store.Review(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	out, err := rs.Decide(t.Context(), []db.Decision{d})
	if err != nil || out[0].No != nil {
		t.Fatalf("%v, %+v", err, out)
	}
	return out[0]
}

func refuses(t *testing.T, w *dbtest.World, text, want string) {
	t.Helper()
	changes, err := Apply(t.Context(), w.Store, parsed(t, text))
	if err == nil || len(changes) != 0 || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\n got %q, %v\nwant %s", text, changes, err, want)
	}
	if again := apply(t, w, staffed); len(again) != 0 {
		t.Errorf("it changed something all the same: %q", again)
	}
}

func TestAWorkspaceKeepsAnOwner(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, staffed)
	const want = "this takes the last owner, anna@nord.example, from the workspace nord; make somebody else an owner in the same file"
	refuses(t, w, "workspaces:\n- slug: nord\n  members:\n  - {user: eve@nord.example, role: admin}\n  - {user: anna@nord.example, remove: true}", "x.yaml:5: "+want)
	refuses(t, w, "workspaces:\n- slug: nord\n  members: [{user: anna@nord.example, role: admin}]", "x.yaml:3: "+want)
	refuses(t, w, "users:\n- {email: anna@nord.example, disabled: true}", "x.yaml:2: "+want)

	got := apply(t, w, "workspaces:\n- slug: nord\n  members: [{user: anna@nord.example, remove: true}, {user: eve@nord.example, role: owner}]")
	if !slices.Contains(got, "member anna@nord.example of nord: removed") {
		t.Errorf("told %q", got)
	}
	apply(t, w, "users:\n- {email: anna@nord.example, disabled: true}") // no owner any more
	apply(t, w, "workspaces:\n- {slug: empty, name: Empty, zone: UTC, plan: studio}")
	apply(t, w, "workspaces:\n- {slug: empty, name: Still empty}")
}

func TestAStageKeepsSomebodyWhoCanApprove(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, staffed)
	asked(t, w, "Buns")
	const agency = `eve@nord.example could not approve any more, and the stage "Agency" of nord/bakery would have nobody else, while one post of the client waits for approval`
	refuses(t, w, "workspaces:\n- slug: nord\n  members: [{user: eve@nord.example, remove: true}]", "x.yaml:3: "+agency)
	refuses(t, w, "workspaces:\n- slug: nord\n  members: [{user: eve@nord.example, role: viewer, clients: {bakery: [posts.view]}}]", "x.yaml:3: "+agency)
	refuses(t, w, "workspaces:\n- slug: nord\n  members:\n  - user: eve@nord.example\n    clients: {bakery: []}", "x.yaml:4: "+agency)
	refuses(t, w, "users:\n- {email: eve@nord.example, disabled: true}", "x.yaml:2: "+agency)
	const client = `lee@bakery.example and mia@bakery.example could not approve any more, and the stage "Client" of nord/bakery would have nobody else`
	refuses(t, w, "workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    approvers:\n    - {email: mia@bakery.example, remove: true}\n    - {email: lee@bakery.example, remove: true}", "x.yaml:6: "+client)
	refuses(t, w, "users:\n- {email: eve@nord.example, disabled: true}\nworkspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    stages:\n    - {name: New, people: [eve@nord.example]}",
		`x.yaml:8: nobody could approve any more, and the stage "New" of nord/bakery would have nobody else`)
	if got := apply(t, w, "workspaces:\n- slug: nord\n  clients: [{slug: bakery, approvers: [{email: lee@bakery.example, remove: true}]}]"); len(got) != 1 {
		t.Errorf("one of two: told %q", got)
	}
}

// TestWhatNobodyCanDecideIsAskedAgain replaces a stage whose people leave: those of
// today are asked, from the first stage on.
func TestWhatNobodyCanDecideIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, staffed)
	one, two := asked(t, w, "Buns").Post.ID, asked(t, w, "Rolls").Post.ID
	approves(t, w, "eve@nord.example", two)
	const text = `
workspaces:
  - slug: nord
    clients:
      - slug: bakery
        approvers: [{email: mia@bakery.example, remove: true}, {email: lee@bakery.example, remove: true}, {email: uma@bakery.example, name: Uma}]
        stages:
          - {name: Agency, people: [anna@nord.example]}
          - {name: Owner, people: [uma@bakery.example]}`
	got := apply(t, w, text)
	if want := "approvals of nord/bakery: 2 asked about again, since nobody who was asked can approve any more"; !slices.Contains(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	for _, post := range []model.PostID{one, two} {
		if r := request(t, w, post); r.State != model.RequestOpen || r.Stage != 1 || r.Current().People[0].Name != "Anna" || len(r.Decisions) != 0 {
			t.Errorf("the request is %+v", r.ApprovalRequest)
		}
		approves(t, w, "anna@nord.example", post)
		if out := approves(t, w, "uma@bakery.example", post); !out.Approved {
			t.Errorf("the post is not approved: %+v", out)
		}
	}
	mails := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'approval_waiting' AND to_email = 'anna@nord.example'`)
	audits := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE verb = 'asked_again' AND name = 'herald apply'`)
	if mails != 1 || audits != 2 {
		t.Errorf("%d mails and %d audit lines", mails, audits)
	}
	if again := apply(t, w, text); len(again) != 0 {
		t.Errorf("again: %q", again)
	}
}

func TestWhatNobodyIsAskedAboutGoesBackToItsWriter(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, staffed)
	id := asked(t, w, "Buns").Post.ID
	const text = "workspaces:\n- slug: nord\n  members: [{user: eve@nord.example, remove: true}]\n  clients: [{slug: bakery, stages: []}]"
	got := apply(t, w, text)
	if want := "approvals of nord/bakery: 1 given back to the writers, since nobody is asked any more"; !slices.Contains(got, want) {
		t.Errorf("told %q", got)
	}
	ole := enter(t, w, "ole@nord.example")
	page, err := ole.Post(t.Context(), id)
	if err != nil || page.Post.Review != "draft" || page.Post.State != model.PostDraft || request(t, w, id).State != model.RequestSuperseded {
		t.Fatalf("the post is %s and %s, %v", page.Post.Review, page.Post.State, err)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'given_back' AND to_email = 'ole@nord.example' AND content->'posts'->0->>'excerpt' = 'Buns'`); n != 1 {
		t.Errorf("%d mails to the writer", n)
	}
	page, err = ole.SubmitPost(t.Context(), db.Submission{Post: id, Seen: page.Post.Revision})
	if err != nil || page.Post.State != model.PostApproved {
		t.Errorf("submitted again it is %s, %v", page.Post.State, err)
	}
}

func TestAStageGoesOnWhenAllWhoAreLeftHaveApproved(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, staffed)
	one, two := asked(t, w, "Buns").Post.ID, asked(t, w, "Rolls").Post.ID
	approves(t, w, "eve@nord.example", two)
	approves(t, w, "eve@nord.example", one)
	approves(t, w, "mia@bakery.example", one)
	got := apply(t, w, "workspaces:\n- slug: nord\n  clients: [{slug: bakery, approvers: [{email: lee@bakery.example, remove: true}]}]")
	if want := "approvals of nord/bakery: 1 moved on, since all who are left had approved"; !slices.Contains(got, want) {
		t.Errorf("told %q", got)
	}
	if r := request(t, w, one); r.State != model.RequestApproved {
		t.Errorf("the request is %s", r.State)
	}
	if r := request(t, w, two); r.State != model.RequestOpen || r.Stage != 2 {
		t.Errorf("the one that Mia still owes is %s", r.State)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.posts WHERE state = 'approved'`); n != 1 {
		t.Errorf("%d posts are approved", n)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'decision' AND to_email = 'ole@nord.example'`); n != 1 {
		t.Errorf("%d mails to the writer", n)
	}
}
