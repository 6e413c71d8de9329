// Package mailchimp sends campaigns to an audience of Mailchimp's.
//
// Prepare makes the campaign, fills it and asks whether it can be sent; nobody sees
// it before. Its internal title is a mark made of the job's key: if the answer to the
// making is lost, it is looked for by that. Commit call: actions/send. A mail cannot
// be taken back, so the campaign's status is asked before anything is sent twice: see
// Find.
//
// Handles: image (the address of an uploaded picture), campaign with the mark that
// it was begun, filled. Start with Prepare, then Commit.
package mailchimp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter sends campaigns. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	base   string // stands for every datacenter; empty outside tests and simulations
	signIn oauth.SignIn
	about  string // where a token is asked about
	now    func() time.Time
}

// New makes the adapter. Without a base address it speaks to the datacenter that an
// account's key names.
func New(env networks.Env) *Adapter {
	a := &Adapter{door: rest.Door{HTTP: env.HTTP, Table: table}, base: env.Base, now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	login := cmp.Or(env.Auth, env.Base, "https://login.mailchimp.com") + "/oauth2/"
	a.about = login + "metadata"
	a.signIn = oauth.SignIn{Page: login + "authorize", Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: login + "token", ID: env.ClientID, Secret: env.ClientSecret, Network: table.Network, Now: a.now}}
	return a
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
)

var datacenter = regexp.MustCompile(`^[a-z]{2}[0-9]{1,3}$`)

// center is the datacenter of an account, or "".
func center(account networks.Account) string {
	key := account.Token.Reveal()
	dc := cmp.Or(account.Settings["dc"], key[strings.LastIndexByte(key, '-')+1:])
	if !datacenter.MatchString(dc) {
		return ""
	}
	return dc
}

func (a *Adapter) call(job networks.Job, step httpx.Step, method, path string, body any) rest.Call {
	c := rest.From(job, step, method, "")
	c.Address, c.JSON = cmp.Or(a.base, "https://"+center(job.Account)+".api.mailchimp.com")+"/3.0/"+path, body
	return c
}

// The handles.
const (
	campaign = "campaign"
	image    = "image"
	filled   = "filled"
)

// Prepare makes the campaign, fills it, and asks whether it can be sent.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	switch err := networks.Fits(job); {
	case err != nil:
		return networks.Ready{}, err
	case a.base == "" && center(job.Account) == "":
		return networks.Ready{}, fault.New(fault.Auth, "no_datacenter", "The key does not end with the datacenter it is of, as us21. Copy it again from Mailchimp and reconnect the account.")
	case job.Post.Options[network.OptTitle] == "":
		return networks.Ready{}, fault.New(fault.Validation, "options_missing", "A campaign needs a subject.")
	}
	if err := a.picture(ctx, job, h); err != nil {
		return networks.Ready{}, err
	}
	id, err := networks.Once{
		Handles: h, Name: campaign, Now: a.now, Settle: time.Minute, Attempt: job.Attempt,
		Write: func(ctx context.Context) (string, error) { return a.create(ctx, job) },
		Look:  func(ctx context.Context, since time.Time) (string, error) { return a.created(ctx, job, since) },
	}.Do(ctx)
	if err == nil {
		err = a.fill(ctx, job, h, id)
	}
	if err == nil {
		err = a.ready(ctx, job, id)
	}
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: map[string]string{campaign: id}}, nil
}

// picture uploads the file, for the content to show.
func (a *Adapter) picture(ctx context.Context, job networks.Job, h networks.Handles) error {
	if len(job.Post.Media) == 0 || h.Get(image) != "" {
		return nil
	}
	m := job.Post.Media[0]
	raw, err := read(ctx, m)
	if err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the picture; it tries again.", Cause: err}
	}
	name := mark(job.Key) + "." + m.Type[strings.LastIndexByte(m.Type, '/')+1:]
	var made struct {
		URL string `json:"full_size_url"`
	}
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPost, "file-manager/files", map[string]string{"name": name, "file_data": base64.StdEncoding.EncodeToString(raw)}), &made)
	if err == nil && made.URL == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	h.Note(image, made.URL)
	return nil
}

func read(ctx context.Context, m networks.Media) ([]byte, error) {
	f, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4_000_000))
}

// mark is the same over all attempts. Subscribers do not see it.
func mark(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "herald-" + hex.EncodeToString(sum[:10])
}

