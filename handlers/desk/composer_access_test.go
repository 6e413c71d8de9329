package desk_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// stranger is another agency with one of everything, on the same shard.
func (s *studio) stranger(t *testing.T) (account model.AccountID, media model.MediaID, post model.PostID, client model.ClientID) {
	t.Helper()
	other := s.Agency(t, "south", dbtest.SecondShard)
	client = other.Client(t, "rival")
	account = other.Account(t, client, network.Mastodon)
	post = other.Post(t, "A rival's secret", account).Post.ID
	media = dbtest.Look[model.MediaID](t, s.World, dbtest.SecondShard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', 'secret.jpg', 'tenants/1/x', decode(repeat('ab', 32), 'hex'), 1, now()) RETURNING id`, other.ID, client)
	return account, media, post, client
}

func TestForeignIdsAreNotFoundInEveryPosition(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	account, media, post, client := s.stranger(t)
	for field, id := range map[string]int64{"account": int64(account), "media": int64(media), "post": int64(post)} {
		for _, path := range []string{"/w/north/posts", "/w/north/posts/form", "/w/north/posts/check", "/w/north/media"} {
			form := s.fresh(t)
			form.Set("do", map[string]string{"/w/north/posts": "save"}[path])
			if form.Get("do") == "" {
				form.Set("do", "refresh")
			}
			form.Set(field, fmt.Sprint(id))
			if a := s.post(t, s.owner, path, form); a.status != 404 || a.says("secret") {
				t.Errorf("%s of another agency at %s: %d", field, path, a.status)
			}
		}
	}
	for _, do := range []string{fmt.Sprintf("all:%d", client), "all:x", "none:0", "customise:nowhere", "fit:nowhere", "up:-1"} {
		form := s.fresh(t)
		form.Set("do", do)
		if a := s.post(t, s.owner, "/w/north/posts/form", form); a.status != 404 {
			t.Errorf("%s: %d", do, a.status)
		}
	}
	if s.count(t, "posts") != 1 {
		t.Error("something was saved")
	}
}

func TestEveryAddressOfAForeignPostIsNotFound(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	_, _, post, _ := s.stranger(t)
	for _, id := range []string{fmt.Sprint(int64(post)), "0", "-1", "x", "999999", "9999999999999999999999"} {
		base := "/w/north/posts/" + id
		for _, path := range []string{base, base + "/versions/1", "/w/north/posts/new?from=" + id} {
			if a := s.get(t, s.owner, path); a.status != 404 && path != "/w/north/posts/new?from=0" || a.says("secret") {
				t.Errorf("GET %s: %d", path, a.status)
			}
		}
		for _, path := range []string{base, base + "/retries", base + "/archive"} {
			form := s.fresh(t)
			form.Set("post", id)
			if a := s.post(t, s.owner, path, form); a.status != 404 {
				t.Errorf("POST %s: %d", path, a.status)
			}
		}
	}
}

func TestAFormForOnePostCannotBeSentToAnother(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one, page := s.saved(t, s.send(t, s.fresh(t), "save"))
	two, _ := s.saved(t, s.send(t, s.fresh(t), "save"))
	form := page.form(t)
	form.Set("text", "For the first")
	form.Set("do", "save")
	s.post(t, s.owner, fmt.Sprintf("/w/north/posts/%d", two), form).want(t, 404)
	s.post(t, s.owner, "/w/north/posts", form).want(t, 404)
	if s.stored(t, one).Version.Number != 1 || s.stored(t, two).Version.Number != 1 {
		t.Error("something was written")
	}
}

func TestAnEditorOfOneClientReachesNoOther(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	other := s.agency.Client(t, "forest")
	hook := s.agency.Account(t, other, network.Webhook)
	shared := s.agency.Post(t, "For both", s.account, hook)
	theirs := s.agency.Post(t, "Only forest", hook)
	editor := s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: model.Editor.Grants()}))
	page := s.get(t, editor, "/w/north/posts/new").want(t, 200)
	if page.says("Client forest") {
		t.Error("another client is offered")
	}
	form := page.form(t)
	form.Set("account", fmt.Sprint(int64(hook)))
	form.Set("do", "save")
	lost := s.post(t, editor, "/w/north/posts", form).want(t, 404, "One of the accounts is not there any more.")
	if !strings.Contains(lost.body, `id="composer"`) {
		t.Error("the form is lost")
	}
	s.get(t, editor, fmt.Sprintf("/w/north/posts/%d", theirs.Post.ID)).want(t, 404)
	page = s.get(t, editor, fmt.Sprintf("/w/north/posts/%d", shared.Post.ID)).want(t, 200, "It also goes to 1 account of clients that you do not work for.")
	if strings.Contains(page.body, `id="composer"`) || page.says("forest") {
		t.Error("a post of two clients can be written by one's editor")
	}
	if a := s.post(t, editor, fmt.Sprintf("/w/north/posts/%d", shared.Post.ID), url.Values{"post": {fmt.Sprint(int64(shared.Post.ID))}, "do": {"save"}, "text": {"Taken over"}, "seen": {"1"}}); a.status != 403 {
		t.Errorf("writing it all the same: %d", a.status)
	}
}

func TestAStrangerIsSentToSignIn(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	nobody := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if a := s.get(t, nobody, "/w/north/posts/new"); a.status != 303 || !strings.HasPrefix(a.to, "/signin?next=") {
		t.Errorf("%d to %q", a.status, a.to)
	}
	outsider := s.signIn(t, s.Agency(t, "south", dbtest.SecondShard).Owner)
	s.get(t, outsider, "/w/north/posts/new").want(t, 404)
}

