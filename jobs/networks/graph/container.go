package graph

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// The handles of Containers, and those of what it returns. Where several posts
// share a place for handles, those of each have Containers.Prefix before them.
const (
	ContainerID    = "container"
	ContainerBegun = "container.begun" // when the first container of the set was made
	ContainerTries = "container.tries" // how often it went on to be published
	ContainerLive  = "container.live"  // only in a Ready: an earlier attempt published it
)

// The states of a container.
const (
	Finished   = "FINISHED"
	InProgress = "IN_PROGRESS"
	Published  = "PUBLISHED"
	Expired    = "EXPIRED"
	Failed     = "ERROR"
)

const (
	containerLives    = 23 * time.Hour   // one that is not published within 24 h expires
	containerPatience = time.Hour        // with one that does not get ready
	containerLag      = 2 * time.Minute  // until one made before must be visible
	containerLate     = 30 * time.Second // between two looks after the first minute
	quotaPause        = time.Hour        // between two questions whether the daily quota has room again
)

// Containers is a post on its way at Instagram or Threads: a container that the
// network fills, of a carousel one for each item first. Each id is noted, so that a
// run goes on where the last one stopped: what is not published expires, and the id
// of what is to be published is durable before the call that does.
type Containers struct {
	Network string // as people call it
	Handles networks.Handles
	Now     func() time.Time
	Step    httpx.Step
	Prefix  string // of the handles
	Items   int    // of a carousel; zero: there is one container
	Early   time.Duration
	Enough  int  // publishes of one container before a new one is made
	Resumed bool // set by Ready: items of an earlier run are used again

	Make   func(ctx context.Context, item int) (id string, err error)          // one item of the carousel
	Whole  func(ctx context.Context, items []string) (id string, err error)    // the container that is published
	Look   func(ctx context.Context, id string) (state, words string, _ error) // of one
	Gone   func(err error) bool                                                // Look or Whole says that one is not there
	Failed func(ctx context.Context, words string) error                       // what one that failed says
	Room   func(ctx context.Context) error                                     // whether there is any to begin; may be nil
}

func (b *Containers) name(handle string) string { return b.Prefix + handle }

func (b *Containers) child(i int) string { return b.name("child." + strconv.Itoa(i+1)) }

// Ready returns the handles of a container that can be published. One that
// expired or vanished is replaced within the run, once. Its faults are Waiting
// while the network works, or, where Step is not Prepare, Transient.
func (b *Containers) Ready(ctx context.Context) (map[string]string, error) {
	if b.age() > containerLives || b.tried() >= b.Enough {
		b.forget()
	}
	handles, again, err := b.try(ctx)
	if err == nil && again {
		b.forget()
		handles, again, err = b.try(ctx)
	}
	if err == nil && again {
		return nil, fault.New(fault.Transient, "container_lost", b.Network+" lost the files twice; Herald tries again.")
	}
	return handles, err
}

// try makes what is missing and looks how far it is. It answers again if all
// has to be made anew.
func (b *Containers) try(ctx context.Context) (handles map[string]string, again bool, err error) {
	if b.Handles.Get(b.name(ContainerID)) == "" {
		if again, err = b.makeAll(ctx); again || err != nil {
			return nil, again, err
		}
	}
	id := b.Handles.Get(b.name(ContainerID))
	state, err := b.look(ctx, b.name(ContainerID))
	switch {
	case err != nil:
		return nil, false, err
	case state == Expired:
		return nil, true, nil
	case state == Published:
		return map[string]string{ContainerID: id, ContainerLive: "true"}, false, nil
	}
	b.note(ContainerTries, strconv.Itoa(b.tried()+1))
	return map[string]string{ContainerID: id}, false, nil
}

// makeAll makes the container, for a carousel its children first: all are made,
// then all must be ready, then the parent is made.
func (b *Containers) makeAll(ctx context.Context) (again bool, err error) {
	if err := b.begin(ctx); err != nil {
		return false, err
	}
	children, again, err := b.children(ctx)
	if again || err != nil {
		return again, err
	}
	id, err := b.Whole(ctx, children)
	if err != nil && len(children) > 0 && b.Gone(err) {
		return false, b.Lost(err)
	}
	if err != nil {
		return false, err
	}
	b.note(ContainerID, id)
	return false, nil
}

func (b *Containers) begin(ctx context.Context) error {
	if b.Handles.Get(b.name(ContainerBegun)) != "" {
		return nil
	}
	if b.Room != nil {
		if err := b.Room(ctx); err != nil {
			return err
		}
	}
	b.note(ContainerBegun, b.Now().UTC().Format(time.RFC3339))
	return nil
}

