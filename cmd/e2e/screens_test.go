package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/sim"
)

// screen is one place to look at. A page without a session is looked at as a
// stranger.
type screen struct {
	name, path string
	stranger   bool
}

// furnished is an agency with something on every screen, long words included.
func furnished(t *testing.T) (a *agency, screens []screen) {
	t.Helper()
	a = newAgency(t)
	for client, handle := range map[string]string{
		"bakery": "@thebakeryofthelittletownbytheriverthatbakeseverymorning@social.a-long-name-of-a-server.example", "museum": "@the-museum-of-everything-that-is-long-and-of-much-else@kiez.example",
	} {
		a.rename(t, a.account(t, client, network.Mastodon), handle)
	}
	long := "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " + strings.Repeat("a very long word of warning, ", 8)
	a.fault(t, "museum", sim.Fault{Network: network.Mastodon, Kind: sim.Invalid, Step: sim.Commit, Times: 1})
	failed := a.published(t, long, network.Mastodon, network.Webhook)
	asked := a.submitted(t, long, a.account(t, "bakery", network.Mastodon), a.account(t, "bakery", network.Facebook))
	draft := a.write(t, "A draft that Instagram would refuse", a.account(t, "bakery", network.Instagram))
	draft = a.rewritten(t, draft, long)
	a.plan(t, "Planned for later", 26*time.Hour)
	thread := a.threaded(t, long, "", "Second, with https://museum.example.com/"+strings.Repeat("a", 90), strings.Repeat("Much too long. ", 60))
	leaflet := a.leaflet(t, strings.Fields(long)[0]+".pdf")
	paper := a.write(t, "With a document", a.account(t, "museum", network.Mastodon))
	paper.Version.Content.Media = []model.ContentMedia{{ID: leaflet.ID}}
	paper = a.rewrite(t, paper, paper.Version.Content)
	done := a.imported(t)
	eventually(t, "a failed target", func() bool {
		page, err := a.owner.Post(t.Context(), failed.Post.ID)
		return err == nil && page.Post.State == model.PostPartiallyFailed
	})
	account := a.account(t, "museum", network.Webhook)
	loaf := a.hang(t, "bakery", 1, 300, 200, strings.Fields(long)[0]+".jpg", "")
	a.hang(t, "museum", 2, 200, 300, "coast.jpg", "A coast at dusk")
	museum := a.client(t, "museum")
	if err := a.owner.SetLinkTags(t.Context(), db.LinkTags{ClientID: museum, Source: "{network}", Medium: strings.Repeat("social", 20), Campaign: "{campaign}", Hosts: []string{"museum.example.com", strings.Repeat("a-long-name.", 8) + "example"}}); err != nil {
		t.Fatal(err)
	}
	link := strings.TrimPrefix(a.link(t, 0), here.web.URL)
	door, shut := a.asked(t, "museum", network.Facebook, network.Mastodon, network.Bluesky, network.Webhook, network.LinkedIn, network.Slack), a.shut(t)
	at := func(name, rest string, args ...any) screen {
		return screen{name: name, path: a.path(fmt.Sprintf(rest, args...))}
	}
	return a, []screen{
		{"sign-in", "/signin", true}, {"forgotten", "/forgotten", true}, {"forgotten, link over", "/passwords/none", true}, {"review", link, true}, {"review calendar", link + "/calendar", true}, {"nothing there", "/nowhere", true},
		at("calendar", "/calendar?view=month"), at("tray", "/calendar?tray=open"), at("week", "/calendar?view=week"), at("day", "/calendar?view=day"), at("list", "/calendar?view=list"), at("posts", "/posts"), at("feeds", "/feeds"), at("networks", "/settings/networks"), at("find", "/find?q=a"), at("find, nothing asked", "/find"), at("new post", "/posts/new"), at("labels", "/labels"), at("wordings", "/wordings"), at("new hashtag group", "/wordings/new?kind=hashtags"), at("template", "/wordings/%d", a.worded(t)), at("clients to choose", "/clients"), at("imports", "/imports"), at("import", "/imports/%d", a.brought(t)), at("import, done", "/imports/%d", done), at("thread", "/posts/%d", thread), at("document in a post", "/posts/%d", paper.Post.ID), at("document", "/media/%d", leaflet.ID), at("days", "/days"),
		{"connect", door, true}, {"connect at a network", door + "/networks/mastodon", true}, {"connect, choosing", a.chosenByLink(t, door, 40), true}, {"connect, nothing to choose", a.chosenByLink(t, door, 0), true}, {"connect, over", shut, true},
		at("ask to connect", "/clients/%d/connect-links", museum), at("choosing", "/consents/%d", a.offered(t, a.owner, museum, 40)), at("disconnecting", "/accounts/%d/disconnection", account),
		at("media", "/media"), at("media, list", "/media?view=list&q=d"), at("media, none", "/media?q=nothing"), at("new files", "/media/new"), at("asset", "/media/%d", loaf.ID),
		at("crop", "/media/%d/crop?preset=instagram/story", loaf.ID), at("focus", "/media/%d/crop", loaf.ID),
		at("draft", "/posts/%d", draft.Post.ID), at("asked", "/posts/%d", asked.Post.ID), at("sent", "/posts/%d", failed.Post.ID),
		at("version", "/posts/%d/versions/1", failed.Post.ID), at("versions compared", "/posts/%d/versions/2?against=1", draft.Post.ID), {"evidence", a.target(t, failed.Post.ID, network.Mastodon), false},
		{"live evidence", a.target(t, failed.Post.ID, network.Webhook), false}, at("approvals", "/approvals?box=others"), at("approvals, none", "/approvals"),
		at("accounts", "/accounts"), at("account", "/accounts/%d", account), at("slots", "/accounts/%d/slots", account), at("new account", "/accounts/new"), at("new account at a network", "/accounts/new?network=slack"), at("activity", "/activity"),
		at("style", "/settings/style"), at("general", "/settings/general"), at("members", "/settings/members"), at("member", "/settings/members/%d", a.owner.Actor.User), at("invite", "/settings/members/new"),
		at("delivery", "/delivery"), at("clients", "/settings/clients"), at("client", "/settings/clients/%d", museum), at("look", "/settings/look"), at("look of a client", "/settings/clients/%d/look", museum), at("new client", "/settings/clients/new"), at("profile", "/settings/profile"),
		at("workflows", "/settings/workflows"), at("workflow", "/settings/workflows/%d", a.client(t, "museum")),
	}
}

