package sim_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const wp = "/wordpress/wp-json/wp/v2"

var wpKey = []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("1001:abcd efgh"))}

// wpID is a number as it was written: JSON's would lose digits.
func (g got) wpID() string {
	_, id, _ := strings.Cut(g.raw, `"id":`)
	return id[:strings.IndexAny(id, ",}")]
}

func (w *world) wpDraft(text string) got {
	w.t.Helper()
	text = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
	g := w.json(wp+"/posts", fmt.Sprintf(`{"title":"Bread","content":%q,"slug":"bread","status":"draft"}`, "<p>"+text+"</p>"), wpKey...)
	if g.json != nil && g.status == 201 {
		g.json["id"] = g.wpID()
	}
	return g
}

// wpFail checks a refusal of WordPress'.
func (g got) wpFail(t *testing.T, status int, code string) {
	t.Helper()
	if g.want(t, status); g.str("code") != code {
		t.Errorf("got %s, want %s", g.raw, code)
	}
}

func TestAWordPressDraftIsSeenByNobodyUntilItIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.wpDraft("One<br />two").want(t, 201)
	w.wantPosts(network.WordPress, "", 0)
	if again := w.wpDraft("a").want(t, 201); again.str("slug") != "bread-2" || g.str("slug") != "bread" || g.str("status") != "draft" {
		t.Errorf("drafted %s and %s", g.raw, again.raw)
	}
	if found := w.get(wp+"/posts?slug=bread&status=draft,publish&context=edit", wpKey...).want(t, 200); !strings.Contains(found.raw, g.str("id")) {
		t.Errorf("found %s", found.raw)
	}
	publish := func() got {
		return w.json(wp+"/posts/"+g.str("id"), `{"status":"publish","slug":"our-bread"}`, wpKey...).want(t, 200)
	}
	first := publish()
	if second := publish(); second.raw != first.raw || !strings.HasSuffix(first.str("link"), "/wordpress/our-bread") || first.str("status") != "publish" {
		t.Errorf("published as %s, then %s", first.raw, second.raw)
	}
	w.wantPosts(network.WordPress, "1001", 1)
	w.json(wp+"/posts/404", `{"status":"publish"}`, wpKey...).wpFail(t, 404, "rest_post_invalid_id")
	w.json(wp+"/posts", `{"title":"a","colour":1,"status":"draft"}`, wpKey...).wpFail(t, 400, "rest_invalid_param")
	w.json(wp+"/posts", `{"title":"a","status":"draft"}`).wpFail(t, 401, "rest_cannot_create")
	w.get("/wordpress/wp-json/wp/v3").wpFail(t, 404, "rest_no_route")
}

// A draft that nobody named has no slug; publishing gives it one, of its title.
func TestAWordPressDraftWithoutASlugHasNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for range 2 {
		g := w.json(wp+"/posts", `{"title":"Fresh bread!","content":"<p>a</p>","status":"draft"}`, wpKey...).want(t, 201)
		if ids = append(ids, g.wpID()); g.str("slug") != "" || !strings.HasSuffix(g.str("link"), "?p="+g.wpID()) {
			t.Errorf("drafted %s", g.raw)
		}
	}
	for i, want := range []string{"fresh-bread", "fresh-bread-2"} {
		if g := w.json(wp+"/posts/"+ids[i], `{"status":"publish"}`, wpKey...).want(t, 200); g.str("slug") != want || !strings.HasSuffix(g.str("link"), "/"+want) {
			t.Errorf("published %s", g.raw)
		}
	}
	g := w.json(wp+"/posts", `{"title":"パン","content":"<p>a</p>","status":"publish"}`, wpKey...).want(t, 201)
	if g.str("slug") != g.wpID() {
		t.Errorf("published %s", g.raw)
	}
	w.wantPosts(network.WordPress, "1001", 3)
}

