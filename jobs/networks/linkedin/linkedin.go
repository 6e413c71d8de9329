// Package linkedin publishes to members and organisations by LinkedIn's versioned
// REST API.
//
// Commit call: POST /rest/posts. LinkedIn takes no key of ours; it refuses the same
// content of an author for a while and names the post that has it. After a lost
// answer that is evidence, and Commit keeps the name for the look-up.
//
// Handles: media.N (the URN of a file), media.N.parts (the tags of the parts of a
// video that are there, with media.N.plan, where they go), media.N.sent and
// media.N.ready; duplicate (the post that LinkedIn named); comment. The URN of a file is also what a look-up knows a post by.
//
// What a look-up can prove: see Find. Start with Prepare, then Commit.
package linkedin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
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

// DefaultVersion is the month of the API that is asked for unless the operator
// sets another. Each is kept for a year.
const DefaultVersion = network.LinkedInVersion

// Adapter publishes to LinkedIn. It is safe for concurrent use.
type Adapter struct {
	door    rest.Door
	signIn  oauth.SignIn
	web     string // where people read posts
	version string
	now     func() time.Time
}

// New makes the adapter. Without a base address it speaks to LinkedIn itself.
func New(env networks.Env) *Adapter {
	a := &Adapter{now: env.Now, version: cmp.Or(env.Version, DefaultVersion), web: cmp.Or(env.Auth, "https://www.linkedin.com"),
		door: rest.Door{HTTP: env.HTTP, Away: env.Guarded, Base: cmp.Or(env.Base, "https://api.linkedin.com"), Table: table}}
	if a.now == nil {
		a.now = time.Now
	}
	a.door.Sign = a.sign
	web := cmp.Or(env.Auth, env.Base, "https://www.linkedin.com") + "/oauth/v2/"
	a.signIn = oauth.SignIn{Page: web + "authorization", End: web + "revoke",
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: web + "accessToken", ID: env.ClientID, Secret: env.ClientSecret, Dead: []string{"invalid_request"}, Network: table.Network, Now: a.now}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Follower  = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
	_ networks.Straight  = (*Adapter)(nil)
)

// sign shows the token to LinkedIn alone, wherever its answers point.
func (a *Adapter) sign(req *http.Request, token secret.Token) {
	home, err := url.Parse(a.door.Base)
	if err == nil && home.Host == req.URL.Host || strings.HasSuffix(req.URL.Hostname(), ".linkedin.com") && req.URL.Scheme == "https" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
}

// Straight: a text and a link are one call.
func (a *Adapter) Straight(f network.Format) bool {
	return f == network.FormatText || f == network.FormatLink
}

// Prepare uploads the files and waits until LinkedIn has worked on them.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := networks.Fits(job); err != nil {
		return networks.Ready{}, err
	}
	if !strings.HasPrefix(job.Account.RemoteID, "urn:li:") {
		return networks.Ready{}, fault.New(fault.Auth, "account_unknown", "Herald does not know which member or organisation of LinkedIn this is. Reconnect the account.")
	}
	u := upload{Adapter: a, job: job, h: h}
	handles, err := u.all(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: handles, Book: h}, nil
}

// Commit makes the post public, in one call. Its id comes in a header.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	c := a.call(ready.Job, httpx.Commit, http.MethodPost, "rest/posts", postOf(ready))
	answer, err := a.door.Do(ctx, c, nil)
	if err != nil {
		return networks.Receipt{}, named(ready.Book, answer, err)
	}
	urn := cmp.Or(answer.Header.Get("X-Restli-Id"), answer.Header.Get("X-Linkedin-Id"))
	if !isPost(urn) {
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return a.receipt(urn, answer.RequestID), nil
}

// duplicate is the handle of the post that LinkedIn says has the same content.
const duplicate = "duplicate"

// named keeps the post that a refusal names, for the look-up.
func named(h networks.Handles, answer *httpx.Answer, err error) error {
	if f := fault.Of(err); f.Kind == fault.Unknown && f.Code == duplicateCode {
		if urn := postNamed(answer.Body); urn != "" {
			h.Note(duplicate, urn)
		}
	}
	return err
}

// call is a call of the API; each names the version it speaks.
func (a *Adapter) call(job networks.Job, step httpx.Step, method, path string, body any) rest.Call {
	c := rest.From(job, step, method, path)
	c.JSON = body
	c.Header = map[string]string{"LinkedIn-Version": a.version, "X-Restli-Protocol-Version": "2.0.0"}
	return c
}

func (a *Adapter) receipt(urn, request string) networks.Receipt {
	return networks.Receipt{ExternalID: urn, Permalink: a.web + "/feed/update/" + urn + "/", RequestID: request}
}

// isPost says whether s is the URN of a post.
func isPost(s string) bool {
	kind, id, _ := strings.Cut(strings.TrimPrefix(s, "urn:li:"), ":")
	return strings.HasPrefix(s, "urn:li:") && slices.Contains([]string{"share", "ugcPost", "activity"}, kind) && id != "" && strings.Trim(id, "0123456789") == ""
}

// Refresh renews the token, where LinkedIn gave a refresh token. That one lives a
// year from the first grant, and is not prolonged.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}

// Check asks whose the token is. For an organisation it asks whether the member
// may post for it.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	if strings.HasPrefix(account.RemoteID, "urn:li:organization:") {
		return a.checkOrganisation(ctx, account)
	}
	var me struct {
		Sub  string `json:"sub"`
		Name string `json:"name"`
	}
	answer, err := a.door.Do(ctx, a.call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "v2/userinfo", nil), &me)
	if err == nil && me.Sub == "" {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	return networks.Profile{RemoteID: "urn:li:person:" + me.Sub, Handle: me.Name, Name: me.Name}, nil
}

// roles are those with which a member may post for an organisation, under the names
// of several versions.
var roles = []string{"ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN"}

func (a *Adapter) checkOrganisation(ctx context.Context, account networks.Account) (networks.Profile, error) {
	for _, role := range roles {
		has, err := a.roles(ctx, account, role)
		switch f := fault.Of(err); {
		case f != nil && f.Kind == fault.Validation: // a role that this version does not know
		case err != nil:
			return networks.Profile{}, err
		case slices.Contains(has, account.RemoteID):
			return networks.Profile{RemoteID: account.RemoteID, Handle: account.Handle, Name: account.Handle}, nil
		}
	}
	return networks.Profile{}, fault.New(fault.Permission, "no_role", "The member who connected this organisation may no longer post for it. An administrator of the organisation has to give the right back.")
}

// roles are the organisations for which the token's member has a role.
func (a *Adapter) roles(ctx context.Context, account networks.Account, role string) (list []string, err error) {
	for start := 0; start < 1000; start += 100 {
		c := a.find(networks.Job{Account: account}, httpx.Check, "rest/organizationAcls", start,
			url.Values{"q": {"roleAssignee"}, "role": {role}, "state": {"APPROVED"}})
		var page struct {
			Elements []struct {
				Organization string `json:"organization"`
				Target       string `json:"organizationTarget"`
			} `json:"elements"`
		}
		if _, err := a.door.Do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Elements {
			list = append(list, cmp.Or(e.Organization, e.Target))
		}
		if len(page.Elements) < 100 {
			break
		}
	}
	return list, nil
}
