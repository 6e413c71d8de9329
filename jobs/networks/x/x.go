// Package x publishes to X through version 2 of its API.
//
// Commit call: POST /2/tweets with the first post. X takes no key of ours; it
// refuses the same text a second time for a while, which after a lost answer is
// evidence that the first one is live and no more. The further posts of a thread
// and the first comment are answers, written after the commit, each once: see
// follow.go.
//
// Handles: media.N (an upload) with media.N.at (when it was begun, since uploads run
// out after a day), media.N.sent (segments that are there), media.N.asked,
// media.N.sealed and media.N.ready; part.N of a thread and comment, each with the
// mark that it was begun.
//
// What a look-up can prove: see Find. Start with Prepare, then Commit.
package x

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to X. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	signIn oauth.SignIn
	web    string // where people read posts
	now    func() time.Time
}

// New makes the adapter. Without a base address it speaks to X itself.
func New(env networks.Env) *Adapter {
	base := cmp.Or(env.Base, "https://api.x.com")
	a := &Adapter{door: rest.Door{HTTP: env.HTTP, Base: base, Table: table}, web: cmp.Or(env.Auth, "https://x.com"), now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	// A refresh token that was used before is "invalid_request" to X.
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://x.com") + "/i/oauth2/authorize", Proof: oauth.S256, End: base + "/2/oauth2/revoke",
		Scopes: []string{"tweet.read", "tweet.write", "users.read", "media.write", "offline.access"},
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: base + "/2/oauth2/token", ID: env.ClientID, Secret: env.ClientSecret, Basic: env.ClientSecret != "",
			Dead: []string{"invalid_request"}, Network: network.Label(network.X), Now: a.now,
			Wait: func(answer *httpx.Answer) time.Duration { wait, _ := reset(answer); return wait }}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
	_ networks.Straight  = (*Adapter)(nil)
)

// Straight: a text is one call, and Prepare makes none for it.
func (a *Adapter) Straight(f network.Format) bool { return f == network.FormatText }

// Prepare uploads the files with their descriptions, and waits until X has
// worked on them.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	u := upload{Adapter: a, job: job, h: h, new: map[int]bool{}}
	ids, err := u.all(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	handles := map[string]string{}
	for i, id := range ids {
		handles[media(i)] = id
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

// post is a post as it is sent. X refuses members that it does not know.
type post struct {
	Text    string `json:"text,omitempty"`
	Media   *files `json:"media,omitempty"`
	Reply   *reply `json:"reply,omitempty"`
	Replies string `json:"reply_settings,omitempty"`
	AI      bool   `json:"made_with_ai,omitempty"`
	Paid    bool   `json:"paid_partnership,omitempty"`
}

type files struct {
	IDs []string `json:"media_ids"`
}

type reply struct {
	To string `json:"in_reply_to_tweet_id"`
}

// created is the answer to a new post. The names of its history differ from
// version to version and are left alone.
type created struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// parts are the texts of the job's thread; one, if it is none.
func parts(job networks.Job) []string {
	n, _ := network.Get(network.X)
	return n.Parts(network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options})
}

// chosen fills in what the writer chose for a post.
func chosen(job networks.Job, p post) post {
	n, _ := network.Get(network.X)
	d := network.Draft{Options: job.Post.Options}
	if who := n.Value(d, network.OptReplies); who != "everyone" {
		p.Replies = who
	}
	p.AI, p.Paid = n.Value(d, network.OptMadeByAI) == "true", n.Value(d, network.OptPaid) == "true"
	return p
}

// Commit makes the post public, in one call: of a thread its first post.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	texts := parts(job)
	p := chosen(job, post{Text: texts[0]})
	for i := range job.Post.Media {
		if p.Media == nil {
			p.Media = &files{}
		}
		p.Media.IDs = append(p.Media.IDs, ready.Handles[media(i)])
	}
	id, answer, err := a.create(ctx, job, httpx.Commit, p)
	if err != nil {
		return networks.Receipt{}, err
	}
	return a.receipt(job, id, answer.RequestID), nil
}

func (a *Adapter) create(ctx context.Context, job networks.Job, step httpx.Step, p post) (string, *httpx.Answer, error) {
	var made created
	answer, err := a.door.Do(ctx, call(job, step, http.MethodPost, "2/tweets", p), &made)
	if err == nil && !isID(made.Data.ID) {
		err = httpx.Unparsable(step, answer)
	}
	return made.Data.ID, answer, err
}

func call(job networks.Job, step httpx.Step, method, path string, body any) rest.Call {
	return rest.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: method, Path: path, JSON: body}
}

// isID says whether s can be an id of X. Ids are longer than what a number of
// JSON holds exactly, and stay text.
func isID(s string) bool { return s != "" && len(s) <= 25 && strings.Trim(s, "0123456789") == "" }

// receipt is the proof of a post. More says that the thread goes on.
func (a *Adapter) receipt(job networks.Job, id, request string) networks.Receipt {
	return networks.Receipt{ExternalID: id, Permalink: a.permalink(job.Account, id), RequestID: request, More: len(parts(job)) > 1}
}

// permalink is where people read a post.
func (a *Adapter) permalink(account networks.Account, id string) string {
	if name := strings.TrimPrefix(account.Handle, "@"); name != "" {
		return a.web + "/" + url.PathEscape(name) + "/status/" + id
	}
	return a.web + "/i/web/status/" + id
}

// Refresh renews the token. The refresh token is spent by it, and the new one has
// to be saved before it is used.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}

// Check asks whose the token is.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var me struct {
		Data struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Username string `json:"username"`
			Verified string `json:"verified_type"`
		} `json:"data"`
	}
	c := call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "2/users/me", nil)
	c.Query = url.Values{"user.fields": {"verified_type"}}
	answer, err := a.door.Do(ctx, c, &me)
	if err != nil {
		return networks.Profile{}, err
	}
	if !isID(me.Data.ID) {
		return networks.Profile{}, httpx.Unparsable(httpx.Check, answer)
	}
	p := networks.Profile{RemoteID: me.Data.ID, Handle: "@" + me.Data.Username, Name: me.Data.Name}
	if me.Data.Verified != "" {
		p.Settings = map[string]string{"verified_type": httpx.SafeText(me.Data.Verified)}
	}
	return p, nil
}
