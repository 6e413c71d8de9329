// Package slack publishes messages to Slack, as a bot or through an incoming
// webhook.
//
// Commit call: chat.postMessage, or the POST to the webhook. Slack takes no key of
// ours, but a bot's message carries a mark made of the job's key that nobody sees,
// by which a look-up knows it. A webhook says "ok" and no more: if its answer is
// lost, a person looks. See Find.
//
// Handles: file.N (Slack's id of a picture), file.N.sent and file.N.ready; comment. A
// webhook's address is a secret, of which only the path is used, so that no address
// leads elsewhere. Start with Prepare, then Commit.
package slack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Adapter publishes to Slack. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	hooks  rest.Door
	store  rest.Door // takes the bytes of files
	signIn oauth.SignIn
	now    func() time.Time
}

// New makes the adapter. Without a base address it speaks to Slack itself.
func New(env networks.Env) *Adapter {
	base := cmp.Or(env.Base, "https://slack.com")
	a := &Adapter{now: env.Now, door: rest.Door{HTTP: env.HTTP, Base: base + "/api", Table: table},
		hooks: rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Upload, env.Base, "https://hooks.slack.com"), Table: hookTable},
		store: rest.Door{HTTP: env.HTTP, Away: env.Guarded, Base: base, Table: rest.Table{Network: table.Network, Read: func(*httpx.Answer) (rest.Problem, bool) { return rest.Problem{}, false }}}}
	if a.now == nil {
		a.now = time.Now
	}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, base) + "/oauth/v2/authorize", Apart: ",", Scopes: asks,
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: base + "/api/oauth.v2.access", ID: env.ClientID, Secret: env.ClientSecret,
			Dead: []string{"invalid_code", "code_already_used", "bad_redirect_uri", "invalid_grant_type"}, Network: table.Network, Now: a.now}}
	return a
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
	_ networks.Straight = (*Adapter)(nil)
)

// hook is the shape of a webhook's address.
var hook = regexp.MustCompile(`^https://hooks\.slack(?:-gov)?\.com/(services/[A-Z0-9]{1,20}/[A-Z0-9]{1,20}/[A-Za-z0-9]{8,64})$`)

func isHook(account networks.Account) bool { return hook.MatchString(account.Token.Reveal()) }

// Straight: a text is one call.
func (a *Adapter) Straight(f network.Format) bool { return f == network.FormatText }

// Prepare uploads the pictures, which nobody sees before a message shows them.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	fitting := job
	if isHook(job.Account) {
		fitting.Account.RemoteID = "webhook"
	}
	switch err := networks.Fits(fitting); {
	case err != nil:
		return networks.Ready{}, err
	case isHook(job.Account) && len(job.Post.Media) > 0:
		return networks.Ready{}, fault.New(fault.Validation, "webhook_media", "An incoming webhook of Slack shows no pictures. Take them out, or connect the channel with a bot.")
	case isHook(job.Account) && job.Post.FirstComment != "":
		return networks.Ready{}, fault.New(fault.Validation, "webhook_comment", "An incoming webhook of Slack takes no first comment. Remove it, or connect the channel with a bot.")
	case !isHook(job.Account) && strings.Contains(job.Account.Token.Reveal(), "/"):
		return networks.Ready{}, fault.New(fault.Auth, "no_webhook", "The account's token is no address of an incoming webhook of Slack. Copy it again from the app's settings.")
	}
	handles := map[string]string{}
	for i := range job.Post.Media {
		if err := a.upload(ctx, job, h, i); err != nil {
			return networks.Ready{}, err
		}
		handles[file(i)] = h.Get(file(i))
	}
	return networks.Ready{Job: job, Handles: handles}, nil
}

func file(i int) string { return "file." + strconv.Itoa(i) }

// upload brings one picture to Slack, in three calls. Nobody sees it before a
// message shows it, so it may be there twice, and its id is noted.
func (a *Adapter) upload(ctx context.Context, job networks.Job, h networks.Handles, i int) error {
	if h.Get(file(i)+".ready") != "" {
		return nil
	}
	if h.Get(file(i)+".sent") == "" {
		if err := a.send(ctx, job, h, i); err != nil {
			return err
		}
	}
	c := rest.From(job, httpx.Prepare, http.MethodPost, "files.completeUploadExternal")
	c.JSON = map[string]any{"files": []map[string]string{{"id": h.Get(file(i))}}}
	if _, err := a.door.Do(ctx, c, nil); err != nil {
		if f := fault.Of(err); f.Kind == fault.Validation {
			networks.Forget(h, file(i)+".sent", file(i))
		}
		return err
	}
	h.Note(file(i)+".ready", "true")
	return nil
}