// state is a campaign as far as it matters here.
type state struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Archive  string `json:"long_archive_url"`
	Settings struct {
		Title string `json:"title"`
	} `json:"settings"`
}

// audience is the list that mails go to.
type audience struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Defaults struct {
		Name  string `json:"from_name"`
		Email string `json:"from_email"`
	} `json:"campaign_defaults"`
}

func (a *Adapter) audience(ctx context.Context, job networks.Job, step httpx.Step) (l audience, err error) {
	answer, err := a.door.Do(ctx, a.call(job, step, http.MethodGet, "lists/"+url.PathEscape(job.Account.RemoteID), nil), &l)
	if err == nil && l.ID != job.Account.RemoteID {
		err = httpx.Unparsable(step, answer)
	}
	return l, err
}

func (a *Adapter) create(ctx context.Context, job networks.Job) (string, error) {
	to, err := a.audience(ctx, job, httpx.Prepare)
	if err != nil {
		return "", err
	}
	set := job.Account.Settings
	settings := map[string]string{"subject_line": job.Post.Options[network.OptTitle], "title": mark(job.Key),
		"from_name": cmp.Or(set["from_name"], to.Defaults.Name), "reply_to": cmp.Or(set["reply_to"], to.Defaults.Email)}
	if p := job.Post.Options[network.OptExcerpt]; p != "" {
		settings["preview_text"] = p
	}
	var made state
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPost, "campaigns", map[string]any{
		"type": "regular", "recipients": map[string]string{"list_id": to.ID}, "settings": settings}), &made)
	if err == nil && made.ID == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return made.ID, err
}

// created looks for a campaign of ours by its title.
func (a *Adapter) created(ctx context.Context, job networks.Job, since time.Time) (string, error) {
	c := a.call(job, httpx.Prepare, http.MethodGet, "campaigns", nil)
	c.Query = url.Values{"since_create_time": {since.Add(-2 * time.Minute).UTC().Format(time.RFC3339)}, "count": {"1000"}, "sort_field": {"create_time"}, "sort_dir": {"DESC"}}
	var page struct {
		Campaigns *[]state `json:"campaigns"`
	}
	answer, err := a.door.Do(ctx, c, &page)
	if err == nil && page.Campaigns == nil {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return "", err
	}
	for _, one := range *page.Campaigns {
		if one.Settings.Title == mark(job.Key) {
			return one.ID, nil
		}
	}
	return "", nil
}

// fill puts the content into the campaign, which may be done twice. What no mail may
// lack stands below it.
func (a *Adapter) fill(ctx context.Context, job networks.Job, h networks.Handles, id string) error {
	if h.Get(filled) != "" {
		return nil
	}
	var made struct {
		HTML string `json:"html"`
	}
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPut, "campaigns/"+url.PathEscape(id)+"/content", map[string]string{"html": content(job, h.Get(image))}), &made)
	if err == nil && made.HTML == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	h.Note(filled, "true")
	return nil
}

func content(job networks.Job, picture string) string {
	n, _ := network.Get(network.Mailchimp)
	body := networks.Paragraphs(n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link}))
	if picture != "" {
		body = `<img src="` + html.EscapeString(picture) + `" alt="` + html.EscapeString(job.Post.Media[0].Alt) + `" style="max-width:100%" />` + "\n" + body
	}
	return body + "\n" + `<hr /><p><a href="*|UNSUB|*">Unsubscribe</a></p>`
}

// ready asks what is still wrong with the campaign.
func (a *Adapter) ready(ctx context.Context, job networks.Job, id string) error {
	var list struct {
		Ready *bool `json:"is_ready"`
		Items []struct {
			Type    string `json:"type"`
			Details string `json:"details"`
		} `json:"items"`
	}
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodGet, "campaigns/"+url.PathEscape(id)+"/send-checklist", nil), &list)
	switch {
	case err != nil:
		return err
	case list.Ready == nil:
		return httpx.Unparsable(httpx.Prepare, answer)
	case *list.Ready:
		return nil
	}
	say := "Mailchimp says that the campaign cannot be sent yet."
	for _, item := range list.Items {
		if theirs := strings.TrimRight(httpx.SafeText(item.Details), " ."); item.Type == "error" && theirs != "" {
			say += " It says: " + theirs + "."
			break
		}
	}
	return fault.New(fault.Validation, "not_ready", say)
}

