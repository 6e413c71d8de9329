package demo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/declare"
	"herald/cmd/internal/mailbox"
)

// supplies is what takes long to make and needs no server.
type supplies struct {
	doc    declare.Document
	drafts []draft
	album  album
}

// fill brings up the servers with the demo's data: what an earlier run left, or a
// new month.
func (d *Demo) fill(ctx context.Context) (err error) {
	var g errgroup.Group
	var s supplies
	if _, err := os.Stat(d.folder.file(networksFile)); err != nil { // most likely there is no data yet
		g.Go(func() (err error) {
			s, err = d.supply(ctx)
			return err
		})
	}
	base, err := d.servers(ctx)
	if err := errors.Join(err, g.Wait()); err != nil {
		return err
	}
	full, err := base.full(ctx)
	if err != nil {
		return err
	}
	if _, err := d.config.Migrate(ctx); err != nil {
		return err
	}
	if full {
		return d.resume(ctx)
	}
	return d.create(ctx, base, s)
}

func (d *Demo) supply(ctx context.Context) (s supplies, err error) {
	if s.doc, err = readAgency(time.Now()); err != nil {
		return s, err
	}
	if s.drafts, err = readDrafts(); err != nil {
		return s, err
	}
	s.album = paintAlbum(ctx, s.drafts)
	return s, hashPasswords(ctx, &s.doc, d.config.Cost)
}

// resume takes up what an earlier run kept.
func (d *Demo) resume(ctx context.Context) error {
	file, err := os.Open(d.folder.file(networksFile))
	if err == nil {
		defer file.Close()
		err = d.sim.Load(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	doc, err := readAgency(time.Now())
	if err != nil {
		return err
	}
	openAccounts(d.sim, doc)
	return d.openMailbox(ctx)
}

// create makes the data, and says so in the database when it is whole.
func (d *Demo) create(ctx context.Context, base database, s supplies) (err error) {
	if s.album == nil {
		if s, err = d.supply(ctx); err != nil {
			return err
		}
	}
	for _, name := range []string{mailDir, networksFile, mediaDir} { // of a start that was killed
		if err := os.RemoveAll(d.folder.file(name)); err != nil {
			return err
		}
	}
	if err := d.openMailbox(ctx); err != nil {
		return err
	}
	client, err := redisClient(d.config.RedisURL)
	if err != nil {
		return err
	}
	defer client.Close()
	config := d.config
	config.DatabaseURL, config.Networks = base.hurried(), d.simulated()
	m := makers{clock: d.clock, config: config, sim: d.sim, box: d.box, redis: client, album: s.album,
		open: func(a *boot.App) { d.doors.web.open(onlyMedia(a.Web())) }}
	openAccounts(d.sim, s.doc)
	if err := makeHistory(ctx, m, s.doc, s.drafts); err != nil {
		return err
	}
	if err := d.saveNetworks(); err != nil {
		return err
	}
	d.New = true
	return base.settle(ctx)
}

func redisClient(address string) (redis.UniversalClient, error) {
	o, err := asynq.ParseRedisURI(address)
	if err != nil {
		return nil, err
	}
	return o.MakeRedisClient().(redis.UniversalClient), nil
}

// openMailbox starts the mailbox, and opens it and the networks to the browser.
func (d *Demo) openMailbox(ctx context.Context) (err error) {
	d.box, err = mailbox.Open(context.WithoutCancel(ctx), "127.0.0.1:0", mailbox.Options{Dir: d.folder.file(mailDir), Now: d.clock.Now})
	if err != nil {
		return err
	}
	d.onStop(d.box.Close)
	if d.config.SMTPURL == "" {
		d.config.SMTPURL = d.box.SMTPURL()
	}
	d.doors.mailbox.open(d.box.Handler())
	d.doors.networks.open(d.sim.Handler())
	return nil
}

func (d *Demo) saveNetworks() error {
	var kept bytes.Buffer
	if err := d.sim.Save(&kept); err != nil {
		return err
	}
	return writeWhole(d.folder.file(networksFile), kept.Bytes())
}

// keepInterval is how much of what the networks hold a kill may cost.
const keepInterval = 5 * time.Second

// keepNetworks writes down what the networks hold whenever they were called, and
// once more at the returned stop.
func (d *Demo) keepNetworks() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(keepInterval)
		defer tick.Stop()
		for calls := len(d.sim.Calls("", "")); ; {
			select {
			case <-done:
				_ = d.saveNetworks()
				return
			case <-tick.C:
			}
			if n := len(d.sim.Calls("", "")); n != calls {
				calls = n
				_ = d.saveNetworks() // the next one may work; at worst a restart knows less
			}
		}
	})
	return func() { close(done); wg.Wait() }
}
