// Package threads publishes to Threads, which speaks as the Graph API does: a
// container is made, Threads fetches the files into it, and only then is it
// published by the one commit call, POST /threads_publish. Texts have containers
// too, and can meet the same delays. The further posts of a thread and the first
// comment are answers, each with a container of its own, made and published after
// the commit.
//
// The container is the handle: its id is durable before it is published, and its
// state is what a look-up asks first. See Find. Start with Prepare.
package threads

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
)

// Adapter publishes to Threads. It is safe for concurrent use.
type Adapter struct {
	door    graph.Door
	renewal graph.Door // where tokens are renewed; has no version
	signIn  oauth.SignIn
	code    graph.Code // redeems what the page brought
	now     func() time.Time
}

// New makes the adapter. Without a base address it speaks to Threads itself.
func New(env networks.Env) *Adapter {
	base := cmp.Or(env.Base, "https://graph.threads.net")
	table := graph.NewTable(network.Label(network.Threads), rows...)
	a := &Adapter{now: env.Now, renewal: graph.Door{HTTP: env.HTTP, Base: base, Table: table},
		door: graph.Door{HTTP: env.HTTP, Base: base + "/" + cmp.Or(env.Version, "v1.0"), Table: table}}
	if a.now == nil {
		a.now = time.Now
	}
	a.code = graph.Code{Door: a.renewal, ID: env.ClientID, Secret: env.ClientSecret, Network: network.Label(network.Threads), Now: a.now}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://threads.com") + "/oauth/authorize", Apart: ",", Scopes: asks, Endpoint: oauth.Endpoint{ID: env.ClientID}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
)

// Prepare makes the container and waits, by Waiting faults, until Threads has
// fetched everything into it.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	var items []networks.Media
	if job.Post.Format == network.FormatCarousel {
		items = job.Post.Media
	}
	handles, err := a.build(job, h, httpx.Prepare, "", rootForm(job), items...).Ready(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

// Commit publishes the container, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[graph.ContainerLive] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "Threads says that an earlier attempt published this; Herald looks for it.")
	}
	id, answer, err := a.publish(ctx, ready.Job, httpx.Commit, ready.Handles[container])
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: id, RequestID: answer.RequestID, More: len(parts(ready.Job)) > 1}, nil
}

func (a *Adapter) publish(ctx context.Context, job networks.Job, step httpx.Step, id string) (string, *httpx.Answer, error) {
	c := call(job, step, http.MethodPost, edge(job, "threads_publish"))
	c.Form = url.Values{"creation_id": {id}}
	var made created
	answer, err := a.do(ctx, c, &made)
	if err == nil && (made.ID == "" || string(made.ID) == id) {
		err = httpx.Unparsable(step, answer)
	}
	return string(made.ID), answer, err
}

func call(job networks.Job, step httpx.Step, method, path string) graph.Call {
	return graph.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: method, Path: path}
}

// edge is the path of one of the account's lists.
func edge(job networks.Job, name string) string {
	return url.PathEscape(job.Account.RemoteID) + "/" + name
}

// do makes a call. Two refusals are known by their words only.
func (a *Adapter) do(ctx context.Context, c graph.Call, into any) (*httpx.Answer, error) {
	answer, err := a.door.Do(ctx, c, into)
	f := fault.Of(err)
	if f == nil || f.Kind != fault.Validation || answer == nil {
		return answer, err
	}
	switch words := strings.ToLower(string(answer.Body)); {
	case strings.Contains(words, "link_limit_exceeded"):
		f.Code, f.Say = "link_limit", "Threads takes five different links in a post. Take some out."
	case strings.Contains(words, "fetched") || strings.Contains(words, "failed_downloading"):
		f.Code, f.Say = "media_fetch", "Threads could not fetch a file from Herald."
		if c.Step == httpx.Prepare && c.Attempt <= 1 {
			f.Kind = fault.Transient
		}
	}
	return answer, err
}

// Refresh renews the token, once it is a day old and while it lives; it then
// holds 60 days. The token is its own refresh token.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	var renewed struct {
		Token   string    `json:"access_token"`
		Seconds graph.Int `json:"expires_in"`
	}
	// This one call is documented with the token as a parameter, and no other way.
	c := graph.Call{Step: httpx.Token, Method: http.MethodGet, Path: "refresh_access_token",
		Query: url.Values{"grant_type": {"th_refresh_token"}, "access_token": {account.Token.Reveal()}}}
	answer, err := a.renewal.Do(ctx, c, &renewed)
	if err != nil {
		return networks.Tokens{}, err
	}
	if renewed.Token == "" {
		return networks.Tokens{}, httpx.Unparsable(httpx.Token, answer)
	}
	t := networks.Tokens{Access: secret.NewToken(renewed.Token)}
	if !account.Refresh.Empty() {
		t.Refresh = t.Access
	}
	if renewed.Seconds > 0 {
		t.Expires = a.now().Add(time.Duration(renewed.Seconds) * time.Second)
	}
	return t, nil
}

// Check asks whose the token is.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var user struct {
		ID       graph.ID `json:"id"`
		Username string   `json:"username"`
		Name     string   `json:"name"`
	}
	c := call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "me")
	c.Query = url.Values{"fields": {"id,username,name"}}
	answer, err := a.do(ctx, c, &user)
	if err != nil {
		return networks.Profile{}, err
	}
	if user.ID == "" {
		return networks.Profile{}, httpx.Unparsable(httpx.Check, answer)
	}
	return networks.Profile{RemoteID: string(user.ID), Handle: "@" + user.Username, Name: cmp.Or(user.Name, user.Username)}, nil
}