// Commit sends the campaign. It answers without a body.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	id := ready.Handles[campaign]
	answer, err := a.door.Do(ctx, a.call(ready.Job, httpx.Commit, http.MethodPost, "campaigns/"+url.PathEscape(id)+"/actions/send", nil), nil)
	if err == nil && answer.Status != http.StatusNoContent {
		err = httpx.Unparsable(httpx.Commit, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: id, RequestID: answer.RequestID}, nil
}

func (a *Adapter) state(ctx context.Context, job networks.Job, step httpx.Step, id string) (now state, err error) {
	answer, err := a.door.Do(ctx, a.call(job, step, http.MethodGet, "campaigns/"+url.PathEscape(id), nil), &now)
	if err == nil && (now.ID != id || now.Status == "") {
		err = httpx.Unparsable(step, answer)
	}
	return now, err
}

// Find asks for the campaign's status. Without a campaign, nothing was sent.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, _ networks.Window) (networks.Finding, error) {
	id := h.Get(campaign)
	if id == "" {
		return networks.NotThere("No campaign was completed, so nothing can have been sent."), nil
	}
	now, err := a.state(ctx, job, httpx.Find, id)
	switch f := fault.Of(err); {
	case f != nil && f.Code == "not_found":
		return networks.Unsure("Mailchimp no longer has the campaign: somebody took it away, sent or not."), nil
	case f != nil:
		return networks.Finding{}, f
	}
	switch now.Status {
	case "schedule", "sending", "sent":
		return networks.FoundIt(networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(now.Archive)}, "Mailchimp says that the campaign is "+now.Status+"."), nil
	case "save", "paused":
		return networks.NotThere("Mailchimp says that the campaign was not sent."), nil
	}
	return networks.Unsure("Mailchimp says that the campaign is " + httpx.SafeText(now.Status) + "."), nil
}

// Follow asks where people read the campaign on the web.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, _ networks.Handles) (networks.Receipt, error) {
	if r.Permalink != "" || r.ExternalID == "" {
		return r, nil
	}
	now, err := a.state(ctx, job, httpx.FollowUp, r.ExternalID)
	r.Permalink = networks.WebOnly(now.Archive)
	return r, err
}

// Check asks for the audience.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	l, err := a.audience(ctx, networks.Job{Account: account}, httpx.Check)
	return networks.Profile{RemoteID: account.RemoteID, Handle: l.Name, Name: l.Name}, err
}

const gone = "{network} no longer accepts the key. Reconnect the account."

// table is what Mailchimp's refusals mean. They are told apart by their words.
var table = rest.Table{Network: "Mailchimp", Read: problem, Rows: []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "invalid_resource", Quote: true, Say: "{network} did not take the campaign."},
	{Status: 400, Words: []string{"not ready to send"}, Kind: fault.Validation, Name: "not_ready", Say: "{network} says that the campaign cannot be sent yet. Look at it there."},
	{Status: 400, Words: []string{"already sent", "already been sent", "cannot be sent"}, Kind: fault.Validation, Commit: fault.Unknown, Name: "already_sent", Say: "{network} says that the campaign was sent already."},
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: gone},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Quote: true, Say: "{network} does not let this account do that."},
	{Status: 403, Words: []string{"datacenter", "user disabled", "does not exist"}, Kind: fault.Auth, Name: "wrong_key", Say: gone},
	{Status: 404, Kind: fault.Validation, Name: "not_found", Say: "{network} does not find the audience or the campaign. Check the account's id."},
	{Status: 405, Kind: fault.Validation, Name: "method", Quote: true, Say: "{network} did not take the campaign."},
	{Status: 414, Kind: fault.Validation, Name: "too_long", Quote: true, Say: "{network} did not take the campaign."},
	{Status: 422, Kind: fault.Validation, Name: "unprocessable", Quote: true, Say: "{network} did not take the campaign."},
	{Status: 429, Kind: fault.RateLimited, Wait: 30 * time.Second, Name: "too_many_requests", Say: "{network} is busy with other calls of this account; the campaign goes out later."},
	{Status: 503, Words: []string{"compliance"}, Kind: fault.Permission, Name: "compliance", Say: "{network} has stopped the account for a review. Look for a notice there."},
}}

// problem reads the refusal of an answer.
func problem(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Errors []struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Title == "" && body.Detail == "" {
		return rest.Problem{}, false
	}
	p := rest.Problem{Message: strings.TrimSpace(body.Title + ". " + body.Detail)}
	if len(body.Errors) > 0 {
		p.Message = strings.TrimSpace(body.Errors[0].Field + " " + body.Errors[0].Message)
	}
	return p, true
}
