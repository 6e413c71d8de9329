package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	netmail "net/mail"
	"strings"
	"sync"
	"time"

	"herald/db"
)

// Options are what a Deliverer works with.
type Options struct {
	SMTPURL string // smtp:// or smtps://; empty: mail waits
	From    string // "Herald <herald@example.com>"
	BaseURL string // what links begin with
	Pipe    *db.Pipeline
	Open    func(ctx context.Context, path string) (io.ReadCloser, error) // a stored file; nil: mails show no pictures
	Log     *slog.Logger
	Now     func() time.Time
	TLS     *tls.Config // whom to trust; nil: the machine's roots
}

// Deliverer sends what the shards owe. It is safe for many at once, in one
// process and in several.
type Deliverer struct {
	pipe   *db.Pipeline
	open   func(ctx context.Context, path string) (io.ReadCloser, error)
	log    *slog.Logger
	now    func() time.Time
	base   string
	from   *netmail.Address
	server *server // nil: mail waits

	busy  sync.Map // shard -> *sync.Mutex: one delivery of a shard at a time here
	mu    sync.Mutex
	spoke time.Time // when it was last said that no server is set
}

// New checks the options. Its error names the setting and never the password.
func New(o Options) (*Deliverer, error) {
	d := &Deliverer{pipe: o.Pipe, open: o.Open, log: o.Log, now: o.Now, base: strings.TrimRight(o.BaseURL, "/")}
	from, err := netmail.ParseAddress(o.From)
	if err != nil {
		return nil, errors.New("HERALD_MAIL_FROM: not a sender like Herald <herald@example.com>")
	}
	d.from = from
	if o.SMTPURL == "" {
		return d, nil
	}
	if d.server, err = parseServer(o.SMTPURL, o.TLS); err != nil {
		return nil, fmt.Errorf("HERALD_SMTP_URL: %w", err)
	}
	return d, nil
}

const (
	batch   = 8                // mails of one take
	atOnce  = 4                // conversations of one delivery
	patient = 15 * time.Second // with each half of a conversation: connecting, sending
	lease   = 3 * time.Minute  // more than a batch can take
	session = 20 * time.Second // after which the next tick goes on
)

// Deliver sends the mails of a shard that are due, and comes back when none is
// left or its time is up. Its error is the database's; how a mail went is
// recorded with the mail. A second call for a shard that is being delivered
// returns at once.
func (d *Deliverer) Deliver(ctx context.Context, shard string) error {
	if d.server == nil {
		d.speakHourly(ctx)
		return nil
	}
	lock, _ := d.busy.LoadOrStore(shard, &sync.Mutex{})
	if !lock.(*sync.Mutex).TryLock() {
		return nil
	}
	defer lock.(*sync.Mutex).Unlock()
	begun := time.Now()
	for ctx.Err() == nil && time.Since(begun) < session {
		mails, err := d.pipe.TakeMails(ctx, shard, d.now().Add(lease), batch)
		if err != nil || len(mails) == 0 {
			return err
		}
		if err := d.deliver(ctx, mails); err != nil {
			return err
		}
	}
	return nil
}

// speakHourly says once an hour that mail waits for a server.
func (d *Deliverer) speakHourly(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.now(); now.Sub(d.spoke) >= time.Hour {
		d.spoke = now
		d.log.WarnContext(ctx, "no mail is sent: HERALD_SMTP_URL is not set; what is owed waits")
	}
}

// deliver sends a batch, a few at once, and records how each went.
func (d *Deliverer) deliver(ctx context.Context, mails []db.Mail) error {
	var wg sync.WaitGroup
	errs := make([]error, len(mails))
	slots := make(chan struct{}, atOnce)
	for i, m := range mails {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = d.record(ctx, m, d.send(ctx, m))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
