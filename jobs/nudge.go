package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
)

// Nudger reminds people of what waits for their decision, and tells others when that
// helps nothing, as clients' workflows say. Each person gets one mail about all of it,
// by day where that person is.
type Nudger struct {
	Pipe *db.Pipeline
	Log  *slog.Logger
	Now  func() time.Time
}

// nudgeLease is how long a taken reminder is one nudger's alone.
const nudgeLease = 5 * time.Minute

// Reminders come while people are up: from dayBegins to dayEnds, in their hours.
const (
	dayBegins = 8
	dayEnds   = 20
)

// Nudge owes the mails of all reminders of a shard that are due. Several at once share
// the work; who dies in between owes nothing, and the next takes it after the lease.
func (n *Nudger) Nudge(ctx context.Context, shard string) error {
	for {
		now := n.Now()
		list, err := n.Pipe.TakeReminders(ctx, shard, now, now.Add(nudgeLease).Truncate(time.Microsecond), batch)
		if err != nil || len(list) == 0 {
			return err
		}
		var errs []error
		for _, r := range list {
			errs = append(errs, n.one(ctx, shard, r, now))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

func (n *Nudger) one(ctx context.Context, shard string, r db.Reminding, now time.Time) error {
	users := []model.UserID{r.User}
	for _, w := range r.Waits {
		users = append(users, w.AskedBy)
	}
	readers, err := n.Pipe.Readers(ctx, r.Tenant, users)
	if err != nil {
		return err
	}
	to, zone, ok := addressee(r, readers)
	if !ok {
		return n.Pipe.PutOffReminder(ctx, shard, r, time.Time{}) // the person left, or may not any more
	}
	if at := byDay(now, zone); at.After(now) {
		return n.Pipe.PutOffReminder(ctx, shard, r, at)
	}
	sent, err := n.Pipe.SendReminder(ctx, shard, r, to, nudgeMail(r, readers), now)
	if err == nil && !sent {
		n.Log.InfoContext(ctx, "reminder not sent: something of it was decided meanwhile", "tenant", r.Tenant)
	}
	return err
}

// addressee is to whom a reminder goes, and in which zone that person lives; not ok if
// the person left, or may not act on any of it any more. What a member may not see at
// single clients is left out of the reminder.
func addressee(r db.Reminding, readers map[model.UserID]db.Reader) (to db.Recipient, zone string, ok bool) {
	if r.Approver != 0 {
		return db.Recipient{Email: r.Email, Name: r.Name}, r.Zone, r.Email != ""
	}
	who, member := readers[r.User]
	if !member {
		return to, "", false
	}
	for _, w := range r.Waits {
		ok = ok || w.May || who.Role.EveryClient()
	}
	return who.Recipient, who.Zone, ok
}

// byDay is the first instant from now at which people of a zone are up.
func byDay(now time.Time, zone string) time.Time {
	location, err := model.LoadZone(zone)
	if err != nil {
		return now
	}
	local := now.In(location)
	day := model.LocalOf(local).Date
	switch hour := local.Hour(); {
	case hour >= dayBegins && hour < dayEnds:
		return now
	case hour >= dayEnds:
		day = model.LocalOf(local.AddDate(0, 0, 1)).Date
	}
	when, err := model.Resolve(model.LocalTime{Date: day, Hour: dayBegins}, zone, model.Earlier)
	var gap *model.Gap
	if errors.As(err, &gap) {
		return gap.After.At
	}
	if err != nil {
		return now
	}
	return when.At
}

func nudgeMail(r db.Reminding, readers map[model.UserID]db.Reader) model.ApprovalMail {
	who, member := readers[r.User]
	m := model.ApprovalMail{Agency: r.Workspace, User: r.User, Approver: r.Approver}
	for _, w := range r.Waits {
		if r.User != 0 && (!member || !w.May && !who.Role.EveryClient()) {
			continue
		}
		p := model.ApprovalMailPost{Request: w.Request, Post: w.Post, Client: w.Client, Networks: w.Networks, DueAt: w.DueAt, Zone: w.Zone, Since: &w.Since}
		if r.Approver != 0 {
			p.Zone = r.Zone // their own where they chose one, as in the mail that asked first
		}
		if w.Words != nil {
			p.Excerpt = model.Excerpt(*w.Words, 140)
		}
		if r.User != 0 {
			p.Stage = w.Stage
		}
		if r.Kind == db.Escalate {
			p.Owing = w.Owing
		}
		m.Posts = append(m.Posts, p)
	}
	m.Sender, m.Client = alike(m.Posts, r, readers)
	switch {
	case r.Kind == db.Escalate:
		m.Path = "/w/" + r.Slug + "/approvals?box=others"
	case r.User != 0:
		m.Path = "/w/" + r.Slug + "/approvals"
	}
	return m
}

// alike are who asked and the client, where all posts have the same.
func alike(posts []model.ApprovalMailPost, r db.Reminding, readers map[model.UserID]db.Reader) (sender, client string) {
	sender, client = readers[r.Waits[0].AskedBy].Name, posts[0].Client
	for _, w := range r.Waits {
		if readers[w.AskedBy].Name != sender {
			sender = ""
		}
	}
	for _, p := range posts {
		if !strings.EqualFold(p.Client, client) {
			client = ""
		}
	}
	return sender, client
}
