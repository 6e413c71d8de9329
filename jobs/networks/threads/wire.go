package threads

import (
	"net/url"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
)

// created is what the calls that make something answer.
type created struct {
	ID graph.ID `json:"id"`
}

// progress is how far Threads is with a container.
type progress struct {
	Status  string `json:"status"`
	Message string `json:"error_message"`
}

// state is the container's state; what says nothing known is in progress.
func (p progress) state() string {
	switch p.Status {
	case graph.Finished, graph.Published, graph.Expired, graph.Failed:
		return p.Status
	}
	return graph.InProgress
}

// media is a post as the account's lists show it.
type media struct {
	ID        graph.ID   `json:"id"`
	Text      string     `json:"text"`
	Made      graph.Time `json:"timestamp"`
	Permalink string     `json:"permalink"`
	Type      string     `json:"media_type"`
}

const mediaFields = "id,text,timestamp,permalink,media_type"

// parts are the texts of the job's thread; one, if it is none.
func parts(job networks.Job) []string {
	th, _ := network.Get(network.Threads)
	return th.Parts(network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options})
}

// rootForm is what the container of the post itself is made of; of a carousel
// its children are known only when they are made.
func rootForm(job networks.Job) func(children []string) url.Values {
	p := job.Post
	return func(children []string) url.Values {
		form := options(p)
		set(form, "text", parts(job)[0])
		switch p.Format {
		case network.FormatCarousel:
			form.Set("media_type", "CAROUSEL")
			form.Set("children", strings.Join(children, ","))
		case network.FormatImage, network.FormatVideo:
			fetch(form, p.Media[0])
		default:
			form.Set("media_type", "TEXT")
			set(form, "link_attachment", p.Link)
		}
		return form
	}
}

// answerForm is an answer to a post.
func answerForm(job networks.Job, to, text string) func([]string) url.Values {
	return func([]string) url.Values {
		form := url.Values{"media_type": {"TEXT"}, "text": {text}, "reply_to_id": {to}}
		if who := who(job.Post); who != "everyone" {
			form.Set("reply_control", who)
		}
		return form
	}
}

// childForm is one picture or video of a carousel.
func childForm(m networks.Media) url.Values {
	form := url.Values{"is_carousel_item": {"true"}}
	fetch(form, m)
	return form
}

// options is what the writer chose.
func options(p networks.Post) url.Values {
	form := url.Values{}
	if who := who(p); who != "everyone" {
		form.Set("reply_control", who)
	}
	set(form, "topic_tag", p.Options[network.OptTopic])
	if p.Options[network.OptSensitive] == "true" && len(p.Media) > 0 {
		form.Set("is_spoiler_media", "true")
	}
	return form
}

func who(p networks.Post) string {
	th, _ := network.Get(network.Threads)
	return th.Value(network.Draft{Options: p.Options}, network.OptReplies)
}

// fetch says where Threads finds the file, and what is on it.
func fetch(form url.Values, m networks.Media) {
	if m.Kind == network.Video {
		form.Set("media_type", "VIDEO")
		form.Set("video_url", m.URL)
	} else {
		form.Set("media_type", "IMAGE")
		form.Set("image_url", m.URL)
	}
	set(form, "alt_text", m.Alt)
}

func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// sameText compares a text with what Threads lists: the tag that became the topic
// may have lost its sign, and the space around is trimmed.
func sameText(a, b string) bool {
	return networks.SameText(strings.ReplaceAll(a, "#", ""), strings.ReplaceAll(b, "#", ""))
}
