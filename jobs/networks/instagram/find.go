package instagram

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Find asks the container first, then the account's list of posts.
//
// No container, or one that failed or expired: nothing was published. One that
// is published: the post is in the list, by caption, time and type, and until
// it is, the look-up is not over. One that is ready speaks against a post that
// fits, which may be somebody else's: can't tell, until its state, which may be
// behind, says more. Absent means that the list was read over the whole window
// and has no post that fits, and the caller looks twice. Where Instagram no
// longer has the container, the list alone decides.
//
// Where there is no caption, and always for stories, time and type alone do not
// prove a post to be ours; they only name it once the container is published.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(container)
	if id == "" {
		return absent("No upload was completed, so nothing can be live."), nil
	}
	p, err := a.progress(ctx, job, httpx.Find, id)
	vanished := gone(err)
	if err != nil && !vanished {
		return networks.Finding{}, err
	}
	if state := p.state(); !vanished && (state == graph.Failed || state == graph.Expired) {
		return absent("Instagram says that the upload was never published (" + state + ")."), nil
	}
	fits, complete, err := a.list(ctx, job, w)
	if err != nil {
		return networks.Finding{}, err
	}
	switch {
	case p.state() == graph.Published:
		return locate(fits)
	case !vanished && len(fits) > 0:
		return cantTell("The account has a post of that time with the same caption and kind, but Instagram says that the upload was not published."), nil
	}
	return judge(job.Post, fits, complete), nil
}

// locate names the post of a container that is known to be published. While it
// is not listed the look-up has no answer; how long to ask is up to the caller.
func locate(fits []media) (networks.Finding, error) {
	switch {
	case len(fits) == 1:
		return found(fits[0], "Instagram says that the upload is published, and lists the post."), nil
	case len(fits) > 1:
		return cantTell("Instagram says that the upload is published, but lists several posts of that time that look alike."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "not_listed", "Instagram says that the post is published but does not list it yet; Herald looks again.")
}

// judge decides by the list alone.
func judge(post networks.Post, fits []media, complete bool) networks.Finding {
	weak := post.Format == network.FormatStory || post.Text == ""
	switch {
	case len(fits) > 0 && weak:
		return cantTell("The account has a post of that time and kind, and without a caption nothing says whether it is this one.")
	case len(fits) == 1:
		return found(fits[0], "The account has a post of that time with the same caption and kind.")
	case len(fits) > 1:
		return cantTell("The account has several posts of that time with this caption, and nothing tells them apart.")
	case !complete:
		return cantTell("The account has more posts of that time than could be read.")
	}
	return absent("Instagram says that the upload is not published, and the account's list has no such post.")
}

// list reads the account's posts that fit the job and are nobody else's.
func (a *Adapter) list(ctx context.Context, job networks.Job, w networks.Window) (fits []media, complete bool, err error) {
	span := graph.Span{Since: w.Since, Until: w.Until}
	c := call(job, httpx.Find, http.MethodGet, edge(job, "media"))
	c.Query = url.Values{"fields": {mediaFields}, "limit": {"50"}}
	if job.Post.Format == network.FormatStory {
		c.Path = edge(job, "stories")
	} else {
		c.Query = span.Query(c.Query)
	}
	complete, err = graph.Pages(ctx, a.door(job.Account), c, func(m media) bool {
		in, more := span.See(m.Made)
		if in && m.like(job.Post) && !slices.Contains(w.Taken, string(m.ID)) {
			fits = append(fits, m)
		}
		return more
	})
	return fits, complete, err
}

// like says whether m can be what the post became.
func (m media) like(p networks.Post) bool {
	if p.Format == network.FormatStory {
		return is(m.Type, kind(p)) && is(m.Product, "STORY")
	}
	if !networks.SameText(m.Caption, p.Text) {
		return false
	}
	switch p.Format {
	case network.FormatReel:
		return is(m.Type, "VIDEO") && m.Product != "STORY"
	case network.FormatCarousel:
		return is(m.Type, "CAROUSEL_ALBUM")
	}
	return is(m.Type, "IMAGE") && m.Product != "STORY"
}

// is says whether a field has a value, as far as it is given.
func is(field, want string) bool { return field == "" || field == want }

func kind(p networks.Post) string {
	if p.Media[0].Kind == network.Video {
		return "VIDEO"
	}
	return "IMAGE"
}

func found(m media, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Say: say, Receipt: networks.Receipt{ExternalID: string(m.ID), Permalink: m.Permalink}}
}

func absent(say string) networks.Finding { return networks.Finding{Verdict: networks.Absent, Say: say} }

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}
