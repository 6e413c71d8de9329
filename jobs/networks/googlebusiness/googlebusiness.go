// Package googlebusiness publishes local posts to locations of Google Business
// Profile, by version 4 of the My Business API.
//
// Commit call: POST /localPosts. Google takes no key of ours, and has only accepted
// a post when it answers: it works on it, and may turn it down. So a commit whose
// post is not live yet says Unknown, and the look-up says what became of it, by the
// name that Commit kept (the handle name). A post that was turned down is told by the
// next Prepare. Start with Commit, then Find.
package googlebusiness

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/google"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to locations. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	places rest.Door // what locations there are
	signIn oauth.SignIn
	owners rest.Door // whose locations there are
}

// New makes the adapter. Without a base address it speaks to Google itself.
func New(env networks.Env) *Adapter {
	table := rest.Table{Network: "Google", Read: read, Rows: rows}
	return &Adapter{signIn: google.SignIn(env, table.Network, "business.manage"),
		owners: rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://mybusinessaccountmanagement.googleapis.com") + "/v1", Table: table},
		door:   rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://mybusiness.googleapis.com") + "/" + cmp.Or(env.Version, "v4"), Table: table},
		places: rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://mybusinessbusinessinformation.googleapis.com") + "/v1", Table: table}}
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
)

// The handles.
const (
	name = "name"
	live = "live" // only in a Ready: Google has the post of an earlier attempt
)

var location = regexp.MustCompile(`^accounts/[0-9]+/locations/[0-9]+$`)

// Prepare makes no call, but where an earlier attempt left a post: then it asks
// what became of that.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	switch err := networks.Fits(job); {
	case err != nil:
		return networks.Ready{}, err
	case !location.MatchString(job.Account.RemoteID):
		return networks.Ready{}, fault.New(fault.Auth, "account_unknown", "Herald does not know which location of Google this is. Reconnect the account.")
	}
	ready := networks.Ready{Job: job, Handles: map[string]string{}, Book: h}
	if h.Get(name) == "" {
		return ready, nil
	}
	now, err := a.get(ctx, job, httpx.Prepare, h.Get(name))
	switch {
	case err != nil:
		return networks.Ready{}, err
	case now.State == rejected:
		networks.Forget(h, name)
		return networks.Ready{}, turnedDown()
	}
	ready.Handles[live] = "true"
	return ready, nil
}

// turnedDown is the fault of a post that Google's review refused: nothing of it is
// to be seen.
func turnedDown() error {
	return fault.New(fault.Validation, "rejected", "Google has turned the post down. It takes no telephone numbers in the text, and nothing that breaks its rules of content. Change the post.")
}

// Commit makes the post, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "Google has the post of an earlier attempt; Herald asks what became of it.")
	}
	job := ready.Job
	c := rest.From(job, httpx.Commit, http.MethodPost, job.Account.RemoteID+"/localPosts")
	c.JSON = postOf(job)
	var made local
	answer, err := a.door.Do(ctx, c, &made)
	switch {
	case err != nil:
		return networks.Receipt{}, err
	case !strings.HasPrefix(made.Name, job.Account.RemoteID+"/localPosts/"):
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	case made.State == rejected:
		return networks.Receipt{}, turnedDown()
	case made.State == shown:
		return made.receipt(answer.RequestID), nil
	}
	ready.Book.Note(name, made.Name) // the result follows, and is written with it
	return networks.Receipt{}, fault.New(fault.Unknown, "accepted", "Google has the post and works on it; Herald asks what becomes of it.")
}

func (a *Adapter) get(ctx context.Context, job networks.Job, step httpx.Step, name string) (local, error) {
	var now local
	answer, err := a.door.Do(ctx, rest.From(job, step, http.MethodGet, name), &now)
	if err == nil && (now.Name != name || now.State == "") {
		err = httpx.Unparsable(step, answer)
	}
	return now, err
}

// Find asks for the post by its name, where an answer gave one. Else it looks
// through the location's posts for one with the same words, kind, button and title.
// An answer without a list is not taken for an empty one.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	if name := h.Get(name); name != "" {
		return a.findNamed(ctx, job, name)
	}
	want := postOf(job)
	s := networks.Sieve{Window: w, Unordered: true, Looked: "the location's list", Marked: want.Summary == "" && want.Event == nil}
	return s.Read(ctx, func(ctx context.Context, token string) (list []networks.Listed, next string, err error) {
		c := rest.From(job, httpx.Find, http.MethodGet, job.Account.RemoteID+"/localPosts")
		if c.Query = (url.Values{"pageSize": {"100"}}); token != "" {
			c.Query.Set("pageToken", token)
		}
		var page struct {
			Posts *[]local `json:"localPosts"`
			Next  string   `json:"nextPageToken"`
		}
		answer, err := a.door.Do(ctx, c, &page)
		if err == nil && page.Posts == nil {
			err = httpx.Unparsable(httpx.Find, answer)
		}
		if err != nil {
			return nil, "", err
		}
		for _, p := range *page.Posts {
			list = append(list, networks.Listed{Receipt: p.receipt(""), Made: p.Created, Alike: p.State != rejected && p.like(want)})
		}
		return list, page.Next, nil
	})
}

