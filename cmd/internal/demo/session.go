package demo

import (
	"context"
	"time"

	"herald/db/model"
)

// post is a draft on its way.
type post struct {
	draft
	client  string
	planned model.When
	id      model.PostID
	seen    int // its revision when it was last written
}

// session is the work of one person for one client on one day: posts are written
// one after the other, and submitted together.
type session struct {
	sitting
	posts []*post
}

type sitting struct {
	client, by string
	written    int
}

// The pace of the agency.
const (
	perPost   = 7 * time.Minute // with one for every client by then
	toSubmit  = 5 * time.Minute
	toPlan    = 20 * time.Minute // from the last decision
	toCancel  = 90 * time.Minute // from the schedule
	toRevise  = 24 * time.Hour   // from the beginning
	toRetry   = 2 * time.Hour    // from the failure
	sinceDawn = 4 * time.Hour    // how long ago today's work began
	strikeAt  = time.Second      // before a post is due
)

// judge is one person whose decision a client's workflow wants.
type judge struct {
	who   string
	after time.Duration // from the submission
	link  bool          // decides from a mailed link
}

// panel is who decides for a client, in order.
func panel(s sitting) []judge {
	switch s.client {
	case "kornblume": // any one of two: they take turns
		return []judge{{[]string{"hanna", "emil"}[-s.written%2], 3 * time.Hour, true}}
	case "hemlock":
		return []judge{{"jonas", 2 * time.Hour, false}, {"ruth", 6 * time.Hour, true}, {"dale", 9 * time.Hour, true}}
	}
	return nil
}

// planner is who schedules for a client.
func planner(client string) string {
	if client == "mare" {
		return "nora"
	}
	return "jonas"
}

// plan turns the drafts into acts.
func (h *history) plan(drafts []draft) error {
	var sessions []*session
	known := map[sitting]*session{}
	for _, d := range drafts {
		p := &post{draft: d, client: d.Client}
		var err error
		if p.planned, err = d.when(h.now, h.clients[d.Client].Zone); err != nil {
			return err
		}
		p.Text, p.Revised = words(d.Text, p.planned), words(d.Revised, p.planned)
		key := sitting{d.Client, d.By, d.Written}
		if known[key] == nil {
			known[key] = &session{sitting: key}
			sessions = append(sessions, known[key])
		}
		known[key].posts = append(known[key].posts, p)
	}
	for _, s := range sessions {
		if err := h.planSession(s); err != nil {
			return err
		}
	}
	h.at(h.now.Add(-20*time.Minute), h.pauseLetter)
	return nil
}

// planSession plans what is done about one sitting's posts, and what the networks
// do to them.
func (h *history) planSession(s *session) error {
	begun := h.now.Add(-sinceDawn)
	if s.written < 0 {
		morning, err := dayAt(h.now, s.written, "09:10", agencyZone)
		if err != nil {
			return err
		}
		begun = morning.At
	}
	at := begun
	for _, p := range s.posts {
		h.quietly(at, func(ctx context.Context) error { return h.write(ctx, p) })
		at = at.Add(perPost)
		h.expect(p)
	}
	h.planRound(s.sitting, only(s.posts, func(p *post) bool { return p.Stop != stopDraft }), at.Add(toSubmit), 1)
	again := only(s.posts, func(p *post) bool { return p.Revised != "" })
	for i, p := range again {
		h.at(begun.Add(toRevise+time.Duration(i)*perPost), func(ctx context.Context) error { return h.revise(ctx, p) })
	}
	h.planRound(s.sitting, again, begun.Add(toRevise+time.Duration(len(again))*perPost), 2)
	return nil
}

// planRound plans a submission, the decisions about it, and what is done with
// what they approved.
func (h *history) planRound(s sitting, posts []*post, at time.Time, round int) {
	if len(posts) == 0 {
		return
	}
	h.at(at, func(ctx context.Context) error { return h.submit(ctx, s.by, posts) })
	judges := panel(s)
	for i, j := range judges {
		h.at(at.Add(j.after), func(ctx context.Context) error { return h.decide(ctx, posts, judges, i, round) })
	}
	if len(judges) > 0 {
		at = at.Add(judges[len(judges)-1].after)
	}
	done := only(posts, func(p *post) bool { return (p.Stop == stopScheduled || p.Stop == stopCancelled) && p.last(round) })
	for _, p := range done {
		h.at(at.Add(toPlan), func(ctx context.Context) error { return h.schedule(ctx, p) })
		if p.Stop == stopCancelled {
			h.at(at.Add(toCancel), func(ctx context.Context) error { return h.cancel(ctx, p) })
		}
	}
}

// expect plans what happens when a post is due, and after it failed.
func (h *history) expect(p *post) {
	for _, t := range p.Trouble {
		h.quietly(p.planned.At.Add(-strikeAt), func(context.Context) error { return h.strike(p, t) })
	}
	if p.Retried {
		h.at(p.planned.At.Add(toRetry), func(ctx context.Context) error { return h.retry(ctx, p) })
	}
}

// last says whether a round is the post's last.
func (p *post) last(round int) bool { return p.Revised == "" || round == 2 }

// verdict is what the i-th judge of several says in a round, if anything.
func (p *post) verdict(judges []judge, i, round int) (v model.Verdict, words string, says bool) {
	firstLink := 0
	for !judges[firstLink].link {
		firstLink++
	}
	no := model.RequestChanges
	if p.Stop == stopRejected {
		no = model.Reject
	}
	switch {
	case p.last(round) && p.Stop == stopReview,
		p.last(round) && p.Stop == stopClient && i >= firstLink,
		p.last(round) && p.Stop == stopLast && i == len(judges)-1:
		return "", "", false
	case p.Words != "" && (!p.last(round) || p.Stop == stopChanges || p.Stop == stopRejected) && i >= firstLink:
		return no, p.Words, i == firstLink
	}
	return model.Approve, "", true
}

func only(posts []*post, keep func(*post) bool) (list []*post) {
	for _, p := range posts {
		if keep(p) {
			list = append(list, p)
		}
	}
	return list
}