// What is published for a date ahead is in the future until then, and nobody sees it.
func TestAWordPressPostOfADateAheadWaitsForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.wpDraft("a").want(t, 201).wpID()
	w.json(wp+"/posts/"+id, `{"date_gmt":"tomorrow"}`, wpKey...).wpFail(t, 400, "rest_invalid_param")
	w.json(wp+"/posts/"+id, `{"date_gmt":"2026-05-04T13:00:00"}`, wpKey...).want(t, 200)
	g := w.json(wp+"/posts/"+id, `{"status":"publish"}`, wpKey...).want(t, 200)
	if g.str("status") != "future" || g.str("date_gmt") != "2026-05-04T13:00:00" || !strings.HasSuffix(g.str("link"), "?p="+id) {
		t.Errorf("published %s", g.raw)
	}
	w.wantPosts(network.WordPress, "", 0)
	find := func(status string) string {
		return w.get(wp+"/posts?slug=bread&status="+status, wpKey...).want(t, 200).raw
	}
	if found := find("publish"); found != "[]" || !strings.Contains(find("draft,future"), id) {
		t.Errorf("among the published is %s, among the others %s", found, find("draft,future"))
	}
	w.pass(time.Hour)
	if g := w.get(wp+"/posts/"+id, wpKey...).want(t, 200); g.str("status") != "publish" || !strings.HasSuffix(g.str("link"), "/bread") {
		t.Errorf("then it is %s", g.raw)
	}
	w.wantPosts(network.WordPress, "1001", 1)
}

// WordPress takes the markup away that a login may not write, and says nothing.
func TestWordPressStripsWhatALoginMayNotWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const written = `<p onclick=\"x()\" class=\"a\">One &lt;b&gt; <br /><iframe src=\"https://v.example\">two</iframe><a href=\"javascript:x()\">three</a></p><script>four()</script><!-- five -->`
	content := func(key ...string) string {
		return w.json(wp+"/posts", `{"title":"a","status":"draft","content":"`+written+`"}`, key...).want(t, 201).str("content.raw")
	}
	if got, want := content(wpKey...), `<p class="a">One &lt;b&gt; <br />two<a>three</a></p>four()<!-- five -->`; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	w.sim.AddAccount(network.WordPress, sim.Account{ID: "admin", Token: "secret", Scopes: []string{"publish_posts", "unfiltered_html"}})
	admin := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:secret"))}
	if got := content(admin...); got != strings.ReplaceAll(written, `\"`, `"`) {
		t.Errorf("of one who may write all there is %s", got)
	}
}

func TestAWordPressPictureAndItsTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(data, disposition string) got {
		return w.send(w.request("POST", wp+"/media", "image/jpeg", data, append(wpKey, "Content-Disposition", disposition)...))
	}
	id := send(string(jpegOf(9, 9)), `attachment; filename="a.jpg"`).want(t, 201).wpID()
	send("hello", `attachment; filename="a.jpg"`).wpFail(t, 500, "rest_upload_unknown_error")
	send(string(jpegOf(9, 9)), "").wpFail(t, 400, "rest_upload_no_content_disposition")
	send(strings.Repeat("x", 10_000_001), "attachment").want(t, 413)
	w.json(wp+"/media/"+id, `{"alt_text":"A loaf"}`, wpKey...).want(t, 200)
	w.json(wp+"/posts", `{"title":"a","status":"publish","slug":"a","featured_media":`+id+`}`, wpKey...).want(t, 201)
	if p := w.sim.Posts(network.WordPress, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
	tag := w.json(wp+"/tags", `{"name":"Bread"}`, wpKey...).want(t, 201).wpID()
	if g := w.json(wp+"/tags", `{"name":"bread"}`, wpKey...); g.status != 400 || !strings.Contains(g.raw, `"term_id":`+tag) {
		t.Errorf("again: %s", g.raw)
	}
	if g := w.get(wp+"/categories?search=new", wpKey...).want(t, 200); !strings.Contains(g.raw, "News") {
		t.Errorf("categories are %s", g.raw)
	}
}
