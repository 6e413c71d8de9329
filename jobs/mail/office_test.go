package mail_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/jobs/mail"
)

// office is a real SMTP server whose answers a test chooses.
type office struct {
	from, rcpt func(address string) error
	data       func(c *smtp.Conn) error
	session    func() error
	password   string // if set, it lets nobody in without
	hangsUp    bool   // once it has taken a mail

	host string
	mu   sync.Mutex
	got  []parcel
}

// parcel is a mail as the server took it.
type parcel struct {
	from      string
	to        []string
	raw       string
	encrypted bool
	user      string
}

func (p parcel) header(t *testing.T) netmail.Header {
	t.Helper()
	msg, err := netmail.ReadMessage(strings.NewReader(p.raw))
	if err != nil {
		t.Fatal(err)
	}
	return msg.Header
}

// open starts the office. With a certificate it offers STARTTLS, and speaks TLS
// from the first byte if implicit.
func (o *office) open(t *testing.T, certificate *tls.Config, implicit bool) *office {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.host = l.Addr().String()
	if implicit {
		l = tls.NewListener(l, certificate)
		certificate = nil
	}
	s := smtp.NewServer(smtp.BackendFunc(o.newSession))
	s.Domain, s.TLSConfig, s.AllowInsecureAuth, s.EnableSMTPUTF8 = "office.example", certificate, true, true
	s.ErrorLog = log.New(io.Discard, "", 0)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); _ = l.Close(); <-done })
	return o
}

func (o *office) parcels() []parcel {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]parcel(nil), o.got...)
}

func (o *office) newSession(c *smtp.Conn) (smtp.Session, error) {
	if o.session != nil {
		if err := o.session(); err != nil {
			return nil, err
		}
	}
	return &visit{office: o, conn: c}, nil
}

type visit struct {
	office *office
	conn   *smtp.Conn
	parcel
}

func (v *visit) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *visit) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != v.office.password {
			return smtp.ErrAuthFailed
		}
		v.user = user
		return nil
	}), nil
}

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	if v.office.password != "" && v.user == "" {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	v.from = from
	return call(v.office.from, from)
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.to = append(v.to, to)
	return call(v.office.rcpt, to)
}

func call(f func(string) error, s string) error {
	if f == nil {
		return nil
	}
	return f(s)
}

func (v *visit) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, v.encrypted = v.conn.TLSConnectionState()
	v.raw = string(raw)
	v.office.mu.Lock()
	v.office.got = append(v.office.got, v.parcel)
	v.office.mu.Unlock()
	if v.office.data != nil {
		return v.office.data(v.conn)
	}
	return nil
}

// Reset comes after the answer to a mail.
func (v *visit) Reset() {
	if v.office.hangsUp && v.raw != "" {
		_ = v.conn.Conn().Close()
	}
	v.parcel = parcel{user: v.user}
}

func (v *visit) Logout() error { return nil }

// refuse is an answer of the server.
func refuse(code int, enhanced smtp.EnhancedCode, words string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: words}
}

// certificate makes a server's certificate that nobody vouches for, and a
// client's configuration that trusts it.
func certificate(t *testing.T) (server, trusting *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "office"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: roots}
}

// rig is a world with one agency and its deliverer.
type rig struct {
	*dbtest.World
	agency *dbtest.Agency
	pipe   *db.Pipeline
	log    lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{World: dbtest.New(t)}
	r.agency = r.Agency(t, "north", dbtest.SecondShard)
	pipe, err := db.OpenPipeline(t.Context(), r.Options())
	if err != nil {
		t.Fatal(err)
	}
	r.pipe = pipe
	t.Cleanup(pipe.Close)
	return r
}

const (
	token  = "1.Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"
	reader = "jonas@client.example"
)

// owe puts a review mail into the database, as approvals do, and returns its id.
func (r *rig) owe(t *testing.T, key, to, name string) model.MailID {
	t.Helper()
	due := dbtest.Noon.Add(48 * time.Hour)
	return r.oweAs(t, key, model.MailReviewRequest, to, name, model.ApprovalMail{
		Agency: "Agency north", Client: "Harbour Coffee", Sender: "Mia Berg",
		Posts: []model.ApprovalMailPost{{Post: 1, Excerpt: "Beans on Thursday", Client: "Harbour Coffee", Networks: []string{"mastodon"}, DueAt: &due, Zone: "Europe/Berlin"}},
	})
}

func (r *rig) oweAs(t *testing.T, key, kind, to, name string, content any) model.MailID {
	t.Helper()
	return dbtest.Look[model.MailID](t, r.World, r.agency.Shard, `
		INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING id`,
		r.agency.ID, key, kind, to, name, content, r.Ring.Seal(token, db.MailAAD(r.agency.ID, key)), r.Clock.Now())
}

// row is how a mail stands.
type row struct {
	Sent   bool
	GaveUp bool
	Sealed bool
	Tries  int
	Error  string
	Next   time.Time
}

func (r *rig) row(t *testing.T, id model.MailID) (m row) {
	t.Helper()
	look := func(column string) string {
		return `SELECT ` + column + ` FROM tenant.mails WHERE tenant_id = $1 AND id = $2`
	}
	m.Sent = dbtest.Look[bool](t, r.World, r.agency.Shard, look("sent_at IS NOT NULL"), r.agency.ID, id)
	m.GaveUp = dbtest.Look[bool](t, r.World, r.agency.Shard, look("given_up"), r.agency.ID, id)
	m.Sealed = dbtest.Look[bool](t, r.World, r.agency.Shard, look("sealed IS NOT NULL"), r.agency.ID, id)
	m.Tries = dbtest.Look[int](t, r.World, r.agency.Shard, look("tries"), r.agency.ID, id)
	m.Error = dbtest.Look[string](t, r.World, r.agency.Shard, look("last_error"), r.agency.ID, id)
	m.Next = dbtest.Look[time.Time](t, r.World, r.agency.Shard, look("next_at"), r.agency.ID, id)
	return m
}

func (r *rig) deliverer(t *testing.T, smtpURL string, trust *tls.Config) *mail.Deliverer {
	t.Helper()
	d, err := mail.New(mail.Options{
		SMTPURL: smtpURL, From: "Herald <herald@agency.example>", BaseURL: "https://herald.example", Pipe: r.pipe,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: r.Clock.Now, TLS: trust,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (r *rig) deliver(t *testing.T, d *mail.Deliverer) {
	t.Helper()
	if err := d.Deliver(t.Context(), r.agency.Shard); err != nil {
		t.Fatal(err)
	}
}
