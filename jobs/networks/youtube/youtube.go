// Package youtube uploads videos through the YouTube Data API.
//
// A video comes into being with the last byte of a resumable upload. Prepare
// opens the upload and sends all but the last piece; the commit call is the PUT of
// that piece, at most 256 KiB. The address of the upload is a handle, saved before
// the first byte: asking it how much has arrived is what proves, after a call
// without an answer, whether there is a video.
//
// What a look-up can prove: see Find. What comes after the video is made (its
// verdict, thumbnail, first comment): see Follow. Start with Prepare.
package youtube

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/google"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to YouTube. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door // the API
	upload rest.Door // takes files
	signIn oauth.SignIn
	now    func() time.Time
}

// New makes the adapter. Without addresses it speaks to Google itself; one base
// address serves every host unless the others are set too.
func New(env networks.Env) *Adapter {
	const host = "https://www.googleapis.com"
	label := network.Label(network.YouTube)
	table := rest.Table{Network: label, Read: google.Read, Rows: rows}
	path := "/youtube/" + cmp.Or(env.Version, "v3")
	a := &Adapter{now: env.Now, signIn: google.SignIn(env, label, "youtube.upload", "youtube.readonly", "youtube.force-ssl"),
		door:   rest.Door{HTTP: env.HTTP, Table: table, Base: cmp.Or(env.Base, host) + path},
		upload: rest.Door{HTTP: env.HTTP, Table: table, Base: cmp.Or(env.Upload, env.Base, host) + "/upload" + path}}
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

// Prepare opens the upload and sends all but its last piece. What arrived before
// is not sent again.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := fits(job); err != nil {
		return networks.Ready{}, err
	}
	s := session{Adapter: a, job: job, h: h, size: film(job.Post).Bytes}
	handles, err := s.fill(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

// fits refuses a job that cannot be what was approved.
func fits(job networks.Job) error {
	switch m := film(job.Post); {
	case count(job.Post, network.Video) > 1 || count(job.Post, network.Image) > 1:
		return fault.New(fault.Validation, "media_count", "YouTube takes one video in a post, and one picture as its cover.")
	case job.Account.Token.Empty():
		return fault.New(fault.Auth, "no_token", "This YouTube channel is not connected. Reconnect the account.")
	case m == nil || m.Open == nil || m.Bytes <= 0:
		return fault.New(fault.Validation, "media_missing", "The post does not have the video that it needs. Attach it again.")
	case job.Post.Options[network.OptTitle] == "" || job.Post.Options[network.OptPrivacy] == "":
		return fault.New(fault.Validation, "options_missing", "YouTube needs a title, and a choice of who sees the video.")
	}
	return nil
}

func count(p networks.Post, kind network.MediaKind) (n int) {
	for _, m := range p.Media {
		if m.Kind == kind {
			n++
		}
	}
	return n
}

// film is the post's video, or nil.
func film(p networks.Post) *networks.Media { return only(p, network.Video) }

// cover is the picture for its thumbnail, or nil.
func cover(p networks.Post) *networks.Media { return only(p, network.Image) }

func only(p networks.Post, kind network.MediaKind) *networks.Media {
	for i := range p.Media {
		if p.Media[i].Kind == kind {
			return &p.Media[i]
		}
	}
	return nil
}

// Commit sends the last piece, which makes the video.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "YouTube says that an earlier attempt made this video; Herald looks for it.")
	}
	s := session{Adapter: a, job: ready.Job, size: film(ready.Job.Post).Bytes}
	return s.finish(ctx, ready.Handles)
}

func (a *Adapter) call(job networks.Job, step httpx.Step, method, path string) rest.Call {
	return rest.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: method, Path: path}
}

// get is a call that reads.
func (a *Adapter) get(job networks.Job, step httpx.Step, path string, query ...string) rest.Call {
	c := a.call(job, step, http.MethodGet, path)
	c.Query = map[string][]string{}
	for i := 0; i < len(query); i += 2 {
		c.Query.Set(query[i], query[i+1])
	}
	return c
}

// Refresh exchanges the refresh token, which stays good.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}
