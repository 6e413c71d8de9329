package email

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Notice is what a mail about a target or an account can say.
type Notice struct {
	Agency  string
	Client  string
	Network string // canonical name
	Account string // its handle
	Excerpt string
	Reason  string // the target's: short and stable
	Say     string // the network's or Herald's words
	DueAt   *time.Time
	Zone    string // the client's
	Waiting int    // posts that wait for the account
}

// TargetFailed says that a post is not published and will not be tried again, on one
// account or on several.
func TargetFailed(name string, list []Notice, link string) Letter {
	n := list[0]
	where := place(n.Network, n.Account)
	l := Letter{
		Subject: of("Not published: "+where, n.Client), Title: "Not published",
		Say:   []string{forClient("A post", n.Client) + " was not published on " + where + ", and Herald will not try it again by itself.", n.because()},
		Label: "See what happened", URL: link,
		After: []string{"The page shows every attempt. There you can try again, or correct the post first."},
		Why:   "You own this workspace, wrote this post or schedule for this client.",
	}
	if len(list) == 1 {
		return l.about(name, n)
	}
	l.Subject = of(fmt.Sprintf("Not published on %d accounts", len(list)), clientOf(list))
	l.Say = []string{forClient("A post", clientOf(list)) + fmt.Sprintf(" was not published on %d accounts, and Herald will not try it there again by itself.", len(list))}
	l.Label, l.After = "Open the post", []string{"Each account there leads to its attempts. You can try again, or correct the post first."}
	return l.aboutAll(name, list, func(n Notice) string { return n.because() })
}

// ManualCheck asks a person to look whether a post is public, on one account or on
// several.
func ManualCheck(name string, list []Notice, link string) Letter {
	n := list[0]
	where := place(n.Network, n.Account)
	l := Letter{
		Subject: of("Please check whether it is live: "+where, n.Client), Title: "Is this post live?",
		Say: []string{
			forClient("A post", n.Client) + " was handed to " + where + ", but it is not certain that it appeared. So that it never appears twice, Herald does not send it again before a person has looked.",
			sentence(n.Say),
		},
		Label: "Say what you found", URL: link,
		After: []string{"Look at the account. If the post is there, give its address on the page; if it is not, say so, and Herald can publish it."},
		Why:   "You own this workspace, wrote this post or schedule for this client.",
	}
	if len(list) == 1 {
		return l.about(name, n)
	}
	l.Subject = of(fmt.Sprintf("Please check whether it is live on %d accounts", len(list)), clientOf(list))
	l.Say = []string{forClient("A post", clientOf(list)) + fmt.Sprintf(" was handed to %d accounts, but it is not certain that it appeared on them. So that it never appears twice, Herald does not send it again before a person has looked.", len(list))}
	l.Label, l.After = "Open the post", []string{"Look at each account. If the post is there, give its address on the account's page of the post; if it is not, say so there, and Herald can publish it."}
	return l.aboutAll(name, list, func(n Notice) string { return sentence(n.Say) })
}

// NeedsReconnect says that an account's access has ended.
func NeedsReconnect(name string, n Notice, link string) Letter {
	where := place(n.Network, n.Account)
	l := Letter{
		Subject: of("Reconnect "+where, n.Client), Title: "An account has to be reconnected",
		Say:   []string{"Herald can no longer publish on " + where + ". " + waiting(n.Waiting), sentence(n.Say)},
		Label: "Open the accounts", URL: link,
		After: []string{"Reconnect the account there. Until then nothing is published on it, and nothing is lost: what is planned for later goes out by itself afterwards, and what could not go out waits on the account's page until somebody retries it."},
		Why:   "You own or administer this workspace, or you connected this account.",
	}
	n.Excerpt, n.DueAt = "", nil
	return l.about(name, n)
}

