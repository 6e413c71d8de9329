package instagram

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
)

// created is what the calls that make something answer.
type created struct {
	ID graph.ID `json:"id"`
}

// progress is how far Instagram is with a container.
type progress struct {
	Code   string `json:"status_code"`
	Status string `json:"status"` // words; on an error they carry its subcode
}

var letters = regexp.MustCompile(`[^A-Z]+`)

// state is the container's state. Instagram at times leaves status_code empty;
// then the words before the colon say it. What says nothing is in progress.
func (p progress) state() string {
	word, _, _ := strings.Cut(cmp.Or(p.Code, p.Status), ":")
	switch word = letters.ReplaceAllString(strings.ToUpper(strings.TrimSpace(word)), "_"); {
	case word == graph.Finished, word == graph.Published, word == graph.Expired, word == graph.Failed:
		return word
	}
	return graph.InProgress
}

// media is a post as the account's lists show it.
type media struct {
	ID        graph.ID   `json:"id"`
	Caption   string     `json:"caption"`
	Made      graph.Time `json:"timestamp"`
	Permalink string     `json:"permalink"`
	Type      string     `json:"media_type"`
	Product   string     `json:"media_product_type"`
}

const mediaFields = "id,caption,timestamp,permalink,media_type,media_product_type"

// containerForm is what a container is made of: a picture, a reel, a story, or
// the carousel of children made before.
func containerForm(p networks.Post, children []string) url.Values {
	form := url.Values{}
	switch p.Format {
	case network.FormatStory:
		form.Set("media_type", "STORIES")
		fetch(form, p.Media[0])
		return form
	case network.FormatReel:
		form.Set("media_type", "REELS")
		form.Set("share_to_feed", cmp.Or(p.Options[network.OptShareToFeed], "true"))
		set(form, "thumb_offset", p.Options[network.OptThumbOffset])
		fetch(form, p.Media[0])
	case network.FormatCarousel:
		form.Set("media_type", "CAROUSEL")
		form.Set("children", strings.Join(children, ","))
	default:
		fetch(form, p.Media[0])
		set(form, "alt_text", p.Media[0].Alt)
	}
	set(form, "caption", p.Text)
	set(form, "collaborators", collaborators(p.Options[network.OptCollaborators]))
	return form
}

// childForm is one picture or video of a carousel.
func childForm(m networks.Media) url.Values {
	form := url.Values{"is_carousel_item": {"true"}}
	fetch(form, m)
	if m.Kind == network.Video {
		form.Set("media_type", "VIDEO")
	} else {
		set(form, "alt_text", m.Alt)
	}
	return form
}

// fetch says where Instagram finds the file.
func fetch(form url.Values, m networks.Media) {
	if m.Kind == network.Video {
		form.Set("video_url", m.URL)
	} else {
		form.Set("image_url", m.URL)
	}
}

// collaborators writes the names as Graph writes lists in forms, or "".
func collaborators(option string) string {
	names := network.Names(option)
	if len(names) == 0 {
		return ""
	}
	list, _ := json.Marshal(names)
	return string(list)
}

func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}
