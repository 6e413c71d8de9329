package threads

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// The handles, beside those of graph. Those of an answer have its name before them.
const (
	container = graph.ContainerID
	asked     = "container.asked" // a carousel was asked for with the items that there are
	anew      = "container.anew"  // the items were made anew, since they may have been taken
	failures  = "failures"        // containers that failed
)

const (
	enough = 4               // publishes of one container before a new one is made
	early  = 5 * time.Second // between two looks in the first minute
)

// build makes one container and brings it so far that it can be published.
type build struct {
	*Adapter
	graph.Containers
	job   networks.Job
	items []networks.Media // of a carousel
	form  func(children []string) url.Values
}

func (a *Adapter) build(job networks.Job, h networks.Handles, step httpx.Step, prefix string, form func([]string) url.Values, items ...networks.Media) *build {
	b := &build{Adapter: a, job: job, form: form, items: items}
	b.Containers = graph.Containers{Network: "Threads", Handles: h, Now: a.now, Step: step, Prefix: prefix, Items: len(items), Early: early, Enough: enough,
		Make: b.item, Whole: b.whole, Look: b.state, Gone: gone, Failed: b.failed}
	if step == httpx.Prepare { // answers have a quota of their own
		b.Room = func(ctx context.Context) error {
			return graph.Quota(ctx, &a.door, call(job, step, "", edge(job, "threads_publishing_limit")), "Threads")
		}
	}
	return b
}

func (b *build) make(ctx context.Context, form url.Values) (string, error) {
	c := call(b.job, b.Step, http.MethodPost, edge(b.job, "threads"))
	c.Form = form
	var made created
	answer, err := b.do(ctx, c, &made)
	if err == nil && made.ID == "" {
		err = httpx.Unparsable(b.Step, answer)
	}
	return string(made.ID), err
}

func (b *build) item(ctx context.Context, i int) (string, error) {
	return b.make(ctx, childForm(b.items[i]))
}

// whole makes the container itself. The items of a carousel may be part of one
// whose answer was lost, and are then refused: they are made anew.
func (b *build) whole(ctx context.Context, children []string) (string, error) {
	if len(children) == 0 {
		return b.make(ctx, b.form(nil))
	}
	taken := b.taken()
	if err := b.mark(ctx); err != nil {
		return "", err
	}
	id, err := b.make(ctx, b.form(children))
	if f := fault.Of(err); taken && f != nil && f.Kind == fault.Validation {
		networks.Forget(b.Handles, b.Prefix+asked)
		b.Handles.Note(b.Prefix+anew, "true")
		err = b.Lost(err)
	}
	return id, err
}

// taken says whether the items may be part of a carousel whose answer was lost: one was
// asked for, or, which may not have been written, an earlier run had the items.
func (b *build) taken() bool {
	return b.Handles.Get(b.Prefix+asked) != "" || b.Resumed && b.Handles.Get(b.Prefix+anew) == ""
}

// mark keeps that a carousel is about to be asked for. Where this run made the items it
// is noted: who forgets it has forgotten them too.
func (b *build) mark(ctx context.Context) error {
	if !b.Resumed {
		b.Handles.Note(b.Prefix+asked, "true")
		return nil
	}
	return b.Handles.Checkpoint(ctx, b.Prefix+asked, "true")
}

func (b *build) state(ctx context.Context, id string) (string, string, error) {
	p, err := b.progress(ctx, b.job, b.Step, id)
	return p.state(), p.Message, err
}

// failed counts the containers that failed.
func (b *build) failed(_ context.Context, words string) error {
	n, _ := strconv.Atoi(b.Handles.Get(b.Prefix + failures))
	b.Handles.Note(b.Prefix+failures, strconv.Itoa(n+1))
	return told(n+1, words)
}

// progress reads the state of a container. An answer that says nothing of it is
// none.
func (a *Adapter) progress(ctx context.Context, job networks.Job, step httpx.Step, id string) (p progress, err error) {
	c := call(job, step, http.MethodGet, url.PathEscape(id))
	c.Query = url.Values{"fields": {"status,error_message"}}
	answer, err := a.do(ctx, c, &p)
	if err == nil && p == (progress{}) {
		err = httpx.Unparsable(step, answer)
	}
	return p, err
}

// gone says whether err means that a container is not there.
func gone(err error) bool {
	f := fault.Of(err)
	return graph.Missing(err) || f != nil && f.Code == notFound
}
