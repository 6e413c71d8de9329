package facebook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/nettest"
)

var noon = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// page is a Page as far as these tests need one: it keeps what it was told and
// lists what is public.
type page struct {
	next    int
	photos  map[string]bool // unpublished ones
	videos  map[string]string
	got     map[string]int // bytes of uploads in pieces
	posts   []map[string]any
	stories []map[string]any
}

func newPage() *page {
	return &page{next: 7000, photos: map[string]bool{}, videos: map[string]string{}, got: map[string]int{},
		posts: []map[string]any{}, stories: []map[string]any{}}
}

func (p *page) id() string { p.next++; return strconv.Itoa(p.next) }

func (p *page) public() int { return len(p.posts) + len(p.stories) }

func (p *page) post(message string, attached ...any) string {
	id := "1001_" + p.id()
	p.posts = append([]map[string]any{{"id": id, "message": message, "created_time": noon.Format("2006-01-02T15:04:05-0700"),
		"permalink_url": "https://www.facebook.com/" + id, "attachments": map[string]any{"data": attached}}}, p.posts...)
	return id
}

func attached(kind, id string) map[string]any {
	return map[string]any{"media_type": kind, "target": map[string]any{"id": id}}
}

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

func (p *page) answer(c nettest.Call) nettest.Answer {
	switch name := c.Name(); {
	case name == "POST 1001/feed":
		return p.feed(c)
	case name == "POST 1001/photos":
		id := p.id()
		if c.Form.Get("published") == "true" {
			return reply("id", id, "post_id", p.post(c.Form.Get("caption"), attached("photo", id)))
		}
		p.photos[id] = true
		return reply("id", id)
	case name == "POST 1001/videos":
		return p.video(c)
	case name == "POST 1001/video_reels", name == "POST 1001/video_stories":
		return p.reel(c)
	case strings.HasPrefix(c.Path, "/video-upload/"):
		p.videos[c.Path[strings.LastIndex(c.Path, "/")+1:]] = "uploaded"
		return reply("success", true)
	case name == "POST 1001/photo_stories":
		id := p.id()
		p.stories = append(p.stories, map[string]any{"post_id": id, "media_id": c.Form.Get("photo_id"), "url": "https://www.facebook.com/stories/" + id, "creation_time": noon.Unix()})
		return reply("success", true, "post_id", id)
	case name == "GET 1001/published_posts":
		return reply("data", p.posts)
	case name == "GET 1001/stories":
		return reply("data", p.stories)
	}
	return p.object(c)
}

func (p *page) feed(c nettest.Call) nettest.Answer {
	var album []any
	for i := 0; c.Form.Has(fmt.Sprintf("attached_media[%d]", i)); i++ {
		var media struct {
			ID string `json:"media_fbid"`
		}
		_ = json.Unmarshal([]byte(c.Form.Get(fmt.Sprintf("attached_media[%d]", i))), &media)
		if !p.photos[media.ID] {
			return refuse(100, 1366051)
		}
		album = append(album, attached("photo", media.ID))
	}
	for _, a := range album {
		p.photos[a.(map[string]any)["target"].(map[string]any)["id"].(string)] = false
	}
	id := p.post(c.Form.Get("message"), album...)
	return reply("id", id, "permalink_url", "https://www.facebook.com/"+id)
}

