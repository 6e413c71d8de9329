// Package bluesky publishes to Bluesky: it writes records into the repository of
// an account on its personal data server.
//
// Commit call: com.atproto.repo.putRecord at a key (a TID) that Herald chose and
// wrote down before the first attempt, with swapRecord null: there must be no other
// record at that key, and writing the very same record again changes nothing. So
// a repeated commit is harmless, and a look-up by the key proves either way.
//
// A credential is an access token with its refresh token, or an app password, for
// which the adapter keeps sessions of its own. The server may be one that a user
// chose, so it is called through the guarded client unless the configuration
// names it.
//
// Handles: rkey; record (the post as it was or will be written); blob.N with
// blob.N.at (a file that was uploaded, and when: servers drop what no record holds
// after an hour); video.job with video.since; part.N and comment, each with the key
// that was chosen for it (part.N.rkey). The further posts of a thread and the first
// comment are records of their own, written after the commit at keys of their own:
// see follow.go.
//
// Start with Prepare, then record.go.
package bluesky

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// The handles.
const (
	rkey     = "rkey"
	record   = "record"
	videoJob = "video.job"
	videoAt  = "video.since"
)

// collection is where posts are kept.
const collection = "app.bsky.feed.post"

// Adapter publishes to Bluesky. It is safe for concurrent use.
type Adapter struct {
	http    *httpx.Client // for hosts that the configuration names
	guarded *httpx.Client // for servers that users choose
	base    string        // stands for every account's server; empty outside tests and simulations
	video   string        // the video service
	web     string        // where people read posts
	now     func() time.Time

	signing  singleflight.Group
	sessions sync.Map // of an app password: string -> session
}

// New makes the adapter. A base address in env replaces the servers of the
// accounts and, unless Upload is set, the video service.
func New(env networks.Env) *Adapter {
	a := &Adapter{
		http: env.HTTP, guarded: env.Guarded, base: env.Base, now: env.Now,
		video: cmp.Or(env.Upload, env.Base, "https://video.bsky.app"), web: cmp.Or(env.Auth, "https://bsky.app"),
	}
	if a.now == nil {
		a.now = time.Now
	}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
)

// Prepare uploads the files, fixes the key and writes the record down.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	r := run{Adapter: a, job: job, h: h}
	refs, err := r.files(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	key := h.Get(rkey)
	if key == "" {
		key = tid(a.now(), job.Key)
		h.Note(rkey, key) // the move to in flight makes it durable, and nothing is written at it before
	}
	post := h.Get(record)
	if post == "" {
		if post, err = r.record(ctx, key, refs); err != nil {
			return networks.Ready{}, err
		}
	}
	return networks.Ready{Job: job, Handles: map[string]string{rkey: key, record: post}, Book: h}, nil
}

// run is one run of Prepare.
type run struct {
	*Adapter
	job networks.Job
	h   networks.Handles
}

// put is the body of putRecord. SwapRecord is sent as null: nothing else may
// stand at the key.
type put struct {
	Repo       string          `json:"repo"`
	Collection string          `json:"collection"`
	RKey       string          `json:"rkey"`
	SwapRecord *string         `json:"swapRecord"`
	Record     json.RawMessage `json:"record"`
}

// written is the answer to putRecord.
type written struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

// Commit writes the record, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	made, answer, err := a.put(ctx, job, httpx.Commit, ready.Handles[rkey], ready.Handles[record])
	if err != nil {
		if f := fault.Of(err); f.Code == blobGone && ready.Book != nil {
			for i := range job.Post.Media {
				ready.Book.Note(blob(i), "") // the next attempt uploads it again
			}
		}
		return networks.Receipt{}, err
	}
	return a.receipt(job, made.URI, answer.RequestID), nil
}

// receipt is the proof of a post. More says that the thread goes on.
func (a *Adapter) receipt(job networks.Job, uri, request string) networks.Receipt {
	return networks.Receipt{ExternalID: uri, Permalink: a.permalink(uri), RequestID: request, More: len(parts(job)) > 1}
}

// parts are the texts of the job's thread; one, if it is none.
func parts(job networks.Job) []string {
	n, _ := network.Get(network.Bluesky)
	return n.Parts(network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options})
}

// put writes a record at a key. An answer about any other place is none.
func (a *Adapter) put(ctx context.Context, job networks.Job, step httpx.Step, key, post string) (made written, answer *httpx.Answer, err error) {
	body := put{Repo: job.Account.RemoteID, Collection: collection, RKey: key, Record: json.RawMessage(post)}
	answer, err = a.do(ctx, job, rest.Call{Step: step, Method: http.MethodPost, Path: "xrpc/com.atproto.repo.putRecord", JSON: body}, &made)
	if err == nil && (!ours(job.Account.RemoteID, key, made.URI) || made.CID == "") {
		err = httpx.Unparsable(step, answer)
	}
	return made, answer, err
}

// ours says whether an address is that of the account's record at key. An
// account may be known by its handle, while addresses begin with its DID.
func ours(repo, key, uri string) bool {
	owner, ok := strings.CutSuffix(uri, "/"+collection+"/"+key)
	owner, at := strings.CutPrefix(owner, "at://")
	return ok && at && (owner == repo || !strings.HasPrefix(repo, "did:") && strings.HasPrefix(owner, "did:"))
}

// permalink is where people read the record of an address. The DID in it
// survives a change of the handle.
func (a *Adapter) permalink(uri string) string {
	owner, _, _ := strings.Cut(strings.TrimPrefix(uri, "at://"), "/")
	return a.web + "/profile/" + url.PathEscape(owner) + "/post/" + uri[strings.LastIndexByte(uri, '/')+1:]
}

// do makes a call on the account's server.
func (a *Adapter) do(ctx context.Context, job networks.Job, c rest.Call, into any) (*httpx.Answer, error) {
	c.Trail, c.Attempt = job.Trail, job.Attempt
	token, err := a.token(ctx, job)
	if err != nil {
		return nil, err
	}
	c.Token = token
	answer, err := a.door(job.Account).Do(ctx, c, into)
	if f := fault.Of(err); f != nil && f.Kind == fault.Auth && isAppPassword(job.Account.Token) && a.forget(job.Account, token) {
		f.Kind, f.Say = fault.Transient, "Bluesky ended the session; Herald signs in again."
	}
	return answer, err
}

func (a *Adapter) door(account networks.Account) *rest.Door {
	if a.base != "" {
		return &rest.Door{HTTP: a.http, Base: a.base, Table: table}
	}
	return &rest.Door{HTTP: a.guarded, Base: server(account), Table: table}
}

// server is the address of an account's personal data server: the one that a
// person entered, else the one that the account's own document named.
func server(account networks.Account) string {
	base := strings.TrimRight(strings.TrimSpace(cmp.Or(account.Address, account.Settings["pds"])), "/")
	switch {
	case base == "":
		return "https://bsky.social"
	case !strings.Contains(base, "://"):
		return "https://" + base
	}
	return base
}