func (a *Adapter) send(ctx context.Context, job networks.Job, h networks.Handles, i int) error {
	m := job.Post.Media[i]
	c := rest.From(job, httpx.Prepare, http.MethodPost, "files.getUploadURLExternal")
	c.Form = url.Values{"filename": {cmp.Or(m.Name, "picture")}, "length": {strconv.FormatInt(m.Bytes, 10)}}
	if m.Alt != "" {
		c.Form.Set("alt_txt", m.Alt)
	}
	var to struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	answer, err := a.door.Do(ctx, c, &to)
	if err == nil && (to.ID == "" || to.URL == "") {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	body, err := m.Open(ctx)
	if err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read a picture; it tries again.", Cause: err}
	}
	c = rest.Call{Step: httpx.Prepare, Trail: job.Trail, Attempt: job.Attempt, Method: http.MethodPost, Address: to.URL, Body: &rest.Body{ReadCloser: body, Length: m.Bytes, Type: m.Type}}
	answer, err = a.store.Do(ctx, c, nil)
	if err == nil && !strings.HasPrefix(string(answer.Body), "OK") {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	networks.NoteAll(h, file(i), to.ID, file(i)+".sent", "true")
	return nil
}

// message is a message as it is sent. No markup is used: a text reads as written.
type message struct {
	Channel  string       `json:"channel,omitempty"`
	Text     string       `json:"text"`
	Markup   *bool        `json:"mrkdwn,omitempty"`
	Unfurl   *bool        `json:"unfurl_links,omitempty"`
	Media    *bool        `json:"unfurl_media,omitempty"`
	Thread   string       `json:"thread_ts,omitempty"`
	Pictures []attachment `json:"attachments,omitempty"`
	Metadata *metadata    `json:"metadata,omitempty"`
}

type attachment struct {
	Fallback string  `json:"fallback"`
	Blocks   []block `json:"blocks"`
}

type block struct {
	Type string            `json:"type"`
	File map[string]string `json:"slack_file"`
	Alt  string            `json:"alt_text"`
}

// metadata is the mark that nobody sees.
type metadata struct {
	Type    string            `json:"event_type"`
	Payload map[string]string `json:"event_payload"`
}

func marked(kind, key string) *metadata {
	return &metadata{Type: "herald_" + kind, Payload: map[string]string{"delivery": mark(key)}}
}

// is says whether m is the mark of a job's message.
func (m *metadata) is(kind, key string) bool {
	return m != nil && m.Type == "herald_"+kind && m.Payload["delivery"] == mark(key)
}

func mark(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func messageOf(ready networks.Ready) message {
	n, _ := network.Get(network.Slack)
	job := ready.Job
	d := network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options}
	m := message{Text: entities.Replace(n.Body(d))}
	if n.Value(d, network.OptPreview) == "false" {
		m.Unfurl, m.Media = new(false), new(false)
	}
	if isHook(job.Account) {
		return m
	}
	m.Channel, m.Markup, m.Metadata = job.Account.RemoteID, new(false), marked("post", job.Key)
	for i, f := range job.Post.Media {
		if i == 0 {
			m.Pictures = []attachment{{Fallback: "Pictures"}}
		}
		m.Pictures[0].Blocks = append(m.Pictures[0].Blocks, block{Type: "image", File: map[string]string{"id": ready.Handles[file(i)]}, Alt: cmp.Or(f.Alt, "Picture")})
	}
	return m
}

// Commit sends the message, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if isHook(ready.Job.Account) {
		return a.deliver(ctx, ready)
	}
	return a.post(ctx, ready.Job, httpx.Commit, messageOf(ready))
}

func (a *Adapter) post(ctx context.Context, job networks.Job, step httpx.Step, m message) (networks.Receipt, error) {
	c := rest.From(job, step, http.MethodPost, "chat.postMessage")
	c.JSON = m
	var made struct {
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}
	answer, err := a.door.Do(ctx, c, &made)
	if err == nil && (made.TS == "" || made.Channel != job.Account.RemoteID) {
		err = httpx.Unparsable(step, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: made.TS, RequestID: answer.RequestID}, nil
}

// deliver sends a message through a webhook, which names nothing: the mark that it
// would have stands for its id.
func (a *Adapter) deliver(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	path := hook.FindStringSubmatch(job.Account.Token.Reveal())[1]
	c := rest.From(job, httpx.Commit, http.MethodPost, path)
	c.Token, c.JSON = secret.Token{}, messageOf(ready)
	c.Trail = httpx.Hide(job.Trail, strings.TrimPrefix(path, "services/"))
	answer, err := a.hooks.Do(ctx, c, nil)
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: mark(job.Key), RequestID: answer.RequestID}, nil
}

// Check asks whose the token is. A webhook cannot be asked anything.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	p := networks.Profile{RemoteID: account.RemoteID, Handle: account.Handle, Name: account.Handle}
	if isHook(account) {
		return p, nil
	}
	var me struct {
		Team string `json:"team"`
		User string `json:"user_id"`
	}
	answer, err := a.door.Do(ctx, rest.From(networks.Job{Account: account}, httpx.Check, http.MethodPost, "auth.test"), &me)
	if err == nil && me.User == "" {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	p.Settings = map[string]string{"team": httpx.SafeText(me.Team)}
	return p, err
}
