package slack

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// listed is a message as Slack lists it; its time is its id.
type listed struct {
	TS       string    `json:"ts"`
	Metadata *metadata `json:"metadata"`
	Replies  int       `json:"reply_count"` // of a message that was answered
}

func (l listed) made() time.Time {
	at, err := strconv.ParseFloat(l.TS, 64)
	if err != nil || math.Abs(at) > 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(at * 1e6))
}

// Find looks through the channel for the mark of ours, as a bot that is in it. A
// message may have been deleted since, so absence is weak. A webhook cannot look.
func (a *Adapter) Find(ctx context.Context, job networks.Job, _ networks.Handles, w networks.Window) (networks.Finding, error) {
	if isHook(job.Account) {
		return networks.Unsure("An incoming webhook of Slack cannot look for what it posted. Look into the channel whether the post is there."), nil
	}
	s := networks.Sieve{Window: w, Looked: "the channel", Marked: true}
	return s.Read(ctx, func(ctx context.Context, cursor string) (list []networks.Listed, next string, err error) {
		q := url.Values{"channel": {job.Account.RemoteID}, "limit": {"100"}, "include_all_metadata": {"true"}, "inclusive": {"true"}, "oldest": {strconv.FormatInt(w.Since.Unix()-1, 10)}}
		page, next, err := a.list(ctx, job, httpx.Find, "conversations.history", q, cursor)
		for _, l := range page {
			list = append(list, networks.Listed{Receipt: networks.Receipt{ExternalID: l.TS}, Made: l.made(), Proved: l.Metadata.is("post", job.Key)})
		}
		return list, next, err
	})
}

func (a *Adapter) list(ctx context.Context, job networks.Job, step httpx.Step, method string, q url.Values, cursor string) (list []listed, next string, err error) {
	c := rest.From(job, step, http.MethodGet, method)
	if c.Query = q; cursor != "" {
		c.Query.Set("cursor", cursor)
	}
	var page struct {
		Messages *[]listed `json:"messages"`
		Meta     struct {
			Next string `json:"next_cursor"`
		} `json:"response_metadata"`
	}
	answer, err := a.door.Do(ctx, c, &page)
	if err == nil && page.Messages == nil {
		err = httpx.Unparsable(step, answer)
	}
	if err != nil {
		return nil, "", err
	}
	return *page.Messages, page.Meta.Next, nil
}

// settle is how long a message may take to be listed.
const settle = 30 * time.Second

// Follow asks for the message's address, and answers it with the first comment,
// once. A webhook can do neither.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if isHook(job.Account) || r.ExternalID == "" {
		return r, nil
	}
	r, noLink := a.address(ctx, job, r)
	if job.Post.FirstComment != "" {
		if err := a.comment(ctx, job, r.ExternalID, h); err != nil {
			return r, err
		}
	}
	return r, noLink
}

func (a *Adapter) address(ctx context.Context, job networks.Job, r networks.Receipt) (networks.Receipt, error) {
	if r.Permalink != "" {
		return r, nil
	}
	var link struct {
		Permalink string `json:"permalink"`
	}
	c := rest.From(job, httpx.FollowUp, http.MethodGet, "chat.getPermalink")
	c.Query = url.Values{"channel": {job.Account.RemoteID}, "message_ts": {r.ExternalID}}
	answer, err := a.door.Do(ctx, c, &link)
	if err == nil && link.Permalink == "" {
		err = httpx.Unparsable(httpx.FollowUp, answer)
	}
	r.Permalink = link.Permalink
	return r, err
}

func (a *Adapter) comment(ctx context.Context, job networks.Job, to string, h networks.Handles) error {
	_, err := networks.Once{
		Handles: h, Name: "comment", Now: a.now, Settle: settle,
		Write: func(ctx context.Context) (string, error) {
			r, err := a.post(ctx, job, httpx.FollowUp, message{Channel: job.Account.RemoteID, Text: entities.Replace(job.Post.FirstComment), Markup: new(false), Thread: to, Metadata: marked("comment", job.Key)})
			return r.ExternalID, err
		},
		Look: func(ctx context.Context, _ time.Time) (id string, err error) {
			q := url.Values{"channel": {job.Account.RemoteID}, "ts": {to}, "limit": {"100"}, "include_all_metadata": {"true"}}
			list, _, err := a.list(ctx, job, httpx.FollowUp, "conversations.replies", q, "")
			if f := fault.Of(err); f != nil && f.Kind == fault.Permission {
				return "", a.answered(ctx, job, to, f)
			}
			for _, l := range list {
				if l.Metadata.is("comment", job.Key) {
					id = l.TS
				}
			}
			return id, err
		},
	}.Do(ctx)
	return err
}

// answered is for bots that may not read the answers to a message in a channel, which
// Slack says of bots in general and does not hold to everywhere: the message itself
// says how many it has. Without any, ours is not there; else the refusal stands, and a
// person looks.
func (a *Adapter) answered(ctx context.Context, job networks.Job, to string, refusal error) error {
	q := url.Values{"channel": {job.Account.RemoteID}, "limit": {"1"}, "inclusive": {"true"}, "oldest": {to}, "latest": {to}}
	list, _, err := a.list(ctx, job, httpx.FollowUp, "conversations.history", q, "")
	if err == nil && len(list) == 1 && list[0].TS == to && list[0].Replies == 0 {
		return nil
	}
	return cmp.Or(err, refusal)
}
