package wordpress

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// terms puts the numbers of categories and tags into a body. Categories have to be
// there; tags are made.
func (a *Adapter) terms(ctx context.Context, job networks.Job, body map[string]any) error {
	if kind(job) != "posts" {
		return nil
	}
	for _, t := range []struct{ taxonomy, names string }{{"categories", value(job, network.OptCategories)}, {"tags", value(job, network.OptTags)}} {
		var ids []int64
		for name := range strings.SplitSeq(t.names, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			id, err := a.term(ctx, job, t.taxonomy, name)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if len(ids) > 0 {
			body[t.taxonomy] = ids
		}
	}
	return nil
}

func (a *Adapter) term(ctx context.Context, job networks.Job, taxonomy, name string) (int64, error) {
	c := a.call(job, httpx.Prepare, http.MethodGet, taxonomy, nil)
	c.Query = url.Values{"search": {name}, "per_page": {"100"}}
	var list []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if _, err := a.door.Do(ctx, c, &list); err != nil {
		return 0, err
	}
	for _, t := range list {
		if strings.EqualFold(html.UnescapeString(t.Name), name) {
			return t.ID, nil
		}
	}
	if taxonomy == "categories" {
		return 0, fault.New(fault.Validation, "no_category", "The site has no category "+httpx.SafeText(name)+". Make it there, or choose another.")
	}
	return a.makeTag(ctx, job, name)
}

// makeTag makes a tag. One that is there under another spelling is named by the
// refusal.
func (a *Adapter) makeTag(ctx context.Context, job networks.Job, name string) (int64, error) {
	var made post
	answer, err := a.door.Do(ctx, a.call(job, httpx.Prepare, http.MethodPost, "tags", map[string]string{"name": name}), &made)
	if f := fault.Of(err); f != nil && f.Code == "term_exists" {
		var body struct {
			Data struct {
				Term int64 `json:"term_id"`
			} `json:"data"`
		}
		if json.Unmarshal(answer.Body, &body) == nil && body.Data.Term > 0 {
			return body.Data.Term, nil
		}
	}
	if err == nil && made.ID <= 0 {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return made.ID, err
}

var apiLink = regexp.MustCompile(`<([^<>]+)>\s*;\s*rel="https://api\.w\.org/"`)

// discover asks the site where its API is; "" if it does not say. The password stays
// at home: the answer may come from wherever the address leads.
func (a *Adapter) discover(ctx context.Context, job networks.Job) (string, error) {
	if a.base != "" {
		return "", nil
	}
	c := a.call(job, httpx.Check, http.MethodHead, "", nil)
	c.Address, c.Header = job.Account.Address, nil
	answer, err := a.door.Do(ctx, c, nil)
	if f := fault.Of(err); f != nil && f.Status == 0 {
		return "", f
	}
	if m := apiLink.FindStringSubmatch(strings.Join(answer.Header.Values("Link"), ", ")); m != nil {
		return m[1], nil
	}
	return "", nil
}

// moved says where the site is instead, if it is another place that refused: a site
// that redirects to its proper name takes no post under the other one.
func moved(root string, account networks.Account, err error) error {
	to, bad := url.Parse(root)
	if f := fault.Of(err); f == nil || bad != nil || to.Scheme != "https" || sameHost(root, account.Address) {
		return err
	}
	return fault.New(fault.Validation, "address", "The site says that its address is https://"+httpx.SafeText(to.Host)+". Enter that one instead, and check the account again.")
}

// Check finds the site's API and asks what the login may do there.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	p := networks.Profile{RemoteID: account.RemoteID, Handle: account.Handle, Settings: map[string]string{}}
	root, err := a.discover(ctx, job)
	if err != nil {
		return networks.Profile{}, err
	}
	if sameHost(root, account.Address) {
		p.Settings["rest_root"] = root
		job.Account.Settings = p.Settings
	}
	c := a.call(job, httpx.Check, http.MethodGet, "users/me", nil)
	c.Query = url.Values{"context": {"edit"}}
	var me struct {
		ID   int64           `json:"id"`
		Name string          `json:"name"`
		May  map[string]bool `json:"capabilities"`
	}
	answer, err := a.door.Do(ctx, c, &me)
	switch {
	case err != nil:
		return networks.Profile{}, moved(root, account, err)
	case me.ID <= 0:
		return networks.Profile{}, httpx.Unparsable(httpx.Check, answer)
	case me.May != nil && !me.May["publish_posts"]:
		return networks.Profile{}, fault.New(fault.Permission, "publish_posts", "This login may write at the site, but not publish. Give it the role of an author or an editor.")
	}
	p.Name = me.Name
	if list, err := a.categories(ctx, job); err == nil { // else their names are typed
		p.Settings["categories"] = list
	}
	return p, nil
}

// categories are the site's, as the composer offers them: the first hundred, by name.
func (a *Adapter) categories(ctx context.Context, job networks.Job) (string, error) {
	c := a.call(job, httpx.Check, http.MethodGet, "categories", nil)
	c.Query = url.Values{"per_page": {"100"}, "orderby": {"name"}, "_fields": {"id,name"}}
	var list []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if _, err := a.door.Do(ctx, c, &list); err != nil {
		return "", err
	}
	var choices []network.Choice
	for _, t := range list {
		choices = append(choices, network.Choice{Value: strconv.FormatInt(t.ID, 10), Label: html.UnescapeString(t.Name)})
	}
	return network.Offer(choices), nil
}
