package email

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"herald/db/model"
)

// Reminder reminds a user of all that waits there.
func Reminder(name string, m model.ApprovalMail, link string, now time.Time) Letter {
	l := ApprovalWaiting(name, m, link)
	l.Subject = forClient("Still waiting for your approval: "+posts(len(m.Posts)), m.Client)
	l.Title, l.Say = stillTitle(len(m.Posts)), []string{"Nobody can go on with this before you decide."}
	if len(m.Posts) > 1 {
		l.Say = []string{"Nobody can go on with these before you decide."}
	}
	l.After = []string{"Reminders stop as soon as it is decided."}
	return l.since(m.Posts, now)
}

// ReviewReminder reminds an approver, by a new link; over says that it no longer opens
// the posts.
func ReviewReminder(name string, m model.ApprovalMail, link string, now time.Time, over bool) Letter {
	l := ReviewRequest(name, m, link, over)
	l.Subject = forClient("Reminder: please review "+posts(len(m.Posts)), m.Client)
	l.Title = stillTitle(len(m.Posts))
	l.Say = []string{people(m) + " still waits for your answer."}
	if !over {
		l.After = append(l.After, "Reminders stop as soon as you have decided.")
	}
	return l.since(m.Posts, now)
}

// Escalation tells members what others have not decided for long.
func Escalation(name string, m model.ApprovalMail, link string, now time.Time) Letter {
	l := Letter{
		Subject: forClient("Nobody has decided yet: "+posts(len(m.Posts)), m.Client), Agency: Line(m.Agency, 60), Hello: hello(name),
		Title: "Nobody has decided yet", Say: []string{"This has waited long for a decision, and does not go out without one."},
		Label: "Open the approvals", URL: link, After: []string{"A word with them may help. Owners and admins can also decide in their stead; that is recorded."},
		Why: "You are named as somebody to be told when posts" + clientWords(m.Client) + " wait for long.",
	}
	if len(m.Posts) > 1 {
		l.Say = []string{"These have waited long for a decision, and do not go out without one."}
	}
	l = l.with(m.Posts).since(m.Posts, now)
	for i := range l.Posts {
		if owing := Line(strings.Join(m.Posts[i].Owing, ", "), 120); owing != "" {
			l.Posts[i].Note = cmp.Or(l.Posts[i].Note, "Waiting") + " for " + owing
		}
	}
	return l
}

func stillTitle(n int) string {
	if n == 1 {
		return "A post still waits for your approval"
	}
	return posts(n) + " still wait for your approval"
}

// since says of each post how long it has waited.
func (l Letter) since(list []model.ApprovalMailPost, now time.Time) Letter {
	for i := range l.Posts {
		if at := list[i].Since; at != nil {
			l.Posts[i].Note = "Waiting since " + When(*at, list[i].Zone) + ahead(list[i].DueAt, now)
		}
	}
	return l
}

// ahead says how near the planned time is, where it is near or has passed.
func ahead(due *time.Time, now time.Time) string {
	switch {
	case due == nil:
		return ""
	case !due.After(now):
		return ". The time it was planned for has passed"
	case due.Sub(now) < 48*time.Hour:
		return fmt.Sprintf(". It is planned for in %d hours", max(int(due.Sub(now).Hours()), 1))
	}
	return ""
}
