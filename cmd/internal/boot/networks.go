package boot

import (
	"context"
	"io"
	"net/http"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/desk"
	"herald/jobs/networks"
	"herald/jobs/networks/blotato"
	"herald/jobs/networks/bluesky"
	"herald/jobs/networks/bundle"
	"herald/jobs/networks/discord"
	"herald/jobs/networks/facebook"
	"herald/jobs/networks/ghl"
	"herald/jobs/networks/googlebusiness"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/instagram"
	"herald/jobs/networks/linkedin"
	"herald/jobs/networks/mailchimp"
	"herald/jobs/networks/mastodon"
	"herald/jobs/networks/medium"
	"herald/jobs/networks/pinterest"
	"herald/jobs/networks/slack"
	"herald/jobs/networks/telegram"
	"herald/jobs/networks/threads"
	"herald/jobs/networks/tiktok"
	"herald/jobs/networks/webhook"
	"herald/jobs/networks/wordpress"
	"herald/jobs/networks/x"
	"herald/jobs/networks/youtube"
)

// Adapters makes every network's adapter from the configuration. A network joins
// Herald by a line here.
func (c Config) Adapters(now func() time.Time) map[network.Name]networks.Adapter {
	env := c.env(now)
	return map[network.Name]networks.Adapter{
		network.Bluesky:        bluesky.New(env(network.Bluesky)),
		network.Discord:        discord.New(env(network.Discord)),
		network.Facebook:       facebook.New(env(network.Facebook)),
		network.GHLBlog:        ghl.NewBlog(env(network.GHLBlog)),
		network.GoogleBusiness: googlebusiness.New(env(network.GoogleBusiness)),
		network.Instagram:      instagram.New(env(network.Instagram)),
		network.LinkedIn:       linkedin.New(env(network.LinkedIn)),
		network.Mailchimp:      mailchimp.New(env(network.Mailchimp)),
		network.Mastodon:       mastodon.New(env(network.Mastodon)),
		network.Medium:         medium.New(env(network.Medium)),
		network.Pinterest:      pinterest.New(env(network.Pinterest)),
		network.Slack:          slack.New(env(network.Slack)),
		network.Telegram:       telegram.New(env(network.Telegram)),
		network.Threads:        threads.New(env(network.Threads)),
		network.TikTok:         tiktok.New(env(network.TikTok)),
		network.Webhook:        webhook.New(env(network.Webhook)),
		network.WordPress:      wordpress.New(env(network.WordPress)),
		network.X:              x.New(env(network.X)),
		network.YouTube:        youtube.New(env(network.YouTube)),
	}
}

// Aggregators makes the adapter of each publisher besides direct, which serves
// every network that the publisher reaches.
func (c Config) Aggregators(now func() time.Time) map[network.Publisher]networks.Adapter {
	env := c.env(now)
	return map[network.Publisher]networks.Adapter{
		network.Blotato: blotato.New(env(network.Name(network.Blotato))),
		network.Bundle:  bundle.New(env(network.Name(network.Bundle))),
		network.GHL:     ghl.New(env(network.Name(network.GHL))),
	}
}

// Versions are those of networks' APIs that the operator chose.
func (c Config) Versions() map[network.Name]string {
	return c.entered(func(n NetworkConfig) string { return n.Version })
}

// Reviews are the last days of networks' reviews of the app that the operator entered.
func (c Config) Reviews() map[network.Name]string {
	return c.entered(func(n NetworkConfig) string { return n.ReviewUntil })
}

func (c Config) entered(field func(NetworkConfig) string) map[network.Name]string {
	set := map[network.Name]string{}
	for name, n := range c.Networks {
		if v := field(n); v != "" {
			set[name] = v
		}
	}
	return set
}

// env tells what the configuration says of a network or a publisher.
func (c Config) env(now func() time.Time) func(name network.Name) networks.Env {
	o := httpx.Options{Timeout: c.Pipeline.ProviderTimeout, UserAgent: "Herald/" + Version, Now: now}
	plain, guarded := httpx.New(o), httpx.NewGuarded(o, c.PrivateTargets)
	return func(name network.Name) networks.Env {
		n := c.Networks[name]
		return networks.Env{Base: n.API, Upload: n.Upload, Auth: n.Auth, Version: n.Version, ClientID: n.ClientID, ClientSecret: n.ClientSecret,
			HTTP: plain, Guarded: guarded, Now: now}
	}
}

// media is where publishes get their bytes, and addresses for networks that pull.
type media struct {
	blobs   blob.Store
	ring    *secret.Ring
	baseURL string
	now     func() time.Time
}

// Open reads a stored file.
func (m media) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return m.blobs.Open(ctx, path)
}

// URL is a presigned address of the object store where it has such, else a
// signed one of our own whose signature covers the workspace.
func (m media) URL(ctx context.Context, tenant model.TenantID, f db.StoredMedia, life time.Duration) (string, error) {
	if url, ok, err := m.blobs.Presign(ctx, f.Path, life); err != nil || ok {
		return url, err
	}
	link := secret.MediaLink{Tenant: int64(tenant), Media: int64(f.ID), File: model.PreviewMedia{Rendition: f.Rendition}.File()}
	return m.baseURL + "/m/" + m.ring.SignMedia(secret.ForNetwork, link, m.now().Add(life)), nil
}

// CheckAddress refuses an address that a user chose and Herald may not call.
func (c Config) CheckAddress(address string) error {
	return httpx.CheckAddress(address, c.PrivateTargets)
}

// Fetcher reads files at addresses that people choose, through the client that
// checks what it dials.
func (c Config) Fetcher(now func() time.Time) desk.Fetcher {
	client := httpx.NewGuarded(httpx.Options{Timeout: c.Pipeline.ProviderTimeout, UserAgent: "Herald/" + Version, Now: now}, c.PrivateTargets)
	return func(ctx context.Context, address string) (desk.Fetched, error) {
		d, err := client.Fetch(ctx, address)
		if err != nil {
			return desk.Fetched{}, err
		}
		return desk.Fetched{Body: d, Size: d.Size, Name: d.Name}, nil
	}
}

// listen starts an HTTP server and stops it when ctx ends.
func listen(ctx context.Context, name, addr, setting string, h http.Handler) (stop func(), at string, err error) {
	l, err := listenTCP(ctx, addr)
	if err != nil {
		return nil, "", CannotListen(name, addr, setting, err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = srv.Shutdown(ctx)
		<-done
	}, l.Addr().String(), nil
}
