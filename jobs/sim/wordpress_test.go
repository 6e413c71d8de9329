package sim_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"herald/db/network"
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
