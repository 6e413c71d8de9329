package desk_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// shelved is a ready picture of the studio's client.
func (s *studio) shelved(t *testing.T, name string) model.MediaID {
	t.Helper()
	return dbtest.Look[model.MediaID](t, s.World, s.agency.Shard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', $3, 'tenants/1/' || $3, sha256($3::bytea), 1, 1200, 800, now()) RETURNING id`, s.agency.ID, s.client, name)
}

// write saves a post as the owner.
func (s *studio) write(t *testing.T, page db.PostPage, content model.Content, named ...model.ClientID) db.PostPage {
	t.Helper()
	page, err := s.agency.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content, Named: append(named, s.client)})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestAnyTwoVersionsAreComparedInEveryPart(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	hook := s.agency.Account(t, s.client, network.Webhook)
	loaf, roll, cake := s.shelved(t, "loaf.jpg"), s.shelved(t, "roll.jpg"), s.shelved(t, "cake.jpg")
	short := "Short bread"
	page := s.write(t, db.PostPage{}, model.Content{Text: "Fresh bread from seven", Accounts: []model.AccountID{s.account},
		Media: []model.ContentMedia{{ID: loaf, Alt: "A loaf"}, {ID: roll}}, Options: map[model.AccountID]map[string]string{s.account: {network.OptVisibility: "public"}}})
	page = s.write(t, page, model.Content{Text: "In between", Accounts: []model.AccountID{s.account}})
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.media_crops (tenant_id, media_id, preset, x, y, width, height) VALUES ($1, $2, 'mastodon/post', 10, 20, 640, 480)`, s.agency.ID, roll)
	page = s.write(t, page, model.Content{Text: "Fresh cake from seven", Link: "https://bakery.example/cake", Accounts: []model.AccountID{s.account, hook},
		Media:    []model.ContentMedia{{ID: cake}, {ID: roll}, {ID: loaf, Alt: "A brown loaf"}},
		Variants: map[string]model.Variant{"mastodon": {Text: &short}}, Options: map[model.AccountID]map[string]string{s.account: {network.OptVisibility: "private"}}})
	post := fmt.Sprintf("/w/north/posts/%d", page.Post.ID)

	got := s.get(t, s.owner, post+"/versions/3?against=1").want(t, 200, "Version 3 against version 1", "Fresh bread cake from seven",
		"https://bakery.example/cake", "Order of the files loaf.jpg, roll.jpg roll.jpg, loaf.jpg", "Files cake.jpg", "Alt text of loaf.jpg A brown loaf",
		"What is shown of roll.jpg", "640 × 480, from 10, 20", "Who gets it", "webhook", "Mastodon of its own", "Text, of its own now", "Who sees it Everyone Followers")
	for _, piece := range []string{"<del>bread</del>", "<ins>cake</ins>", "<ins>cake.jpg</ins>", "<ins>brown </ins>", "<del>Everyone</del>", "<ins>Followers</ins>"} {
		if !strings.Contains(got.body, piece) {
			t.Errorf("no %s in the comparison", piece)
		}
	}
	if got.says("In between") {
		t.Error("the version between the two is in it")
	}
	back := s.get(t, s.owner, post+"/versions/1?against=3").want(t, 200, "Version 1 against version 3", "Text, as for all now", "Nothing chosen")
	if !strings.Contains(back.body, "<ins>bread</ins>") {
		t.Error("held the other way, what was taken out is not what was put in")
	}
	s.get(t, s.owner, post+"/versions/2?against=2").want(t, 200, "This is the same version.")
	if plain := s.get(t, s.owner, post+"/versions/2").want(t, 200, "In between"); plain.says("What is different") {
		t.Error("a version alone is compared")
	}
}

func TestTheHistoryAsksForTwoVersionsWithoutScript(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	page := s.write(t, db.PostPage{}, model.Content{Text: "One", Accounts: []model.AccountID{s.account}})
	post := fmt.Sprintf("/w/north/posts/%d", page.Post.ID)
	if s.get(t, s.owner, post).want(t, 200).says("Compare") {
		t.Error("one version is offered for comparison")
	}
	s.write(t, page, model.Content{Text: "Two", Accounts: []model.AccountID{s.account}})
	body := s.get(t, s.owner, post).want(t, 200, "Version 2, current: ").body
	for _, part := range []string{`action="` + post + `/versions"`, `name="number"`, `name="against"`} {
		if !strings.Contains(body, part) {
			t.Errorf("the history's form has no %s", part)
		}
	}
	if to := s.get(t, s.owner, post+"/versions?number=2&against=1").to; to != post+"/versions/2?against=1" {
		t.Errorf("the choice leads to %q", to)
	}
}

// TestWhatIsNotThereIsNotCompared asks for versions that are not there, are no
// numbers, or belong to somebody else.
func TestWhatIsNotThereIsNotCompared(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	page := s.write(t, db.PostPage{}, model.Content{Text: "Mine", Accounts: []model.AccountID{s.account}})
	longer := s.write(t, db.PostPage{}, model.Content{Text: "Another", Accounts: []model.AccountID{s.account}})
	s.write(t, longer, model.Content{Text: "Another, changed", Accounts: []model.AccountID{s.account}})
	post := fmt.Sprintf("/w/north/posts/%d", page.Post.ID)
	for _, rest := range []string{"/versions/1?against=2", "/versions/2?against=1", "/versions/1?against=x", "/versions/1?against=-1", "/versions/1?against=9223372036854775807", "/versions", "/versions?number=x"} {
		s.get(t, s.owner, post+rest).want(t, 404, "This post has no such version.")
	}
	s.get(t, s.owner, "/w/north/posts/999999/versions/1?against=1").want(t, 404, "There is no such post.")
	stranger := s.signIn(t, s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.agency.Client(t, "rival"): model.Manager.Grants()}))
	if a := s.get(t, stranger, post+"/versions/1?against=1"); a.status != 404 || a.says("Mine") {
		t.Errorf("who works for another client gets %d", a.status)
	}
}

// TestAComparisonSaysNothingOfAnotherClient: what only a rival gets, or got, is in no
// difference.
func TestAComparisonSaysNothingOfAnotherClient(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	rival := s.agency.Client(t, "rival")
	theirs := s.agency.Account(t, rival, network.Bluesky)
	first, mine, secret := "First for mine", "Sunrise for mine", "Nightfall for the rival"
	both := []model.AccountID{s.account, theirs}
	page := s.write(t, db.PostPage{}, model.Content{Text: "Eclipse for the rival", Accounts: both, Variants: map[string]model.Variant{"mastodon": {Text: &first}}}, rival)
	page = s.write(t, page, model.Content{Text: "Dusk for the rival", Accounts: both, Variants: map[string]model.Variant{"mastodon": {Text: &mine}, "bluesky": {Text: &secret}},
		Options: map[model.AccountID]map[string]string{theirs: {"labels": "nudity"}}}, rival)
	half := s.signIn(t, s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite, model.MediaView}}))
	path := fmt.Sprintf("/w/north/posts/%d/versions/2?against=1", page.Post.ID)
	a := s.get(t, half, path).want(t, 200, "Sunrise", "Accounts of clients that you do not see are left out.")
	for _, words := range []string{"Eclipse", "Dusk", "Nightfall", "rival", "Bluesky", "bluesky"} {
		if strings.Contains(a.body, words) {
			t.Errorf("the comparison holds %q", words)
		}
	}
	s.get(t, s.owner, path).want(t, 200, "Eclipse", "Dusk", "Nightfall", "Sunrise")
}
