package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/staging"
)

// MediaSource is where a publish gets the bytes of its media, and an address for
// networks that pull them.
type MediaSource interface {
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	URL(ctx context.Context, tenant model.TenantID, m db.StoredMedia, life time.Duration) (string, error)
}

// job is the logical publish as the adapter sees it. Its key is the same over
// all attempts, so it can serve as the network's client key.
func (p *Publisher) job(r *run) networks.Job {
	return networks.Job{
		Key: publishKey(r.key), Attempt: r.work.Attempt, Trail: r.trail,
		Account: account(r.work.Account), Post: p.post(r.key, r.work.Format, r.work.Part, r.work.Media, r.work.Account),
	}
}

// publishKey names the logical publish: tenant, target and version, hashed so
// that a network learns nothing from it.
func publishKey(k db.Key) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "publish:%d:%d:%d:%s", k.Tenant, k.Target, k.Version, k.Shard))
	return hex.EncodeToString(sum[:16])
}

func account(a db.Account) networks.Account {
	n := networks.Account{
		ID: a.ID, Network: a.Network, Handle: a.Handle, RemoteID: a.RemoteID, Address: a.Address,
		Token: a.Token, Refresh: a.Refresh, Scopes: a.Scopes, Settings: a.Settings,
	}
	if a.Expires != nil {
		n.Expires = *a.Expires
	}
	return n
}

// post is what is sent. The catalogue's own shortening runs once more as a last
// defence; an approved text that fits is sent as it is.
func (p *Publisher) post(key db.Key, format network.Format, part model.Part, media []db.StoredMedia, a db.Account) networks.Post {
	post := networks.Post{Format: format, Text: part.Text, Link: part.Link, Options: part.Options}
	if !network.Blank(part.FirstComment) {
		post.FirstComment = part.FirstComment
	}
	if n, ok := met(a); ok {
		fitted, _ := n.Fit(network.Draft{Text: part.Text, Link: part.Link, Options: part.Options})
		post.Text = fitted.Text
	}
	for _, m := range media {
		file := p.file(key.Tenant, m)
		file.Stage = p.stage(key, a, m)
		post.Media = append(post.Media, file)
	}
	return post
}

func (p *Publisher) file(tenant model.TenantID, m db.StoredMedia) networks.Media {
	url, err := p.Media.URL(context.Background(), tenant, m, p.Settings.ProviderURLTTL)
	if err != nil {
		url = ""
	}
	return networks.Media{
		Media: network.Media{Kind: m.Kind, Type: m.Type, Bytes: m.Bytes, Width: m.Width, Height: m.Height,
			Duration: time.Duration(m.DurationMS) * time.Millisecond, Alt: m.Alt},
		ID: m.ID, Name: m.Name, URL: url,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return p.Media.Open(ctx, m.Path) },
	}
}

// stage shares what a publisher calls a file with the version's other targets. Of
// a direct network nothing is shared: what it is given belongs to one account.
func (p *Publisher) stage(key db.Key, a db.Account, m db.StoredMedia) func(context.Context, string, func(context.Context) (string, error)) (string, error) {
	if p.Stager == nil || a.Publisher == "" || a.Publisher == network.Direct {
		return nil
	}
	return func(ctx context.Context, room string, put func(context.Context) (string, error)) (string, error) {
		file := db.Staged{Shard: key.Shard, Tenant: key.Tenant, Version: key.Version, Publisher: string(a.Publisher) + "/" + room, Path: m.Path}
		return p.Stager.Stage(ctx, file, func(ctx context.Context) (staging.Handle, error) {
			called, err := put(ctx)
			return staging.Handle{Value: called}, err
		})
	}
}

var _ httpx.Trail = (*trail)(nil)
