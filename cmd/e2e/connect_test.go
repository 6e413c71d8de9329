package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/sim"
)

// oven is an account that there is at a network, and how a person connects it.
type oven struct {
	network   network.Name
	remote    string
	connect   func(p *tab)
	reconnect func(p *tab)
}

// ovens are one for each of four ways: signing in and choosing, signing in alone, an app
// password, and a key with an address.
func (a *agency) ovens() []oven {
	called := "The oven of " + a.slug
	list := []oven{
		{network: network.Facebook, remote: "99" + strings.TrimPrefix(a.slug, "a") + "1", connect: func(p *tab) {
			p.signsIn("Facebook", "Somebody")
			p.press("box", called)
			p.goes("button", "Connect")
		}, reconnect: func(p *tab) { p.signsIn("Facebook", "Somebody") }},
		{network: network.X, remote: "99" + strings.TrimPrefix(a.slug, "a") + "2", connect: func(p *tab) { p.signsIn("X", called) }},
		{network: network.Bluesky, remote: "did:plc:oven" + a.slug, connect: func(p *tab) {
			p.fill("Handle", "oven-"+a.slug+".bsky.example")
			p.fill("App password", "abcd-efgh-ijkl-mnop")
			p.goes("button", "Add account")
		}, reconnect: func(p *tab) {
			p.fill("App password", "ponm-lkji-hgfe-dcba")
			p.goes("button", "Reconnect")
		}},
		{network: network.Telegram, remote: "-10099" + strings.TrimPrefix(a.slug, "a"), connect: func(p *tab) {
			p.fill("Channel or group", "@oven_"+a.slug)
			p.fill("Bot token", "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11")
			p.goes("button", "Add account")
		}, reconnect: func(p *tab) {
			p.fill("Bot token", "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11")
			p.goes("button", "Reconnect")
		}},
	}
	handles := map[network.Name]string{network.Facebook: "oven." + a.slug, network.X: "oven_" + a.slug, network.Bluesky: "oven-" + a.slug + ".bsky.example", network.Telegram: "oven_" + a.slug}
	// One more Page, so that there is something to choose.
	here.sim.AddAccount(network.Facebook, sim.Account{ID: "99" + strings.TrimPrefix(a.slug, "a") + "9", Handle: "cellar." + a.slug, Name: "The cellar of " + a.slug})
	for i, o := range list {
		here.sim.AddAccount(o.network, sim.Account{ID: o.remote, Handle: handles[o.network], Name: called})
		if o.reconnect == nil {
			list[i].reconnect = o.connect
		}
	}
	return list
}

// signsIn goes to a network's own page, lets Herald in there, and comes back.
func (p *tab) signsIn(label, as string) {
	p.t.Helper()
	p.press("button", "Sign in at "+label)
	p.until("the page of "+label, func() bool { return strings.HasPrefix(p.address(), here.nets.URL) })
	p.loaded()
	p.press("link", "Allow as "+as)
	p.until("to be back at Herald", func() bool {
		return strings.HasPrefix(p.address(), here.web.URL) && !strings.Contains(p.address(), "/oauth/")
	})
	p.loaded()
}

var accountPage = regexp.MustCompile(`/accounts/(\d+)$`)

// TestAccountsAreConnectedDisconnectedAndConnectedAgain does so at four networks, each
// in its way, and a post reaches all of them afterwards.
func TestAccountsAreConnectedDisconnectedAndConnectedAgain(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	ovens := a.ovens()
	ids := make([]model.AccountID, len(ovens))
	t.Run("each", func(t *testing.T) {
		for i, o := range ovens {
			t.Run(string(o.network), func(t *testing.T) {
				t.Parallel()
				p := a.member(t, browser.Desktop, a.anna())
				p.visit(a.path(fmt.Sprintf("/accounts/new?network=%s&client=%d", o.network, a.client(t, "museum"))))
				o.connect(p)
				p.sees("Posts can go there now.", "Connected")
				m := accountPage.FindStringSubmatch(p.address())
				if m == nil {
					t.Fatalf("it ends at %s", p.address())
				}
				_, _ = fmt.Sscan(m[1], &ids[i])
				p.goes("link", "Disconnect")
				p.sees("No post is planned for it.")
				p.goes("button", "Disconnect")
				p.sees("is disconnected. Its settings, history and planned posts are kept.", "Disconnected")
				o.reconnect(p)
				p.sees("is connected")
				p.misses("Disconnected")
			})
		}
	})
	if t.Failed() {
		return
	}
	page := a.submitted(t, "Fresh from all four ovens", ids...)
	if _, err := a.owner.PublishNow(t.Context(), page.Post.ID, page.Post.Revision); err != nil {
		t.Fatal(err)
	}
	for _, o := range ovens {
		eventually(t, "a post on "+string(o.network), func() bool { return len(here.sim.Posts(o.network, o.remote)) == 1 })
	}
	eventually(t, "the post to be done", func() bool {
		now, err := a.owner.Post(t.Context(), page.Post.ID)
		return err == nil && now.Post.State == model.PostPublished
	})
}

var connectLink = regexp.MustCompile(`https?://\S+/connect/[A-Za-z0-9_.~-]+`)

