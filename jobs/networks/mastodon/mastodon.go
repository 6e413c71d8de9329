package mastodon

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// keyHolds is how long the client key is relied on, a little less than the hour
// for which servers keep it.
const keyHolds = 55 * time.Minute

// Adapter publishes to Mastodon servers. It is safe for concurrent use.
type Adapter struct {
	http *httpx.Client
	base string // stands for every account's own address; empty outside tests and simulations
	now  func() time.Time
}

// New makes the adapter. A base address in env replaces the addresses of the
// accounts.
func New(env networks.Env) *Adapter {
	a := &Adapter{http: env.Guarded, base: env.Base, now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	return a
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
)

// Prepare uploads the media and waits until the server has processed them. On a
// later attempt it makes sure that they are still there, and, once the client
// key no longer counts, that the post is not.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := a.lookBeforeRepeat(ctx, job, h); err != nil {
		return networks.Ready{}, err
	}
	if h.Get(live) == "" {
		if err := (upload{a, job, h}).all(ctx); err != nil {
			return networks.Ready{}, err
		}
	}
	// What a Ready holds is kept with the move to in flight: no commit of its own.
	ready := networks.Ready{Job: job, Handles: map[string]string{firstCommit: cmp.Or(h.Get(firstCommit), stamp(a.now()))}}
	for _, name := range append(readyNames(job), live) {
		ready.Handles[name] = h.Get(name)
	}
	return ready, nil
}

// lookBeforeRepeat notes a post of ours that is already there, if there was a
// commit so long ago that the client key no longer keeps a second one away. A
// post noted before counts for as long as the server has it.
func (a *Adapter) lookBeforeRepeat(ctx context.Context, job networks.Job, h networks.Handles) error {
	if id := h.Get(live); id != "" {
		if _, err := a.show(ctx, job, httpx.Prepare, id); !missing(err) {
			return err
		}
		h.Note(live, "")
	}
	began, ok := parseStamp(h.Get(firstCommit))
	if !ok || a.now().Sub(began) < keyHolds {
		return nil
	}
	return a.look(ctx, job, h)
}

// look searches the account's posts since the first commit, or since a look-up
// that proved the post absent, and notes one that is ours.
func (a *Adapter) look(ctx context.Context, job networks.Job, h networks.Handles) error {
	since, _ := parseStamp(cmp.Or(h.Get(absentAt), h.Get(firstCommit)))
	s := search{a: a, job: job, step: httpx.Prepare, mine: mediaIDs(job, h), want: draftOf(job),
		window: networks.Window{Since: since.Add(-slack), Until: a.now().Add(slack)}}
	if err := s.run(ctx); err != nil || len(s.found) == 0 {
		return err
	}
	h.Note(live, s.found[0].ID)
	return nil
}

// Commit makes the post public, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	if ready.Handles[live] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "An earlier attempt seems to have published this; Herald asks the server first.")
	}
	form := draftOf(job).form()
	for _, name := range readyNames(job) {
		form.Add("media_ids[]", ready.Handles[name])
	}
	var made posted
	answer, err := a.do(ctx, call{job: job, step: httpx.Commit, method: http.MethodPost, path: "/api/v1/statuses", form: form, key: clientKey(job.Key)}, &made)
	if err != nil {
		return networks.Receipt{}, commitFault(job, err)
	}
	if made.ID == "" || made.address() == "" {
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return networks.Receipt{ExternalID: made.ID, Permalink: made.address(), RequestID: answer.RequestID, More: len(parts(job)) > 1}, nil
}

// draft is a post as it is sent.
type draft struct {
	text, spoiler, visibility, language string
	sensitive                           bool
	media                               int
}

func draftOf(job networks.Job) draft {
	n, _ := network.Get(network.Mastodon)
	d := network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options}
	return draft{
		text:       n.Parts(d)[0],
		spoiler:    n.Value(d, network.OptSpoiler),
		visibility: n.Value(d, network.OptVisibility),
		language:   n.Value(d, network.OptLanguage),
		sensitive:  n.Value(d, network.OptSensitive) == "true",
		media:      len(job.Post.Media),
	}
}

// parts are the texts of the job's thread; one, if it is none.
func parts(job networks.Job) []string {
	n, _ := network.Get(network.Mastodon)
	return n.Parts(network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options})
}

// partOf is a further post of a thread. It goes with the content warning: in a
// timeline it stands alone.
func partOf(job networks.Job, text string) draft {
	d := draftOf(job)
	return draft{text: text, spoiler: d.spoiler, visibility: d.visibility, language: d.language}
}

// commentOf is the first comment: a reply that is as visible as its post. The
// content warning stays with the post, or it would count against the comment.
func commentOf(job networks.Job) draft {
	d := draftOf(job)
	return draft{text: job.Post.FirstComment, visibility: d.visibility, language: d.language}
}

func (d draft) form() url.Values {
	form := url.Values{"status": {d.text}, "visibility": {d.visibility}}
	if d.sensitive {
		form.Set("sensitive", "true")
	} else if d.spoiler == "" {
		form.Set("sensitive", "false") // else the account's own default would count
	}
	if d.spoiler != "" {
		form.Set("spoiler_text", d.spoiler)
	}
	if d.language != "" {
		form.Set("language", d.language)
	}
	return form
}

// address is the base address of an account's server.
func (a *Adapter) address(account networks.Account) string {
	base := strings.TrimSpace(account.Address)
	if a.base != "" {
		base = a.base
	}
	if base != "" && !strings.Contains(base, "://") {
		base = "https://" + base
	}
	return strings.TrimRight(base, "/")
}
