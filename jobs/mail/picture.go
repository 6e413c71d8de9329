package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"

	"herald/db"
	"herald/db/model"
	"herald/views/email"
)

// picture is a thumbnail that a mail carries in itself: mail programs show it without
// asking the reader, it is there when the link has long run out, and nobody learns from
// it when the mail was opened.
type picture struct {
	post  int // its place among the mail's posts; below zero for a logo
	cid   string
	alt   string
	kind  string
	bytes []byte
}

func (p picture) name() string {
	if p.post < 0 {
		return "logo" + path.Ext("x."+p.kind[len("image/"):])
	}
	return fmt.Sprintf("post-%d%s", p.post+1, path.Ext("x."+p.kind[len("image/"):]))
}

// How much a mail carries, in bytes: a picture that is larger, and what no longer fits,
// is left out.
const (
	pictureBytes  = 256 << 10
	picturesBytes = 1536 << 10
)

// pictures are those of what asks for a decision. A mail without them is a mail still:
// what cannot be read is left out.
func (d *Deliverer) pictures(ctx context.Context, m db.Mail) (list []picture) {
	posts := asking(m)
	if d.open == nil || len(posts) == 0 {
		return nil
	}
	var requests []model.RequestID
	for _, p := range posts {
		requests = append(requests, p.Request)
	}
	found, err := d.pipe.MailPictures(ctx, m.Shard, m.Tenant, requests)
	if err != nil {
		d.log.WarnContext(ctx, "mail without pictures", "mail", m.ID, "err", err)
		return nil
	}
	room := picturesBytes
	for n, p := range posts {
		of, ok := found[p.Request]
		if !ok {
			continue
		}
		bytes, kind := d.read(ctx, of.Path)
		if len(bytes) == 0 || len(bytes) > room {
			continue
		}
		room -= len(bytes)
		list = append(list, picture{post: n, cid: fmt.Sprintf("post-%d.%d", n+1, m.ID), alt: of.Alt, kind: kind, bytes: bytes})
	}
	return list
}

// look is how a mail to a client's approver looks; any other is Herald's own. A mail is a
// mail without it too.
func (d *Deliverer) look(ctx context.Context, m db.Mail) (l db.MailLook) {
	if m.Kind != model.MailReviewRequest && m.Kind != model.MailReviewReminder {
		return l
	}
	posts := asking(m)
	if len(posts) == 0 {
		return l
	}
	l, err := d.pipe.MailLook(ctx, m.Shard, m.Tenant, posts[0].Request)
	if err != nil {
		d.log.WarnContext(ctx, "mail without its look", "mail", m.ID, "err", err)
	}
	return l
}

// logo is the picture of a look, if it can be carried; its content id is empty if not.
func (d *Deliverer) logo(ctx context.Context, m db.Mail, l db.MailLook) picture {
	if d.open == nil || l.Logo == "" {
		return picture{}
	}
	bytes, kind := d.read(ctx, l.Logo)
	if len(bytes) == 0 {
		return picture{}
	}
	return picture{post: -1, cid: fmt.Sprintf("logo.%d", m.ID), kind: kind, bytes: bytes}
}

// asking are the posts of a mail that asks for a decision, as many as it shows.
func asking(m db.Mail) []model.ApprovalMailPost {
	switch m.Kind {
	case model.MailReviewRequest, model.MailReviewReminder, model.MailApprovalWaiting, model.MailReminder, model.MailEscalation:
	default:
		return nil
	}
	var content model.ApprovalMail
	if err := json.Unmarshal(m.Content, &content); err != nil {
		return nil
	}
	return content.Posts[:min(len(content.Posts), email.Shown)]
}

// read is a file if it is a picture that every mail program knows, and small.
func (d *Deliverer) read(ctx context.Context, path string) (file []byte, kind string) {
	r, err := d.open(ctx, path)
	if err != nil {
		return nil, ""
	}
	defer r.Close()
	file, err = io.ReadAll(io.LimitReader(r, pictureBytes+1))
	kind = http.DetectContentType(file)
	if err != nil || len(file) > pictureBytes || kind != "image/jpeg" && kind != "image/png" {
		return nil, ""
	}
	return file, kind
}

// stop is where the reader of a reminder ends them; empty for a mail that is none.
func (d *Deliverer) stop(m db.Mail, look db.MailLook) string {
	if m.Kind != model.MailReminder && m.Kind != model.MailReviewReminder {
		return ""
	}
	var content model.ApprovalMail
	if err := json.Unmarshal(m.Content, &content); err != nil || content.User == 0 && content.Approver == 0 {
		return ""
	}
	return d.baseOf(look) + "/reminders/" + d.pipe.StopToken(m.Tenant, content.User, content.Approver)
}
