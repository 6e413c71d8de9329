package mail

import (
	"testing"

	gomail "github.com/wneessen/go-mail"
)

func TestAPasswordThatLeavesThisMachineIsEncrypted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]gomail.TLSPolicy{
		"smtp://u:p@mail.example.com":                   gomail.TLSMandatory,
		"smtp://u:p@10.0.0.7":                           gomail.TLSMandatory,
		"smtp://mail.example.com":                       gomail.TLSOpportunistic,
		"smtp://u:p@127.0.0.1:1025":                     gomail.TLSOpportunistic,
		"smtp://u:p@localhost":                          gomail.TLSOpportunistic,
		"smtp://u:p@mail.example.com?tls=opportunistic": gomail.TLSOpportunistic,
		"smtp://u:p@mail.example.com?tls=none":          gomail.NoTLS,
		"smtp://mail.example.com?tls=required":          gomail.TLSMandatory,
	} {
		s, err := parseServer(address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.policy != want {
			t.Errorf("%s: %v, want %v", address, s.policy, want)
		}
	}
}

func TestPortsFollowTheScheme(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int{"smtp://m.example": 587, "smtps://m.example": 465, "smtp://m.example:25": 25} {
		s, err := parseServer(address, nil)
		if err != nil || s.port != want {
			t.Errorf("%s: %+v, %v", address, s, err)
		}
	}
}
