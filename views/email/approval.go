package email

import (
	"cmp"
	"strings"

	"herald/db/model"
)

// ReviewRequest asks an approver. link is the page behind the reader's own
// token; over says that it no longer opens the posts.
func ReviewRequest(name string, m model.ApprovalMail, link string, over bool) Letter {
	many, sender := len(m.Posts), people(m)
	l := Letter{
		Subject: forClient("Please review "+posts(many), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: waitTitle(many), Say: []string{sender + " asks for your approval."},
		Label: "Read and decide", URL: link,
		After: []string{"Opening the page decides nothing: you read first, then choose there.", "The link is yours alone. Whoever has it can decide in your name, so please do not pass it on." + until(m)},
		Why:   "You were named as somebody who approves posts" + clientWords(m.Client) + " before they are published.",
	}
	if m.Fresh {
		l.Subject = forClient("Your new link to review "+posts(many), m.Client)
		l.Say = []string{sender + " asks for your approval. Here is a new link."}
	}
	if over {
		l.Label = "Open the page"
		l.After = []string{"This mail reached you late: its link has run out. Open it all the same; the page sends you a new one."}
	}
	l = l.with(m.Posts)
	for i := range l.Posts {
		l.Posts[i].Stage = "" // how the agency calls its steps is nothing to a client
	}
	return l
}

// ApprovalWaiting tells a user of the workspace that a decision waits.
func ApprovalWaiting(name string, m model.ApprovalMail, link string) Letter {
	l := Letter{
		Subject: forClient("Waiting for your approval: "+posts(len(m.Posts)), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: waitTitle(len(m.Posts)), Say: []string{people(m) + " asks for your approval."},
		Label: "Open the approvals", URL: link,
		Why: "You are among the people who approve posts" + clientWords(m.Client) + ".",
	}
	return l.with(m.Posts)
}

// Decision tells the writer what somebody decided.
func Decision(name string, m model.ApprovalMail, link string) Letter {
	l := Letter{
		Agency: Line(m.Agency, 60), Hello: hello(name), Label: "Open the post", URL: link,
		Why: "You wrote " + map[bool]string{true: "this post", false: "these posts"}[len(m.Posts) == 1] + ".",
	}
	sender := Line(m.Sender, 60)
	if len(m.Posts) > 1 {
		l.Subject = forClient(cmp.Or(sender, "Somebody")+" decided on "+posts(len(m.Posts)), m.Client)
		l.Title, l.Label = "Decisions on "+posts(len(m.Posts)), "Open the approvals"
		l.Say = []string{cmp.Or(sender, "Somebody") + " decided on posts that you wrote."}
		return l.with(m.Posts)
	}
	return l.decided(cmp.Or(sender, "Somebody"), m)
}

// GivenBack tells who submitted posts that nobody is asked about them any more, and
// that they have to be submitted once more.
func GivenBack(name string, m model.ApprovalMail, link string) Letter {
	l := Letter{
		Subject: forClient("Please submit again: "+posts(len(m.Posts)), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name), Title: "Please submit this again",
		Say:   []string{"The people who approve posts" + clientWords(m.Client) + " were changed, and nobody is asked about this any more. It was not approved, and it is a draft again. Nothing in it is lost."},
		Label: "Open the post", URL: link, After: []string{"Open it and submit it once more, if it should go out."}, Why: "You asked for its approval.",
	}
	if len(m.Posts) > 1 {
		l.Title, l.Label, l.After = "Please submit these again", "Open the posts", []string{"Open each and submit it once more, if it should go out."}
		l.Say = []string{"The people who approve posts" + clientWords(m.Client) + " were changed, and nobody is asked about these any more. They were not approved, and they are drafts again. Nothing in them is lost."}
	}
	return l.with(m.Posts)
}

// NotScheduled tells the writer which approved posts did not get onto the calendar by
// themselves, and why.
func NotScheduled(name string, m model.ApprovalMail, link string) Letter {
	l := Letter{
		Subject: forClient("Approved, but not scheduled: "+posts(len(m.Posts)), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name), Title: "Approved, but not scheduled",
		Say:   []string{"This was approved. It should have been scheduled at once for the time it was planned for, and that was refused. It is not published until somebody schedules it."},
		Label: "Open the post", URL: link, Why: "You wrote it.",
	}
	if len(m.Posts) > 1 {
		l.Label, l.Why = "Open the posts", "You wrote them."
		l.Say = []string{"These were approved. They should have been scheduled at once for the times they were planned for, and that was refused. They are not published until somebody schedules them."}
	}
	return l.with(m.Posts)
}

// Comment tells who works on a post what an approver wrote about it.
func Comment(name string, m model.ApprovalMail, link string) Letter {
	sender := cmp.Or(Line(m.Sender, 60), "Somebody")
	l := Letter{
		Subject: forClient(sender+" wrote about "+quoted(m.Posts[0].Excerpt, 50), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: "A comment from " + sender, Say: []string{sender + " wrote about this post."},
		Label: "Read and answer", URL: link, Why: "You wrote this post, asked for its approval, or decide about it.",
	}
	return l.with(m.Posts)
}

// Mention tells a member that a colleague named them in an internal comment.
func Mention(name string, m model.ApprovalMail, link string) Letter {
	l := Comment(name, m, link)
	sender := cmp.Or(Line(m.Sender, 60), "Somebody")
	l.Subject = forClient(sender+" mentioned you at "+quoted(m.Posts[0].Excerpt, 50), m.Client)
	l.Title, l.Say = sender+" mentioned you", []string{sender + " named you in an internal comment on this post. The client does not see it."}
	l.Why = "A colleague named you."
	return l
}

// Unscheduled tells the writer and the planner of an approved post that its time is
// near and that nobody has scheduled it.
func Unscheduled(name string, m model.ApprovalMail, link string) Letter {
	p := m.Posts[0]
	l := Letter{
		Subject: of("Not scheduled yet: "+quoted(p.Excerpt, 50), p.Client), Agency: Line(m.Agency, 60), Hello: hello(name), Title: "Approved, but not scheduled",
		Say:   []string{forClient("A post", p.Client) + " is approved and planned for " + whenever(p.DueAt, p.Zone) + ", but nobody has scheduled it. A plan alone does not publish it."},
		Label: "Open the post", URL: link, After: []string{"Press Schedule there, or ask somebody who may. If it should not go out, nothing has to be done."},
		Why: "You wrote this post, chose its time or schedule for this client.",
	}
	return l.with(m.Posts)
}

// PlanPassed tells the same people that the time has passed without that.
func PlanPassed(name string, m model.ApprovalMail, link string) Letter {
	p := m.Posts[0]
	l := Letter{
		Subject: of("Its planned time has passed: "+quoted(p.Excerpt, 50), p.Client), Agency: Line(m.Agency, 60), Hello: hello(name), Title: "Not published: nobody scheduled it",
		Say:   []string{forClient("A post", p.Client) + " was approved and planned for " + whenever(p.DueAt, p.Zone) + ". Nobody scheduled it, so it was not published."},
		Label: "Open the post", URL: link, After: []string{"Choose another time there and press Schedule, or publish it now. Nothing in it is lost."},
		Why: "You wrote this post, chose its time or schedule for this client.",
	}
	return l.with(m.Posts)
}

// Suggestion tells who works on a post which text an approver would rather have.
func Suggestion(name string, m model.ApprovalMail, link string) Letter {
	l := Comment(name, m, link)
	sender := cmp.Or(Line(m.Sender, 60), "Somebody")
	l.Subject = forClient(sender+" suggests another text for "+quoted(m.Posts[0].Excerpt, 50), m.Client)
	l.Title, l.Say = "Another text from "+sender, []string{sender + " would rather have this text. Nothing was changed: you see the difference on the page and take it over by one press, or leave it."}
	l.Label, l.Why = "See the difference", "You wrote this post, or asked for its approval."
	return l
}

// Held tells the writer that somebody stopped a post, and why.
func Held(name string, m model.ApprovalMail, link string) Letter {
	sender := cmp.Or(Line(m.Sender, 60), "Somebody")
	return Letter{
		Subject: forClient("On hold: "+quoted(m.Posts[0].Excerpt, 50), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: "Held by " + sender, Say: []string{sender + " holds this post. It is approved and keeps its time, but it does not go out until somebody lets it go."},
		Label: "Open the post", URL: link, After: []string{"If its time passes by more than the client allows while it is held, it is given up and can be retried."}, Why: "You wrote it.",
	}.with(m.Posts)
}

// LetGo tells the same person that the hold is over.
func LetGo(name string, m model.ApprovalMail, link string) Letter {
	sender := cmp.Or(Line(m.Sender, 60), "Somebody")
	return Letter{
		Subject: forClient("No longer on hold: "+quoted(m.Posts[0].Excerpt, 50), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: "Let go by " + sender, Say: []string{sender + " let this post go. It goes out at its time, or at once if that has passed."},
		Label: "Open the post", URL: link, Why: "You wrote it.",
	}.with(m.Posts)
}

// decided words the decision on a single post.
func (l Letter) decided(sender string, m model.ApprovalMail) Letter {
	p := m.Posts[0]
	switch p.Verdict {
	case model.RequestChanges:
		l.Title = "Changes requested"
		l.Say = []string{sender + " asks for changes to your post. Once you have saved them, ask for approval again."}
	case model.Reject:
		l.Title = "Rejected"
		l.Say = []string{sender + " rejected your post. It is not published."}
	default:
		l.Title = "Approved"
		l.Say = []string{sender + " approved your post. Somebody else has to agree too before it can be published."}
		switch {
		case p.Scheduled:
			l.Say = []string{sender + " approved your post. Nobody else has to agree, and it was scheduled at once for the time it was planned for."}
		case p.Done:
			l.Say = []string{sender + " approved your post. Nobody else has to agree. It goes out once somebody schedules or publishes it."}
		}
	}
	l.Subject = l.Title + ": " + quoted(p.Excerpt, 50)
	if client := Line(p.Client, 60); client != "" {
		l.Subject += ", " + client
	}
	return l.with(m.Posts)
}

func waitTitle(n int) string {
	if n == 1 {
		return "A post waits for your approval"
	}
	return posts(n) + " wait for your approval"
}

// people says who asks: "Mia Berg at North Studio".
func people(m model.ApprovalMail) string {
	sender, agency := Line(m.Sender, 60), Line(m.Agency, 60)
	switch {
	case sender == "":
		return cmp.Or(agency, "Somebody")
	case agency == "":
		return sender
	}
	return sender + " at " + agency
}

func clientWords(client string) string { return forClient("", client) }

// until is the end of the link, in the zone of the first post.
func until(m model.ApprovalMail) string {
	if m.Until == nil {
		return ""
	}
	return " It works until " + When(*m.Until, m.Posts[0].Zone) + "."
}

var verdicts = map[model.Verdict]struct{ word, hue string }{
	model.Approve:        {"Approved", "good"},
	model.RequestChanges: {"Changes requested", "ask"},
	model.Reject:         {"Rejected", "bad"},
}

// with shows the posts, as many as one mail holds.
func (l Letter) with(list []model.ApprovalMailPost) Letter {
	for i, p := range list {
		if i == shown {
			l.More = len(list) - shown
			break
		}
		v := verdicts[p.Verdict]
		l.Posts = append(l.Posts, Post{
			Client: Line(p.Client, 60), Where: labels(p.Networks), When: whenever(p.DueAt, p.Zone), Stage: Line(p.Stage, 60),
			Excerpt: Line(p.Excerpt, 280), Verdict: v.word, Hue: v.hue, Words: strings.TrimSpace(Line(p.Words, 1000)),
		})
	}
	return l
}
