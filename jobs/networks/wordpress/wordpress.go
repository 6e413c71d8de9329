// Package wordpress publishes posts and pages to sites that run WordPress, by its
// REST API and an application password.
//
// Prepare uploads the featured image and makes a draft, under a slug made of the
// job's key: if the answer is lost, the draft is looked for by it before another is
// made. Commit call: the update that publishes the draft by its number, and gives it
// the slug that the writer chose. It may be done twice, and the status of that
// number is proof of what became of it.
//
// Handles: media and media.described; post, with the mark that it was begun. Sites
// are addresses that users choose: only the guarded client calls them, and the
// password goes to the site's own host alone. Start with Prepare, then Commit.
package wordpress

import (
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
	"herald/jobs/networks/rest"
)

// Adapter publishes to sites. It is safe for concurrent use.
type Adapter struct {
	door rest.Door
	base string // stands for every site; empty outside tests and simulations
	now  func() time.Time
}

// New makes the adapter. A base address in env replaces those of the accounts.
func New(env networks.Env) *Adapter {
	a := &Adapter{door: rest.Door{HTTP: env.Guarded, Table: table}, base: env.Base, now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	return a
}

var (
	_ networks.Adapter = (*Adapter)(nil)
	_ networks.Checker = (*Adapter)(nil)
)

// root is where the site's API is.
func (a *Adapter) root(account networks.Account) string {
	site := strings.TrimSuffix(account.Address, "/")
	switch found := account.Settings["rest_root"]; {
	case a.base != "":
		return a.base + "/wp-json/"
	case found != "" && sameHost(found, site):
		return strings.TrimSuffix(found, "/") + "/"
	}
	return site + "/wp-json/"
}

func sameHost(a, b string) bool {
	x, bad := url.Parse(a)
	y, worse := url.Parse(b)
	return bad == nil && worse == nil && x.Host != "" && x.Host == y.Host && x.Scheme == y.Scheme
}

// call is a call of the API, signed with login and application password.
func (a *Adapter) call(job networks.Job, step httpx.Step, method, path string, body any) rest.Call {
	c := rest.From(job, step, method, "")
	c.Token, c.Address, c.JSON = secret.Token{}, a.root(job.Account)+"wp/v2/"+path, body
	req := http.Request{Header: http.Header{}}
	req.SetBasicAuth(job.Account.RemoteID, job.Account.Token.Reveal())
	c.Header = map[string]string{"Authorization": req.Header.Get("Authorization")}
	return c
}

// Prepare uploads the image and makes the draft.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	switch err := networks.Fits(job); {
	case err != nil:
		return networks.Ready{}, err
	case a.base == "" && !strings.HasPrefix(job.Account.Address, "https://"):
		return networks.Ready{}, fault.New(fault.Validation, "address", "A password is sent to https:// addresses alone. Correct the site's address in the account's settings.")
	case value(job, network.OptTitle) == "":
		return networks.Ready{}, fault.New(fault.Validation, "options_missing", "WordPress needs a title.")
	}
	if len(job.Post.Media) > 0 {
		if err := a.upload(ctx, job, h); err != nil {
			return networks.Ready{}, err
		}
	}
	id, err := networks.Once{
		Handles: h, Name: draft, Now: a.now, Attempt: job.Attempt,
		Write: func(ctx context.Context) (string, error) { return a.draft(ctx, job, h.Get(media)) },
		Look:  func(ctx context.Context, _ time.Time) (string, error) { return a.drafted(ctx, job) },
	}.Do(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: map[string]string{draft: id}}, nil
}

// The handles.
const (
	draft     = "post"
	media     = "media"
	described = "media.described"
)

func value(job networks.Job, key string) string {
	n, _ := network.Get(network.WordPress)
	return n.Value(network.Draft{Options: job.Post.Options}, key)
}

// kind is what the API calls what is published.
func kind(job networks.Job) string { return value(job, network.OptKind) + "s" }

