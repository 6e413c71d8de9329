package wordpress

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", Guarded: h.Client})
}

func jobOf(post networks.Post) networks.Job {
	if post.Options == nil {
		post.Options = map[string]string{network.OptTitle: "Fresh Bread & Rolls!"}
	}
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.WordPress, RemoteID: "ann", Address: "https://blog.example", Token: secret.NewToken("abcd efgh")}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"code":"rest_forbidden"}`, `{"code":7}`)
}

// blog is a site as far as these tests need it.
type blog struct {
	terms  string
	found  string
	status string
	drop   bool // the answer to the next draft is lost
	bodies []string
}

func (b *blog) answer(c nettest.Call) nettest.Answer {
	name := strings.TrimPrefix(c.Name(), c.Method+" wp-json/wp/v2/")
	if c.Method == "POST" && !strings.HasPrefix(name, "media") || strings.HasPrefix(name, "media/") {
		b.bodies = append(b.bodies, name+" "+c.File)
	}
	switch {
	case c.Method == "POST" && name == "posts" && b.drop:
		b.drop, b.found = false, `[{"id":31,"status":"draft"}]`
		return nettest.Answer{Close: true}
	case c.Method == "POST" && (name == "posts" || name == "pages"):
		return nettest.Answer{Status: 201, Body: `{"id":31,"status":"draft","slug":"x"}`}
	case c.Method == "POST" && strings.HasSuffix(name, "/31"):
		return nettest.Answer{Body: `{"id":31,"status":"publish","link":"https://blog.example/bread"}`}
	case c.Method == "POST" && name == "tags":
		return nettest.Answer{Status: 400, Body: `{"code":"term_exists","message":"m","data":{"status":400,"term_id":9}}`}
	case c.Method == "POST":
		return nettest.Answer{Status: 201, Body: `{"id":21}`}
	case strings.HasSuffix(name, "/31"):
		return nettest.Answer{Body: `{"id":31,"status":"` + b.status + `","link":"https://blog.example/bread"}`}
	case name == "categories" || name == "tags":
		return nettest.Answer{Body: "[" + b.terms + "]"}
	}
	if b.found == "" {
		b.found = "[]"
	}
	return nettest.Answer{Body: b.found}
}

func TestAPostIsADraftFirstAndPublishedByItsNumber(t *testing.T) {
	t.Parallel()
	b := &blog{terms: `{"id":4,"name":"News"}`}
	h := nettest.New(t, b.answer)
	post := networks.Post{Format: network.FormatImage, Text: "One & two\nthree\n\nFour", Link: "https://bakery.example/?a=1&b=2",
		Media:   []networks.Media{{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 4, Alt: "a loaf"}, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("loaf")), nil }}},
		Options: map[string]string{network.OptTitle: "Fresh Bread & Rolls!", network.OptSlug: "rolls", network.OptExcerpt: "In short", network.OptCategories: "news", network.OptTags: "bread", network.OptComments: "false"}}
	kept := h.Handles()
	for range 2 { // the second run makes nothing
		ready, err := adapter(h).Prepare(t.Context(), jobOf(post), kept)
		if err != nil || ready.Handles[draft] != "31" {
			t.Fatalf("%v with %v", err, kept.Kept)
		}
	}
	r, err := adapter(h).Commit(t.Context(), networks.Ready{Job: jobOf(post), Handles: map[string]string{draft: "31"}})
	if err != nil || r.ExternalID != "31" || r.Permalink != "https://blog.example/bread" {
		t.Errorf("%+v, %v", r, err)
	}
	var got map[string]any
	_ = json.Unmarshal([]byte(strings.TrimPrefix(b.bodies[2], "posts ")), &got)
	raw, _ := json.Marshal(got)
	want := `{"categories":[4],"comment_status":"closed","content":"\u003cp\u003eOne \u0026amp; two\u003cbr /\u003ethree\u003c/p\u003e\n\n\u003cp\u003eFour\u003c/p\u003e\n\n\u003cp\u003ehttps://bakery.example/?a=1\u0026amp;b=2\u003c/p\u003e",` +
		`"excerpt":"In short","featured_media":21,"slug":"fresh-bread-rolls-8254c329a928","status":"draft","tags":[9],"title":"Fresh Bread \u0026 Rolls!"}`
	if string(raw) != want || len(b.bodies) != 4 || b.bodies[0] != `media/21 {"alt_text":"a loaf"}` || b.bodies[3] != `posts/31 {"slug":"rolls","status":"publish"}` {
		t.Errorf("sent %s\nwant %s\nin %q", raw, want, b.bodies)
	}
	if auth := h.Last().Header.Get("Authorization"); auth != "Basic YW5uOmFiY2QgZWZnaA==" {
		t.Errorf("signed %s", auth)
	}
}

func TestADraftWhoseAnswerIsLostIsFoundByItsSlug(t *testing.T) {
	t.Parallel()
	b := &blog{drop: true}
	h := nettest.New(t, b.answer)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatText, Text: "a"})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || kept.Get(draft) != "31" || len(b.bodies) != 1 {
		t.Errorf("%v with %v after %q", err, kept.Kept, b.bodies)
	}
	if q := h.Last().Query; q.Get("slug") != "fresh-bread-rolls-8254c329a928" || q.Get("context") != "edit" || !strings.Contains(q.Get("status"), "draft") {
		t.Errorf("asked for %v", q)
	}
}

func TestTheStatusOfTheDraftIsProof(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]networks.Verdict{"publish": networks.Found, "future": networks.Found, "draft": networks.Absent, "pending": networks.Absent, "trash": networks.CantTell, "private": networks.CantTell} {
		h := nettest.New(t, (&blog{status: status}).answer)
		kept := h.Handles()
		kept.Kept[draft] = "31"
		f, err := adapter(h).Find(t.Context(), jobOf(networks.Post{}), kept, networks.Window{})
		if err != nil || f.Verdict != want || !strings.HasSuffix(f.Say, ".") {
			t.Errorf("%s: %+v, %v", status, f, err)
		}
	}
	gone := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Status: 404, Body: `{"code":"rest_post_invalid_id","message":"m"}`}
	})
	kept := gone.Handles()
	kept.Kept[draft] = "31"
	if f, err := adapter(gone).Find(t.Context(), jobOf(networks.Post{}), kept, networks.Window{}); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("gone: %+v, %v", f, err)
	}
	if f, err := adapter(gone).Find(t.Context(), jobOf(networks.Post{}), gone.Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent {
		t.Errorf("never made: %+v, %v", f, err)
	}
}

func TestACategoryHasToBeThere(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, (&blog{}).answer)
	post := networks.Post{Format: network.FormatText, Text: "a", Options: map[string]string{network.OptTitle: "a", network.OptCategories: "Nowhere"}}
	_, err := adapter(h).Prepare(t.Context(), jobOf(post), h.Handles())
	if f := fault.Of(err); f.Code != "no_category" || !strings.Contains(f.Say, "Nowhere") {
		t.Errorf("got %v", err)
	}
	post.Options[network.OptKind] = "page" // pages have none
	if _, err := adapter(h).Prepare(t.Context(), jobOf(post), h.Handles()); err != nil || h.Last().Name() != "POST wp-json/wp/v2/pages" {
		t.Errorf("a page: %v, %s", err, h.Last().Name())
	}
}

func TestThePasswordGoesToTheSiteAlone(t *testing.T) {
	t.Parallel()
	a := New(networks.Env{})
	for root, want := range map[string]string{
		"": "https://blog.example/wp-json/", "https://blog.example/api": "https://blog.example/api/", "https://evil.example/wp-json/": "https://blog.example/wp-json/", "http://blog.example/api": "https://blog.example/wp-json/",
	} {
		job := jobOf(networks.Post{})
		job.Account.Settings = map[string]string{"rest_root": root}
		if got := a.root(job.Account); got != want {
			t.Errorf("%q: %s", root, got)
		}
	}
	job := jobOf(networks.Post{Format: network.FormatText, Text: "a"})
	job.Account.Address = "http://blog.example"
	if _, err := a.Prepare(t.Context(), job, nil); fault.Of(err).Code != "address" {
		t.Errorf("over http: %v", err)
	}
}

func TestCheckAsksWhatTheLoginMay(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]fault.Kind{
		`{"id":1,"name":"Ann","capabilities":{"publish_posts":true}}`: "", `{"id":1,"name":"Ann"}`: "", `{"id":1,"name":"Ann","capabilities":{"edit_posts":true}}`: fault.Permission, `<html>`: fault.Transient,
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
		p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
		if f := fault.Of(err); f == nil && (want != "" || p.Name != "Ann" || p.RemoteID != "ann") || f != nil && f.Kind != want {
			t.Errorf("%s: %+v, %v", body, p, err)
		}
	}
	if m := apiLink.FindStringSubmatch(`<https://blog.example/wp-json/>; rel="https://api.w.org/", <https://blog.example/>; rel=shortlink`); m == nil || m[1] != "https://blog.example/wp-json/" {
		t.Errorf("the link reads %v", m)
	}
}

