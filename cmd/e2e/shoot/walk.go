package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/go-rod/rod"

	"herald/cmd/internal/demo"
)

// The demo's agency, and how its owner signs in.
const (
	workspace = "/w/tidewater"
	owner     = "nora@tidewater.example"
	password  = "herald-demo"
)

// states are those of which a post is looked up, so that each shows once.
var states = []string{
	"draft", "invalid", "in_review", "changes_requested", "approved", "scheduled", "published", "partially_failed",
	"failed", "unknown_outcome", "needs_reconnect", "retry_scheduled", "held", "cancelled",
}

// walk signs in and lists every screen there is.
func (c *camera) walk(d *demo.Demo) ([]screen, error) {
	all := []screen{{name: "signin", address: "/signin"}, {name: "forgotten", address: "/forgotten"}, {name: "missing", address: "/nothing-here"}}
	if err := c.signIn(); err != nil {
		return nil, err
	}
	for name, path := range map[string]string{
		"calendar": "/calendar?view=month", "find": "/find", "feeds": "/feeds", "settings-networks": "/settings/networks", "tray": "/calendar?tray=open", "week": "/calendar?view=week", "day": "/calendar?view=day", "list": "/calendar?view=list", "posts": "/posts", "new-post": "/posts/new", "new-account": "/accounts/new", "connect-linkedin": "/accounts/new?network=linkedin", "connect-mastodon": "/accounts/new?network=mastodon", "connect-slack": "/accounts/new?network=slack", "connect-bundle": "/accounts/new?by=bundle", "connect-ghl-blog": "/accounts/new?network=ghl_blog", "labels": "/labels", "wordings": "/wordings", "new-wording": "/wordings/new?kind=template", "days": "/days",
		"approvals": "/approvals", "approvals-others": "/approvals?box=others", "approvals-changes": "/approvals?box=changes", "approvals-overdue": "/approvals?box=overdue",
		"accounts": "/accounts", "activity": "/activity", "media": "/media", "media-list": "/media?view=list", "media-new": "/media/new",
		"style": "/settings/style", "delivery": "/delivery", "workflows": "/settings/workflows", "general": "/settings/general", "look": "/settings/look", "members": "/settings/members", "invite": "/settings/members/new", "clients": "/settings/clients", "profile": "/settings/profile",
	} {
		all = append(all, screen{name: name, address: workspace + path})
	}
	all = append(all, screen{name: "choose-client", address: workspace + "/clients"}, screen{name: "imports", address: workspace + "/imports"})
	for _, state := range states {
		post, err := c.follow(workspace+"/posts?state="+state, "a.posts-words")
		if err != nil {
			return nil, err
		}
		if post == "" {
			continue
		}
		all = append(all, screen{name: "post-" + state, address: post})
		if version, err := c.follow(post, ".version:not(:last-child) a"); err == nil && version != "" {
			all = append(all, screen{name: "compared-" + state, address: version + "?against=1"})
		}
		if target, err := c.follow(post, "#delivery a[href*='/targets/']"); err == nil && target != "" {
			all = append(all, screen{name: "evidence-" + state, address: target})
		}
	}
	asset, err := c.follow(workspace+"/media", "a.asset-open")
	if err != nil {
		return nil, err
	}
	if asset != "" {
		all = append(all, screen{name: "asset", address: asset}, screen{name: "crop", address: asset + "/crop?preset=instagram/post"}, screen{name: "focus", address: asset + "/crop"})
	}
	flow, err := c.follow(workspace+"/settings/workflows", "a.workflows-row")
	if err != nil {
		return nil, err
	}
	all = append(all, screen{name: "workflow", address: flow}, screen{name: "approvals-overdue", address: workspace + "/approvals?box=overdue"})
	for name, list := range map[string]string{"member": "/settings/members", "client": "/settings/clients"} {
		one, err := c.follow(workspace+list, ".people li:last-child a")
		if err != nil {
			return nil, err
		}
		all = append(all, screen{name: name, address: one})
	}
	account, err := c.follow(workspace+"/accounts", ".account-handle a")
	if err != nil {
		return nil, err
	}
	review, err := mailed(d.Mailbox, reviewShape)
	if err != nil {
		return nil, err
	}
	asking, link, err := c.asking(d.Mailbox)
	if err != nil {
		return nil, err
	}
	if err := c.crowd(d); err != nil {
		return nil, err
	}
	choosing, err := c.choosing()
	if err != nil {
		return nil, err
	}
	all = append(all, screen{name: "connect-links", address: asking}, screen{name: "connect", address: link}, screen{name: "connect-network", address: link + "/networks/mastodon"}, screen{name: "choosing", address: choosing}, screen{name: "disconnecting", address: account + "/disconnection"})
	all = append(all, screen{name: "account", address: account}, screen{name: "slots", address: account + "/slots"}, screen{name: "review", address: review}, screen{name: "review-calendar", address: review + "/calendar"}, screen{name: "mailbox", address: d.Mailbox}, screen{name: "networks", address: d.Networks})
	for _, name := range []string{"facebook", "instagram", "mastodon", "webhook"} {
		all = append(all, screen{name: "network-" + name, address: d.Networks + "/" + name})
	}
	states, err := c.states(d, choosing)
	return append(all, states...), err
}

