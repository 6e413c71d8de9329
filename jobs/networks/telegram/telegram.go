// Package telegram publishes to channels and groups of Telegram as a bot.
//
// Every post is one call, which carries the files: Prepare makes none. Telegram
// takes no key of ours, and a bot cannot read what it posted, so an answer that is
// lost leaves the question to a person: see Find.
//
// The only handle is chat, the group's new number where Telegram said that it
// moved. The token stands in the path of every call, and is kept out of the
// evidence there. Start with Commit.
package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Adapter publishes to Telegram. It is safe for concurrent use.
type Adapter struct {
	door rest.Door
	web  string // where people read posts
}

// New makes the adapter. Without a base address it speaks to Telegram itself.
func New(env networks.Env) *Adapter {
	return &Adapter{web: cmp.Or(env.Auth, "https://t.me"),
		door: rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://api.telegram.org"), Table: table, Sign: sign}}
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
	_ networks.Straight = (*Adapter)(nil)
)

// sign puts the token into the path, before the name of the method.
func sign(req *http.Request, token secret.Token) {
	at := strings.LastIndexByte(req.URL.Path, '/')
	req.URL.Path = req.URL.Path[:at] + "/bot" + token.Reveal() + req.URL.Path[at:]
}

// chat is the handle of a group's new number.
const chat = "chat"

// Straight: no format has anything to prepare.
func (a *Adapter) Straight(network.Format) bool { return true }

// Prepare makes no call.
func (a *Adapter) Prepare(_ context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: map[string]string{chat: cmp.Or(h.Get(chat), job.Account.RemoteID)}, Book: h}, nil
}

// sent is a message as Telegram describes it.
type sent struct {
	ID   int64 `json:"message_id"`
	Chat place `json:"chat"`
}

// place is a channel or a group.
type place struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	Username string `json:"username"`
}

// Commit sends the message, with its files.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	c := message(ready.Job, ready.Handles[chat])
	var body struct {
		Result json.RawMessage `json:"result"`
	}
	answer, err := a.door.Do(ctx, c, &body)
	if err != nil {
		return networks.Receipt{}, moved(ready.Book, answer, err)
	}
	m, ok := first(body.Result)
	if !ok || !m.Chat.is(ready.Handles[chat]) {
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return networks.Receipt{ExternalID: strconv.FormatInt(m.ID, 10), Permalink: a.permalink(m), RequestID: answer.RequestID}, nil
}

// first is the message of an answer, of an album its first.
func first(raw json.RawMessage) (m sent, ok bool) {
	var album []sent
	if json.Unmarshal(raw, &album) == nil && len(album) > 0 {
		m = album[0]
	} else if json.Unmarshal(raw, &m) != nil {
		return sent{}, false
	}
	return m, m.ID > 0 && m.Chat.ID != 0
}

// is says whether p is what the account names, by number or by name.
func (p place) is(id string) bool {
	if name, public := strings.CutPrefix(id, "@"); public {
		return strings.EqualFold(name, p.Username)
	}
	return strconv.FormatInt(p.ID, 10) == id
}

// permalink is where people read a message; empty where nobody else can.
func (a *Adapter) permalink(m sent) string {
	id := strconv.FormatInt(m.ID, 10)
	if m.Chat.Username != "" {
		return a.web + "/" + url.PathEscape(m.Chat.Username) + "/" + id
	}
	if number, ok := strings.CutPrefix(strconv.FormatInt(m.Chat.ID, 10), "-100"); ok {
		return a.web + "/c/" + number + "/" + id
	}
	return ""
}

// moved keeps a group's new number, if that is what err is about: nothing was
// posted, and the next attempt goes there.
func moved(h networks.Handles, answer *httpx.Answer, err error) error {
	to := newNumber(answer)
	if to == "" {
		return err
	}
	h.Note(chat, to)
	f := *fault.Of(err)
	f.Kind, f.Code, f.Say = fault.Transient, "moved", "The group has a new number at Telegram; Herald posts there."
	return &f
}

// newNumber is the one of a group that moved, or "".
func newNumber(answer *httpx.Answer) string {
	var body struct {
		Parameters struct {
			To int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	if answer == nil || answer.OK() || json.Unmarshal(answer.Body, &body) != nil || body.Parameters.To == 0 {
		return ""
	}
	return strconv.FormatInt(body.Parameters.To, 10)
}

// Find can ask nobody: a bot does not see its own messages.
func (a *Adapter) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	return networks.Unsure("Telegram lets a bot read nothing of what it posted. Look into the channel whether the post is there."), nil
}

// Check asks who the bot is, and whether it may post in the account's channel. A
// group that moved is asked where it is, and keeps the number it was connected by.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var bot struct {
		Result struct {
			ID int64 `json:"id"`
		} `json:"result"`
	}
	var where struct {
		Result place `json:"result"`
	}
	var member struct {
		Result struct {
			Status string `json:"status"`
			May    *bool  `json:"can_post_messages"`
		} `json:"result"`
	}
	now := account.RemoteID
	for _, step := range []struct {
		method string
		ask    func() any
		into   any
	}{
		{"getMe", func() any { return struct{}{} }, &bot},
		{"getChat", func() any { return map[string]any{"chat_id": now} }, &where},
		{"getChatMember", func() any { return map[string]any{"chat_id": now, "user_id": bot.Result.ID} }, &member},
	} {
		c := call(networks.Job{Account: account}, httpx.Check, step.method)
		c.JSON = step.ask()
		answer, err := a.door.Do(ctx, c, step.into)
		if to := newNumber(answer); to != "" {
			now = to
			c.JSON = step.ask()
			_, err = a.door.Do(ctx, c, step.into)
		}
		if err != nil {
			return networks.Profile{}, err
		}
	}
	p := where.Result
	if !slices.Contains([]string{"administrator", "creator"}, member.Result.Status) && p.Type == "channel" || member.Result.May != nil && !*member.Result.May {
		return networks.Profile{}, fault.New(fault.Permission, "not_administrator", "The bot may not post in this channel. Make it an administrator who may post messages.")
	}
	profile := networks.Profile{RemoteID: strconv.FormatInt(p.ID, 10), Handle: p.Title, Name: p.Title}
	if now != account.RemoteID {
		profile.RemoteID = account.RemoteID
	}
	if p.Username != "" {
		profile.Handle = "@" + p.Username
	}
	return profile, nil
}
