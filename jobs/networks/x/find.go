package x

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// listed is a post as X lists it.
type listed struct {
	ID       string    `json:"id"`
	Text     string    `json:"text"`
	Created  time.Time `json:"created_at"`
	Entities entities  `json:"entities"`
	Note     *struct { // the whole of a long text
		Text     string   `json:"text"`
		Entities entities `json:"entities"`
	} `json:"note_tweet"`
	Attachments struct {
		Keys []string `json:"media_keys"`
	} `json:"attachments"`
	References []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"referenced_tweets"`
}

type entities struct {
	URLs []struct {
		URL      string `json:"url"`
		Expanded string `json:"expanded_url"`
	} `json:"urls"`
}

// timeline is one page of an account's posts, newest first. An empty one has no
// data.
type timeline struct {
	Data []listed `json:"data"`
	Meta *struct {
		Count *int   `json:"result_count"`
		Next  string `json:"next_token"`
	} `json:"meta"`
}

const (
	fields   = "created_at,entities,attachments,referenced_tweets,note_tweet"
	maxPages = 10 // of a hundred posts; each costs
)

// list shows see the account's posts between two instants, newest first, until it
// has seen enough, and says whether all of them were read.
func (a *Adapter) list(ctx context.Context, job networks.Job, step httpx.Step, since, until time.Time, see func(listed) (more bool)) (complete bool, err error) {
	query := url.Values{"max_results": {"100"}, "exclude": {"retweets"}, "tweet.fields": {fields}}
	query.Set("start_time", since.UTC().Truncate(time.Second).Format(time.RFC3339))
	if until.Before(a.now().Add(-time.Minute)) { // an end that is not over yet is refused
		query.Set("end_time", until.UTC().Truncate(time.Second).Add(time.Second).Format(time.RFC3339))
	}
	for range maxPages {
		c := call(job, step, http.MethodGet, "2/users/"+url.PathEscape(job.Account.RemoteID)+"/tweets", nil)
		c.Query = query
		var page timeline
		answer, err := a.door.Do(ctx, c, &page)
		if err != nil {
			return false, err
		}
		if page.Meta == nil || page.Meta.Count == nil {
			return false, httpx.Unparsable(step, answer)
		}
		for _, p := range page.Data {
			if !see(p) {
				return true, nil
			}
		}
		if page.Meta.Next == "" {
			return true, nil
		}
		query.Set("pagination_token", page.Meta.Next)
	}
	return false, nil
}

// Find looks through the account's posts of the window.
//
// A post that holds a file of ours is ours. Else a post is ours if it answers
// nothing, has as many files, and its text, with X's own short addresses undone,
// is the same. Two that fit: can't tell. Absent means that the whole window was
// read; X lists a post seconds late and leaves out what it withholds, so the
// caller looks twice, and the proof stays weak.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	var fits []listed
	var own *listed
	twins, text := 0, parts(job)[0]
	complete, err := a.list(ctx, job, httpx.Find, w.Since, w.Until, func(p listed) bool {
		switch {
		case !isID(p.ID), p.Created.Before(w.Since.Truncate(time.Second)), p.Created.After(w.Until), slices.Contains(w.Taken, p.ID), p.answered() != "":
		case p.holds(uploads(job, h)):
			own = &p
			return false
		case !p.reads(text):
		case len(job.Post.Media) > 0:
			twins++
		case len(p.Attachments.Keys) == 0:
			fits = append(fits, p)
		}
		return true
	})
	switch {
	case err != nil:
		return networks.Finding{}, err
	case own != nil:
		return a.found(job, *own, "The account has a post with the files that were uploaded for it."), nil
	case len(fits) == 1:
		return a.found(job, fits[0], "The account has a post of that time with exactly this text."), nil
	case len(fits) > 1:
		return networks.Finding{Verdict: networks.CantTell, Say: fmt.Sprintf("The account has %d posts of that time with exactly this text, and nothing tells them apart.", len(fits))}, nil
	case twins > 0:
		return networks.Finding{Verdict: networks.CantTell, Say: "The account has a post of that time with this text, but not with the files that were uploaded for it."}, nil
	case !complete:
		return networks.Finding{Verdict: networks.CantTell, Say: "The account has more posts of that time than could be read."}, nil
	}
	return networks.Finding{Verdict: networks.Absent, Say: "The account's posts of that time were all read, and none is this one."}, nil
}

func (a *Adapter) found(job networks.Job, p listed, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Receipt: a.receipt(job, p.ID, ""), Say: say}
}

// uploads are the ids of the job's files.
func uploads(job networks.Job, h networks.Handles) (ids []string) {
	for i := range job.Post.Media {
		if id := h.Get(media(i)); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// holds says whether p has one of the files. Lists call a file by its kind and
// its id: 3_1880028106020515840.
func (p listed) holds(ids []string) bool {
	return slices.ContainsFunc(p.Attachments.Keys, func(key string) bool {
		_, id, _ := strings.Cut(key, "_")
		return slices.Contains(ids, id)
	})
}

// answered is the post that p answers, or "".
func (p listed) answered() string {
	for _, r := range p.References {
		if r.Type == "replied_to" {
			return r.ID
		}
	}
	return ""
}

// reads says whether p is the text that was sent.
func (p listed) reads(text string) bool { return plain(p.words()) == plain(text) }

// words is p's text as its writer sent it: X puts short addresses in place of
// addresses, adds one of its own for the media, and escapes markup.
func (p listed) words() string {
	text, urls := p.Text, p.Entities.URLs
	if p.Note != nil && p.Note.Text != "" {
		text, urls = p.Note.Text, p.Note.Entities.URLs
	}
	for _, u := range urls {
		if u.URL == "" {
			continue
		}
		text = strings.ReplaceAll(text, u.URL, attached(u.Expanded))
	}
	return html.UnescapeString(text)
}

// attached is an address, or nothing for that of a post's own media.
func attached(address string) string {
	u, err := url.Parse(address)
	if err == nil && strings.Contains(u.Path, "/status/") && (strings.Contains(u.Path, "/photo/") || strings.Contains(u.Path, "/video/")) {
		return ""
	}
	return html.EscapeString(address) // what is unescaped with the rest
}

// plain is a text in which two are compared: its addresses without what X adds
// to them.
func plain(text string) string {
	var b strings.Builder
	at := 0
	for _, l := range network.Links(text) {
		address := text[l.Start:l.End]
		if _, rest, ok := strings.Cut(address, "://"); ok {
			address = rest
		}
		b.WriteString(text[at:l.Start])
		b.WriteString(strings.TrimSuffix(address, "/"))
		at = l.End
	}
	return network.Fingerprint(b.String() + text[at:])
}

// hasData says whether an answer has the member that every success of X has.
func hasData(a *httpx.Answer) bool {
	var body struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	return json.Unmarshal(a.Body, &body) == nil && len(body.Data) > 0
}
