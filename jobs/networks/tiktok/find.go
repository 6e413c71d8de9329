package tiktok

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Find asks for the publish by its id, which tells everything: not all bytes there
// or failed is absent, complete is found, anything else is not decided yet. Without
// an id (the answer to the announcement of a pull was lost) the account's public
// posts are looked through; presence proves, and absence proves nothing, since what
// is not public or not looked at yet is not listed: then a person is asked.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(publish)
	if id == "" {
		if !pulled(job) {
			return absent("No upload was begun, so nothing can be live."), nil
		}
		return a.findListed(ctx, job, w)
	}
	s, err := a.status(ctx, job, httpx.Find, id)
	switch {
	case lost(err):
		return networks.Finding{}, fault.New(fault.Transient, "not_visible", "TikTok does not know the upload; Herald looks again.")
	case err != nil:
		return networks.Finding{}, err
	case s.Status == failed:
		return absent("TikTok gave up on the post, so it is not live. " + reason(s.Fail, 1).Say), nil
	case s.Status == complete:
		return found(s.post(id), "TikTok says that the post is published."), nil
	case s.Status == sendingState && !pulled(job) && s.Arrived < job.Post.Media[0].Bytes:
		return absent("TikTok does not have the whole video, so it is not live."), nil
	case s.Status == "":
		return networks.Finding{}, fault.New(fault.Transient, "unparsable", "TikTok does not say how far it is.")
	}
	return networks.Finding{}, fault.New(fault.Transient, "processing", "TikTok is still working on the post; Herald looks again.")
}

// post is the id of the post, once TikTok tells it, else that of the publish.
func (s status) post(publish string) string {
	if len(s.Posts) > 0 {
		return s.Posts[0].String()
	}
	return publish
}

func (a *Adapter) status(ctx context.Context, job networks.Job, step httpx.Step, id string) (status, error) {
	var body struct {
		Data *status `json:"data"`
	}
	answer, err := a.door.Do(ctx, a.post(job, step, "post/publish/status/fetch/", map[string]string{"publish_id": id}), &body)
	if err == nil && (body.Data == nil || body.Data.Status == "") {
		err = httpx.Unparsable(step, answer)
	}
	if err != nil {
		return status{}, err
	}
	return *body.Data, nil
}

// lost says that TikTok does not know the publish.
func lost(err error) bool {
	f := fault.Of(err)
	return f != nil && f.Code == "invalid_publish_id"
}

// creator asks what the account may do now.
func (a *Adapter) creator(ctx context.Context, job networks.Job, step httpx.Step) (creator, error) {
	var body struct {
		Data *creator `json:"data"`
	}
	answer, err := a.door.Do(ctx, a.post(job, step, "post/publish/creator_info/query/", struct{}{}), &body)
	if err == nil && (body.Data == nil || body.Data.Privacy == nil) {
		err = httpx.Unparsable(step, answer)
	}
	if err != nil {
		return creator{}, err
	}
	return *body.Data, nil
}

// listed is a post as the account's public list shows it.
type listed struct {
	ID    json.Number `json:"id"`
	Title string      `json:"title"`
	Words string      `json:"video_description"`
	Made  int64       `json:"create_time"`
	Share string      `json:"share_url"`
}

const listedFields = "id,title,video_description,create_time,share_url"

const mostPages = 25 // of 20 posts

// findListed looks through the account's public posts.
func (a *Adapter) findListed(ctx context.Context, job networks.Job, w networks.Window) (networks.Finding, error) {
	var fits []listed
	err := a.eachListed(ctx, job, func(p listed) bool {
		at := time.Unix(p.Made, 0)
		if at.Before(w.Since) {
			return false
		}
		if !at.After(w.Until) && p.same(job.Post) && !slices.Contains(w.Taken, p.ID.String()) {
			fits = append(fits, p)
		}
		return true
	})
	switch {
	case err != nil:
		return networks.Finding{}, err
	case len(fits) == 1:
		f := found(fits[0].ID.String(), "The account shows a post of that time with this text.")
		f.Receipt.Permalink = httpsOnly(fits[0].Share)
		return f, nil
	case len(fits) > 1:
		return cantTell("The account shows several posts of that time with this text, and nothing tells them apart."), nil
	}
	return cantTell("The account shows no such post, but TikTok lists public posts only, and only after it has looked at them."), nil
}