// children makes the carousel's items and waits for them.
func (b *Containers) children(ctx context.Context) (ids []string, again bool, err error) {
	for i := range b.Items {
		if b.Handles.Get(b.child(i)) != "" {
			b.Resumed = true
			continue
		}
		id, err := b.Make(ctx, i)
		if err != nil {
			return nil, false, err
		}
		b.Handles.Note(b.child(i), id)
	}
	for i := range b.Items {
		state, err := b.look(ctx, b.child(i))
		if err != nil || state == Expired {
			return nil, state == Expired, err
		}
		ids = append(ids, b.Handles.Get(b.child(i)))
	}
	return ids, false, nil
}

// look asks for the state of a container: finished, published or expired. One
// that failed is forgotten, and what it says is the fault.
func (b *Containers) look(ctx context.Context, name string) (string, error) {
	state, words, err := b.Look(ctx, b.Handles.Get(name))
	switch {
	case err != nil && b.Gone(err) && b.age() > containerLag:
		return Expired, nil
	case err != nil && b.Gone(err):
		return "", b.later(containerLate, "not_visible", b.Network+" does not show the upload yet.")
	case err != nil:
		return "", err
	case state == Failed:
		return "", b.failed(ctx, name, words)
	case state == InProgress:
		return "", b.wait()
	}
	return state, nil
}

// failed forgets a container that failed, and of a carousel nothing else, so
// that only the bad file is fetched anew.
func (b *Containers) failed(ctx context.Context, name, words string) error {
	networks.Forget(b.Handles, name)
	if name == b.name(ContainerID) {
		b.forget()
	}
	return b.Failed(ctx, words)
}

func (b *Containers) wait() error {
	switch age := b.age(); {
	case age > containerPatience:
		return b.Lost(fault.New(fault.Transient, "container_stuck", b.Network+" did not get the files ready in an hour; Herald sends them again."))
	case age > time.Minute:
		return b.later(containerLate, "in_progress", b.Network+" is still fetching the files.")
	}
	return b.later(b.Early, "in_progress", b.Network+" is still fetching the files.")
}

// later is Waiting while preparing; what follows a commit knows no such thing,
// and is tried again.
func (b *Containers) later(d time.Duration, code, say string) error {
	f := fault.Wait(d, code, say)
	if b.Step != httpx.Prepare {
		f.Kind = fault.Transient
	}
	return f
}

// Lost forgets everything, so that the next run makes it anew, and returns why
// as something that may be tried again.
func (b *Containers) Lost(why error) error {
	b.forget()
	f := *fault.Of(why)
	f.Kind = fault.Transient
	return &f
}

func (b *Containers) forget() {
	names := []string{b.name(ContainerID), b.name(ContainerTries), b.name(ContainerBegun)}
	for i := range b.Items {
		names = append(names, b.child(i))
	}
	networks.Forget(b.Handles, names...)
}

func (b *Containers) note(handle, value string) { b.Handles.Note(b.name(handle), value) }

// age is how long ago the set was begun.
func (b *Containers) age() time.Duration {
	at, err := time.Parse(time.RFC3339, b.Handles.Get(b.name(ContainerBegun)))
	if err != nil {
		return 0
	}
	return b.Now().Sub(at)
}

func (b *Containers) tried() int {
	n, _ := strconv.Atoi(b.Handles.Get(b.name(ContainerTries)))
	return n
}

// Made makes a container by c and returns its id.
func Made(ctx context.Context, d *Door, c Call) (string, error) {
	var made struct {
		ID ID `json:"id"`
	}
	answer, err := d.Do(ctx, c, &made)
	if err == nil && made.ID == "" {
		err = httpx.Unparsable(c.Step, answer)
	}
	return string(made.ID), err
}

// Quota asks whether the daily quota of posts has room. That it could not be
// asked does not stop the post: publishing checks it again.
func Quota(ctx context.Context, d *Door, c Call, network string) error {
	var now struct {
		Data []struct {
			Used   Int `json:"quota_usage"`
			Config struct {
				Total Int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	c.Method, c.Query = http.MethodGet, url.Values{"fields": {"quota_usage,config"}}
	_, err := d.Do(ctx, c, &now)
	if f := fault.Of(err); f != nil && (f.Kind == fault.Auth || f.Kind == fault.RateLimited) {
		return f
	}
	for _, one := range now.Data {
		if err == nil && one.Config.Total > 0 && one.Used >= one.Config.Total {
			f := fault.New(fault.RateLimited, "quota", network+"'s daily limit of posts for this account is used up; the post goes out as soon as there is room.")
			f.Wait = quotaPause
			return f
		}
	}
	return nil
}