func (p *page) video(c nettest.Call) nettest.Answer {
	switch c.Form.Get("upload_phase") {
	case "start":
		id := p.id()
		p.videos[id] = "started"
		return reply("video_id", id, "upload_session_id", "s"+id, "start_offset", "0", "end_offset", "4")
	case "transfer":
		s := c.Form.Get("upload_session_id")
		p.got[s] = max(p.got[s], atoi(c.Form.Get("start_offset"))+len(c.File))
		return reply("start_offset", strconv.Itoa(p.got[s]), "end_offset", strconv.Itoa(min(p.got[s]+4, 10)))
	case "finish":
		return p.publish(strings.TrimPrefix(c.Form.Get("upload_session_id"), "s"), c.Form.Get("description"))
	}
	id := p.id()
	p.post(c.Form.Get("description"), attached("video", id))
	return reply("id", id)
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func (p *page) publish(id, text string) nettest.Answer {
	if p.videos[id] == "published" {
		return refuse(100, 0)
	}
	p.videos[id] = "published"
	p.post(text, attached("video", id))
	return reply("success", true)
}

func (p *page) reel(c nettest.Call) nettest.Answer {
	if c.Form.Get("upload_phase") == "start" {
		id := p.id()
		p.videos[id] = "started"
		return reply("video_id", id, "upload_url", "https://rupload.facebook.com/video-upload/v25.0/"+id)
	}
	id := c.Form.Get("video_id")
	if c.Name() == "POST 1001/video_stories" {
		if p.videos[id] == "published" {
			return refuse(100, 0)
		}
		p.videos[id] = "published"
		p.stories = append(p.stories, map[string]any{"post_id": "9" + id, "media_id": id, "creation_time": noon.Unix()})
		return reply("success", true, "post_id", "9"+id)
	}
	return p.publish(id, c.Form.Get("description"))
}

// object answers a read of one thing by its id.
func (p *page) object(c nettest.Call) nettest.Answer {
	id := c.Path[strings.LastIndex(c.Path, "/")+1:]
	if _, ok := p.photos[id]; ok {
		return reply("id", id)
	}
	phase := func(s string) map[string]any { return map[string]any{"status": s} }
	switch p.videos[id] {
	case "started":
		return reply("id", id, "status", map[string]any{"video_status": "uploading", "uploading_phase": phase("in_progress"), "publishing_phase": phase("not_started")})
	case "uploaded":
		return reply("id", id, "status", map[string]any{"video_status": "upload_complete", "uploading_phase": phase("complete"), "publishing_phase": phase("not_started")})
	case "published":
		return reply("id", id, "status", map[string]any{"video_status": "ready", "uploading_phase": phase("complete"),
			"publishing_phase": map[string]any{"status": "complete", "publish_status": "published"}}, "permalink_url", "/1001/videos/"+id+"/")
	}
	return refuse(100, 33)
}

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL, HTTP: h.Client, ClientID: "900", Now: func() time.Time { return noon }})
}

func picture(n int) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Alt: fmt.Sprintf("Loaf %d", n)}, URL: fmt.Sprintf("https://herald.example/m/%d", n)}
}

func film() networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Video, Type: "video/mp4", Bytes: 10}, Name: "a.mp4",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("0123456789")), nil
		}}
}

func linked(m networks.Media) networks.Media { m.URL = "https://herald.example/m/film"; return m }

// posts are one of each shape, with whether an unknown outcome can always be
// settled without a person.
func posts() map[string]networks.Post {
	return map[string]networks.Post{
		"text":           {Format: network.FormatText, Text: "Hi"},
		"link":           {Format: network.FormatLink, Text: "Read this", Link: "https://bakery.example/bread"},
		"no card":        {Format: network.FormatText, Text: "Read this", Link: "https://bakery.example/bread", Options: map[string]string{network.OptPreview: "false"}},
		"image":          {Format: network.FormatImage, Text: "Look", Media: []networks.Media{picture(1)}},
		"images":         {Format: network.FormatImages, Text: "Look", Media: []networks.Media{picture(1), picture(2), picture(3)}},
		"video":          {Format: network.FormatVideo, Text: "Watch", Media: []networks.Media{linked(film())}},
		"video in bytes": {Format: network.FormatVideo, Text: "Watch", Media: []networks.Media{film()}},
		"reel":           {Format: network.FormatReel, Text: "Watch", Media: []networks.Media{linked(film())}},
		"reel in bytes":  {Format: network.FormatReel, Text: "Watch", Media: []networks.Media{film()}},
		"photo story":    {Format: network.FormatStory, Media: []networks.Media{picture(1)}},
		"video story":    {Format: network.FormatStory, Media: []networks.Media{linked(film())}},
	}
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Facebook, RemoteID: "1001", Token: secret.NewToken("PT")}}
}

var window = networks.Window{Since: noon.Add(-time.Minute), Until: noon.Add(time.Minute)}

func host(t testing.TB, p *page) *nettest.Host { return nettest.New(t, p.answer) }