func (p listed) same(post networks.Post) bool {
	want := network.Fingerprint(post.Text)
	return want != "" && (network.Fingerprint(p.Title) == want || network.Fingerprint(p.Words) == want)
}

// eachListed shows the public posts, newest first, until see has seen enough.
func (a *Adapter) eachListed(ctx context.Context, job networks.Job, see func(listed) (more bool)) error {
	ask := map[string]any{"max_count": 20}
	for range mostPages {
		c := a.post(job, httpx.Find, "video/list/", ask)
		c.Query = url.Values{"fields": {listedFields}}
		var body struct {
			Data struct {
				Videos *[]listed   `json:"videos"`
				Cursor json.Number `json:"cursor"`
				More   bool        `json:"has_more"`
			} `json:"data"`
		}
		answer, err := a.door.Do(ctx, c, &body)
		if err == nil && body.Data.Videos == nil {
			err = httpx.Unparsable(httpx.Find, answer)
		}
		if err != nil {
			return err
		}
		for _, p := range *body.Data.Videos {
			if !see(p) {
				return nil
			}
		}
		if !body.Data.More {
			return nil
		}
		ask = map[string]any{"max_count": 20, "cursor": body.Data.Cursor}
	}
	return nil
}

// httpsOnly is an address that people may be sent to, or "".
func httpsOnly(raw string) string {
	if u, err := url.Parse(raw); err != nil || u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return raw
}

func found(id, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Say: say, Receipt: networks.Receipt{ExternalID: id}}
}

func absent(say string) networks.Finding { return networks.Finding{Verdict: networks.Absent, Say: say} }

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}

// Follow learns the post's own id, which TikTok tells once it has looked at the
// post, and its address. A post that is not public never gets an address.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if value(job.Post, network.OptPrivacy) != "PUBLIC_TO_EVERYONE" || r.Permalink != "" {
		return r, nil
	}
	if id := h.Get(publish); id != "" {
		s, err := a.status(ctx, job, httpx.FollowUp, id)
		if err != nil {
			return r, err
		}
		if len(s.Posts) == 0 {
			return r, fault.New(fault.Transient, "no_address_yet", "TikTok has not given the post an address yet.")
		}
		r.ExternalID = s.Posts[0].String()
	}
	link, err := a.share(ctx, job, r.ExternalID)
	if err != nil && fault.Of(err).Kind != fault.Permission {
		return r, err
	}
	r.Permalink = link
	if link == "" {
		r.Permalink = address(username(job.Account), job.Post, r.ExternalID)
	}
	return r, nil
}

// username is the name in the account's addresses.
func username(account networks.Account) string {
	if name := account.Settings["username"]; name != "" {
		return name
	}
	return strings.TrimPrefix(account.Handle, "@")
}

// share asks for the address of a post; not every connection may.
func (a *Adapter) share(ctx context.Context, job networks.Job, id string) (string, error) {
	c := a.post(job, httpx.FollowUp, "video/query/", map[string]any{"filters": map[string]any{"video_ids": []string{id}}})
	c.Query = url.Values{"fields": {"id,share_url"}}
	var body struct {
		Data struct {
			Videos []listed `json:"videos"`
		} `json:"data"`
	}
	if _, err := a.door.Do(ctx, c, &body); err != nil {
		return "", err
	}
	for _, v := range body.Data.Videos {
		if v.ID.String() == id {
			return httpsOnly(v.Share), nil
		}
	}
	return "", nil
}

// Check asks whose the token is and what the account allows.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	may, err := a.creator(ctx, job, httpx.Check)
	if err != nil {
		return networks.Profile{}, err
	}
	p := networks.Profile{Handle: may.Username, Name: may.Nickname, Settings: may.settings()}
	c := a.post(job, httpx.Check, "user/info/", nil)
	c.Method, c.Query = http.MethodGet, url.Values{"fields": {"open_id,display_name"}}
	var body struct {
		Data struct {
			User struct {
				ID   string `json:"open_id"`
				Name string `json:"display_name"`
			} `json:"user"`
		} `json:"data"`
	}
	if _, err := a.door.Do(ctx, c, &body); err != nil && fault.Of(err).Kind != fault.Permission {
		return networks.Profile{}, err
	}
	p.RemoteID = body.Data.User.ID
	return p, nil
}
