package googlebusiness

import (
	"cmp"
	"net/url"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
)

// post is a local post as it is sent, and, with what Google adds, as it is listed.
type post struct {
	Language string  `json:"languageCode"`
	Summary  string  `json:"summary,omitempty"`
	Topic    string  `json:"topicType"`
	Action   *action `json:"callToAction,omitempty"`
	Event    *event  `json:"event,omitempty"`
	Offer    *offer  `json:"offer,omitempty"`
	Media    []photo `json:"media,omitempty"`
}

type action struct {
	Type string `json:"actionType"`
	URL  string `json:"url,omitempty"`
}

type event struct {
	Title    string   `json:"title"`
	Schedule schedule `json:"schedule"`
}

type schedule struct {
	StartDate *date  `json:"startDate,omitempty"`
	StartTime *clock `json:"startTime,omitempty"`
	EndDate   *date  `json:"endDate,omitempty"`
	EndTime   *clock `json:"endTime,omitempty"`
}

type date struct {
	Year  int `json:"year"`
	Month int `json:"month"`
	Day   int `json:"day"`
}

type clock struct {
	Hours   int `json:"hours"`
	Minutes int `json:"minutes"`
}

type offer struct {
	Coupon string `json:"couponCode,omitempty"`
	URL    string `json:"redeemOnlineUrl,omitempty"`
	Terms  string `json:"termsConditions,omitempty"`
}

type photo struct {
	Format string `json:"mediaFormat"`
	Source string `json:"sourceUrl"`
}

// local is a local post as Google shows it.
type local struct {
	post
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Created time.Time `json:"createTime"`
	Search  string    `json:"searchUrl"`
}

// The states that decide.
const (
	shown    = "LIVE"
	rejected = "REJECTED"
)

// receipt has an address where Google gives one.
func (l local) receipt(request string) networks.Receipt {
	r := networks.Receipt{ExternalID: l.Name, RequestID: request}
	if u, err := url.Parse(l.Search); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		r.Permalink = l.Search
	}
	return r
}

// like says whether l can be what was sent as p.
func (l local) like(p post) bool {
	link := func(a *action) string {
		if a == nil {
			return ""
		}
		return a.URL
	}
	title := func(e *event) string {
		if e == nil {
			return ""
		}
		return e.Title
	}
	return networks.SameText(l.Summary, p.Summary) && l.Topic == p.Topic && len(l.Media) == len(p.Media) && link(l.Action) == link(p.Action) && title(l.Event) == title(p.Event)
}

func postOf(job networks.Job) post {
	kind := value(job, network.OptKind)
	p := post{Language: cmp.Or(value(job, network.OptLanguage), "en"), Summary: job.Post.Text, Topic: kind}
	if kind != "STANDARD" {
		from, to := value(job, network.OptStarts), value(job, network.OptEnds)
		p.Event = &event{Title: value(job, network.OptEvent), Schedule: schedule{dateOf(from), timeOf(from), dateOf(to), timeOf(to)}}
	}
	button := value(job, network.OptButton)
	switch {
	case kind == "OFFER": // whose button Google makes itself
		p.Offer = &offer{Coupon: value(job, network.OptCoupon), URL: job.Post.Link, Terms: value(job, network.OptTerms)}
	case button == "CALL":
		p.Action = &action{Type: button}
	case job.Post.Link != "":
		p.Action = &action{Type: button, URL: job.Post.Link}
	}
	for _, m := range job.Post.Media {
		p.Media = append(p.Media, photo{Format: "PHOTO", Source: m.URL})
	}
	return p
}
