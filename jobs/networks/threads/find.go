package threads

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
// is published: the post is in the list, by text, time and kind, and until it is,
// the look-up is not over. One that is ready speaks against a post that fits,
// which may be somebody else's: can't tell. Absent means that the list was read
// over the whole window and has no post that fits, and the caller looks twice.
// Where Threads no longer has the container, the list alone decides; without a
// text, time and kind alone do not prove a post to be ours.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(container)
	if id == "" {
		return absent("No container was completed, so nothing can be live."), nil
	}
	p, err := a.progress(ctx, job, httpx.Find, id)
	vanished := gone(err)
	if err != nil && !vanished {
		return networks.Finding{}, err
	}
	if state := p.state(); !vanished && (state == graph.Failed || state == graph.Expired) {
		return absent("Threads says that the container was never published (" + state + ")."), nil
	}
	fits, complete, err := a.list(ctx, job, httpx.Find, "threads", w, func(m media) bool { return m.like(job) })
	if err != nil {
		return networks.Finding{}, err
	}
	switch {
	case p.state() == graph.Published:
		return locate(job, fits)
	case !vanished && len(fits) > 0:
		return cantTell("The account has a post of that time with the same text and kind, but Threads says that the container was not published."), nil
	}
	return judge(job, fits, complete), nil
}

// locate names the post of a container that is known to be published. While it
// is not listed the look-up has no answer; how long to ask is up to the caller.
func locate(job networks.Job, fits []media) (networks.Finding, error) {
	switch {
	case len(fits) == 1:
		return found(job, fits[0], "Threads says that the container is published, and lists the post."), nil
	case len(fits) > 1:
		return cantTell("Threads says that the container is published, but lists several posts of that time that look alike."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "not_listed", "Threads says that the post is published but does not list it yet; Herald looks again.")
}

// judge decides by the list alone.
func judge(job networks.Job, fits []media, complete bool) networks.Finding {
	switch {
	case len(fits) > 0 && parts(job)[0] == "":
		return cantTell("The account has a post of that time and kind, and without a text nothing says whether it is this one.")
	case len(fits) == 1:
		return found(job, fits[0], "The account has a post of that time with the same text and kind.")
	case len(fits) > 1:
		return cantTell("The account has several posts of that time with this text, and nothing tells them apart.")
	case !complete:
		return cantTell("The account has more posts of that time than could be read.")
	}
	return absent("Threads says that the container is not published, and the account's list has no such post.")
}

// list reads those of the account's posts, or of its answers, that fit and are
// nobody else's.
func (a *Adapter) list(ctx context.Context, job networks.Job, step httpx.Step, name string, w networks.Window, like func(media) bool) (fits []media, complete bool, err error) {
	span := graph.Span{Since: w.Since, Until: w.Until}
	c := call(job, step, http.MethodGet, edge(job, name))
	c.Query = span.Query(url.Values{"fields": {mediaFields}, "limit": {"50"}})
	complete, err = graph.Pages(ctx, &a.door, c, func(m media) bool {
		in, more := span.See(m.Made)
		if in && like(m) && !slices.Contains(w.Taken, string(m.ID)) {
			fits = append(fits, m)
		}
		return more
	})
	return fits, complete, err
}

// kinds are what lists call the formats.
var kinds = map[network.Format]string{
	network.FormatText: "TEXT_POST", network.FormatLink: "TEXT_POST", network.FormatImage: "IMAGE",
	network.FormatVideo: "VIDEO", network.FormatCarousel: "CAROUSEL_ALBUM",
}

// like says whether m can be what the post became.
func (m media) like(job networks.Job) bool {
	return (m.Type == "" || m.Type == kinds[job.Post.Format]) && sameText(m.Text, parts(job)[0])
}

func found(job networks.Job, m media, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Say: say,
		Receipt: networks.Receipt{ExternalID: string(m.ID), Permalink: m.Permalink, More: len(parts(job)) > 1}}
}

func absent(say string) networks.Finding { return networks.Finding{Verdict: networks.Absent, Say: say} }

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}
