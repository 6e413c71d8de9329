package medium

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client})
}

func jobOf(post networks.Post) networks.Job {
	if post.Options == nil {
		post.Options = map[string]string{network.OptTitle: "Bread & rolls"}
	}
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Medium, RemoteID: "u1", Token: secret.NewToken("181d"), Settings: map[string]string{}}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"errors":[{"message":"m","code":6000}]}`, `{"errors":[]}`)
}

func TestAStoryIsWhatWasMeant(t *testing.T) {
	t.Parallel()
	picture := networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 3, Alt: `a "loaf"`}, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("one")), nil }}
	for name, c := range map[string]struct {
		post        networks.Post
		publication string
		path, want  string
	}{
		"text": {networks.Post{Format: network.FormatText, Text: "One & two\n\nThree"}, "", "/x/v1/users/u1/posts",
			`{"title":"Bread & rolls","contentFormat":"html","content":"<h1>Bread &amp; rolls</h1>\n<p>One &amp; two</p>\n\n<p>Three</p>","publishStatus":"public","notifyFollowers":true}`},
		"chosen": {networks.Post{Format: network.FormatLink, Text: "a", Link: "https://bakery.example/a", Options: map[string]string{network.OptTitle: "B", network.OptTags: "one, two,three,four", network.OptVisibility: "unlisted", network.OptNotify: "false"}}, "p9", "/x/v1/publications/p9/posts",
			`{"title":"B","contentFormat":"html","content":"<h1>B</h1>\n<p>a</p>","tags":["one","two","three"],"canonicalUrl":"https://bakery.example/a","publishStatus":"unlisted","notifyFollowers":false}`},
		"picture": {networks.Post{Format: network.FormatImage, Media: []networks.Media{picture}}, "", "/x/v1/users/u1/posts",
			`{"title":"Bread & rolls","contentFormat":"html","content":"<h1>Bread &amp; rolls</h1>\n<img src=\"https://cdn.example/1\" alt=\"a &#34;loaf&#34;\">\n","publishStatus":"public","notifyFollowers":true}`},
	} {
		h := nettest.New(t, func(call nettest.Call) nettest.Answer {
			if strings.HasSuffix(call.Path, "/images") {
				return nettest.Answer{Status: 201, Body: `{"data":{"url":"https://cdn.example/1","md5":"m"}}`}
			}
			return nettest.Answer{Status: 201, Body: `{"data":{"id":"e6f3","authorId":"u1","url":"https://medium.com/@bakery/e6f3"}}`}
		})
		job, kept := jobOf(c.post), h.Handles()
		job.Account.Settings["publication"] = c.publication
		for range 2 {
			if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || h.Count("POST v1/images") > 1 {
				t.Fatalf("%s: %v", name, err)
			}
		}
		ready, _ := adapter(h).Prepare(t.Context(), job, kept)
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "e6f3" || r.Permalink != "https://medium.com/@bakery/e6f3" || h.Last().Path != c.path || h.Last().File != c.want {
			t.Errorf("%s: %+v, %v, sent %s %s\nwant %s", name, r, err, h.Last().Path, h.Last().File, c.want)
		}
	}
}

func TestNobodyCanBeAskedAndAnotherAuthorIsNotBelieved(t *testing.T) {
	t.Parallel()
	if f, err := New(networks.Env{}).Find(t.Context(), networks.Job{}, nil, networks.Window{}); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("%+v, %v", f, err)
	}
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Status: 201, Body: `{"data":{"id":"e","authorId":"u2"}}`}
	})
	if _, err := adapter(h).Commit(t.Context(), networks.Ready{Job: jobOf(networks.Post{Format: network.FormatText})}); fault.Of(err).Kind != fault.Unknown {
		t.Errorf("got %v", err)
	}
}

func TestCheckSaysWhoseTheTokenIs(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"data":{"id":"u1","username":"bakery","name":"The Bakery"}}`}
	})
	if p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account); err != nil || p.RemoteID != "u1" || p.Handle != "@bakery" || p.Name != "The Bakery" {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzAStoryKeepsItsMarkup(f *testing.F) {
	f.Add("</p><script>", `" onerror="x`)
	f.Fuzz(func(t *testing.T, text, alt string) {
		job := jobOf(networks.Post{Text: text, Media: []networks.Media{{Media: network.Media{Alt: alt}}}, Options: map[string]string{network.OptTitle: text}})
		s := storyOf(networks.Ready{Job: job, Handles: map[string]string{image: "https://cdn.example/1"}})
		if strings.Contains(s.Content, "<script") || strings.Count(s.Content, "<img") != 1 || strings.Count(s.Content, `"`) != 4 {
			t.Errorf("%q", s.Content)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	})
}
