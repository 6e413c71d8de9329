package mailbox

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

// Mailbox holds what was mailed. It is safe for many at once.
type Mailbox struct {
	listener net.Listener
	server   *smtp.Server
	stopped  chan struct{}
	dir      string
	now      func() time.Time

	mu     sync.Mutex
	mails  []Mail // oldest first
	lastID int
}

// kept is how many mails are held.
const kept = 500

// Start listens for mail at addr, as 127.0.0.1:0, until ctx ends or Close. It
// refuses an address that others can reach: whoever reads this page can use
// every review link.
func Start(ctx context.Context, addr string) (*Mailbox, error) { return Open(ctx, addr, Options{}) }

// Open is Start with options.
func Open(ctx context.Context, addr string, o Options) (*Mailbox, error) {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the mailbox listens on this machine only, as 127.0.0.1:0, and not on %q", addr)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	b := &Mailbox{listener: l, stopped: make(chan struct{}), dir: o.Dir, now: o.Now}
	if b.now == nil {
		b.now = time.Now
	}
	if err := b.load(); err != nil {
		l.Close()
		return nil, err
	}
	b.server = newServer(b)
	go func() {
		defer close(b.stopped)
		_ = b.server.Serve(l) // ends by Close
	}()
	context.AfterFunc(ctx, b.Close)
	return b, nil
}

func newServer(b *Mailbox) *smtp.Server {
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{box: b}, nil }))
	s.Domain = "mailbox.localhost"
	s.MaxMessageBytes, s.MaxRecipients = 10<<20, 50
	s.ReadTimeout, s.WriteTimeout = time.Minute, time.Minute
	s.EnableSMTPUTF8 = true
	s.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

// Close stops listening. It may be called again.
func (b *Mailbox) Close() {
	_ = b.server.Close()
	_ = b.listener.Close()
	<-b.stopped
}

// SMTPURL is what HERALD_SMTP_URL is set to.
func (b *Mailbox) SMTPURL() string { return "smtp://" + b.listener.Addr().String() + "?tls=none" }

// Mails returns what was mailed, newest first.
func (b *Mailbox) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.mails)
	slices.Reverse(list)
	return list
}

// mail returns one mail.
func (b *Mailbox) mail(id int) (Mail, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.mails, func(m Mail) bool { return m.ID == id })
	if i < 0 {
		return Mail{}, false
	}
	return b.mails[i], true
}

func (b *Mailbox) put(m Mail, raw []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.ID, m.Received = b.lastID+1, b.now()
	if err := b.keep(m, raw); err != nil {
		return err
	}
	b.lastID++
	b.mails = append(b.mails, m)
	if len(b.mails) > kept {
		b.mails = slices.Delete(b.mails, 0, len(b.mails)-kept)
	}
	return nil
}

// delivery is one conversation with the server.
type delivery struct {
	box *Mailbox
	to  []string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error { return nil }

func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.to = append(d.to, to)
	return nil
}

func (d *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := parse(raw)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "This is no mail"}
	}
	m.Recipients = d.to
	return d.box.put(m, raw)
}

func (d *delivery) Reset()        { d.to = nil }
func (d *delivery) Logout() error { return nil }
