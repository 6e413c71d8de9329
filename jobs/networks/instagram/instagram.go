// Package instagram publishes to professional Instagram accounts through the
// Graph API: a container is made, Instagram fetches the files into it, and only
// then is it published by the one commit call, POST /media_publish.
//
// Two ways to sign in have the same calls on different hosts: through Facebook
// (the default), and through Instagram itself, which an account's setting
// "login" = "instagram" says. Only the latter's tokens can be renewed.
//
// The container is the handle: its id is saved before it is published, and its
// state is what a look-up asks first. See Find. Start with Prepare.
package instagram

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
)

// Adapter publishes to Instagram. It is safe for concurrent use.
type Adapter struct {
	facebook  graph.Door // accounts signed in through Facebook
	instagram graph.Door // accounts signed in through Instagram
	renewal   graph.Door // where the latter's tokens are renewed; has no version
	signIn    oauth.SignIn
	code      graph.Code // redeems what the page brought
	now       func() time.Time
}

// New makes the adapter. Without a base address it speaks to Meta itself; one
// base address serves every host.
func New(env networks.Env) *Adapter {
	version := "/" + cmp.Or(env.Version, graph.DefaultVersion)
	table := graph.NewTable(network.Label(network.Instagram), rows...)
	door := func(base string) graph.Door { return graph.Door{HTTP: env.HTTP, Base: base, Table: table} }
	own := cmp.Or(env.Base, "https://graph.instagram.com")
	a := &Adapter{now: env.Now, instagram: door(own + version), renewal: door(own),
		facebook: door(cmp.Or(env.Base, "https://graph.facebook.com") + version)}
	if a.now == nil {
		a.now = time.Now
	}
	label := network.Label(network.Instagram)
	a.code = graph.Code{Door: door(cmp.Or(env.Auth, env.Base, "https://api.instagram.com")), ID: env.ClientID, Secret: env.ClientSecret, Network: label, Now: a.now}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://www.instagram.com") + "/oauth/authorize", Apart: ",", Scopes: asks, Endpoint: oauth.Endpoint{ID: env.ClientID}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
)

// byInstagram says whether the account was signed in through Instagram itself.
func byInstagram(account networks.Account) bool { return account.Settings["login"] == "instagram" }

func (a *Adapter) door(account networks.Account) *graph.Door {
	if byInstagram(account) {
		return &a.instagram
	}
	return &a.facebook
}

// Prepare makes the container and waits, by Waiting faults, until Instagram has
// fetched everything into it.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	handles, err := a.containers(job, h).Ready(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

// Commit publishes the container, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[graph.ContainerLive] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "Instagram says that an earlier attempt published this; Herald looks for it.")
	}
	job := ready.Job
	c := call(job, httpx.Commit, http.MethodPost, edge(job, "media_publish"))
	c.Form = url.Values{"creation_id": {ready.Handles[container]}}
	var made created
	answer, err := a.door(job.Account).Do(ctx, c, &made)
	if err != nil {
		return networks.Receipt{}, err
	}
	if made.ID == "" || made.ID == graph.ID(ready.Handles[container]) {
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return networks.Receipt{ExternalID: string(made.ID), RequestID: answer.RequestID}, nil
}

func call(job networks.Job, step httpx.Step, method, path string) graph.Call {
	return graph.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: method, Path: path}
}

// edge is the path of one of the account's lists.
func edge(job networks.Job, name string) string {
	return url.PathEscape(job.Account.RemoteID) + "/" + name
}
