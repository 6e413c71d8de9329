package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"herald/db"
)

// problem is why a mail did not go. Its words hold no address and no link.
type problem struct {
	say   string // kept with the mail: the server's words too
	log   string // what may be logged: of an answer to the mail, the codes only
	final bool   // the same mail would be refused again
}

func saying(words string) *problem { return &problem{say: words, log: words} }

// send draws a mail and hands it to the server.
func (d *Deliverer) send(ctx context.Context, m db.Mail) *problem {
	msg, bad := d.message(ctx, m)
	if bad != nil {
		return bad
	}
	err := d.handIn(ctx, msg)
	if err == nil || msg.IsDelivered() { // what fails after the server took it is nothing to the mail
		return nil
	}
	return sorted(err, m)
}

// handIn holds one conversation with the server. The library leaves connections
// open that fail before the mail begins, and does not look at ctx after dialling.
func (d *Deliverer) handIn(ctx context.Context, msg *gomail.Msg) error {
	over := func() {}
	defer func() { over() }()
	dial := func(dialling context.Context, network, address string) (net.Conn, error) {
		conn, err := d.server.dial(dialling, network, address)
		if err == nil {
			watch := context.AfterFunc(ctx, func() { _ = conn.Close() })
			over = func() { watch(); _ = conn.Close() }
		}
		return conn, err
	}
	client, err := d.server.client(dial, plainAddresses(msg))
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := client.SendWithSMTPClient(session, msg); err != nil {
		return err
	}
	return client.CloseWithSMTPClient(session)
}

func (s *server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicit {
		return (&tls.Dialer{Config: s.config}).DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// client is the library's client for one conversation: it keeps what it learned
// of a server, and is not made for use by many. With plain addresses it does not
// ask for SMTPUTF8, which a server further on might not know.
func (s *server) client(dial gomail.DialContextFunc, plain bool) (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(patient), gomail.WithTLSConfig(s.config), gomail.WithTLSPolicy(s.policy),
		gomail.WithDialContextFunc(dial), gomail.WithoutNoop(),
	}
	if s.implicit {
		options = append(options, gomail.WithSSL())
	}
	if plain {
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	if s.user != "" {
		options = append(options, gomail.WithOpportunisticSMTPAuth(s.logins()...), gomail.WithUsername(s.user), gomail.WithPassword(s.password.Reveal()))
	}
	return gomail.NewClient(s.host, options...)
}

func plainAddresses(msg *gomail.Msg) bool {
	addresses, err := msg.GetRecipients()
	from, err2 := msg.GetSender(false)
	for _, r := range strings.Join(append(addresses, from), "") {
		if r > 0x7e {
			return false
		}
	}
	return err == nil && err2 == nil
}

// sorted says what a failed conversation means for its mail. Final is only a 5xx
// to the recipient or to the mail itself: before that the server refused Herald
// (its sign-in, its sender), which an operator can mend.
func sorted(err error, m db.Mail) *problem {
	sent, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return saying("The mail server could not be reached or did not let Herald in: " + redacted(err.Error(), m))
	}
	what, final := refused(sent)
	return &problem{
		say:   what + ": " + redacted(answer(sent), m),
		log:   strings.TrimSpace(fmt.Sprintf("%s: %d %s", what, sent.ErrorCode(), sent.EnhancedStatusCode())),
		final: final,
	}
}

func refused(e *gomail.SendError) (what string, final bool) {
	code := e.ErrorCode()
	if code == 0 {
		return "The conversation with the mail server broke off", false
	}
	final = code/100 == 5 && !ours(code)
	switch e.Reason {
	case gomail.ErrSMTPRcptTo:
		return "The mail server refused the address", final
	case gomail.ErrSMTPData, gomail.ErrSMTPDataClose, gomail.ErrWriteContent:
		return "The mail server refused the mail", final
	}
	return "The mail server refused the sender", false
}

// answer is what the server said. The library keeps it to itself but for the text
// of its error, where it stands quoted between what was done and for whom.
func answer(e *gomail.SendError) string {
	words, _, _ := strings.Cut(strings.TrimPrefix(e.Error(), e.Reason.String()+": "), ", affected ")
	code, rest, _ := strings.Cut(words, " ")
	if plain, err := strconv.Unquote(rest); err == nil {
		return code + " " + plain
	}
	return words
}

// ours are the refusals of whoever did not sign in or encrypt as asked, and of a
// command that came at a wrong moment.
func ours(code int) bool {
	switch code {
	case 503, 530, 534, 535, 538:
		return true
	}
	return false
}

var (
	anyAddress = regexp.MustCompile(`[^\s<>"'(),;:]+@[^\s<>"'(),;:]+`)
	anyLink    = regexp.MustCompile(`(?i)\bhttps?://\S+`)
)

// redacted takes addresses, links and the mail's secret out of a server's words,
// makes one line of them and keeps the beginning.
func redacted(words string, m db.Mail) string {
	if secret := m.Secret.Reveal(); secret != "" {
		words = strings.ReplaceAll(words, secret, "…")
	}
	words = anyLink.ReplaceAllString(words, "…")
	words = strings.ReplaceAll(words, m.To, "…")
	words = anyAddress.ReplaceAllString(words, "…")
	words = strings.Join(strings.Fields(strings.ToValidUTF8(words, "")), " ")
	if runes := []rune(words); len(runes) > 200 {
		words = string(runes[:199]) + "…"
	}
	return words
}

// record writes down how a mail went.
func (d *Deliverer) record(ctx context.Context, m db.Mail, p *problem) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if p == nil {
		return d.pipe.FinishMail(ctx, m, true, "", time.Time{})
	}
	wait := pause(m.Tries)
	if p.final || wait == 0 {
		d.log.ErrorContext(ctx, "mail given up", "shard", m.Shard, "workspace", m.Tenant, "mail", m.ID, "kind", m.Kind, "tries", m.Tries, "why", p.log)
		return d.pipe.FinishMail(ctx, m, false, p.say, time.Time{})
	}
	d.log.WarnContext(ctx, "mail waits", "shard", m.Shard, "workspace", m.Tenant, "mail", m.ID, "kind", m.Kind, "tries", m.Tries, "again_in", wait, "why", p.log)
	return d.pipe.FinishMail(ctx, m, false, p.say, d.now().Add(wait))
}

// pause is the wait after the n-th try: a minute, doubled each time, until a day
// after the first is over. Zero gives up.
func pause(n int) time.Duration {
	n = max(n, 1)
	return waited(n) - waited(n-1)
}

func waited(tries int) time.Duration {
	const day = 24 * time.Hour
	return min(time.Duration(1<<min(tries, 20)-1)*time.Minute, day)
}
