// Package tiktok publishes to TikTok accounts by the Content Posting API, Direct
// Post.
//
// Videos go up as bytes: Prepare announces the file and sends all but its last
// piece; the commit call is the PUT of that piece, and the id of the publish, saved
// before the first byte, is what a look-up asks by. Photos, and videos of accounts
// whose setting video_source is "pull", are fetched by TikTok: then the announcement
// itself is the commit, and its answer brings the id, which Commit keeps.
//
// Either way TikTok has only accepted the post when Commit ends: it works on it,
// and may turn it down. So a commit that went well says Unknown, and the look-up
// says what became of it: see Find. A publish that failed is told again by the next
// Prepare, with the reason. Start with Prepare.
package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to TikTok. It is safe for concurrent use.
type Adapter struct {
	door    rest.Door
	home    string        // where the configuration says that TikTok is
	guarded *httpx.Client // for upload addresses elsewhere
	signIn  oauth.SignIn
	now     func() time.Time
}

// New makes the adapter. Without an address it speaks to TikTok itself; one base
// address serves every host.
func New(env networks.Env) *Adapter {
	label, base := network.Label(network.TikTok), cmp.Or(env.Base, "https://open.tiktokapis.com")
	a := &Adapter{now: env.Now, guarded: env.Guarded, home: cmp.Or(env.Upload, base)}
	if a.now == nil {
		a.now = time.Now
	}
	a.door = rest.Door{HTTP: env.HTTP, Base: base + "/" + cmp.Or(env.Version, "v2"),
		Table: rest.Table{Network: label, Inside: true, Read: read, Rows: rows}}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://www.tiktok.com") + "/v2/auth/authorize/", Apart: ",", Proof: oauth.Hex, End: base + "/v2/oauth/revoke/",
		Scopes: []string{"user.info.basic", "user.info.profile", "video.publish", "video.list"},
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: cmp.Or(env.Auth, base) + "/v2/oauth/token/", ID: env.ClientID, Secret: env.ClientSecret,
			IDField: "client_key", Network: label, Now: a.now}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
)

// The handles.
const (
	publish = "publish"        // TikTok's id of the publish
	begun   = "publish.begun"  // when it was announced
	target  = "publish.upload" // where its bytes go
	from    = "publish.from"   // only in a Ready: how much of the file has arrived
	live    = "publish.live"   // only in a Ready: an earlier attempt was accepted
)

// Prepare asks what the creator may do, tells what became of an earlier publish,
// and sends a video but for its last piece.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := fits(job); err != nil {
		return networks.Ready{}, err
	}
	u := upload{Adapter: a, job: job, h: h}
	handles, err := u.prepare(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles, Book: h}, nil
}

// fits refuses a job that cannot be what was approved.
func fits(job networks.Job) error {
	tiktok, _ := network.Get(network.TikTok)
	rule, ok := tiktok.Rule(job.Post.Format)
	switch n := len(job.Post.Media); {
	case job.Account.Token.Empty():
		return fault.New(fault.Auth, "no_token", "This TikTok account is not connected. Reconnect the account.")
	case !ok:
		return fault.New(fault.Validation, "format", "TikTok has no posts of this shape.")
	case n < rule.Min || n > rule.Max:
		return fault.New(fault.Validation, "media_missing", "The post does not have the pictures or the video that it needs. Attach them again.")
	case job.Post.Options[network.OptPrivacy] == "":
		return fault.New(fault.Validation, "options_missing", "TikTok wants a choice of who sees the post.")
	}
	for _, m := range job.Post.Media {
		if pulled(job) && m.URL == "" {
			return fault.New(fault.Validation, "media_address", "TikTok has no address to fetch the files from. The operator has to set HERALD_BASE_URL.")
		}
	}
	return nil
}

// pulled says whether TikTok fetches the files itself.
func pulled(job networks.Job) bool {
	return job.Post.Format != network.FormatVideo || job.Account.Settings["video_source"] == "pull" || job.Post.Media[0].Open == nil
}

// Commit sends the last piece of a video, or announces what TikTok shall fetch.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, fault.New(fault.Unknown, "already_published", "TikTok has the post of an earlier attempt; Herald asks what became of it.")
	}
	u := upload{Adapter: a, job: ready.Job, h: ready.Book}
	if pulled(ready.Job) {
		return networks.Receipt{}, u.announcePull(ctx)
	}
	return networks.Receipt{}, u.finish(ctx, ready.Handles)
}

// accepted is the good end of a commit: TikTok has the post and works on it.
func accepted() error {
	return fault.New(fault.Unknown, "accepted", "TikTok has the post and works on it; Herald asks what becomes of it.")
}

func (a *Adapter) post(job networks.Job, step httpx.Step, path string, body any) rest.Call {
	return rest.Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: http.MethodPost, Path: path, JSON: body}
}

// Refresh exchanges the refresh token, which is spent by it.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}
