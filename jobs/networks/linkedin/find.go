package linkedin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// listed is a post as LinkedIn shows it. Times are milliseconds.
type listed struct {
	ID        string `json:"id"`
	Published int64  `json:"publishedAt"`
	Created   int64  `json:"createdAt"`
	post
}

func (l listed) made() time.Time { return time.UnixMilli(max(l.Published, l.Created)) }

// Find looks for a post that LinkedIn named as a duplicate, else through the
// author's posts: by the URN of a file, else by the words and the time. Posts of a
// member are shown to few apps; then it says Permission, and a person looks. Absence is weak, since
// an accepted post may show late.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	if urn := h.Get(duplicate); urn != "" {
		return a.findNamed(ctx, job, h, urn)
	}
	s := networks.Sieve{Window: w, Marked: len(job.Post.Media) > 0, Looked: "the author's list at LinkedIn"}
	finding, err := s.Read(ctx, func(ctx context.Context, cursor string) ([]networks.Listed, string, error) {
		return a.page(ctx, job, h, cursor)
	})
	if f := fault.Of(err); f != nil && f.Kind == fault.Permission {
		f.Say = "LinkedIn does not let Herald's app list this author's posts. Look there whether the post is live."
	}
	return finding, err
}

// findNamed asks for the post that LinkedIn says has the same content. It may be
// one that was deleted, whose shadow lasts for a day or two.
func (a *Adapter) findNamed(ctx context.Context, job networks.Job, h networks.Handles, urn string) (networks.Finding, error) {
	c := a.call(job, httpx.Find, http.MethodGet, "rest/posts/"+url.PathEscape(urn), nil)
	c.Query = url.Values{"viewContext": {"AUTHOR"}}
	var l listed
	answer, err := a.door.Do(ctx, c, &l)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Permission:
		return networks.FoundIt(a.receipt(urn, ""), "LinkedIn refused to take the post a second time and named the first."), nil
	case f != nil && f.Kind == fault.Validation:
		return networks.Unsure("LinkedIn names a post with the same content that is no longer there. Look there whether the post is live."), networks.Keep(ctx, h, duplicate, "")
	case f != nil:
		return networks.Finding{}, f
	case l.ID == "":
		return networks.Finding{}, httpx.Unparsable(httpx.Find, answer)
	case l.Author != job.Account.RemoteID || !sameText(l.Commentary, job.Post.Text):
		return networks.Unsure("LinkedIn names a post with the same content, and that one reads otherwise."), nil
	}
	return networks.FoundIt(a.receipt(l.ID, ""), "LinkedIn refused to take the post a second time and named the first."), nil
}

func sameText(little, text string) bool { return networks.SameText(plain(little), text) }

const pageSize = 100

// find is a call of one of LinkedIn's finders.
func (a *Adapter) find(job networks.Job, step httpx.Step, path string, start int, query url.Values) rest.Call {
	c := a.call(job, step, http.MethodGet, path, nil)
	c.Header["X-RestLi-Method"] = "FINDER"
	query.Set("count", strconv.Itoa(pageSize))
	query.Set("start", strconv.Itoa(start))
	c.Query = query
	return c
}

func (a *Adapter) page(ctx context.Context, job networks.Job, h networks.Handles, cursor string) (list []networks.Listed, next string, err error) {
	start, _ := strconv.Atoi(cursor)
	c := a.find(job, httpx.Find, "rest/posts", start, url.Values{"author": {job.Account.RemoteID}, "q": {"author"}, "sortBy": {"CREATED"}})
	var page struct {
		Elements *[]listed `json:"elements"`
	}
	answer, err := a.door.Do(ctx, c, &page)
	if err == nil && page.Elements == nil {
		err = httpx.Unparsable(httpx.Find, answer)
	}
	if err != nil {
		return nil, "", err
	}
	ours := map[string]bool{}
	for i := range job.Post.Media {
		ours[h.Get(media(i))] = true
	}
	for _, l := range *page.Elements {
		list = append(list, networks.Listed{Receipt: a.receipt(l.ID, ""), Made: l.made(), Alike: sameText(l.Commentary, job.Post.Text) && len(l.Content.files()) == len(job.Post.Media),
			Proved: slices.ContainsFunc(l.Content.files(), func(urn string) bool { return urn != "" && ours[urn] })})
	}
	if len(*page.Elements) < pageSize {
		return list, "", nil
	}
	return list, strconv.Itoa(start + pageSize), nil
}

// comment is the handle of the first comment.
const comment = "comment"

// settle is how long a comment may take to be listed.
const settle = 90 * time.Second

// Follow writes the first comment, once. It is plain text: nothing is escaped.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if job.Post.FirstComment == "" || r.ExternalID == "" {
		return r, nil
	}
	path := "rest/socialActions/" + url.PathEscape(r.ExternalID) + "/comments"
	_, err := networks.Once{
		Handles: h, Name: comment, Now: a.now, Settle: settle,
		Write: func(ctx context.Context) (string, error) { return a.write(ctx, job, path, r.ExternalID) },
		Look:  func(ctx context.Context, since time.Time) (string, error) { return a.written(ctx, job, path, since) },
	}.Do(ctx)
	return r, err
}

func (a *Adapter) write(ctx context.Context, job networks.Job, path, post string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	c := a.call(job, httpx.FollowUp, http.MethodPost, path, map[string]any{
		"actor": job.Account.RemoteID, "object": post, "message": map[string]string{"text": job.Post.FirstComment}})
	answer, err := a.door.Do(ctx, c, &made)
	if err == nil && made.ID == "" {
		if made.ID = answer.Header.Get("X-Restli-Id"); made.ID == "" {
			err = httpx.Unparsable(httpx.FollowUp, answer)
		}
	}
	return made.ID, err
}

// written looks for the comment under the post. What a comment is called stands in
// one of three members, by version.
func (a *Adapter) written(ctx context.Context, job networks.Job, path string, since time.Time) (string, error) {
	var page struct {
		Elements *[]struct {
			ID      string `json:"id"`
			URN     string `json:"commentUrn"`
			Entity  string `json:"$URN"`
			Actor   string `json:"actor"`
			Message struct {
				Text string `json:"text"`
			} `json:"message"`
			Created struct {
				Time int64 `json:"time"`
			} `json:"created"`
		} `json:"elements"`
	}
	c := a.call(job, httpx.FollowUp, http.MethodGet, path, nil)
	c.Query = url.Values{"count": {strconv.Itoa(pageSize)}, "start": {"0"}}
	answer, err := a.door.Do(ctx, c, &page)
	if err == nil && page.Elements == nil {
		err = httpx.Unparsable(httpx.FollowUp, answer)
	}
	if err != nil {
		return "", err
	}
	for _, e := range *page.Elements {
		if e.Actor == job.Account.RemoteID && strings.TrimSpace(e.Message.Text) == strings.TrimSpace(job.Post.FirstComment) && e.Created.Time >= since.Add(-2*time.Minute).UnixMilli() {
			return cmp.Or(e.ID, e.URN, e.Entity, "there"), nil
		}
	}
	return "", nil
}
