package instagram

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// The handles.
const (
	container = "container"
	begun     = "container.begun" // when the first container of the set was made
	tries     = "container.tries" // how often it went on to be published
	live      = "container.live"  // only in a Ready: an earlier attempt published it
)

func child(i int) string { return "child." + strconv.Itoa(i+1) }

const (
	lives    = 23 * time.Hour   // a container that is not published within 24 h expires
	patience = time.Hour        // with a container that does not get ready
	lag      = 2 * time.Minute  // until a container made before must be visible
	quota    = time.Hour        // between two questions whether the daily quota has room again
	enough   = 2                // publishes of one container before a new one is made
	early    = 10 * time.Second // between two looks in the first minute
	late     = 30 * time.Second // and afterwards
)

// build is one run of Prepare.
type build struct {
	*Adapter
	job networks.Job
	h   networks.Handles
}

// ready returns the handles of a container that can be published. A container
// that expired or vanished is replaced within the run, once.
func (b *build) ready(ctx context.Context) (map[string]string, error) {
	if b.age() > lives || b.tried() >= enough {
		if err := b.forget(ctx); err != nil {
			return nil, err
		}
	}
	handles, again, err := b.try(ctx)
	if err == nil && again {
		if err := b.forget(ctx); err != nil {
			return nil, err
		}
		handles, again, err = b.try(ctx)
	}
	if err == nil && again {
		return nil, fault.New(fault.Transient, "container_lost", "Instagram lost the files twice; Herald tries again.")
	}
	return handles, err
}

// try makes what is missing and looks how far it is. It answers again if all
// has to be made anew.
func (b *build) try(ctx context.Context) (handles map[string]string, again bool, err error) {
	if b.h.Get(container) == "" {
		if again, err = b.makeAll(ctx); again || err != nil {
			return nil, again, err
		}
	}
	id := b.h.Get(container)
	state, err := b.look(ctx, container)
	switch {
	case err != nil:
		return nil, false, err
	case state == expired:
		return nil, true, nil
	case state == published:
		return map[string]string{container: id, live: "true"}, false, nil
	}
	if err := networks.Keep(ctx, b.h, tries, strconv.Itoa(b.tried()+1)); err != nil {
		return nil, false, err
	}
	return map[string]string{container: id}, false, nil
}

// makeAll makes the container, for a carousel its children first: all are made,
// then all must be ready, then the parent is made.
func (b *build) makeAll(ctx context.Context) (again bool, err error) {
	if b.h.Get(begun) == "" {
		if err := b.room(ctx); err != nil {
			return false, err
		}
		if err := networks.Keep(ctx, b.h, begun, b.now().UTC().Format(time.RFC3339)); err != nil {
			return false, err
		}
	}
	if b.job.Post.Format != network.FormatCarousel {
		return false, b.make(ctx, container, containerForm(b.job.Post, nil))
	}
	children, again, err := b.children(ctx)
	if again || err != nil {
		return again, err
	}
	err = b.make(ctx, container, containerForm(b.job.Post, children))
	if gone(err) {
		return false, b.lost(ctx, err)
	}
	return false, err
}

// children makes the carousel's items and waits for them.
func (b *build) children(ctx context.Context) (ids []string, again bool, err error) {
	for i, m := range b.job.Post.Media {
		if b.h.Get(child(i)) != "" {
			continue
		}
		if err := b.make(ctx, child(i), childForm(m)); err != nil {
			return nil, false, err
		}
	}
	for i := range b.job.Post.Media {
		state, err := b.look(ctx, child(i))
		if err != nil || state == expired {
			return nil, state == expired, err
		}
		ids = append(ids, b.h.Get(child(i)))
	}
	return ids, false, nil
}