// A site says itself where its API is: under plain addresses in a parameter, and
// under its proper name where people know it by another one.
func TestTheSiteSaysWhereItsAPIIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ link, api, code, say string }{
		"nothing said":     {"", "/wp-json/wp/v2/users/me", "", ""},
		"a folder":         {`<%s/blog/wp-json/>; rel="https://api.w.org/"`, "/blog/wp-json/wp/v2/users/me", "", ""},
		"plain addresses":  {`<%s/index.php?rest_route=/>; rel="https://api.w.org/"`, "/index.php", "", ""},
		"another name":     {`<https://www.blog.example/wp-json/>; rel="https://api.w.org/"`, "", "address", "https://www.blog.example."},
		"another protocol": {`<http://evil.example/wp-json/>; rel="https://api.w.org/"`, "", "unauthorized", "Make a new one"},
	} {
		t.Run(name, func(t *testing.T) {
			var h *nettest.Host
			h = nettest.New(t, func(got nettest.Call) nettest.Answer {
				switch route := got.Query.Get("rest_route"); {
				case got.Method == "HEAD" && got.Header.Get("Authorization") != "":
					t.Error("the password is shown to the front page")
					fallthrough
				case got.Method == "HEAD":
					return nettest.Answer{Header: map[string]string{"Link": strings.ReplaceAll(c.link, "%s", h.URL)}}
				case got.Path == c.api && (route == "" || strings.HasPrefix(route, "/wp/v2/")) && got.Query.Get("context") == "edit":
					return nettest.Answer{Body: `{"id":1,"name":"Ann"}`}
				case strings.HasSuffix(got.Path+route, "categories"):
					return nettest.Answer{Body: `[]`}
				}
				return nettest.Answer{Status: 401, Body: `{"code":"unauthorized"}`}
			})
			account := jobOf(networks.Post{}).Account
			account.Address = h.URL
			p, err := New(networks.Env{Guarded: h.Client}).Check(t.Context(), account)
			f := fault.Of(err)
			if c.code == "" && (err != nil || p.Name != "Ann") || c.code != "" && (f == nil || f.Code != c.code || !strings.Contains(f.Say, c.say)) {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func FuzzASlugIsOne(f *testing.F) {
	f.Add("Crème brûlée — 日本 %00/../", "k")
	f.Fuzz(func(t *testing.T, title, key string) {
		job := jobOf(networks.Post{Options: map[string]string{network.OptTitle: title}})
		job.Key = key
		slug := keySlug(job)
		if slug == "" || len(slug) > 100 || url.PathEscape(slug) != slug || strings.Contains(slug, ".") || strings.HasPrefix(slug, "-") {
			t.Errorf("%q makes %q", title, slug)
		}
		c := New(networks.Env{}).call(job, httpx.Find, "GET", "posts", nil)
		if !strings.HasPrefix(c.Address, "https://blog.example/wp-json/wp/v2/") {
			t.Errorf("asks %s", c.Address)
		}
	})
}