// TestADuplicateHoldsNothingOfAClientThatIsNotSeen opens a post of two clients
// as somebody who works for one of them.
func TestADuplicateHoldsNothingOfAClientThatIsNotSeen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	rival := s.agency.Client(t, "rival")
	theirs := s.agency.Account(t, rival, network.Bluesky)
	shared, mine, secret := "Shared by both", "For my client", "For the rival alone"
	content := model.Content{Text: shared, FirstComment: "Everybody's comment", Accounts: []model.AccountID{s.account, theirs},
		Variants: map[string]model.Variant{"mastodon": {Text: &mine}, "bluesky": {Text: &secret}}}
	page, err := s.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: content, Notes: "The rival's budget", Named: []model.ClientID{s.client, rival}})
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/w/north/posts/new?from=%d", page.Post.ID)
	writer := s.signIn(t, s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite}}))
	copied := s.get(t, writer, path)
	if copied.status != 200 || !copied.says(mine) || !copied.says("Everybody's comment") {
		t.Fatalf("%d: the duplicate lacks what the reader sees", copied.status)
	}
	for _, words := range []string{secret, shared, "budget"} {
		if copied.says(words) {
			t.Errorf("the duplicate holds %q", words)
		}
	}
	if whole := s.get(t, s.owner, path); !whole.says(secret) || !whole.says("budget") || !whole.says(shared) {
		t.Error("who sees both clients gets less than the post")
	}
}

// TestNoPageSaysWhatOnlyAnotherClientGets: of a post for two clients, each of which
// gets words of its own, somebody who works for one reads those of that one, in
// every version and in every list.
func TestNoPageSaysWhatOnlyAnotherClientGets(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	rival := s.agency.Client(t, "rival")
	theirs := s.agency.Account(t, rival, network.Webhook)
	mine, secret, older := "Sunrise for mine", "Nightfall for the rival", "Eclipse for the rival"
	named := []model.ClientID{s.client, rival}
	form := db.PostForm{Content: model.Content{Text: older, Accounts: []model.AccountID{theirs}}, Notes: "The rival's budget", Named: []model.ClientID{rival}}
	page, err := s.agency.Owner.SavePost(t.Context(), 0, form)
	if err != nil {
		t.Fatal(err)
	}
	media := dbtest.Look[model.MediaID](t, s.World, s.agency.Shard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', 'mine.jpg', 'tenants/1/x', decode(repeat('ab', 32), 'hex'), 1, now()) RETURNING id`, s.agency.ID, s.client)
	content := model.Content{Text: secret, Media: []model.ContentMedia{{ID: media}}, Accounts: []model.AccountID{s.account, theirs}, Variants: map[string]model.Variant{"mastodon": {Text: &mine}}}
	if page, err = s.agency.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content, Notes: "The rival's budget", Named: named}); err != nil {
		t.Fatal(err)
	}
	due, err := model.At(s.Clock.Now().Add(24*time.Hour), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if page, err = s.agency.Owner.PlanPost(t.Context(), page.Post.ID, page.Post.Revision, due); err != nil {
		t.Fatal(err)
	}
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.audit (tenant_id, user_id, name, verb, subject, subject_id, client_id, detail, at) VALUES ($1, $2, 'x', 'commented', 'post', $3, $4, '{}', now())`,
		s.agency.ID, s.agency.Owner.Actor.User, page.Post.ID, s.client)
	who := s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite, model.ActivityView, model.MediaView}})
	half := s.signIn(t, who)
	post, day := fmt.Sprintf("/w/north/posts/%d", page.Post.ID), "/w/north/calendar?date="+due.Local.Date.String()
	read := func(path string, shows bool) {
		t.Helper()
		a := s.get(t, half, path).want(t, 200)
		if strings.Contains(a.body, secret) || a.says("Eclipse") || a.says("budget") {
			t.Errorf("%s says what the rival gets", path)
		}
		if a.says(mine) != shows {
			t.Errorf("%s: the reader's own words are there: %v, want %v", path, !shows, shows)
		}
	}
	for path, shows := range map[string]bool{
		fmt.Sprintf("/w/north/media/%d", media): true, post: true, post + "/versions/2": true, post + "/versions/1": false, "/w/north/posts": true, "/w/north/activity": true,
		day: true, day + "&view=list": true, "/w/north/posts?q=Sunrise": true, "/w/north/posts?q=Nightfall": false,
		day + "&view=list&q=Sunrise": true, day + "&q=Nightfall": false,
	} {
		read(path, shows)
	}
	if v, err := who.PostVersion(t.Context(), page.Post.ID, 2); err != nil || v.Content.Text != "" || v.Hidden != 1 || *v.Content.Variants["mastodon"].Text != mine {
		t.Errorf("the version as it is handed out: %+v, %v", v, err)
	}
	whole := s.get(t, s.owner, post).want(t, 200)
	if !whole.says(secret) || !whole.says("Eclipse") {
		t.Error("who sees both clients sees less than the post")
	}

	content.Accounts, content.Text = []model.AccountID{s.account}, "Everybody's own"
	if _, err = s.agency.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content}); err != nil {
		t.Fatal(err)
	}
	read(post, true)
	read(post+"/versions/2", true)
	read(post+"/versions/1", false)
}
