package sim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"herald/db/network"
)

const me = "/medium/v1"

func (w *world) meStory(content, more string) *http.Request {
	return w.request("POST", me+"/users/1001/posts", "application/json", fmt.Sprintf(`{"title":"Bread","contentFormat":"html","content":%q,"publishStatus":"public"%s}`, content, more), bearer...)
}

// meFail checks a refusal of Medium's.
func (g got) meFail(t *testing.T, status int, words string) {
	t.Helper()
	if g.want(t, status); !strings.Contains(g.raw, words) || !strings.Contains(g.raw, `"errors":[`) {
		t.Errorf("got %s, want %s", g.raw, words)
	}
}

func TestMediumShowsAStoryWithItsPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	picture := w.upload(me+"/images", "image", jpegOf(9, 9), bearer).want(t, 201).str("data.url")
	g := w.send(w.meStory("<h1>Bread</h1>\n<img src=\""+picture+"\" alt=\"A loaf\">\n<p>Hello &amp; more</p>", `,"canonicalUrl":"https://a.example"`)).want(t, 201)
	p := w.sim.Posts(network.Medium, "1001")
	if len(p) != 1 || p[0].ID != g.str("data.id") || p[0].Text != "Hello & more" || p[0].Title != "Bread" || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" || g.str("data.authorId") != "1001" {
		t.Errorf("the public sees %+v of %s", p, g.raw)
	}
	if page := w.get(g.str("data.url")); page.status != 200 {
		t.Errorf("it is at %s", g.str("data.url"))
	}
}

func TestMediumRefusesWhatIsNoStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.meStory("", "")).meFail(t, 400, "content")
	w.send(w.meStory("a", `,"canonicalUrl":"x"`)).meFail(t, 400, "canonicalUrl")
	w.send(w.meStory("a", `,"colour":1`)).meFail(t, 400, "unknown field")
	w.upload(me+"/images", "image", []byte("hello"), bearer).meFail(t, 400, "not valid")
	w.json(me+"/users/1001/posts", `{}`, "Authorization", "Bearer revoked").meFail(t, 401, "Token")
	w.json(me+"/users/1001/posts", `{}`, "Authorization", "Bearer noscope").meFail(t, 403, "not allowed")
	w.get(me+"/users/1001/posts", bearer...).meFail(t, 404, "Not found")
}