// rename gives an account another handle.
func (a *agency) rename(t *testing.T, id model.AccountID, handle string) {
	t.Helper()
	card, err := a.owner.Account(t.Context(), id)
	if err == nil {
		_, err = a.owner.EditAccount(t.Context(), id, card.Revision, db.AccountForm{Handle: handle, RemoteID: card.RemoteID, Address: card.Address})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// plan schedules a post of the museum.
func (a *agency) plan(t *testing.T, text string, after time.Duration) db.PostPage {
	t.Helper()
	page := a.submitted(t, text, a.account(t, "museum", network.Facebook))
	when, err := model.At(time.Now().Add(after), "America/New_York")
	if err == nil {
		page, err = a.owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when)
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// finding is what axe has against a page.
type finding struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Where  []string `json:"where"`
}

// axeJS runs the rules and returns what is serious or worse.
const axeJS = `async (rules) => {
	const only = rules ? { type: "rule", values: rules } : { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }
	const { violations } = await axe.run(document, { runOnly: only, resultTypes: ["violations"] })
	return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => ({ id: v.id, impact: v.impact, help: v.help, where: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")) }))
}`

func axeSource(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../../static/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is missing: run `go tool task setup`.")
	}
	return string(source)
}

// judge lets axe look at the page; without rules, by all of them.
func (p *tab) judge(source string, rules ...string) {
	p.t.Helper()
	if _, err := p.Eval(`() => { if (!window.axe) { ` + source + ` } }`); err != nil {
		p.t.Fatal(err)
	}
	answer, err := p.Eval(axeJS, rules)
	if err != nil {
		p.t.Fatal(err)
	}
	var found []finding
	if err := answer.Value.Unmarshal(&found); err != nil {
		p.t.Fatal(err)
	}
	for _, f := range found {
		p.t.Errorf("%s at %d px, dark %t: %s (%s): %s\n\t%s", p.address(), p.Look.Width, p.Look.Dark, f.Help, f.ID, f.Impact, strings.Join(f.Where, "\n\t"))
	}
}

// TestEveryScreenIsForEverybody visits every screen at a desk and on a narrow
// phone, in light and in dark: nothing sticks out sideways, nothing is seriously
// hard to use, and the browser has nothing to complain about.
func TestEveryScreenIsForEverybody(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a, screens := furnished(t)
	for name, look := range map[string]browser.Look{"at a desk": browser.Desktop, "on a narrow phone": browser.Narrow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stranger, member := open(t, look), a.member(t, look, a.anna())
			stranger.refuses(404, 410)
			stranger.marked()
			for _, s := range screens {
				p := member
				if s.stranger {
					p = stranger
				}
				p.visit(s.path)
				p.fits()
				p.judge(source)
				dark := look
				dark.Dark = true
				if err := p.Show(dark); err != nil {
					t.Fatal(err)
				}
				p.judge(source, "color-contrast")
				if err := p.Show(look); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestTheRailOfATabletIsForEverybody visits screens at the width where the
// sidebar shows icons alone: each still has a name.
func TestTheRailOfATabletIsForEverybody(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a := newAgency(t)
	p := a.member(t, browser.Tablet, a.anna())
	for _, path := range []string{"/calendar", "/posts/new", "/accounts"} {
		p.visit(a.path(path))
		p.fits()
		p.judge(source)
	}
}

// TestAxeBites breaks a page on purpose.
func TestAxeBites(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	p := open(t, browser.Desktop)
	p.visit("/signin")
	if _, err := p.Eval(`() => { document.querySelector("label").remove(); document.querySelector("h1").style.color = "#eee" }`); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(`() => { ` + source + ` }`); err != nil {
		t.Fatal(err)
	}
	answer, err := p.Eval(axeJS, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := answer.Value.String()
	for _, rule := range []string{"label", "color-contrast"} {
		if !strings.Contains(said, rule) {
			t.Errorf("axe does not mind %s: %s", rule, said)
		}
	}
}
