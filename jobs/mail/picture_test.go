package mail_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/jobs/mail"
)

// leaves are the parts of a mail that hold something, by their content type.
func leaves(t *testing.T, header map[string][]string, body io.Reader) (list []leaf) {
	t.Helper()
	h := netmail.Header(header)
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		raw, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return []leaf{{kind, h.Get("Content-Id"), h.Get("Content-Disposition"), string(raw)}}
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, leaves(t, p.Header, p)...)
	}
}

type leaf struct{ kind, id, disposition, body string }

// TestAMailCarriesThePicturesOfItsPosts: inline, named by the page, and left out where
// the store has none or the file is nothing that a mail program shows.
func TestAMailCarriesThePicturesOfItsPosts(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	estate := r.Estate(t, "south", r.agency.Shard)
	var cup bytes.Buffer
	if err := jpeg.Encode(&cup, image.NewRGBA(image.Rect(0, 0, 64, 48)), nil); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"thumb/cup.jpg": cup.Bytes(), "thumb/page.jpg": []byte("<html>no picture</html>")}
	d, err := mail.New(mail.Options{SMTPURL: "smtp://" + o.host, From: "Herald <herald@agency.example>", BaseURL: "https://herald.example", Pipe: r.pipe,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: r.Clock.Now, Open: func(_ context.Context, path string) (io.ReadCloser, error) {
			if file, ok := files[path]; ok {
				return io.NopCloser(bytes.NewReader(file)), nil
			}
			return nil, errors.New("no such file")
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := estate.Main
	send := func(thumb string) (list []leaf, header netmail.Header) {
		t.Helper()
		r.Super(t, h.Shard, `UPDATE tenant.media SET thumb_path = $2, state = 'ready' WHERE tenant_id = $1`, h.ID, thumb)
		r.Super(t, h.Shard, `UPDATE tenant.targets SET media_ids = ARRAY[$3::bigint] WHERE tenant_id = $1 AND id = $2`, h.ID, h.AskedTarget, h.Media)
		content := model.ApprovalMail{Agency: "Agency south", Approver: h.Approver, Sender: "Mia", Posts: []model.ApprovalMailPost{{Post: h.Asked, Request: h.Request, Excerpt: "Beans"}}}
		key := "pictures " + thumb
		r.Super(t, h.Shard, `UPDATE tenant.mails SET given_up = true WHERE sent_at IS NULL`)
		dbtest.Look[model.MailID](t, r.World, h.Shard, `
			INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at) VALUES ($1, $2, $3, $4, '', $5, $6, $7, $7) RETURNING id`,
			h.ID, key, model.MailReviewReminder, reader, content, r.Ring.Seal(token, db.MailAAD(h.ID, key)), r.Clock.Now())
		r.deliver(t, d)
		got := o.parcels()
		msg, err := netmail.ReadMessage(strings.NewReader(got[len(got)-1].raw))
		if err != nil {
			t.Fatal(err)
		}
		return leaves(t, msg.Header, msg.Body), msg.Header
	}
	r.Super(t, h.Shard, `UPDATE tenant.looks SET logo_id = NULL WHERE tenant_id = $1`, h.ID) // no picture but the post's
	list, header := send("thumb/cup.jpg")
	if len(list) != 3 || list[2].kind != "image/jpeg" || !strings.HasPrefix(list[2].disposition, "inline") {
		t.Fatalf("the parts are %+v", list)
	}
	cid := strings.Trim(list[2].id, "<>")
	if cid == "" || !strings.Contains(list[1].body, `src="cid:`+cid+`"`) || !strings.Contains(list[0].body, "icture") {
		t.Errorf("content id %q in\n%s\n%s", cid, list[0].body, list[1].body)
	}
	stop := strings.Trim(header.Get("List-Unsubscribe"), "<>")
	if !strings.HasPrefix(stop, "https://herald.example/reminders/") || header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.Contains(list[1].body, stop) {
		t.Errorf("List-Unsubscribe: %q, %q", header.Get("List-Unsubscribe"), header.Get("List-Unsubscribe-Post"))
	}
	for _, none := range []string{"thumb/page.jpg", "thumb/gone.jpg"} {
		if list, _ := send(none); len(list) != 2 || strings.Contains(list[1].body, "<img") {
			t.Errorf("%s: %d parts", none, len(list))
		}
	}

	rm, err := r.Store.Reminders(t.Context(), strings.TrimPrefix(stop, "https://herald.example/reminders/"))
	if err != nil || rm.Stopped || rm.Agency == "" {
		t.Fatalf("%+v, %v", rm, err)
	}
	waiting := func() int {
		return dbtest.Look[int](t, r.World, h.Shard, `SELECT count(*) FROM tenant.reminders WHERE tenant_id = $1 AND approver_id = $2 AND kind = 'remind'`, h.ID, h.Approver)
	}
	if waiting() == 0 {
		t.Fatal("no reminder to stop")
	}
	for range 2 {
		if err := rm.Stop(t.Context()); err != nil || !rm.Stopped || waiting() != 0 {
			t.Fatalf("stopped: %v, %d wait", err, waiting())
		}
	}
	r.Super(t, h.Shard, `UPDATE tenant.clients SET remind_after = '1 day', remind_every = '1 day' WHERE tenant_id = $1`, h.ID)
	if err := rm.Resume(t.Context()); err != nil || rm.Stopped || waiting() == 0 {
		t.Errorf("resumed: %v, %d wait", err, waiting())
	}
	r.Clock.Advance(400 * 24 * time.Hour)
	if _, err := r.Store.Reminders(t.Context(), strings.TrimPrefix(stop, "https://herald.example/reminders/")); err == nil {
		t.Error("the address works for ever")
	}
}

// TestAMailToAClientLooksAsTheAgencySays: its name, logo and colour, the client's before
// the workspace's; a mail to a member keeps the workspace's name.
func TestAMailToAClientLooksAsTheAgencySays(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	estate := r.Estate(t, "south", r.agency.Shard)
	var cup bytes.Buffer
	if err := jpeg.Encode(&cup, image.NewRGBA(image.Rect(0, 0, 64, 48)), nil); err != nil {
		t.Fatal(err)
	}
	d, err := mail.New(mail.Options{SMTPURL: "smtp://" + o.host, From: "Herald <herald@agency.example>", BaseURL: "https://herald.example", Pipe: r.pipe,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: r.Clock.Now, Open: func(context.Context, string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(cup.Bytes())), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := estate.Main
	r.Super(t, h.Shard, `UPDATE tenant.media SET thumb_path = 'thumb/cup.jpg', state = 'ready' WHERE tenant_id = $1`, h.ID)
	r.Super(t, h.Shard, `DELETE FROM tenant.looks WHERE tenant_id = $1`, h.ID)
	r.Super(t, h.Shard, `INSERT INTO tenant.looks (tenant_id, client_id, name, accent, logo_id) VALUES ($1, NULL, 'House of South', '#ffcc00', $2), ($1, $3, 'South for Bakers', '', NULL)`, h.ID, h.Media, h.Client)
	send := func(kind string) string {
		t.Helper()
		content := model.ApprovalMail{Agency: "Agency south", Approver: h.Approver, Sender: "Mia", Posts: []model.ApprovalMailPost{{Post: h.Asked, Request: h.Request, Excerpt: "Beans"}}}
		r.Super(t, h.Shard, `UPDATE tenant.mails SET given_up = true WHERE sent_at IS NULL`)
		r.Super(t, h.Shard, `INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at) VALUES ($1, $2, $2, $3, '', $4, $5, $6, $6)`,
			h.ID, kind, reader, content, r.Ring.Seal(token, db.MailAAD(h.ID, kind)), r.Clock.Now())
		r.deliver(t, d)
		got := o.parcels()
		return got[len(got)-1].raw
	}
	raw := send(model.MailReviewRequest)
	msg, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	list := leaves(t, msg.Header, msg.Body)
	logo := list[len(list)-1]
	if from := msg.Header.Get("From"); !strings.HasPrefix(from, `"South for Bakers via Herald"`) || strings.Contains(list[0].body+list[1].body, "Agency south") {
		t.Errorf("the mail is from %s: %s", from, list[0].body)
	}
	if !strings.HasPrefix(strings.Trim(logo.id, "<>"), "logo.") || !strings.Contains(list[1].body, `src="cid:`+strings.Trim(logo.id, "<>")+`" alt="South for Bakers"`) || !strings.Contains(list[1].body, "background-color: "+string(model.Accent("#ffcc00").OnLight())) {
		t.Errorf("logo %q in\n%s", logo.id, list[1].body)
	}
	if !strings.Contains(list[0].body, "https://herald.example/review/"+token) {
		t.Errorf("it does not lead to Herald: %s", list[0].body)
	}
	r.Super(t, db.MainShard, `DELETE FROM control.review_hosts WHERE workspace_id = $1`, h.ID)
	r.Super(t, db.MainShard, `INSERT INTO control.review_hosts (workspace_id, client_id, host, token, made_at, next_at, owned_at, live_at) VALUES
		($1, 0, 'review.south.example', 'x', now(), now(), now(), now()), ($1, $2, 'review.bakers.example', 'x', now(), now(), now(), NULL)`, h.ID, h.Client)
	if raw := send(model.MailReviewReminder); !strings.Contains(raw, "https://review.south.example/review/") || !strings.Contains(raw, " <https://review.south.example/reminders/") || strings.Contains(raw, "herald.example") || strings.Contains(raw, "bakers.example") {
		t.Errorf("it does not lead to the name that is in use:\n%s", raw)
	}
	if raw := send(model.MailApprovalWaiting); strings.Contains(raw, "South for Bakers") || strings.Contains(raw, "logo.") || !strings.Contains(raw, "Agency south via Herald") {
		t.Errorf("a member's mail looks like a client's:\n%s", raw)
	}
}

// TestOnlyRemindersCanBeUnsubscribed: what asks the first time, and what tells of
// trouble, comes to everybody.
func TestOnlyRemindersCanBeUnsubscribed(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	r.owe(t, "review_request:1", reader, "Jonas")
	account := model.TargetID(3)
	if err := r.pipe.AddMail(t.Context(), r.agency.Shard, r.agency.ID, "n", "needs_reconnect", db.Recipient{Email: "mia@north.example"}, db.NoticeFacts{Account: "@harbour", Network: "instagram", TargetID: &account}); err != nil {
		t.Fatal(err)
	}
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if len(o.parcels()) != 2 {
		t.Fatalf("%d mails", len(o.parcels()))
	}
	for _, p := range o.parcels() {
		if p.header(t).Get("List-Unsubscribe") != "" {
			t.Errorf("%s can be unsubscribed", p.header(t).Get("Subject"))
		}
	}
}