// TestAClientConnectsItsOwnAccountsFromItsPhone is asked by the agency, and does so by the
// mailed link alone.
func TestAClientConnectsItsOwnAccountsFromItsPhone(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.ovens()
	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.path(fmt.Sprintf("/clients/%d/connect-links", a.client(t, "museum"))))
	client := "iris@museum-of-" + a.slug + ".example"
	desk.fill("Name", "Iris Tal")
	desk.fill("E-mail address", client)
	desk.press("box", "Facebook")
	desk.press("box", "Bluesky")
	desk.fill("A word along with it", "The Page with the oven, please.")
	desk.goes("button", "Send the link")
	desk.sees("The link is on its way to Iris Tal.", "Nothing connected yet.")

	m := letter(t, client, 0)
	phone := open(t, browser.Narrow)
	phone.visit(connectLink.FindString(m.Text))
	phone.sees("Connect the accounts of Museum", "For Iris Tal: Anna Berger of Studio "+a.slug, "The Page with the oven, please.")
	phone.fits()
	phone.signsIn("Facebook", "Somebody")
	phone.sees("Choose what to connect")
	phone.press("box", "The oven of "+a.slug)
	phone.goes("button", "Connect")
	phone.sees("Connected. Thank you!", "The oven of "+a.slug)
	phone.goes("link", "Connect Bluesky")
	phone.refuses(invalid)
	phone.fill("Handle", "oven-"+a.slug+".bsky.example")
	phone.fill("App password", "with spaces")
	phone.goes("button", "Connect")
	phone.sees("A token has no spaces or line breaks.")
	if got := phone.value("Handle"); got != "oven-"+a.slug+".bsky.example" {
		t.Errorf("the handle came back as %q", got)
	}
	phone.fill("App password", "abcd-efgh-ijkl-mnop")
	phone.goes("button", "Connect")
	phone.sees("Connected. Thank you!")
	phone.fits()
	phone.refuses(410)
	phone.goes("button", "All done")
	phone.sees("All done, thank you")

	told := letter(t, a.anna(), 0)
	if !strings.Contains(told.Text, "Iris Tal used the link that was sent to them") || !strings.Contains(told.Text, "Bluesky") {
		t.Errorf("Anna hears: %s", told.Text)
	}
	desk.visit(a.path("/activity"))
	desk.sees("Iris Tal added the account")
}

// asked is a link to connect accounts of a client of the agency, as a path.
func (a *agency) asked(t *testing.T, client string, names ...network.Name) string {
	t.Helper()
	to := "somebody@" + client + "-of-" + a.slug + ".example"
	note := "The one with the blue logo, please.\nAnd thank you for the Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft!"
	if err := a.owner.SendConnectLink(t.Context(), a.client(t, client), db.ConnectLinkForm{Name: "Hildegard Maria von und zu Donaudampfschifffahrtsgesellschaft", Email: to, Networks: names, Note: note}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(connectLink.FindString(letter(t, to, 0).Text), here.web.URL)
}

// browserSecret is that of a browser in which somebody began a sign-in.
var browserSecret = strings.Repeat("browser", 7)

// marked makes the window's browser that one.
func (p *tab) marked() {
	p.t.Helper()
	if err := p.SetCookies([]*proto.NetworkCookieParam{{Name: "herald_consent", Value: browserSecret, URL: here.web.URL + "/connect/", Path: "/connect/", HTTPOnly: true, SameSite: proto.NetworkCookieSameSiteLax}}); err != nil {
		p.t.Fatal(err)
	}
}

// offered is a sign-in at Facebook from which somebody is back with many Pages, some of
// which cannot be connected.
func (a *agency) offered(t *testing.T, scope *db.Scope, client model.ClientID, n int) model.ConsentID {
	t.Helper()
	browser := secret.HashToken(browserSecret)
	_, state, err := scope.StartConsent(t.Context(), db.Consent{Client: client, Network: network.Facebook}, browser)
	if err != nil {
		t.Fatal(err)
	}
	back, c, err := here.app.Store.ReturnConsent(t.Context(), state, browser, scope.Actor.User, network.Facebook)
	if err != nil {
		t.Fatal(err)
	}
	var list []db.Choice
	for i := range n {
		one := db.Choice{Kind: "Page", RemoteID: fmt.Sprintf("88%s%d", strings.TrimPrefix(a.slug, "a"), i), Handle: fmt.Sprintf("Page number %d of many", i+1), Scopes: []string{"pages_manage_posts", "pages_read_engagement"}, Token: secret.NewToken("page")}
		switch i {
		case 1:
			one.Handle = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft and friends"
		case 2:
			one.Lacks = "Your role on this Page does not let you post. Ask one of its admins for the right to create content."
		}
		list = append(list, one)
	}
	if err := back.KeepChoices(t.Context(), c, list); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// chosenByLink is the page on which whoever holds a link chooses among Pages.
func (a *agency) chosenByLink(t *testing.T, link string, n int) string {
	t.Helper()
	cs, err := here.app.Store.Connecting(t.Context(), strings.TrimPrefix(link, "/connect/"), secret.HashToken(browserSecret))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s/consents/%d", link, a.offered(t, cs.Scope(), cs.ClientID(), n))
}

// shut is a link that was taken back.
func (a *agency) shut(t *testing.T) string {
	t.Helper()
	link := a.asked(t, "bakery", network.X)
	links, err := a.owner.ConnectLinks(t.Context(), a.client(t, "bakery"), 0)
	if err == nil {
		_, err = a.owner.RevokeConnectLink(t.Context(), links.Open[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// TestManyAreFoundByName: among many Pages one types a name; what is ticked stays in
// sight, and the Enter key connects nothing yet.
func TestManyAreFoundByName(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/consents/%d", a.offered(t, a.owner, a.client(t, "museum"), 40))))
	p.press("box", "Page number 7 of many")
	p.fill("Find by name", "ELEKTRIZITATEN")
	p.sees("2 of 40 shown", "Page number 7 of many", "Donaudampfschiff")
	p.misses("Page number 8 of many")
	p.key(input.Enter)
	p.fill("Find by name", "")
	p.sees("Page number 8 of many", "Page number 40 of many")
	p.misses("of 40 shown")
}