// upload brings the featured image to the site, and describes it. Two of one file
// do no harm.
func (a *Adapter) upload(ctx context.Context, job networks.Job, h networks.Handles) error {
	m := job.Post.Media[0]
	if h.Get(media) == "" {
		body, err := m.Open(ctx)
		if err != nil {
			return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the picture; it tries again.", Cause: err}
		}
		c := a.call(job, httpx.Prepare, http.MethodPost, "media", nil)
		c.Body = &rest.Body{ReadCloser: body, Length: m.Bytes, Type: m.Type}
		c.Header["Content-Disposition"] = `attachment; filename="picture.` + m.Type[strings.LastIndexByte(m.Type, '/')+1:] + `"`
		var made post
		answer, err := a.door.Do(ctx, c, &made)
		if err == nil && made.ID <= 0 {
			err = httpx.Unparsable(httpx.Prepare, answer)
		}
		if err != nil {
			return err
		}
		h.Note(media, made.id())
	}
	if m.Alt == "" || h.Get(described) != "" {
		return nil
	}
	var made post
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPost, "media/"+h.Get(media), map[string]string{"alt_text": m.Alt}), &made)
	if err == nil && made.ID <= 0 {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	h.Note(described, "true")
	return nil
}

// post is a post, a page or a file as the API describes it.
type post struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
	Link   string `json:"link"`
}

func (p post) id() string { return strconv.FormatInt(p.ID, 10) }

// draft makes what is to be published, for nobody to see yet.
func (a *Adapter) draft(ctx context.Context, job networks.Job, image string) (string, error) {
	body := map[string]any{"title": value(job, network.OptTitle), "content": content(job), "slug": keySlug(job), "status": "draft", "comment_status": "open"}
	if value(job, network.OptComments) == "false" {
		body["comment_status"] = "closed"
	}
	if e := value(job, network.OptExcerpt); e != "" {
		body["excerpt"] = e
	}
	if n, err := strconv.ParseInt(image, 10, 64); err == nil {
		body["featured_media"] = n
	}
	if err := a.terms(ctx, job, body); err != nil {
		return "", err
	}
	var made post
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPost, kind(job), body), &made)
	if err == nil && made.ID <= 0 {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return made.id(), err
}

// drafted looks for a draft of ours by its slug.
func (a *Adapter) drafted(ctx context.Context, job networks.Job) (string, error) {
	c := a.call(job, httpx.Prepare, http.MethodGet, kind(job), nil)
	c.Query = url.Values{"slug": {keySlug(job)}, "status": {"draft,pending,private,future,publish"}, "context": {"edit"}}
	var list []post
	answer, err := a.door.Do(ctx, c, &list)
	if err == nil && list == nil {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].id(), nil
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// keySlug is the client key: the title, and what only this publish has.
func keySlug(job networks.Job) string {
	sum := sha256.Sum256([]byte(job.Key))
	words := strings.Trim(unfit.ReplaceAllString(strings.ToLower(value(job, network.OptTitle)), "-"), "-")
	return strings.TrimPrefix(words[:min(len(words), 60)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// content is the text as HTML.
func content(job networks.Job) string {
	n, _ := network.Get(network.WordPress)
	return networks.Paragraphs(n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link}))
}

// Commit publishes the draft.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job, id := ready.Job, ready.Handles[draft]
	body := map[string]string{"status": "publish"}
	if slug := value(job, network.OptSlug); slug != "" {
		body["slug"] = slug
	}
	var made post
	answer, err := a.door.Do(ctx, a.call(job, httpx.Commit, http.MethodPost, kind(job)+"/"+id, body), &made)
	if err == nil && (made.id() != id || made.Status != "publish") {
		err = httpx.Unparsable(httpx.Commit, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(made.Link), RequestID: answer.RequestID}, nil
}

// Find asks what became of the draft. Without one, nothing can be live.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, _ networks.Window) (networks.Finding, error) {
	id := h.Get(draft)
	if id == "" {
		return networks.NotThere("No draft was completed, so nothing can be live."), nil
	}
	c := a.call(job, httpx.Find, http.MethodGet, kind(job)+"/"+id, nil)
	c.Query = url.Values{"context": {"edit"}}
	var now post
	answer, err := a.door.Do(ctx, c, &now)
	switch f := fault.Of(err); {
	case f != nil && f.Code == "rest_post_invalid_id":
		return networks.Unsure("The site no longer has the draft: somebody took it away, published or not."), nil
	case f != nil:
		return networks.Finding{}, f
	case now.id() != id || now.Status == "":
		return networks.Finding{}, httpx.Unparsable(httpx.Find, answer)
	case now.Status == "future":
		return networks.FoundIt(networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(now.Link)}, "Somebody gave the post a date at the site, and the site publishes it then."), nil
	case now.Status == "publish":
		return networks.FoundIt(networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(now.Link)}, "The site says that the post is published."), nil
	case now.Status == "draft" || now.Status == "pending":
		return networks.NotThere("The site says that the post is still a draft."), nil
	}
	return networks.Unsure("The site says that the post is " + httpx.SafeText(now.Status) + "."), nil
}
