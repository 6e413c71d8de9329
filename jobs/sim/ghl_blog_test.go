package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/sim"
)

const ghlBlog = "/ghl_blog/blogs/posts"

// ghlPicture is a picture in the media of the location.
func (w *world) ghlPicture() string {
	w.t.Helper()
	return w.upload("/ghl_blog/medias/upload-file", "file", jpegOf(9, 9), ghlKey).want(w.t, 200).str("url")
}

// ghlArticle is the body of a post, with a change of its members.
func ghlArticle(picture, status string, change ...string) string {
	body := fmt.Sprintf(`{"title":"Bread","locationId":"loc","blogId":"1001","imageUrl":%q,"description":"d","rawHTML":"<p>Hello</p>","status":%q,"imageAltText":"A loaf",`+
		`"categories":["cat1"],"author":"nora","urlSlug":"bread","publishedAt":"2026-05-04T12:00:00Z"}`, picture, status)
	return strings.NewReplacer(change...).Replace(body)
}

func (w *world) ghlDraft(picture string, change ...string) got {
	w.t.Helper()
	return w.json(ghlBlog, ghlArticle(picture, "DRAFT", change...), ghlKey...)
}

func (w *world) ghlPublish(id, body string) got {
	w.t.Helper()
	return w.send(w.request("PUT", ghlBlog+"/"+id, "application/json", body, ghlKey...))
}

func TestABlogDraftIsSeenByNobodyUntilItIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	picture := w.ghlPicture()
	id := w.ghlDraft(picture).want(t, 200).str("data._id")
	w.wantPosts(network.GHLBlog, "", 0)
	for range 2 {
		if g := w.ghlPublish(id, ghlArticle(picture, "PUBLISHED", `"bread"`, `"our-bread"`)).want(t, 200); g.str("updatedBlogPost.status") != "PUBLISHED" || !strings.HasSuffix(g.str("updatedBlogPost.canonicalLink"), "/our-bread") {
			t.Errorf("published as %s", g.raw)
		}
	}
	if p := w.sim.Posts(network.GHLBlog, "1001"); len(p) != 1 || p[0].Text != "Hello" || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
	w.ghlPublish("7", ghlArticle(picture, "PUBLISHED")).flatFail(t, 404, "not found")
}

func TestABlogHasEachSlugOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	exists := func(more string) string {
		return w.get(ghlBlog+"/url-slug-exists?locationId=loc&urlSlug=bread"+more, ghlKey...).want(t, 200).str("exists")
	}
	if exists("") != "false" {
		t.Error("there is a slug that nobody has")
	}
	picture := w.ghlPicture()
	id := w.ghlDraft(picture).want(t, 200).str("data._id")
	if exists("") != "true" || exists("&postId="+id) != "false" {
		t.Errorf("of a slug that a post has it says %s, to the post itself %s", exists(""), exists("&postId="+id))
	}
	w.ghlDraft(picture).flatFail(t, 400, "urlSlug already exists")
	w.get(ghlBlog+"/url-slug-exists?urlSlug=bread", ghlKey...).flatFail(t, 422, "locationId")
}

func TestABlogListsItsDraftsByTheirTitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	picture := w.ghlPicture()
	w.ghlDraft(picture).want(t, 200)
	w.ghlDraft(picture, `"bread"`, `"rolls"`, `"Bread"`, `"Rolls"`).want(t, 200)
	count := func(query string) int {
		return strings.Count(w.get(ghlBlog+"/all?locationId=loc&blogId=1001&"+query, ghlKey...).want(t, 200).raw, `"_id"`)
	}
	for query, want := range map[string]int{"limit=9&offset=0": 2, "limit=9&offset=1": 1, "limit=1&offset=0": 1, "limit=9&offset=0&searchTerm=bre": 1, "limit=9&offset=0&status=PUBLISHED": 0} {
		if got := count(query); got != want {
			t.Errorf("%s: %d posts, want %d", query, got, want)
		}
	}
	w.get(ghlBlog+"/all?locationId=loc&blogId=1001&limit=all&offset=0", ghlKey...).flatFail(t, 422, "must be numbers")
	w.get(ghlBlog+"/all?locationId=loc&blogId=1001&limit=9&offset=0&colour=red", ghlKey...).flatFail(t, 422, "colour")
}

func TestABlogRefusesWhatIsNoPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	picture := w.ghlPicture()
	for _, wrong := range []struct {
		status    int
		say       string
		from, was string
	}{
		{422, "author should not be empty", `"nora"`, `""`},
		{422, "title should not be empty", `"title":"Bread",`, ``},
		{422, "status must be one of", `"DRAFT"`, `"LIVE"`},
		{422, "ISO 8601", `"2026-05-04T12:00:00Z"`, `"noon"`},
		{422, "unknown field", `"title"`, `"colour":1,"title"`},
		{400, "category", `"cat1"`, `"cat2"`},
		{400, "imageUrl", picture, `https://elsewhere.example/a.jpg`},
	} {
		w.ghlDraft(picture, wrong.from, wrong.was).flatFail(t, wrong.status, wrong.say)
	}
	w.upload("/ghl_blog/medias/upload-file", "file", []byte("hello"), ghlKey).flatFail(t, 400, "can be used")
	w.json(ghlBlog, ghlArticle(picture, "DRAFT"), "Authorization", "Bearer revoked", "Version", "v3").flatFail(t, 401, "Invalid JWT")
	w.json(ghlBlog, ghlArticle(picture, "DRAFT"), "Authorization", "Bearer noscope", "Version", "v3").flatFail(t, 401, "authClass")
	w.ghlDraft(picture, `"imageAltText":"A loaf"`, `"imageAltText":""`).want(t, 200)
}

// A refusal may stand for a draft that was made all the same.
func TestABlogMayRefuseWhatItMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Made422 = true })
	picture := w.ghlPicture()
	w.ghlDraft(picture).flatFail(t, 422, "could not be processed")
	if g := w.get(ghlBlog+"/all?locationId=loc&blogId=1001&limit=9&offset=0", ghlKey...).want(t, 200); strings.Count(g.raw, `"_id"`) != 1 {
		t.Errorf("it lists %s", g.raw)
	}
	w.wantPosts(network.GHLBlog, "", 0)
}
