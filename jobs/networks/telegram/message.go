package telegram

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// call is a call of a method. The path of the evidence does not have the token.
func call(job networks.Job, step httpx.Step, method string) rest.Call {
	c := rest.From(job, step, http.MethodPost, method)
	c.Trail = httpx.Hide(job.Trail, job.Account.Token.Reveal())
	return c
}

// message is the call that posts: a text, one file with a caption, or an album.
// No markup is used: a text reads as it was written.
func message(job networks.Job, to string) rest.Call {
	n, _ := network.Get(network.Telegram)
	d := network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options}
	on := func(key string) bool { return n.Value(d, key) == "true" }
	form := url.Values{"chat_id": {to}}
	set(form, "disable_notification", !on(network.OptNotify))
	set(form, "protect_content", on(network.OptProtect))
	text, hidden, files := n.Body(d), on(network.OptSensitive), job.Post.Media
	switch job.Post.Format {
	case network.FormatCarousel:
		c := call(job, httpx.Commit, "sendMediaGroup")
		form.Set("media", album(files, text, hidden))
		for i, m := range files {
			c.Files = append(c.Files, m.Part(name(i)))
		}
		c.Form = form
		return c
	case network.FormatImage, network.FormatVideo:
		return single(job, form, text, hidden)
	}
	c := call(job, httpx.Commit, "sendMessage")
	form.Set("text", text)
	if !on(network.OptPreview) {
		form.Set("link_preview_options", `{"is_disabled":true}`)
	}
	c.Form = form
	return c
}

func single(job networks.Job, form url.Values, text string, hidden bool) rest.Call {
	m, method, field := job.Post.Media[0], "sendPhoto", "photo"
	if m.Kind == network.Video {
		method, field = "sendVideo", "video"
		form.Set("supports_streaming", "true")
	}
	if text != "" {
		form.Set("caption", text)
	}
	set(form, "has_spoiler", hidden)
	c := call(job, httpx.Commit, method)
	c.Form, c.Files = form, []httpx.File{m.Part(field)}
	return c
}

// item is one file of an album. The caption of the first is that of the album.
type item struct {
	Type    string `json:"type"`
	Media   string `json:"media"`
	Caption string `json:"caption,omitempty"`
	Hidden  bool   `json:"has_spoiler,omitempty"`
}

func album(files []networks.Media, text string, hidden bool) string {
	items := make([]item, len(files))
	for i, m := range files {
		items[i] = item{Type: "photo", Media: "attach://" + name(i), Hidden: hidden}
		if m.Kind == network.Video {
			items[i].Type = "video"
		}
	}
	items[0].Caption = text
	raw, _ := json.Marshal(items)
	return string(raw)
}

func name(i int) string { return "file" + strconv.Itoa(i) }

func set(form url.Values, name string, on bool) {
	if on {
		form.Set(name, "true")
	}
}