func (a *Adapter) findNamed(ctx context.Context, job networks.Job, name string) (networks.Finding, error) {
	now, err := a.get(ctx, job, httpx.Find, name)
	switch f := fault.Of(err); {
	case f != nil && f.Code == "NOT_FOUND":
		return networks.Unsure("Google no longer has the post: it was taken away, published or not."), nil
	case f != nil:
		return networks.Finding{}, f
	case now.State == rejected:
		return networks.NotThere("Google has turned the post down, so it is not live."), nil
	case now.State == shown:
		return networks.FoundIt(now.receipt(""), "Google says that the post is live."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "processing", "Google is still working on the post; Herald looks again.")
}

// Refresh renews the token. The refresh token stays good.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}

// Check looks for the location among those of its account, and whether it takes
// posts.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	parent, id, _ := strings.Cut(account.RemoteID, "/locations/")
	var own *place
	err := a.eachLocation(ctx, account.Token, parent, func(l place) bool {
		if l.Name == "locations/"+id {
			own = &l
		}
		return own == nil
	})
	switch {
	case err != nil:
		return networks.Profile{}, err
	case own != nil && own.closed():
		return networks.Profile{}, fault.New(fault.Permission, "no_posts", sayNoPosts)
	case own != nil:
		return networks.Profile{RemoteID: account.RemoteID, Handle: own.Title, Name: own.Title}, nil
	}
	return networks.Profile{}, fault.New(fault.Permission, "no_location", "This connection no longer manages the location. Ask its owner for the right, then reconnect the account.")
}

// read takes the words of the details for those of the refusal: they say more.
func read(a *httpx.Answer) (rest.Problem, bool) {
	p, ok := google.Read(a)
	e, _ := google.Decode(a.Body)
	for _, d := range e.Details {
		for _, one := range d.Errors {
			p.Message = strings.TrimSpace(one.Field + " " + one.Message)
			break
		}
	}
	return p, ok
}

const (
	refused = "{network} did not take the post."
	slow    = "{network} asked us to slow down; the post goes out later."
)

// rows are the refusals of the API, by status or by the reason beside it.
var rows = []rest.Row{
	{Code: "INVALID_ARGUMENT", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "INVALID_ARGUMENT", Words: []string{"photo_fetch_failed", "fetch"}, Kind: fault.Transient, Tries: 1, Name: "photo_fetch", Say: "{network} could not fetch the picture from Herald."},
	{Code: "INVALID_ARGUMENT", Words: []string{"location_disabled"}, Kind: fault.Permission, Name: "location_disabled", Say: "{network} does not let this location post."},
	{Code: "INVALID_ARGUMENT", Words: []string{"stale_data"}, Kind: fault.Transient, Name: "stale_data", Say: "{network} was changing the location."},
	{Code: "FAILED_PRECONDITION", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "UNAUTHENTICATED", Kind: fault.Auth, Say: "{network} no longer accepts this connection. Reconnect the account."},
	{Code: "PERMISSION_DENIED", Kind: fault.Permission, Say: "{network} does not let this connection post for the location. Reconnect the account as a manager of it."},
	{Code: "SERVICE_DISABLED", Kind: fault.Permission, Say: "The \"Google My Business API\" is not enabled for Herald's app. The operator has to enable it in Google's console."},
	{Code: "NOT_FOUND", Kind: fault.Validation, Say: "{network} does not find the location. Reconnect the account."},
	{Code: "ABORTED", Kind: fault.Transient, Say: "{network} was busy with the location."},
	{Code: "RESOURCE_EXHAUSTED", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "RESOURCE_EXHAUSTED", Say: slow},
}

// dateOf and timeOf are the halves of a moment as a writer put it down.
func dateOf(s string) *date {
	at, err := time.Parse("2006-01-02", s[:min(len(s), 10)])
	if err != nil {
		return nil
	}
	return &date{at.Year(), int(at.Month()), at.Day()}
}

func timeOf(s string) *clock {
	_, hm, ok := strings.Cut(s, " ")
	h, m, _ := strings.Cut(hm, ":")
	hours, bad := strconv.Atoi(h)
	minutes, worse := strconv.Atoi(m)
	if !ok || bad != nil || worse != nil {
		return nil
	}
	return &clock{hours, minutes}
}

func value(job networks.Job, key string) string {
	n, _ := network.Get(network.GoogleBusiness)
	return n.Value(network.Draft{Options: job.Post.Options}, key)
}
