// Package discord publishes messages to Discord, through a webhook or as a bot.
//
// Every post is one call, which carries the files: Prepare makes none. A bot's
// message has a nonce made of the job's key, by which Discord knows a repeat for
// some minutes, and can be looked for in the channel. A webhook has neither: if its
// answer is lost, a person looks. See Find.
//
// A webhook's address is a secret, and stands in the path of its calls: it is kept
// out of the evidence. Only the number and the token in it are used, so that no
// address leads elsewhere. Start with Commit.
package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to Discord. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	signIn oauth.SignIn
	web    string // where people read messages
}

// New makes the adapter. Without a base address it speaks to Discord itself.
func New(env networks.Env) *Adapter {
	base := cmp.Or(env.Base, "https://discord.com")
	return &Adapter{web: cmp.Or(env.Auth, "https://discord.com"),
		signIn: oauth.SignIn{Page: cmp.Or(env.Auth, base) + "/oauth2/authorize", Scopes: []string{"webhook.incoming"},
			Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: base + "/api/oauth2/token", ID: env.ClientID, Secret: env.ClientSecret, Network: table.Network, Now: env.Now}},
		door: rest.Door{HTTP: env.HTTP, Base: base + "/api/" + cmp.Or(env.Version, "v10"), Table: table, Sign: sign}}
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
	_ networks.Straight = (*Adapter)(nil)
)

func sign(req *http.Request, token secret.Token) {
	req.Header.Set("Authorization", "Bot "+token.Reveal())
}

// hook is the shape of a webhook's address.
var hook = regexp.MustCompile(`^(?:https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/)?([0-9]{1,25})/([A-Za-z0-9_-]{20,200})/?$`)

// call is a call on the account's webhook, or as its bot on a path.
func (a *Adapter) call(job networks.Job, step httpx.Step, method, path string) rest.Call {
	c := rest.From(job, step, method, path)
	// Discord's edge refuses agents that are not of this form.
	c.Header = map[string]string{"User-Agent": "DiscordBot (https://herald.invalid, 1.0)"}
	if m := hook.FindStringSubmatch(job.Account.Token.Reveal()); m != nil {
		c.Token, c.Path = secret.Token{}, "webhooks/"+m[1]+"/"+m[2]
		c.Trail = httpx.Hide(job.Trail, m[2])
	}
	return c
}

func isHook(account networks.Account) bool { return hook.MatchString(account.Token.Reveal()) }

// Straight: no format has anything to prepare.
func (a *Adapter) Straight(network.Format) bool { return true }

// Prepare makes no call. A webhook needs no channel: it has one.
func (a *Adapter) Prepare(_ context.Context, job networks.Job, _ networks.Handles) (networks.Ready, error) {
	fitting := job
	if isHook(job.Account) {
		fitting.Account.RemoteID = "webhook"
	}
	if err := networks.Fits(fitting); err != nil {
		return networks.Ready{}, err
	}
	if !isHook(job.Account) && strings.Contains(job.Account.Token.Reveal(), "/") {
		return networks.Ready{}, fault.New(fault.Auth, "no_webhook", "The account's token is no address of a webhook of Discord. Copy it again from the channel's settings.")
	}
	return networks.Ready{Job: job}, nil
}

// message is a message as it is sent.
type message struct {
	Content  string       `json:"content,omitempty"`
	Mentions mentions     `json:"allowed_mentions"`
	Flags    int          `json:"flags,omitempty"`
	Files    []attachment `json:"attachments,omitempty"`
	Forum    string       `json:"thread_name,omitempty"`
	Nonce    string       `json:"nonce,omitempty"`
	Enforce  bool         `json:"enforce_nonce,omitempty"`
}

// mentions says who is pinged: nobody.
type mentions struct {
	Parse []string `json:"parse"`
}

type attachment struct {
	ID          int    `json:"id"`
	Name        string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// The flags of a message.
const (
	noPreview = 1 << 2
	silent    = 1 << 12
)

func messageOf(job networks.Job) message {
	n, _ := network.Get(network.Discord)
	d := network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options}
	m := message{Content: n.Body(d), Mentions: mentions{Parse: []string{}}}
	if n.Value(d, network.OptNotify) == "false" {
		m.Flags |= silent
	}
	if n.Value(d, network.OptPreview) == "false" {
		m.Flags |= noPreview
	}
	for i, f := range job.Post.Media {
		m.Files = append(m.Files, attachment{ID: i, Name: name(i, f), Description: f.Alt})
	}
	if isHook(job.Account) {
		m.Forum = n.Value(d, network.OptForum)
	} else {
		m.Nonce, m.Enforce = nonce(job.Key), true
	}
	return m
}

// nonce is the same over all attempts, and has the 25 characters that one may.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:25]
}

