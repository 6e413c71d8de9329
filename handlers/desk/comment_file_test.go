package desk_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

var commentThumb = regexp.MustCompile(`<img class="comment-thumb" src="(/m/[^"]+)"`)

// TestFilesOfCommentsAreSeenByWhoReadsTheComment: a client sees those of what is said to
// them, and nothing of what is said inside; nobody sees what was not let through.
func TestFilesOfCommentsAreSeenByWhoReadsTheComment(t *testing.T) {
	t.Parallel()
	s, link := dressed(t)
	request := dbtest.Look[model.RequestID](t, s.World, s.agency.Shard, `SELECT id FROM tenant.approval_requests WHERE tenant_id = $1`, s.agency.ID)
	at := fmt.Sprintf("/w/north/approvals/%d", request)
	say := func(key, reach, words string, files ...file) answer {
		t.Helper()
		return s.post(t, s.owner, at+"/comments", url.Values{"key": {"key-of-a-form-" + key}, "visibility": {reach}, "body": {words}}, files...)
	}
	for range 2 { // the second is the same form once more
		say("0123456789", "internal", "Only for us", file{"inside.png", pngFile(t, 91)}).want(t, 303)
	}
	say("9876543210", "client", "For you", file{"outside.png", pngFile(t, 92)}, file{"more.png", pngFile(t, 93)}).want(t, 303)
	desk := s.get(t, s.owner, at).want(t, 200, "inside.png", "outside.png", "more.png")
	if n := len(commentThumb.FindAllString(desk.body, -1)); n != 3 {
		t.Errorf("%d thumbnails", n)
	}
	page := s.get(t, http.DefaultClient, link).want(t, 200)
	page.has(t, "For you", "outside.png", "more.png")
	page.lacks(t, "inside.png", "Only for us")
	for _, m := range commentThumb.FindAllStringSubmatch(page.body, -1) {
		s.get(t, http.DefaultClient, m[1]).want(t, 200)
	}
	for _, m := range commentThumb.FindAllStringSubmatch(desk.body, -1) {
		if got := s.get(t, http.DefaultClient, m[1]); got.status == 200 {
			t.Error("a stranger opens a file by a member's address")
		}
	}

	for name, bytes := range map[string]string{"page.png": "<html>", "drawing.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"} {
		say("2222222222"+name[:1], "client", "Kept words", file{name, []byte(bytes)}).want(t, 422).has(t, "Kept words")
	}
	var many []file
	for n := range db.CommentFilesMost + 1 {
		many = append(many, file{fmt.Sprintf("%d.png", n), pngFile(t, 100+n)})
	}
	say("3333333333", "client", "Too many", many...).want(t, 422).has(t, "at most 5 files")
	if n := dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.comments`); n != 2 {
		t.Errorf("%d comments", n)
	}

	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'quarantined' WHERE name = 'outside.png'`)
	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'scanning' WHERE name = 'more.png'`)
	for _, p := range []answer{s.get(t, s.owner, at), s.get(t, http.DefaultClient, link)} {
		p.has(t, "A file was not let through.", "A file is being checked.")
		p.lacks(t, "outside.png", "more.png")
	}
}

// TestAFileOfAnotherClientIsNotPutToAComment: nor one of nobody's.
func TestAFileOfAnotherClientIsNotPutToAComment(t *testing.T) {
	t.Parallel()
	s, _ := dressed(t)
	other := s.agency.Client(t, "museum")
	theirs := dbtest.Look[model.MediaID](t, s.World, s.agency.Shard, `INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/png', 'theirs.png', 'x.png', sha256('x'), 10, now()) RETURNING id`, s.agency.ID, other)
	post := dbtest.Look[model.PostID](t, s.World, s.agency.Shard, `SELECT post_id FROM tenant.approval_requests WHERE tenant_id = $1`, s.agency.ID)
	for _, id := range []model.MediaID{theirs, 999999} {
		_, err := s.agency.Owner.Comment(t.Context(), db.CommentForm{Post: post, Visibility: model.Internal, Body: "Look", Files: []model.MediaID{id}})
		if no, ok := model.Refused(err); !ok || no.Kind != model.NotFound {
			t.Errorf("file %d: %v", id, err)
		}
	}
	if n := dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.comments`); n != 0 {
		t.Errorf("%d comments", n)
	}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`)

// remark is the form for a comment on a review page.
func (a answer) remark(t *testing.T, words string) url.Values {
	t.Helper()
	_, rest, ok := strings.Cut(a.body, `/comments"`)
	if !ok {
		t.Fatal("the page has no form for a comment")
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	f := url.Values{"body": {words}}
	for _, m := range hiddenField.FindAllStringSubmatch(rest, -1) {
		f.Set(m[1], html.UnescapeString(m[2]))
	}
	return f
}

// TestAClientSendsFilesWithAComment: they go through what a member's go through, into the
// client's library; a form without the page's token takes nothing.
func TestAClientSendsFilesWithAComment(t *testing.T) {
	t.Parallel()
	s, link := dressed(t)
	count := func() int { return dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.media`) }
	form := s.get(t, http.DefaultClient, link).remark(t, "Like this one?")
	bare := url.Values{"body": form["body"], "request": form["request"], "key": form["key"]}
	s.post(t, http.DefaultClient, link+"/comments", bare, file{"photo.png", pngFile(t, 81)}).want(t, 403)
	s.post(t, http.DefaultClient, link+"x/comments", form, file{"photo.png", pngFile(t, 81)}).want(t, 404)
	s.post(t, http.DefaultClient, link+"/comments", form, file{"photo.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}).want(t, 422).has(t, "Like this one?")
	if n := count(); n != 0 {
		t.Fatalf("%d files were taken", n)
	}
	for range 2 {
		s.post(t, http.DefaultClient, link+"/comments", form, file{"photo.png", pngFile(t, 81)})
	}
	page := s.get(t, http.DefaultClient, link).want(t, 200)
	page.has(t, "Like this one?", "photo.png")
	if m := commentThumb.FindStringSubmatch(page.body); m == nil {
		t.Error("no thumbnail")
	} else {
		s.get(t, http.DefaultClient, m[1]).want(t, 200)
	}
	if n := count(); n != 1 {
		t.Errorf("%d files", n)
	}
	at := dbtest.Look[string](t, s.World, s.agency.Shard, `SELECT '/w/north/approvals/' || id FROM tenant.approval_requests`)
	s.get(t, s.owner, at).want(t, 200, "Like this one?", "photo.png")
	if client := dbtest.Look[model.ClientID](t, s.World, s.agency.Shard, `SELECT client_id FROM tenant.media`); client != s.client {
		t.Errorf("it is client %d's", client)
	}
}
