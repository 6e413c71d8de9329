package desk_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

var logoShown = regexp.MustCompile(`<img class="plain-logo" src="(/m/[^"]+)"`)

// dressed is a studio whose client is asked about a post; it returns the link.
func dressed(t *testing.T) (*studio, string) {
	t.Helper()
	s := newStudio(t)
	return s, s.asks(t, s.client, s.account)
}

// asks submits a post of a client to an approver of theirs, and returns the link.
func (s *studio) asks(t *testing.T, client model.ClientID, account model.AccountID) string {
	t.Helper()
	email := fmt.Sprintf("dana-%d@client.example", client)
	dana := dbtest.Look[model.ApproverID](t, s.World, s.agency.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Dana', $3) RETURNING id`, s.agency.ID, client, email)
	stage := dbtest.Look[int64](t, s.World, s.agency.Shard, `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, 'Client', 'any') RETURNING id`, s.agency.ID, client)
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, approver_id) VALUES ($1, $2, $3)`, s.agency.ID, stage, dana)
	page := s.agency.Post(t, "Buns at noon", account)
	if _, err := s.agency.Owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision}); err != nil {
		t.Fatal(err)
	}
	return "/review/" + s.agency.Mailed(t, email)
}

func (a answer) has(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(a.body, w) {
			t.Errorf("the page lacks %q:\n%.3000s", w, a.body)
		}
	}
}

func (a answer) lacks(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(a.body, w) {
			t.Errorf("the page holds %q", w)
		}
	}
}

func TestReviewPagesLookAsTheAgencySays(t *testing.T) {
	t.Parallel()
	s, link := dressed(t)
	other := s.agency.Client(t, "museum")
	theirs := s.asks(t, other, s.agency.Account(t, other, network.Mastodon))
	s.get(t, http.DefaultClient, link).has(t, "Agency north", "Sent with Herald")

	house := url.Values{"name": {"North & Sons"}, "accent": {"#FC0"}, "seen": {"0"}, "shelf": {fmt.Sprint(s.client)}}
	s.post(t, s.owner, "/w/north/settings/look", house, file{"north.png", pngFile(t, 90)}).want(t, 303)
	own := url.Values{"name": {"Bakery by North"}, "accent": {"#1a4f9c"}, "seen": {"0"}}
	s.post(t, s.owner, fmt.Sprintf("/w/north/settings/clients/%d/look", s.client), own).want(t, 303)

	page := s.get(t, http.DefaultClient, link).want(t, 200)
	page.has(t, "Bakery by North", `href="/looks/1a4f9c.css"`)
	page.lacks(t, "Agency north", "Sent with Herald", "style=")
	m := logoShown.FindStringSubmatch(page.body)
	if m == nil {
		t.Fatal("no logo on the page")
	}
	if logo := s.get(t, http.DefaultClient, m[1]).want(t, 200); !strings.HasPrefix(logo.header.Get("Content-Type"), "image/") {
		t.Errorf("the logo is %s", logo.header.Get("Content-Type"))
	}
	s.get(t, http.DefaultClient, theirs).want(t, 200).has(t, "North &amp; Sons", `href="/looks/ffcc00.css"`, "plain-logo")
	for _, part := range []string{"/calendar", "?done=approve"} {
		s.get(t, http.DefaultClient, link+part).has(t, "Bakery by North", "plain-logo", "1a4f9c.css")
	}

	s.post(t, s.owner, "/w/north/settings/look", url.Values{"name": {""}, "accent": {""}, "logo": {"none"}, "seen": {"1"}}).want(t, 303)
	s.get(t, http.DefaultClient, theirs).want(t, 200).lacks(t, "plain-logo", "/looks/", "Sons")
	s.post(t, s.owner, "/w/north/settings/look", house).want(t, 409) // of a page that is old
}

// TestPagesToConnectAccountsLookAsReviewPagesDo, a link that no longer works among them.
func TestPagesToConnectAccountsLookAsReviewPagesDo(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	const email = "jo@client.example"
	house := url.Values{"name": {"North & Sons"}, "accent": {"#FC0"}, "seen": {"0"}, "shelf": {fmt.Sprint(s.client)}}
	s.post(t, s.owner, "/w/north/settings/look", house, file{"north.png", pngFile(t, 90)}).want(t, 303)
	own := url.Values{"name": {"Bakery by North"}, "accent": {"#1a4f9c"}, "seen": {"0"}}
	s.post(t, s.owner, fmt.Sprintf("/w/north/settings/clients/%d/look", s.client), own).want(t, 303)
	if err := s.agency.Owner.SendConnectLink(t.Context(), s.client, db.ConnectLinkForm{Key: rand.Text(), Name: "Jo", Email: email, Networks: []network.Name{network.Webhook}}); err != nil {
		t.Fatal(err)
	}
	if said := dbtest.Look[string](t, s.World, s.agency.Shard, `SELECT content ->> 'agency' FROM tenant.mails WHERE to_email = $1`, email); said != "Bakery by North" {
		t.Errorf("the mail is from %q", said)
	}
	link := "/connect/" + s.agency.Mailed(t, email)
	for path, status := range map[string]int{link: 200, link + "/networks/webhook": 200} {
		page := s.get(t, http.DefaultClient, path).want(t, status)
		page.has(t, "Bakery by North", `href="/looks/1a4f9c.css"`, "plain-logo")
		page.lacks(t, "Agency north", "Sent with Herald", "style=")
	}
	m := logoShown.FindStringSubmatch(s.get(t, http.DefaultClient, link).body)
	if m == nil {
		t.Fatal("no logo on the page")
	}
	s.get(t, http.DefaultClient, m[1]).want(t, 200)
	s.Super(t, s.agency.Shard, `UPDATE tenant.connect_links SET revoked_at = now()`)
	gone := s.get(t, http.DefaultClient, link).want(t, 410)
	gone.has(t, "Bakery by North took this link back", `href="/looks/1a4f9c.css"`, "plain-logo")
	gone.lacks(t, "Agency north")
}

func TestALogoIsAPictureThatCanBeShown(t *testing.T) {
	t.Parallel()
	s, link := dressed(t)
	at := fmt.Sprintf("/w/north/settings/clients/%d/look", s.client)
	form := url.Values{"name": {"Kept"}, "seen": {"0"}}
	for name, bytes := range map[string]string{
		"logo.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "logo.png": "<html>not a picture</html>", "empty.png": "",
	} {
		s.post(t, s.owner, at, form, file{name, []byte(bytes)}).want(t, 422).has(t, `value="Kept"`)
	}
	s.post(t, s.owner, at, url.Values{"accent": {"javascript:1"}, "seen": {"0"}}).want(t, 422).has(t, "six digits", `value="javascript:1"`)
	s.get(t, http.DefaultClient, link).lacks(t, "plain-logo", "Kept")

	s.post(t, s.owner, at, form, file{"logo.png", pngFile(t, 80)}).want(t, 303)
	s.get(t, http.DefaultClient, link).has(t, "plain-logo")
	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'quarantined' WHERE tenant_id = $1`, s.agency.ID)
	s.get(t, http.DefaultClient, link).lacks(t, "plain-logo")
}

func TestAColourIsServedReadable(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	sheet := s.get(t, http.DefaultClient, "/looks/ffcc00.css").want(t, 200)
	sheet.has(t, "--fill: "+string(model.Accent("#ffcc00").OnLight()), "--fill: #ffcc00", "prefers-color-scheme: dark")
	if sheet.header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the sheet is %s", sheet.header.Get("Content-Type"))
	}
	for _, none := range []string{"ffcc00", "fc0.css", "FFCC00.css", "ffcc00;}.css", "x.css", "%23ffcc00.css"} {
		s.get(t, http.DefaultClient, "/looks/"+none).want(t, 404)
	}
}
