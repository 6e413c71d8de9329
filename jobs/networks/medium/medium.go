// Package medium publishes stories to Medium by its legacy API, which takes no new
// apps and goes on for tokens that were made before.
//
// Prepare uploads the picture (the handle image). Commit call: POST of the story, to
// the user or to the publication that the account's setting names. Medium takes no
// key of ours and lists nothing, so an answer that is lost leaves the question to a
// person: see Find. Start with Commit.
package medium

import (
	"cmp"
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Adapter publishes to Medium. It is safe for concurrent use.
type Adapter struct{ door rest.Door }

// New makes the adapter. Without a base address it speaks to Medium itself.
func New(env networks.Env) *Adapter {
	return &Adapter{door: rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://api.medium.com") + "/" + cmp.Or(env.Version, "v1"), Table: table}}
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
	_ networks.Straight = (*Adapter)(nil)
)

// Straight: a story without a picture is one call.
func (a *Adapter) Straight(f network.Format) bool { return f != network.FormatImage }

// image is the handle of the picture's address at Medium.
const image = "image"

// Prepare uploads the picture, which nobody sees before a story shows it.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	switch err := networks.Fits(job); {
	case err != nil:
		return networks.Ready{}, err
	case value(job, network.OptTitle) == "":
		return networks.Ready{}, fault.New(fault.Validation, "options_missing", "Medium needs a title.")
	case len(job.Post.Media) == 0:
		return networks.Ready{Job: job}, nil
	}
	if h.Get(image) == "" {
		c := rest.From(job, httpx.Prepare, http.MethodPost, "images")
		c.Files = []httpx.File{job.Post.Media[0].Part("image")}
		var made struct {
			Data struct {
				URL string `json:"url"`
			} `json:"data"`
		}
		answer, err := a.door.Do(ctx, c, &made)
		if err == nil && made.Data.URL == "" {
			err = httpx.Unparsable(httpx.Prepare, answer)
		}
		if err != nil {
			return networks.Ready{}, err
		}
		h.Note(image, made.Data.URL)
	}
	return networks.Ready{Job: job, Handles: map[string]string{image: h.Get(image)}}, nil
}

func value(job networks.Job, key string) string {
	n, _ := network.Get(network.Medium)
	return n.Value(network.Draft{Options: job.Post.Options}, key)
}

// story is a story as it is sent. Its title is for lists alone, so the content
// begins with it again.
type story struct {
	Title     string   `json:"title"`
	Format    string   `json:"contentFormat"`
	Content   string   `json:"content"`
	Tags      []string `json:"tags,omitempty"`
	Canonical string   `json:"canonicalUrl,omitempty"`
	Status    string   `json:"publishStatus"`
	Notify    bool     `json:"notifyFollowers"`
}

func storyOf(ready networks.Ready) story {
	job := ready.Job
	s := story{Title: value(job, network.OptTitle), Format: "html", Canonical: job.Post.Link, Status: value(job, network.OptVisibility), Notify: value(job, network.OptNotify) == "true"}
	s.Content = "<h1>" + html.EscapeString(s.Title) + "</h1>\n"
	if picture := ready.Handles[image]; picture != "" {
		s.Content += `<img src="` + html.EscapeString(picture) + `" alt="` + html.EscapeString(job.Post.Media[0].Alt) + `">` + "\n"
	}
	s.Content += networks.Paragraphs(job.Post.Text)
	for tag := range strings.SplitSeq(value(job, network.OptTags), ",") {
		if tag = strings.TrimSpace(tag); tag != "" && len(s.Tags) < 3 {
			s.Tags = append(s.Tags, tag)
		}
	}
	return s
}

// Commit publishes the story, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	path := "users/" + url.PathEscape(job.Account.RemoteID)
	if p := job.Account.Settings["publication"]; p != "" {
		path = "publications/" + url.PathEscape(p)
	}
	c := rest.From(job, httpx.Commit, http.MethodPost, path+"/posts")
	c.JSON = storyOf(ready)
	var made struct {
		Data struct {
			ID     string `json:"id"`
			Author string `json:"authorId"`
			URL    string `json:"url"`
		} `json:"data"`
	}
	answer, err := a.door.Do(ctx, c, &made)
	if err == nil && (made.Data.ID == "" || made.Data.Author != "" && made.Data.Author != job.Account.RemoteID) {
		err = httpx.Unparsable(httpx.Commit, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	r := networks.Receipt{ExternalID: made.Data.ID, RequestID: answer.RequestID}
	if u, err := url.Parse(made.Data.URL); err == nil && u.Scheme == "https" || strings.HasPrefix(made.Data.URL, "http://") {
		r.Permalink = made.Data.URL
	}
	return r, nil
}

// Find can ask nobody: Medium lists nothing.
func (a *Adapter) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	return networks.Unsure("Medium's API lists no stories. Look at the profile whether the story is there."), nil
}

// Check asks whose the token is.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var me struct {
		Data struct {
			ID       string `json:"id"`
			Username string `json:"username"`
			Name     string `json:"name"`
		} `json:"data"`
	}
	answer, err := a.door.Do(ctx, rest.From(networks.Job{Account: account}, httpx.Check, http.MethodGet, "me"), &me)
	if err == nil && me.Data.ID == "" {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	return networks.Profile{RemoteID: me.Data.ID, Handle: "@" + me.Data.Username, Name: me.Data.Name}, err
}

const dead = "{network} no longer accepts the token, and gives out no new ones to most people. Look at the settings there, then reconnect the account."

// table is what Medium's refusals mean.
var table = rest.Table{Network: "Medium", Read: read, Rows: []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "bad_request", Quote: true, Say: "{network} did not take the story."},
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: dead},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Quote: true, Say: "{network} does not let this account publish there: writers of a publication may send drafts only."},
	{Status: 404, Kind: fault.Validation, Name: "not_found", Say: "{network} does not find the user or the publication. Check the account's id."},
	{Status: 429, Kind: fault.RateLimited, Wait: time.Hour, Name: "too_many_requests", Say: "{network} takes no more stories of this account today; the story goes out later."},
}}

// read reads the refusal of an answer.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Errors []struct {
			Message string `json:"message"`
			Code    int    `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(a.Body, &body) != nil || len(body.Errors) == 0 {
		return rest.Problem{}, false
	}
	return rest.Problem{Code: strconv.Itoa(body.Errors[0].Code), Message: body.Errors[0].Message}, true
}
