package mail_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"herald/db"
	"herald/db/model"
)

func TestHostileNamesReachNobodyElse(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	evil := "Mia\r\nBcc: everybody@example.com\r\n\r\n<b>hello</b>, \"x\" <y@example.com>" + strings.Repeat(" 長い名前", 400)
	r.oweAs(t, "a", model.MailDecision, reader, evil, model.ApprovalMail{
		Agency: evil, Client: evil, Sender: evil, Path: "/w/north/posts/1", Posts: []model.ApprovalMailPost{{Excerpt: evil + "\r\n.\r\nMAIL FROM:<x@y>\r\n", Client: evil, Verdict: model.Approve, Words: evil}},
	})
	bad := r.oweAs(t, "b", model.MailDecision, "x@client.example\r\nBcc: y@client.example", "", model.ApprovalMail{Posts: []model.ApprovalMailPost{{}}})
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	got := o.parcels()
	if len(got) != 1 || !slices.Equal(got[0].to, []string{reader}) {
		t.Fatalf("got %d mails", len(got))
	}
	h := got[0].header(t)
	if len(h["Bcc"]) != 0 || len(h["To"]) != 1 || len(h["Subject"]) != 1 {
		t.Errorf("headers %v", h)
	}
	for _, name := range []string{"From", "To"} {
		if list, err := h.AddressList(name); err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	for line := range strings.SplitSeq(got[0].raw, "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line of %d", len(line))
		}
	}
	if row := r.row(t, bad); !row.GaveUp || row.Error != "The recipient's address is none." {
		t.Errorf("row %+v", row)
	}
}

func TestWhatCannotBeDrawnTodayWaits(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	unknown := r.oweAs(t, "a", "birthday", reader, "", map[string]any{})
	empty := r.oweAs(t, "b", model.MailDecision, reader, "", model.ApprovalMail{})
	aimless := r.oweAs(t, "c", "target_failed", reader, "", db.NoticeFacts{})
	locked := r.owe(t, "d", reader, "")
	r.Super(t, r.agency.Shard, `UPDATE tenant.mails SET sealed = 'under a lost key' WHERE tenant_id = $1 AND id = $2`, r.agency.ID, locked)
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	for id, words := range map[model.MailID]string{unknown: `kind "birthday"`, empty: "cannot be read", aimless: "cannot be read", locked: "HERALD_KEYS"} {
		if row := r.row(t, id); row.GaveUp || row.Sent || !strings.Contains(row.Error, words) {
			t.Errorf("%s: %+v", words, row)
		}
	}
	if len(o.parcels()) != 0 {
		t.Error("something was sent")
	}
}

func TestNoLogHoldsAnAddressALinkOrABody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{
		rcpt: func(to string) error {
			if to == reader {
				return refuse(550, smtp.EnhancedCode{5, 1, 1}, "No "+to+" here")
			}
			return nil
		},
		data: func(*smtp.Conn) error {
			return refuse(451, smtp.EnhancedCode{4, 0, 0}, "review/"+token+" Beans on Thursday")
		},
	}).open(t, nil, false)
	r.owe(t, "a", reader, "Jonas Holm")
	r.owe(t, "b", "lea@client.example", "Lea Sand")
	r.deliver(t, r.deliverer(t, "smtp://herald:topsecret@"+o.host, nil)) // this office lets in no such user
	r.Clock.Advance(time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	r.Clock.Advance(3 * time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://127.0.0.1:1", nil))
	if n := strings.Count(r.log.String(), "\n"); n != 5 {
		t.Errorf("%d lines", n)
	}
	for _, bad := range []string{"client.example", "jonas", "Jonas", "lea@", "Lea", token, "Beans", "topsecret", "agency.example"} {
		if strings.Contains(r.log.String(), bad) {
			t.Errorf("the log holds %s:\n%s", bad, r.log.String())
		}
	}
}
