package instagram

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/nettest"
)

var noon = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// account is an account as far as these tests need one.
type account struct {
	next       int
	polls      int // how often a container is in progress before it is ready
	containers map[string]*made
	media      []map[string]any
	stories    []map[string]any
}

type made struct {
	polls    int
	state    string
	caption  string
	kind     string
	children int
}

func newAccount() *account {
	return &account{next: 17900, containers: map[string]*made{}, media: []map[string]any{}, stories: []map[string]any{}}
}

func (a *account) id() string { a.next++; return strconv.Itoa(a.next) }

func (a *account) public() int { return len(a.media) + len(a.stories) }

func reply(values ...any) nettest.Answer {
	m := map[string]any{}
	for i := 0; i < len(values); i += 2 {
		m[values[i].(string)] = values[i+1]
	}
	b, _ := json.Marshal(m)
	return nettest.Answer{Body: string(b)}
}

func refuse(code, subcode int) nettest.Answer {
	return nettest.Answer{Status: 400, Body: fmt.Sprintf(`{"error":{"message":"m","code":%d,"error_subcode":%d,"fbtrace_id":"T"}}`, code, subcode)}
}

func (a *account) answer(c nettest.Call) nettest.Answer {
	switch c.Name() {
	case "POST 17841/media":
		return a.make(c)
	case "POST 17841/media_publish":
		return a.publish(c.Form.Get("creation_id"))
	case "GET 17841/content_publishing_limit":
		return reply("data", []any{map[string]any{"quota_usage": a.public(), "config": map[string]any{"quota_total": 100}}})
	case "GET 17841/media":
		return reply("data", a.media)
	case "GET 17841/stories":
		return reply("data", a.stories)
	}
	return a.object(c.Path[strings.LastIndex(c.Path, "/")+1:])
}

func (a *account) make(c nettest.Call) nettest.Answer {
	m := &made{polls: a.polls, state: graph.Finished, caption: c.Form.Get("caption"), kind: c.Form.Get("media_type")}
	if m.kind == "CAROUSEL" {
		for id := range strings.SplitSeq(c.Form.Get("children"), ",") {
			if child := a.containers[id]; child == nil || child.polls > 0 {
				return refuse(24, 2207006)
			}
			m.children++
		}
	}
	id := a.id()
	a.containers[id] = m
	return reply("id", id)
}

func (a *account) publish(id string) nettest.Answer {
	m := a.containers[id]
	switch {
	case m == nil || m.state == graph.Published:
		return refuse(24, 2207008)
	case m.polls > 0:
		return refuse(9007, 2207027)
	}
	m.state = graph.Published
	media := map[string]any{"id": a.id(), "timestamp": noon.Format("2006-01-02T15:04:05-0700"), "permalink": "https://www.instagram.com/p/" + id + "/"}
	switch m.kind {
	case "STORIES":
		media["media_type"], media["media_product_type"] = "IMAGE", "STORY"
		a.stories = append(a.stories, media)
		return reply("id", media["id"])
	case "REELS":
		media["media_type"], media["media_product_type"] = "VIDEO", "REELS"
	case "CAROUSEL":
		media["media_type"], media["media_product_type"] = "CAROUSEL_ALBUM", "FEED"
	default:
		media["media_type"], media["media_product_type"] = "IMAGE", "FEED"
	}
	media["caption"] = m.caption
	a.media = append([]map[string]any{media}, a.media...)
	return reply("id", media["id"])
}

func (a *account) object(id string) nettest.Answer {
	m := a.containers[id]
	switch {
	case m == nil:
		return refuse(100, 33)
	case m.polls > 0:
		m.polls--
		return reply("id", id, "status_code", graph.InProgress, "status", "In Progress")
	}
	return reply("id", id, "status_code", m.state, "status", m.state)
}

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL, HTTP: h.Client, Now: func() time.Time { return noon }})
}

func picture(n int) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Alt: fmt.Sprintf("Loaf %d", n)}, URL: fmt.Sprintf("https://herald.example/m/%d", n)}
}

func film() networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Video, Type: "video/mp4", Alt: "a film"}, URL: "https://herald.example/m/film"}
}

func posts() map[string]networks.Post {
	return map[string]networks.Post{
		"image":    {Format: network.FormatImage, Text: "Look", Media: []networks.Media{picture(1)}, Options: map[string]string{"collaborators": "@ann, bob"}},
		"carousel": {Format: network.FormatCarousel, Text: "Look", Media: []networks.Media{picture(1), film(), picture(3)}},
		"reel":     {Format: network.FormatReel, Text: "Watch", Media: []networks.Media{film()}, Options: map[string]string{"share_to_feed": "false", "thumb_offset": "1500"}},
		"story":    {Format: network.FormatStory, Media: []networks.Media{picture(1)}},
	}
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Instagram, RemoteID: "17841", Token: secret.NewToken("PT")}}
}

var window = networks.Window{Since: noon.Add(-time.Minute), Until: noon.Add(time.Minute)}

func host(t testing.TB, a *account) *nettest.Host { return nettest.New(t, a.answer) }
