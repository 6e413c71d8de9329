package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// shared is a post for two clients with comments of every kind, asked of both.
func shared(t *testing.T, shard string) (h *house, dana, lee model.AskedPerson, page db.PostPage) {
	t.Helper()
	h = newHouse(t, shard)
	other := h.Client(t, "bolt")
	dana, lee = h.approver(t, h.client, "Dana"), h.approver(t, other, "Lee")
	h.stage(t, h.client, 1, model.AnyOne, dana, person(h.manager(t, h.client)))
	h.stage(t, other, 1, model.AnyOne, lee)
	page = h.submit(t, h.Post(t, "For both", h.account, h.Account(t, other, network.Facebook)))[0]
	for _, f := range []db.CommentForm{
		{Visibility: model.Internal, Body: "SECRET internal"},
		{Visibility: model.ClientVisible, Client: h.client, Body: "Hello Dana"},
		{Visibility: model.ClientVisible, Client: other, Body: "SECRET of Bolt"},
	} {
		f.Post = page.Post.ID
		if _, err := h.Owner.Comment(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	return h, dana, lee, page
}

func TestAnApproverSeesNothingInternalAndNothingOfAnotherClient(t *testing.T) {
	t.Parallel()
	h, dana, lee, page := shared(t, dbtest.SecondShard)
	shown, err := h.review(t, dana).Page(t.Context())
	if err != nil || len(shown.Items) != 1 {
		t.Fatalf("%+v, %v", shown, err)
	}
	all := toJSON(t, shown)
	for _, secret := range []string{"SECRET", "bolt", "facebook", "Lee", "manager"} {
		if strings.Contains(all, secret) {
			t.Errorf("Dana's page holds %q: %s", secret, all)
		}
	}
	if len(shown.Items[0].Comments) != 1 || shown.Items[0].Comments[0].Body != "Hello Dana" {
		t.Errorf("comments: %+v", shown.Items[0].Comments)
	}
	lees := h.request(t, page.Post.ID, shownClient(t, h, lee))
	_, err = h.review(t, dana).Comment(t.Context(), lees.ID, "", "Let me in")
	wants(t, err, model.NotFound, "")
}

// TestAnApproversCommentIsMailedToWhoItConcerns: writer, who asked, and who of
// the agency decides; nobody of another client, and nobody who may no longer look.
func TestAnApproversCommentIsMailedToWhoItConcerns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	dana := h.approver(t, h.client, "Dana")
	mia, max, gone, other := h.manager(t, h.client), h.manager(t, h.client), h.manager(t, h.client), h.manager(t, h.Client(t, "bolt"))
	h.stage(t, h.client, 1, model.AnyOne, dana, person(max), person(gone))
	page, err := mia.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Fresh <bread>", Accounts: []model.AccountID{h.account}}})
	if err != nil {
		t.Fatal(err)
	}
	page = h.submit(t, page)[0]
	h.Super(t, h.Shard, `DELETE FROM tenant.client_access WHERE user_id = $1`, gone.Actor.User)
	rs, r := h.review(t, dana), h.request(t, page.Post.ID, h.client)
	if _, err := rs.Comment(t.Context(), r.ID, "", "Could it be <b>rolls</b>?"); err != nil {
		t.Fatal(err)
	}
	mails := func(who *db.Scope) (found []mail) {
		email := dbtest.Look[string](t, h.World, db.MainShard, `SELECT email FROM control.users WHERE id = $1`, who.Actor.User)
		for _, m := range h.mails(t) {
			if m.Kind == model.MailComment && m.Email == email {
				found = append(found, m)
			}
		}
		return found
	}
	for who, want := range map[*db.Scope]int{h.Owner: 1, mia: 1, max: 1, gone: 0, other: 0} { // the owner asked
		if got := mails(who); len(got) != want {
			t.Errorf("%s gets %d mails, want %d", who.Actor.Name, len(got), want)
		}
	}
	post := mails(mia)[0].Content.Posts[0]
	if c := mails(mia)[0].Content; c.Sender != "Dana" || post.Words != "Could it be <b>rolls</b>?" || post.Excerpt != "Fresh <bread>" || !strings.HasSuffix(c.Path, fmt.Sprintf("/approvals/%d", r.ID)) {
		t.Errorf("the mail says %+v", c)
	}
}

// TestAMailAboutACommentSaysWhatItsClientGets: the words for all may be for another
// client alone.
func TestAMailAboutACommentSaysWhatItsClientGets(t *testing.T) {
	t.Parallel()
	h, dana, _, page := shared(t, dbtest.SecondShard)
	own, clients := "For ours", []model.ClientID{h.client, page.Targets[0].ClientID, page.Targets[1].ClientID}
	content := page.Version.Content
	content.Text, content.Variants = "SECRET of Bolt", map[string]model.Variant{"mastodon": {Text: &own}}
	slices.Sort(clients)
	page, err := h.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content, Named: slices.Compact(clients)})
	if err != nil {
		t.Fatal(err)
	}
	page = h.submit(t, page)[0]
	if _, err := h.review(t, dana).Comment(t.Context(), h.request(t, page.Post.ID, h.client).ID, "", "Good"); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range h.mails(t) {
		if m.Kind == model.MailComment {
			said = append(said, m.Content.Posts[0].Excerpt)
		}
	}
	if len(said) == 0 || len(slices.Compact(said)) != 1 || said[0] != own {
		t.Errorf("the mails say %q", said)
	}
}

