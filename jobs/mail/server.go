package mail

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"herald/db/secret"
)

// server is where mail is handed in.
type server struct {
	host     string
	port     int
	implicit bool // TLS from the first byte: smtps://
	policy   gomail.TLSPolicy
	user     string
	password secret.Token
	config   *tls.Config
}

// parseServer reads smtp://user:password@host:587?tls=required or
// smtps://user:password@host. tls is required, opportunistic or none; unless it
// is set, a password that leaves this machine makes it required. No error
// repeats the address, which holds the password.
func parseServer(address string, trust *tls.Config) (*server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not an address like smtp://user:password@mail.example.com:587")
	}
	s := &server{host: u.Hostname(), user: u.User.Username()}
	password, _ := u.User.Password()
	s.password = secret.NewToken(password)
	if err := s.readScheme(u); err != nil {
		return nil, err
	}
	if err := s.readPolicy(u.Query()); err != nil {
		return nil, err
	}
	if (s.user == "") != (password == "") {
		return nil, errors.New("user and password go together; percent-encode signs like @ and : in them")
	}
	s.config = &tls.Config{MinVersion: tls.VersionTLS12}
	if trust != nil {
		s.config = trust.Clone()
	}
	s.config.ServerName = cmp.Or(s.config.ServerName, s.host)
	return s, nil
}

func (s *server) readScheme(u *url.URL) error {
	ports := map[string]int{"smtp": 587, "smtps": 465}
	port, ok := ports[u.Scheme]
	if !ok || s.host == "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return errors.New("not an address like smtp://user:password@mail.example.com:587 or smtps://user:password@mail.example.com")
	}
	s.port, s.implicit = port, u.Scheme == "smtps"
	if u.Port() == "" {
		return nil
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil || n < 1 || n > 65535 {
		return errors.New("the port is not a number from 1 to 65535")
	}
	s.port = n
	return nil
}

var policies = map[string]gomail.TLSPolicy{"required": gomail.TLSMandatory, "opportunistic": gomail.TLSOpportunistic, "none": gomail.NoTLS}

func (s *server) readPolicy(query url.Values) error {
	for name := range query {
		if name != "tls" {
			return fmt.Errorf("%q is not understood; there is only ?tls=required, opportunistic or none", name)
		}
	}
	s.policy = gomail.TLSOpportunistic
	if s.user != "" && !loopback(s.host) {
		s.policy = gomail.TLSMandatory
	}
	word := query.Get("tls")
	if word == "" {
		return nil
	}
	policy, ok := policies[word]
	if !ok {
		return fmt.Errorf("tls=%s is not understood; it is required, opportunistic or none", word)
	}
	if s.implicit && word != "required" {
		return errors.New("smtps:// is TLS from the first byte; use smtp:// with ?tls=" + word)
	}
	s.policy = policy
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// logins are the ways to sign in, best first. Without encryption a password goes
// out only where the operator said tls=none, or to this machine.
func (s *server) logins() []gomail.SMTPAuthType {
	plain, login := gomail.SMTPAuthPlain, gomail.SMTPAuthLogin
	if s.policy == gomail.NoTLS && !s.implicit {
		plain, login = gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc
	}
	return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, plain, login, gomail.SMTPAuthCramMD5}
}