// follow is where the first link of a page leads.
func (c *camera) follow(address, selector string) (string, error) {
	if err := c.visit(address); err != nil {
		return "", err
	}
	return c.first(selector)
}

func (c *camera) signIn() error {
	if err := c.visit("/signin"); err != nil {
		return err
	}
	return rod.Try(func() {
		c.MustElement("[name=email]").MustInput(owner)
		c.MustElement("[name=password]").MustInput(password)
		c.MustElement("form button").MustClick()
		c.MustElement(".shell")
	})
}

// asking sends somebody a link to connect accounts; it returns the page it was sent
// from, and the link.
func (c *camera) asking(mailbox string) (page, link string, err error) {
	if page, err = c.follow(workspace+"/accounts", "a[href*='/connect-links']"); err != nil {
		return "", "", err
	}
	if err := c.visit(page); err != nil {
		return "", "", err
	}
	err = rod.Try(func() {
		c.MustElement("[name=name]").MustInput("Iris Tal")
		c.MustElement("[name=email]").MustInput("iris@client.example")
		for _, name := range []string{"facebook", "bluesky", "mastodon", "slack"} {
			if box := c.MustElement("[name=network][value=" + name + "]"); !box.MustProperty("checked").Bool() {
				box.MustClick()
			}
		}
		c.MustElement("[name=note]").MustInput("The Page with the blue logo, please.")
		wait := c.MustWaitNavigation()
		c.MustElement(".account-page form .button").MustClick()
		wait()
		c.MustElement(".open-link")
	})
	for end := time.Now().Add(time.Minute); err == nil && link == "" && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		link, _ = mailed(mailbox, connectShape)
	}
	return page, link, err
}

// choosing signs in at a network, and returns the page on which of it is chosen.
func (c *camera) choosing() (page string, err error) {
	if err := c.visit(workspace + "/accounts/new?network=facebook"); err != nil {
		return "", err
	}
	err = rod.Try(func() {
		p := c.Timeout(time.Minute)
		p.MustElement(".sign-in .button").MustClick()
		there(p, "a.choice").MustClick()
		there(p, ".accounts-choices")
		page = c.MustInfo().URL
	})
	return page, err
}

// there waits for an element while one page leads on to another.
func there(p *rod.Page, selector string) *rod.Element {
	for {
		el, err := p.Element(selector)
		if err == nil {
			return el
		}
		if p.GetContext().Err() != nil {
			panic(err) // rod.Try returns it
		}
		time.Sleep(200 * time.Millisecond)
	}
}

var (
	reviewShape  = regexp.MustCompile(`https?://\S+/review/[A-Za-z0-9_.~-]+`)
	connectShape = regexp.MustCompile(`https?://\S+/connect/[A-Za-z0-9_.~-]+`)
)

// mailed finds the newest link of a shape in the mailbox.
func mailed(mailbox string, shape *regexp.Regexp) (string, error) {
	resp, err := http.Get(mailbox + "/_mails")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var mails []struct{ Text string }
	if err := json.NewDecoder(resp.Body).Decode(&mails); err != nil {
		return "", err
	}
	for _, m := range mails {
		if link := shape.FindString(m.Text); link != "" {
			return link, nil
		}
	}
	return "", fmt.Errorf("no link among %d mails", len(mails))
}