// name is a file's name of plain characters.
func name(i int, m networks.Media) string {
	ext := "." + m.Type[strings.LastIndexByte(m.Type, '/')+1:]
	if known, err := mime.ExtensionsByType(m.Type); err == nil && m.Type != "image/jpeg" && len(known) == 1 {
		ext = known[0]
	}
	return "file" + strconv.Itoa(i) + ext
}

// posted is a message as Discord describes it.
type posted struct {
	ID      string    `json:"id"`
	Channel string    `json:"channel_id"`
	Content string    `json:"content"`
	Made    time.Time `json:"timestamp"`
	Hook    string    `json:"webhook_id"`
	Author  struct {
		Bot bool `json:"bot"`
	} `json:"author"`
	Files []struct {
		ID string `json:"id"`
	} `json:"attachments"`
}

// Commit sends the message, with its files. Without wait a webhook would say
// nothing of a message that is not kept.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job, m := ready.Job, messageOf(ready.Job)
	c := a.call(job, httpx.Commit, http.MethodPost, "channels/"+url.PathEscape(job.Account.RemoteID)+"/messages")
	if isHook(job.Account) {
		c.Query = url.Values{"wait": {"true"}}
	}
	if len(m.Files) == 0 {
		c.JSON = m
	} else {
		raw, err := json.Marshal(m)
		if err != nil {
			return networks.Receipt{}, fault.New(fault.Validation, "body", "The post holds something that cannot be sent.")
		}
		c.Form = url.Values{"payload_json": {string(raw)}}
		for i, f := range job.Post.Media {
			part := f.Part("files[" + strconv.Itoa(i) + "]")
			part.Name = m.Files[i].Name
			c.Files = append(c.Files, part)
		}
	}
	var made posted
	answer, err := a.door.Do(ctx, c, &made)
	if err == nil && (!isID(made.ID) || !made.ours(job.Account)) {
		err = httpx.Unparsable(httpx.Commit, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	return a.receipt(job.Account, made, answer.RequestID), nil
}

func isID(s string) bool { return s != "" && len(s) <= 25 && strings.Trim(s, "0123456789") == "" }

// ours says whether a message can be in the account's channel. A post of a forum
// is in a channel of its own.
func (p posted) ours(account networks.Account) bool {
	if isHook(account) {
		return isID(p.Channel)
	}
	return p.Channel == account.RemoteID
}

// receipt has an address where the server is known, which a check learns.
func (a *Adapter) receipt(account networks.Account, p posted, request string) networks.Receipt {
	r := networks.Receipt{ExternalID: p.ID, RequestID: request}
	if server := account.Settings["guild_id"]; isID(server) {
		r.Permalink = a.web + "/channels/" + server + "/" + p.Channel + "/" + p.ID
	}
	return r
}

// Find looks through the channel, as a bot, for a message of a bot with the same
// words and as many files. A webhook cannot look.
func (a *Adapter) Find(ctx context.Context, job networks.Job, _ networks.Handles, w networks.Window) (networks.Finding, error) {
	if isHook(job.Account) {
		return networks.Unsure("A webhook of Discord cannot look for what it posted. Look into the channel whether the post is there."), nil
	}
	want := messageOf(job)
	s := networks.Sieve{Window: w, Looked: "the channel", Marked: want.Content == ""}
	return s.Read(ctx, func(ctx context.Context, before string) (list []networks.Listed, next string, err error) {
		c := a.call(job, httpx.Find, http.MethodGet, "channels/"+url.PathEscape(job.Account.RemoteID)+"/messages")
		c.Query = url.Values{"limit": {"100"}}
		if before != "" {
			c.Query.Set("before", before)
		}
		var page []posted
		answer, err := a.door.Do(ctx, c, &page)
		if err == nil && page == nil {
			err = httpx.Unparsable(httpx.Find, answer)
		}
		if err != nil {
			return nil, "", err
		}
		for _, p := range page {
			list = append(list, networks.Listed{Receipt: a.receipt(job.Account, p, ""), Made: p.Made,
				Alike: p.Author.Bot && p.Hook == "" && networks.SameText(p.Content, want.Content) && len(p.Files) == len(want.Files)})
		}
		if len(page) == 100 {
			next = page[99].ID
		}
		return list, next, nil
	})
}

// Check asks what the webhook or the channel is, and in which server.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var what struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Channel string `json:"channel_id"`
		Server  string `json:"guild_id"`
	}
	answer, err := a.door.Do(ctx, a.call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "channels/"+url.PathEscape(account.RemoteID)), &what)
	if err == nil && !isID(what.ID) {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	p := networks.Profile{RemoteID: cmp.Or(what.Channel, what.ID), Handle: what.Name, Name: what.Name}
	if isID(what.Server) {
		p.Settings = map[string]string{"guild_id": what.Server}
	}
	return p, nil
}
