// Package networks is how Herald speaks to the places it publishes to: the
// Adapter that every network implements, what an adapter is given, and the
// registry. The two steps are two types: only a Ready, which Prepare returns,
// can be committed.
package networks

import (
	"cmp"
	"context"
	"io"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks/httpx"
)

// Adapter publishes to one network.
type Adapter interface {
	// Prepare does whatever is not yet public: uploads, containers, checks. It
	// may run again after any failure, and finds in h what it saved before. Its
	// faults are Transient, RateLimited, Auth, Permission, Validation, or Waiting
	// ("not ready, ask again"), never Unknown.
	Prepare(ctx context.Context, job Job, h Handles) (Ready, error)

	// Commit makes the post public. It is called once per attempt, after the
	// attempt was committed as in flight. A failure to connect before a byte was
	// sent is Transient, a documented refusal is what it says, and everything
	// else is Unknown.
	Commit(ctx context.Context, ready Ready) (Receipt, error)

	// Find looks among the account's recent posts in w for the one that job
	// would have made: by handle first, else by fingerprint, leaving out
	// w.Taken. Absent means that the network's list is complete over w.
	Find(ctx context.Context, job Job, h Handles, w Window) (Finding, error)
}

// Follower is an adapter with something to do after the commit: reading the
// permalink, the first comment. It may run again; it saves in h what it did, so
// that nothing is done twice. A fault never makes the post a failure.
type Follower interface {
	Follow(ctx context.Context, job Job, r Receipt, h Handles) (Receipt, error)
}

// Refresher is an adapter whose tokens can be renewed without a person.
type Refresher interface {
	// Refresh returns new tokens. An empty Refresh keeps the old refresh token.
	Refresh(ctx context.Context, account Account) (Tokens, error)
}

// Straight is an adapter some of whose formats need no Prepare: it makes no call
// for them, so the attempt can be in flight from the claim on.
type Straight interface {
	Straight(f network.Format) bool
}

// Checker is an adapter that can tell whether an account's credential works.
// What it learns is merged into the account's settings, never replaces them.
type Checker interface {
	Check(ctx context.Context, account Account) (Profile, error)
}

// Job is one logical publish as an adapter sees it: the same over all attempts.
type Job struct {
	Key     string // stable over attempts; the client key where the network takes one
	Attempt int    // 1 for the first
	Account Account
	Post    Post
	Trail   httpx.Trail // where the calls of this run leave their evidence
}

// Account is where to publish.
type Account struct {
	ID       model.AccountID
	Network  network.Name
	Handle   string            // what people call it, as @bakery
	RemoteID string            // the network's id: page id, IG user id, account id; empty for webhooks
	Address  string            // user-chosen base address: Mastodon host, webhook URL; else empty
	Token    secret.Token      // access token, or the webhook's signing secret
	Refresh  secret.Token      // refresh token, where the network has one
	Expires  time.Time         // of Token; zero if it does not expire
	Scopes   []string          // what the token may do, as the network said
	Settings map[string]string // hand-entered and learned settings
}

// Post is what to publish: exactly the approved content for this account.
type Post struct {
	Format       network.Format
	Text         string
	Link         string
	FirstComment string
	Media        []Media
	Options      map[string]string
}

// Media is one attachment of a Post.
type Media struct {
	network.Media
	ID   model.MediaID
	Name string
	URL  string                                           // signed, for networks that pull; good for HERALD_PROVIDER_URL_TTL
	Open func(ctx context.Context) (io.ReadCloser, error) // for networks that take bytes

	// Stage hands the file to a publisher once for all of the version's targets that
	// share a room there (a team, a location; empty: the whole publisher), and returns
	// what the publisher calls it. put is called by one caller at a time. Nil where
	// nobody shares: see Staged.
	Stage func(ctx context.Context, room string, put func(context.Context) (string, error)) (string, error)
}

// Part is the file as a part of a multipart form.
func (m Media) Part(field string) httpx.File {
	return httpx.File{Field: field, Name: cmp.Or(m.Name, "file"), Type: m.Type, Size: m.Bytes, Open: m.Open}
}

// Handles are the ids a network hands out on the way (container, upload
// session, media id), kept on the attempt and carried to the next one.
type Handles interface {
	// Get returns a handle saved or noted before, or "".
	Get(name string) string
	// Save keeps a handle, and with it all that was noted. It is durable when Save
	// returns, which must be before the next request to the network. It is for what
	// must not be forgotten: that a call which cannot be repeated is about to be
	// made, and what is public.
	Save(ctx context.Context, name, value string) error
	// Note keeps a handle that nobody has to wait for: of what is not public and may
	// be made again, or what is learned again by asking. It becomes durable with the
	// next Save, with the move to in flight, or with the result of the step; a process
	// that dies before then has forgotten it.
	Note(name, value string)
	// Checkpoint notes a handle and has all that was noted written while the caller
	// goes on: how far an upload is that is too large to begin anew. The error is a
	// Transient fault, that of an earlier write, so that who lost the claim stops.
	Checkpoint(ctx context.Context, name, value string) error
}

// Ready is a job whose Prepare is done. Handles holds what Commit needs.
type Ready struct {
	Job     Job
	Handles map[string]string
	Book    Handles // where Commit keeps what its answer hands out, for the look-up; nil unless Prepare put it there
}

// Receipt is the proof of a public post.
type Receipt struct {
	ExternalID string // the network's id of the post
	Permalink  string // empty if the network has not given it yet
	RequestID  string
	More       bool // the adapter's Follow has something of its own to do, as the rest of a thread
}

// Window is where to look for a post, and what is known not to be it.
type Window struct {
	Since time.Time // the attempt's start less the clock slack
	Until time.Time
	Taken []string // external ids tied to other targets
	Looks int      // how many complete looks came before and found nothing
}

// Verdict is what a look-up proved.
type Verdict string

// The verdicts.
const (
	Found    Verdict = "found"
	Absent   Verdict = "absent"
	CantTell Verdict = "cant_tell"
)

// Finding is the answer of Find.
type Finding struct {
	Verdict Verdict
	Receipt Receipt // if found
	Say     string  // what was seen, one sentence for the evidence page
}

// Tokens are renewed credentials.
type Tokens struct {
	Access         secret.Token
	Refresh        secret.Token
	Expires        time.Time
	RefreshExpires time.Time // of Refresh, or of the one that stays; zero: the network did not say
	Scopes         []string
}

// Profile is what a network says of an account.
type Profile struct {
	RemoteID, Handle, Name string
	Scopes                 []string
	Settings               map[string]string
}

// Env is what an adapter gets from the configuration.
type Env struct {
	Base, Upload, Auth     string // base addresses, with path prefix, without a trailing slash
	Version                string // API version, as v25.0; empty takes the adapter's default
	ClientID, ClientSecret string
	HTTP                   *httpx.Client // for hosts fixed by configuration
	Guarded                *httpx.Client // for addresses that users choose
	Now                    func() time.Time
}
