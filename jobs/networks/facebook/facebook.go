// Package facebook publishes to Facebook Pages through the Graph API.
//
// Commit calls: POST /feed for text, link and several pictures (uploaded
// unpublished before), POST /photos for one picture, POST /videos for a video
// (with its address, or as the finish of an upload), the finish of /video_reels
// and /video_stories, POST /photo_stories. None takes a key of ours; ids of
// photos and uploads are handles, durable before the commit.
//
// What a look-up can prove: see Find. Start with Prepare, then Commit.
package facebook

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

// Adapter publishes to Pages. It is safe for concurrent use.
type Adapter struct {
	door   graph.Door // the Graph host
	upload graph.Door // takes the bytes of reels and video stories
	signIn oauth.SignIn
	code   graph.Code // redeems what the dialog brought
	app    string     // our app's id, to know our own posts by; may be empty
	now    func() time.Time
}

// New makes the adapter. Without addresses it speaks to Facebook itself; one
// base address serves both hosts unless Upload is set too.
func New(env networks.Env) *Adapter {
	version := cmp.Or(env.Version, graph.DefaultVersion)
	table := graph.NewTable(network.Label(network.Facebook), rows...)
	a := &Adapter{app: env.ClientID, now: env.Now}
	a.door = graph.Door{HTTP: env.HTTP, Table: table,
		Base: cmp.Or(env.Base, "https://graph.facebook.com") + "/" + version}
	a.upload = graph.Door{HTTP: env.HTTP, Table: table,
		Base: cmp.Or(env.Upload, env.Base, "https://rupload.facebook.com") + "/video-upload/" + version}
	if a.now == nil {
		a.now = time.Now
	}
	a.code = graph.Code{Door: a.door, ID: env.ClientID, Secret: env.ClientSecret, Network: network.Label(network.Facebook), Now: a.now}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://www.facebook.com") + "/" + version + "/dialog/oauth", Apart: ",", Scopes: asks, Endpoint: oauth.Endpoint{ID: env.ClientID}}
	return a
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
	_ networks.Straight = (*Adapter)(nil)
)

// Prepare uploads what can be uploaded before anything is public.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := fits(job); err != nil {
		return networks.Ready{}, err
	}
	handles, err := a.prepare(ctx, job, h)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

func (a *Adapter) prepare(ctx context.Context, job networks.Job, h networks.Handles) (map[string]string, error) {
	switch post := job.Post; {
	case post.Format == network.FormatImages, isPhotoStory(post):
		return a.photos(ctx, job, h)
	case post.Format == network.FormatReel, post.Format == network.FormatStory:
		return a.reel(ctx, job, h)
	case post.Format == network.FormatVideo && post.Media[0].URL == "":
		return a.chunks(ctx, job, h)
	}
	return nil, nil
}

// isPhotoStory tells the two kinds of story apart.
func isPhotoStory(p networks.Post) bool {
	return p.Format == network.FormatStory && p.Media[0].Kind == network.Image
}

// fits refuses a job that would publish less than what was approved: Facebook
// itself would post the text without the missing picture.
func fits(job networks.Job) error {
	fb, _ := network.Get(network.Facebook)
	rule, ok := fb.Rule(job.Post.Format)
	switch n := len(job.Post.Media); {
	case job.Account.RemoteID == "":
		return fault.New(fault.Auth, "page_unknown", "Herald does not know which Page this is. Reconnect the account.")
	case !ok:
		return fault.New(fault.Validation, "format", "Facebook has no posts of this shape.")
	case n < rule.Min || n > rule.Max:
		return fault.New(fault.Validation, "media_missing", "The post does not have the pictures or the video that it needs. Attach them again.")
	}
	return nil
}

// Commit makes the post public, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "An earlier attempt may have published this; Herald asks Facebook first.")
	}
	c := a.commitCall(ready)
	var made created
	answer, err := a.door.Do(ctx, c, &made)
	if err != nil {
		return networks.Receipt{}, err
	}
	receipt := networks.Receipt{ExternalID: externalID(ready, made), Permalink: absolute(made.Permalink), RequestID: answer.RequestID}
	if !ours(ready.Job.Account.RemoteID, receipt.ExternalID) {
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return receipt, nil
}

// call is a call of the job on its Page; edge is "feed" and the like.
func (a *Adapter) call(job networks.Job, step httpx.Step, method, edge string) graph.Call {
	return graph.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token,
		Method: method, Path: url.PathEscape(job.Account.RemoteID) + "/" + edge}
}

// read is a call that reads one object.
func (a *Adapter) read(job networks.Job, step httpx.Step, id, fields string) graph.Call {
	return graph.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token,
		Method: http.MethodGet, Path: url.PathEscape(id), Query: url.Values{"fields": {fields}}}
}

// Straight: one call makes these, and Prepare makes none for them.
func (a *Adapter) Straight(f network.Format) bool {
	return f == network.FormatText || f == network.FormatLink || f == network.FormatImage
}
