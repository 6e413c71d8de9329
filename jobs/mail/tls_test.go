package mail_test

import (
	"strings"
	"testing"

	"herald/jobs/mail"
)

func TestACertificateNobodyVouchesForStopsTheMail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server, trusting := certificate(t)
	o := (&office{password: "right"}).open(t, server, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://herald:right@"+o.host, nil))
	row := r.row(t, id)
	if row.Sent || row.GaveUp || !strings.Contains(row.Error, "certificate") || len(o.parcels()) != 0 {
		t.Fatalf("row %+v", row)
	}
	r.Clock.Set(row.Next)
	r.deliver(t, r.deliverer(t, "smtp://herald:right@"+o.host, trusting))
	if row := r.row(t, id); !row.Sent || !o.parcels()[0].encrypted || o.parcels()[0].user != "herald" {
		t.Errorf("row %+v, parcels %+v", row, o.parcels())
	}
}

func TestRequiredEncryptionThatIsNotOfferedSendsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{password: "right"}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://herald:right@"+o.host+"?tls=required", nil))
	if row := r.row(t, id); row.Sent || row.GaveUp || !strings.Contains(row.Error, "STARTTLS") || len(o.parcels()) != 0 {
		t.Errorf("row %+v", row)
	}
}

func TestTLSFromTheFirstByte(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server, trusting := certificate(t)
	o := (&office{password: "right"}).open(t, server, true)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtps://herald:right@"+o.host, trusting))
	if row := r.row(t, id); !row.Sent || !o.parcels()[0].encrypted || o.parcels()[0].user != "herald" {
		t.Errorf("row %+v", row)
	}
}

func TestNoEncryptionWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server, _ := certificate(t)
	o := (&office{password: "right"}).open(t, server, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://herald:right@"+o.host+"?tls=none", nil))
	if row := r.row(t, id); !row.Sent || o.parcels()[0].encrypted {
		t.Errorf("row %+v", row)
	}
}

func TestNewRefusesWhatItCannotSendBy(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"mail.example.com:587", "http://mail.example.com", "smtp://", "smtp://mail.example.com/inbox", "smtp://mail.example.com:0", "smtp://mail.example.com:99999",
		"smtp://user@mail.example.com", "smtp://:hunter2@mail.example.com", "smtp://user:hunter2@mail.example.com?tls=maybe", "smtp://mail.example.com?starttls=1",
		"smtps://user:hunter2@mail.example.com?tls=none", "smtp://user:hunter2%zz@mail.example.com", "smtp://user:hunter2@mail.example.com:port",
	} {
		_, err := mail.New(mail.Options{SMTPURL: bad, From: "herald@agency.example"})
		if err == nil || !strings.HasPrefix(err.Error(), "HERALD_SMTP_URL: ") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "herald", "a@b.example, c@d.example", "Herald <herald@agency.example>\r\nBcc: x@y.example"} {
		if _, err := mail.New(mail.Options{From: bad}); err == nil || !strings.HasPrefix(err.Error(), "HERALD_MAIL_FROM: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"", "smtp://localhost", "smtp://mail.example.com:25?tls=opportunistic", "smtps://u:p@mail.example.com?tls=required", "smtp://u%40x.example:p%3A@[::1]:2525/"} {
		if _, err := mail.New(mail.Options{SMTPURL: good, From: "Herald <herald@agency.example>"}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}
