package sim_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const th = "/threads/v1.0"

var thKey = []string{"access_token", "1001:TT"}

func (w *world) thMake(pairs ...string) got {
	w.t.Helper()
	return w.form(th+"/1001/threads", append(thKey, pairs...)...)
}

func (w *world) thState(id string) string {
	w.t.Helper()
	return w.get(th+"/"+id+"?fields=status,error_message&access_token=1001:TT").want(w.t, 200).str("status")
}

func (w *world) thPublish(id string) got {
	w.t.Helper()
	return w.form(th+"/1001/threads_publish", append(thKey, "creation_id", id)...)
}

func TestThreadsPublishesAContainerOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.thMake("media_type", "IMAGE", "image_url", w.media+"/square.jpg", "text", "Hello #bread ", "alt_text", "Bread").want(t, 200).str("id")
	w.wantPosts(network.Threads, "", 0)
	if s := w.thState(id); s != "FINISHED" {
		t.Fatalf("it is %s", s)
	}
	media := w.thPublish(id).want(t, 200).str("id")
	if s := w.thState(id); s != "PUBLISHED" || media == id {
		t.Errorf("it is %s, and the post %s", s, media)
	}
	w.thPublish(id).graphFail(t, 400, "24", "4279009")
	w.wantPosts(network.Threads, "1001", 1)
	w.get(th+"/"+media+"?fields=status&access_token=1001:TT").graphFail(t, 400, "100", "")
	g := w.get(th+"/"+media+"?fields=id,text,media_type,permalink,timestamp&access_token=1001:TT").want(t, 200)
	if g.str("text") != "Hello bread" || g.str("media_type") != "IMAGE" || g.str("timestamp") != "2026-05-04T12:00:00+0000" {
		t.Errorf("it reads %s", g.raw)
	}
	if page := w.get(g.str("permalink")).want(t, 200); !strings.Contains(page.raw, `alt="Bread"`) {
		t.Errorf("the page is %s", page.raw)
	}
}

func TestThreadsRefusesBadContainers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	links := ""
	for i := range 6 {
		links += fmt.Sprintf("https://a%d.example.com ", i)
	}
	image := []string{"media_type", "IMAGE", "image_url", w.media + "/square.jpg"}
	for name, pairs := range map[string][]string{
		"no text":      {"media_type", "TEXT"},
		"long":         {"media_type", "TEXT", "text", strings.Repeat("a", 501)},
		"emoji":        {"media_type", "TEXT", "text", strings.Repeat("😀", 126)},
		"six links":    {"media_type", "TEXT", "text", links},
		"kind":         {"media_type", "POEM", "text", "a"},
		"no file":      {"media_type", "IMAGE", "image_url", w.media + "/none.jpg"},
		"cut":          {"media_type", "IMAGE", "image_url", w.media + "/cut.jpg"},
		"huge":         {"media_type", "IMAGE", "image_url", w.media + "/huge.jpg"},
		"one item":     {"media_type", "CAROUSEL", "children", "1"},
		"topic":        append([]string{"topic_tag", "a.b"}, image...),
		"replies":      append([]string{"reply_control", "nobody"}, image...),
		"alt":          append([]string{"alt_text", strings.Repeat("a", 1001)}, image...),
		"link beside":  append([]string{"link_attachment", "https://a.example"}, image...),
		"spoiler text": {"media_type", "TEXT", "text", "a", "is_spoiler_media", "true"},
		"unknown":      append([]string{"captoin", "a"}, image...),
		"at once":      {"media_type", "TEXT", "text", "a", "auto_publish_text", "true"},
	} {
		if g := w.thMake(pairs...); g.status != 400 || g.str("error.code") == "" {
			t.Errorf("%s: got %d %s", name, g.status, g.raw)
		}
	}
	w.thMake("media_type", "TEXT", "text", strings.Repeat("a", 500)).want(t, 200)
	w.thMake("media_type", "TEXT", "text", strings.Repeat("😀", 125)).want(t, 200)
	w.thMake("media_type", "TEXT", "text", strings.Repeat("日", 500)).want(t, 200)
	w.thMake("media_type", "TEXT", "text", links[:len("https://a0.example.com ")*5], "link_attachment", "https://a0.example.com").want(t, 200)
}

func TestAThreadsContainerSpreadsBeforeItCanBePublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Spread = 20 * time.Second })
	id := w.thMake("media_type", "TEXT", "text", "hello").want(t, 200).str("id")
	if s := w.thState(id); s != "FINISHED" {
		t.Fatalf("it is %s", s)
	}
	w.thPublish(id).graphFail(t, 400, "24", "4279009")
	w.pass(19 * time.Second)
	w.thPublish(id).graphFail(t, 400, "24", "4279009")
	w.wantPosts(network.Threads, "", 0)
	w.pass(time.Second)
	w.thPublish(id).want(t, 200)
	w.wantPosts(network.Threads, "1001", 1)
	if g := w.json("/_control/knobs", `{"spread":"90s"}`).want(t, 200); g.str("spread") != "1m30s" || w.sim.Knobs().Spread != 90*time.Second {
		t.Errorf("turned to %s", g.raw)
	}
}

func TestAThreadsVideoTakesItsTimeAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.thMake("media_type", "VIDEO", "video_url", w.media+"/film.mp4").want(t, 200).str("id")
	w.thPublish(id).graphFail(t, 400, "24", "4279009")
	for _, want := range []string{"IN_PROGRESS", "IN_PROGRESS", "FINISHED"} {
		if s := w.thState(id); s != want {
			t.Errorf("it is %s, want %s", s, want)
		}
	}
	w.pass(24 * time.Hour)
	if s := w.thState(id); s != "EXPIRED" {
		t.Errorf("after a day it is %s", s)
	}
	bad := w.thMake("media_type", "VIDEO", "video_url", w.media+"/none.mp4").want(t, 200).str("id")
	if g := w.get(th + "/" + bad + "?fields=status,error_message&access_token=1001:TT"); g.str("status") != "ERROR" || g.str("error_message") != "FAILED_DOWNLOADING_VIDEO" {
		t.Errorf("it says %s", g.raw)
	}
}

func TestAThreadsCarouselTakesFinishedChildrenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	child := func() string {
		return w.thMake("media_type", "IMAGE", "image_url", w.media+"/square.jpg", "is_carousel_item", "true").want(t, 200).str("id")
	}
	a, b := child(), child()
	w.thPublish(a).graphFail(t, 400, "24", "4279009")
	whole := w.thMake("media_type", "CAROUSEL", "children", a+","+b, "text", "both").want(t, 200).str("id")
	w.thMake("media_type", "CAROUSEL", "children", a+","+b).graphFail(t, 400, "100", "")
	w.thPublish(whole).want(t, 200)
	if p := w.sim.Posts(network.Threads, "1001"); len(p) != 1 || len(p[0].Media) != 2 {
		t.Errorf("the public sees %+v", p)
	}
}

func TestThreadsAnswersHaveAQuotaAndAListOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.thPublish(w.thMake("media_type", "TEXT", "text", "hello").want(t, 200).str("id")).want(t, 200).str("id")
	answer := w.thMake("media_type", "TEXT", "text", "and more", "reply_to_id", root).want(t, 200).str("id")
	w.thPublish(answer).want(t, 200)
	w.thMake("media_type", "TEXT", "text", "lost", "reply_to_id", "404").graphFail(t, 400, "100", "33")
	g := w.get(th+"/1001/threads_publishing_limit?fields=quota_usage,reply_quota_usage&access_token=1001:TT").want(t, 200)
	if !strings.Contains(g.raw, `"quota_usage":1`) || !strings.Contains(g.raw, `"reply_quota_usage":1`) {
		t.Errorf("used %s", g.raw)
	}
	list := func(name string) string {
		return w.get(th+"/1001/"+name+"?fields=id,text&access_token=1001:TT").want(t, 200).raw
	}
	if posts, answers := list("threads"), list("replies"); strings.Contains(posts, "more") || !strings.Contains(answers, "more") || strings.Contains(answers, "hello") {
		t.Errorf("listed %s and %s", posts, answers)
	}
}

func TestThreadsTokensAreExchangedAndRenewThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Closed = true })
	w.sim.AddAccount(network.Threads, sim.Account{ID: "1001", Handle: "bakery"})
	q := url.Values{"response_type": {"code"}, "client_id": {"app"}, "redirect_uri": {"https://h.example/cb"}, "scope": {"threads_basic,threads_content_publish"}, "state": {"s"}, "sim_answer": {"allow:1001"}}
	to, _ := url.Parse(w.get("/threads/oauth/authorize?"+q.Encode()).want(t, 302).header.Get("Location"))
	code := strings.TrimSuffix(to.Query().Get("code"), "#_")
	short := w.form("/threads/oauth/access_token", "grant_type", "authorization_code", "code", code, "client_id", "app", "client_secret", "s", "redirect_uri", "https://h.example/cb").want(t, 200).str("access_token")
	long := w.get("/threads/access_token?grant_type=th_exchange_token&client_secret=s&access_token="+short).want(t, 200).str("access_token")
	renew := func() got {
		return w.get("/threads/refresh_access_token?grant_type=th_refresh_token&access_token=" + long)
	}
	renew().graphFail(t, 400, "100", "")
	w.pass(25 * time.Hour)
	w.get(th+"/me?access_token="+short).graphFail(t, 400, "190", "463")
	if g := renew().want(t, 200); g.str("access_token") == long || g.str("expires_in") != "5184000" {
		t.Errorf("renewed to %s", g.raw)
	}
}