func TestAnApproverWhoWritesVeryMuchIsAskedToWait(t *testing.T) {
	t.Parallel()
	h, dana, lee, page := shared(t, dbtest.SecondShard)
	rs, r := h.review(t, dana), h.request(t, page.Post.ID, h.client)
	for i := range 10 {
		if _, err := rs.Comment(t.Context(), r.ID, "", fmt.Sprintf("Number %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	before := len(h.mails(t))
	_, err := rs.Comment(t.Context(), r.ID, "", "Number 11")
	wants(t, err, model.TooMany, "wait ten minutes")
	if _, err := h.review(t, lee).Comment(t.Context(), h.request(t, page.Post.ID, shownClient(t, h, lee)).ID, "", "Mine"); err != nil {
		t.Errorf("another's comment: %v", err)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.comments WHERE body = 'Number 11'`); n != 0 || len(h.mails(t)) != before+1 {
		t.Errorf("%d comments, %d mails before and %d after", n, before, len(h.mails(t)))
	}
	h.Clock.Advance(10*time.Minute + time.Second)
	if _, err := rs.Comment(t.Context(), r.ID, "", "Number 11"); err != nil {
		t.Errorf("ten minutes later: %v", err)
	}
}

func shownClient(t *testing.T, h *house, p model.AskedPerson) model.ClientID {
	t.Helper()
	return dbtest.Look[model.ClientID](t, h.World, h.Shard, `SELECT client_id FROM tenant.approvers WHERE id = $1`, p.Approver)
}

// A query of the review page that forgot its conditions would still read
// nothing: the wall is in the database.
func TestTheReviewersWallHoldsWithoutAnyCondition(t *testing.T) {
	t.Parallel()
	h, dana, _, _ := shared(t, db.MainShard)
	role := strings.Replace(h.ControlURL, "postgres@", "herald_app@", 1)
	conn, err := pgx.Connect(t.Context(), role)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SELECT set_config('herald.tenant', $1::bigint::text, true), set_config('herald.reviewer', $2::bigint::text, true)`, h.ID, shownClient(t, h, dana))
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int{
		`SELECT count(*) FROM tenant.comments`:                               1,
		`SELECT count(*) FROM tenant.comments WHERE visibility = 'internal'`: 0,
		`SELECT count(*) FROM tenant.targets`:                                1,
		`SELECT count(*) FROM tenant.accounts`:                               1,
		`SELECT count(*) FROM tenant.clients`:                                1,
		`SELECT count(*) FROM tenant.approvers`:                              1,
		`SELECT count(*) FROM tenant.approval_requests`:                      1,
	} {
		var got int
		if err := tx.QueryRow(t.Context(), sql).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", sql, got, err, want)
		}
	}
}

func TestReviewRefusesWhatIsNoLink(t *testing.T) {
	t.Parallel()
	h, dana, _, _ := shared(t, db.MainShard)
	token := h.lastLink(t, dana)
	south := h.World.Agency(t, "south", db.MainShard)
	prefix, random, _ := strings.Cut(token, ".")
	for _, bad := range []string{"", ".", "x", token[:len(token)-1], token + "A", "0" + token, strings.ToUpper(prefix) + "0." + random,
		"zzzzzzzzzzzzzzzzzzzzzz." + random, "-1." + random, strings.Repeat("a", 10_000), "1.\x00\xff" + random[3:],
		string(rune('0'+int(south.ID))) + "." + random} {
		if _, err := h.Store.Review(t.Context(), bad); err == nil {
			t.Errorf("%.60q opens", bad)
		} else {
			wants(t, err, model.NotFound, "not a review link")
		}
	}
}

func TestALinkRunsOutAndMailsAFreshOneToTheSamePerson(t *testing.T) {
	t.Parallel()
	h, dana, _, page := shared(t, dbtest.SecondShard)
	old := h.lastLink(t, dana)
	h.Clock.Advance(14*24*time.Hour - time.Second)
	if _, err := h.Store.Review(t.Context(), old); err != nil {
		t.Fatalf("a second before its end: %v", err)
	}
	h.Clock.Advance(time.Second)
	rs, err := h.Store.Review(t.Context(), old)
	wants(t, err, model.Gone, "ran out on 24 March")
	_, err = rs.Page(t.Context())
	wants(t, err, model.Gone, "")
	_, err = rs.Decide(t.Context(), []db.Decision{yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)})
	wants(t, err, model.Gone, "")
	_, err = rs.Comment(t.Context(), h.request(t, page.Post.ID, h.client).ID, "", "still here")
	wants(t, err, model.Gone, "")

	if err := rs.AskFreshLink(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	fresh := h.lastLink(t, dana)
	if fresh == old {
		t.Fatal("no fresh link was mailed")
	}
	if shown, err := h.review(t, dana).Page(t.Context()); err != nil || shown.Waiting() != 1 {
		t.Errorf("the fresh link shows %+v, %v", shown, err)
	}
	for range 2 {
		if err := rs.AskFreshLink(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, rs.AskFreshLink(t.Context(), ""), model.TooMany, "just sent")
	h.Clock.Advance(time.Hour + time.Second)
	mustDecide(t, h.review(t, dana), yes(h.request(t, page.Post.ID, h.client).ApprovalRequest))
	wants(t, rs.AskFreshLink(t.Context(), ""), model.Conflict, "Nothing waits")
}

func TestARevokedLinkOpensNothing(t *testing.T) {
	t.Parallel()
	h, dana, _, page := shared(t, db.MainShard)
	link := h.request(t, page.Post.ID, h.client).Links[0]
	wants(t, h.World.Agency(t, "south", db.MainShard).Owner.RevokeLink(t.Context(), link.ID), model.NotFound, "")
	editor := h.Member(t, model.Editor, map[model.ClientID][]model.Permission{h.client: model.Editor.Grants()})
	wants(t, editor.RevokeLink(t.Context(), link.ID), model.Forbidden, "")
	for range 2 {
		if err := h.Owner.RevokeLink(t.Context(), link.ID); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.Store.Review(t.Context(), h.lastLink(t, dana))
	wants(t, err, model.Gone, "took this link back")
	if n := h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'link_revoked'`); n != 1 {
		t.Errorf("%d audit lines", n)
	}
	if err := h.Owner.SendFreshLink(t.Context(), link.ID, ""); err != nil {
		t.Fatal(err)
	}
	h.review(t, dana)
}

func TestAPageTokenBelongsToItsLink(t *testing.T) {
	t.Parallel()
	h, dana, lee, _ := shared(t, db.MainShard)
	mine, other := h.review(t, dana), h.review(t, lee)
	token := mine.PageToken()
	if err := mine.Confirm(token); err != nil {
		t.Errorf("its own: %v", err)
	}
	wants(t, mine.Confirm(other.PageToken()), model.Forbidden, "")
	wants(t, mine.Confirm(""), model.Forbidden, "")
	h.Clock.Advance(25 * time.Hour)
	wants(t, mine.Confirm(token), model.Forbidden, "open for too long")
}