// make makes one container and saves its id.
func (b *build) make(ctx context.Context, name string, form url.Values) error {
	c := call(b.job, httpx.Prepare, http.MethodPost, edge(b.job, "media"))
	c.Form = form
	var made created
	answer, err := b.door(b.job.Account).Do(ctx, c, &made)
	if err != nil {
		return err
	}
	if made.ID == "" {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	return networks.Keep(ctx, b.h, name, string(made.ID))
}

// look asks for the state of a container: finished, published or expired. One
// that is not ready is a Waiting fault; one that failed is forgotten, and what
// its status says is the fault.
func (b *build) look(ctx context.Context, name string) (string, error) {
	p, err := b.progress(ctx, b.job, httpx.Prepare, b.h.Get(name))
	switch {
	case gone(err) && b.age() > lag:
		return expired, nil
	case gone(err):
		return "", fault.Wait(late, "not_visible", "Instagram does not show the upload yet.")
	case err != nil:
		return "", err
	}
	switch state := p.state(); state {
	case failed:
		return "", b.failed(ctx, name, p)
	case inProgress:
		return "", b.wait(ctx)
	default:
		return state, nil
	}
}

// failed forgets a container that failed, and for a carousel nothing else, so
// that only the bad file is fetched anew.
func (b *build) failed(ctx context.Context, name string, p progress) error {
	if err := networks.Forget(ctx, b.h, name); err != nil {
		return err
	}
	if name == container {
		if err := b.forget(ctx); err != nil {
			return err
		}
	}
	return b.door(b.job.Account).Table.Told(b.job.Attempt, p.Status)
}

func (b *build) wait(ctx context.Context) error {
	switch age := b.age(); {
	case age > patience:
		return b.lost(ctx, fault.New(fault.Transient, "container_stuck", "Instagram did not get the files ready in an hour; Herald sends them again."))
	case age > time.Minute:
		return fault.Wait(late, "in_progress", "Instagram is still fetching the files.")
	}
	return fault.Wait(early, "in_progress", "Instagram is still fetching the files.")
}

// lost forgets everything, so that the next run makes it anew, and returns why
// as something that may be tried again.
func (b *build) lost(ctx context.Context, why error) error {
	if err := b.forget(ctx); err != nil {
		return err
	}
	f := *fault.Of(why)
	f.Kind = fault.Transient
	return &f
}

func (b *build) forget(ctx context.Context) error {
	names := []string{container, tries, begun}
	for i := range b.job.Post.Media {
		names = append(names, child(i))
	}
	return networks.Forget(ctx, b.h, names...)
}

// age is how long ago the set was begun.
func (b *build) age() time.Duration {
	at, err := time.Parse(time.RFC3339, b.h.Get(begun))
	if err != nil {
		return 0
	}
	return b.now().Sub(at)
}

func (b *build) tried() int {
	n, _ := strconv.Atoi(b.h.Get(tries))
	return n
}

// room asks whether the daily quota has room. That it could not be asked does
// not stop the post: publishing checks it again.
func (b *build) room(ctx context.Context) error {
	c := call(b.job, httpx.Prepare, http.MethodGet, edge(b.job, "content_publishing_limit"))
	c.Query = url.Values{"fields": {"quota_usage,config"}}
	var now limit
	_, err := b.door(b.job.Account).Do(ctx, c, &now)
	if f := fault.Of(err); f != nil && (f.Kind == fault.Auth || f.Kind == fault.RateLimited) {
		return f
	}
	for _, one := range now.Data {
		if err == nil && one.Config.Total > 0 && one.Used >= one.Config.Total {
			f := fault.New(fault.RateLimited, "quota", "Instagram's daily limit of posts for this account is used up; the post goes out as soon as there is room.")
			f.Wait = quota
			return f
		}
	}
	return nil
}

// progress reads the state of a container. An answer that says nothing of it is
// none.
func (a *Adapter) progress(ctx context.Context, job networks.Job, step httpx.Step, id string) (p progress, err error) {
	c := call(job, step, http.MethodGet, url.PathEscape(id))
	c.Query = url.Values{"fields": {"status_code,status"}}
	answer, err := a.door(job.Account).Do(ctx, c, &p)
	if err == nil && p == (progress{}) {
		err = httpx.Unparsable(step, answer)
	}
	return p, err
}

// gone says whether err means that a container is not there.
func gone(err error) bool {
	if graph.Missing(err) {
		return true
	}
	f := fault.Of(err)
	return f != nil && (f.Code == "24/2207006" || f.Code == "24/2207008")
}