// ConnectionEnds says that connections end soon which nothing prolongs but a person.
func ConnectionEnds(name string, list []Notice, link string) Letter {
	n := list[0]
	where := place(n.Network, n.Account)
	l := Letter{
		Subject: of("Reconnect soon: "+where, n.Client), Title: "A connection ends soon", Agency: Line(n.Agency, 60), Hello: hello(name),
		Say:   []string{"Herald can publish on " + where + " until " + whenever(n.DueAt, n.Zone) + ". Then the network asks for a person to sign in again."},
		Label: "Open the accounts", URL: link,
		After: []string{"Reconnect the account there before. Settings, history and planned posts stay as they are."},
		Why:   "You own or administer this workspace, or you connected this account.",
	}
	if len(list) == 1 {
		if why := n.unrenewed(); why != "" {
			l.Say = append(l.Say, why)
		}
		return l
	}
	l.Subject, l.Title = of(fmt.Sprintf("Reconnect soon: %d accounts", len(list)), clientOf(list)), fmt.Sprintf("%d connections end soon", len(list))
	l.Say = []string{"Herald can publish on these accounts until the times beside them. Then the networks ask for a person to sign in again."}
	for i, n := range list {
		if i == shown {
			l.Say = append(l.Say, fmt.Sprintf("And %d more, which the page shows.", len(list)-shown))
			break
		}
		l.Say = append(l.Say, strings.TrimSpace(of(place(n.Network, n.Account), n.Client)+": "+whenever(n.DueAt, n.Zone)+". "+n.unrenewed()))
	}
	l.After = []string{"Reconnect the accounts there before. Settings, history and planned posts stay as they are."}
	l.Why = "You own or administer this workspace, or you connected these accounts."
	return l
}

// unrenewed says why Herald could not prolong the connection itself; empty if it cannot
// at all.
func (n Notice) unrenewed() string {
	if n.Say == "" {
		return ""
	}
	return "Herald has tried to renew it. The last answer: " + sentence(n.Say)
}

// of adds the client to a subject.
func of(words, client string) string {
	if client = Line(client, 60); client == "" {
		return words
	}
	return words + " (" + client + ")"
}

func waiting(n int) string {
	switch n {
	case 0:
		return "No planned post waits for it."
	case 1:
		return "A planned post waits for it."
	}
	return fmt.Sprintf("%d planned posts wait for it.", n)
}

// about fills in what all notices share, and leaves out what is not known.
func (l Letter) about(name string, n Notice) Letter {
	l.Agency, l.Hello = Line(n.Agency, 60), hello(name)
	var say []string
	for _, s := range l.Say {
		if s != "" {
			say = append(say, s)
		}
	}
	l.Say = say
	if n.Excerpt != "" || n.DueAt != nil {
		l.Posts = []Post{{Client: Line(n.Client, 60), Where: place(n.Network, n.Account), When: whenever(n.DueAt, n.Zone), Excerpt: Line(n.Excerpt, 280)}}
	}
	return l
}

// aboutAll is about for several accounts: each is shown with why.
func (l Letter) aboutAll(name string, list []Notice, why func(Notice) string) Letter {
	l.Agency, l.Hello = Line(list[0].Agency, 60), hello(name)
	for i, n := range list {
		if i == shown {
			l.More = len(list) - shown
			break
		}
		l.Posts = append(l.Posts, Post{Client: Line(n.Client, 60), Where: place(n.Network, n.Account), When: whenever(n.DueAt, n.Zone), Excerpt: Line(n.Excerpt, 280), Note: why(n)})
	}
	return l
}

// clientOf is the client that all are about; empty if they are about several.
func clientOf(list []Notice) string {
	for _, n := range list {
		if n.Client != list[0].Client {
			return ""
		}
	}
	return list[0].Client
}

// reasons are Herald's own: the guards refuse before any network is asked, so
// nobody else has words for it.
var reasons = map[string]string{
	"suspended_too_long":    "The workspace was suspended for too long.",
	"monthly_limit":         "The workspace's monthly number of published posts was used up.",
	"account_disabled":      "The account is switched off.",
	"missing_scope":         "The account was connected without a permission that this post needs.",
	"media_missing":         "The post needs a picture or a video and has none.",
	"media_not_made":        "A picture or video of the post could not be made into what the network takes.",
	"media_gone":            "A picture or video of the post no longer exists.",
	"missed":                "Its time had passed too long ago when it could have been published.",
	"held_too_long":         "It was held until its time had passed by more than the client allows.",
	"sibling_published":     "The same post is already live on this account.",
	"rate_limited_too_long": "The network kept limiting how much may be published.",
	"attempts_used_up":      "Every attempt failed.",
}

// because is why a post failed: Herald's reason, else what the network said.
func (n Notice) because() string {
	own, said := reasons[n.Reason], sentence(n.Say)
	switch n.Reason {
	case "attempts_used_up", "rate_limited_too_long":
		if said != "" {
			return own + " The last answer: " + said
		}
	}
	return cmp.Or(own, said, "The page says why.")
}
