package instagram

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

func byInstagramLogin() networks.Account {
	account := jobOf(networks.Post{}).Account
	account.Settings = map[string]string{"login": "instagram"}
	return account
}

func TestATokenOfInstagramsOwnSignInIsRenewed(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"access_token":"NEW","token_type":"bearer","expires_in":5183944}`}
	})
	got, err := adapter(h).Refresh(t.Context(), byInstagramLogin())
	if err != nil || got.Access.Reveal() != "NEW" || !got.Expires.Equal(noon.Add(5183944*time.Second)) || !got.Refresh.Empty() {
		t.Errorf("got %+v, %v", got, err)
	}
	if c := h.Last(); c.Path != "/refresh_access_token" || c.Query.Encode() != "access_token=PT&grant_type=ig_refresh_token" || c.Header.Get("Authorization") != "" {
		t.Errorf("asked %s?%s", c.Path, c.Query.Encode())
	}
}

func TestATokenOfFacebooksSignInIsNotRenewed(t *testing.T) {
	t.Parallel()
	h := host(t, newAccount())
	_, err := adapter(h).Refresh(t.Context(), jobOf(networks.Post{}).Account)
	if f := fault.Of(err); f == nil || f.Kind != fault.Auth || len(h.Calls()) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestARenewalWithoutATokenIsTriedAgain(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]fault.Kind{`{}`: fault.Transient, `<html>`: fault.Transient, `{"error":{"code":190}}`: fault.Auth} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
		if _, err := adapter(h).Refresh(t.Context(), byInstagramLogin()); fault.Of(err).Kind != want {
			t.Errorf("%s: got %v", body, err)
		}
	}
}

// The token stands in this call's address; an error that tells of the address
// would tell of it.
func TestARenewalThatFailsDoesNotTellTheToken(t *testing.T) {
	t.Parallel()
	account := byInstagramLogin()
	account.Token = secret.NewToken("SECRET-PT")
	a := New(networks.Env{Base: "http://127.0.0.1:1", HTTP: httpx.New(httpx.Options{Timeout: time.Second})})
	_, err := a.Refresh(t.Context(), account)
	f := fault.Of(err)
	if f == nil || f.Kind != fault.Transient || strings.Contains(fmt.Sprintf("%v %+v %s %v", err, f, f.Say, f.Cause), "SECRET") {
		t.Errorf("got %v", err)
	}
}

func TestEachSignInHasItsHost(t *testing.T) {
	t.Parallel()
	a := New(networks.Env{})
	if a.door(networks.Account{}).Base != "https://graph.facebook.com/v25.0" || a.door(byInstagramLogin()).Base != "https://graph.instagram.com/v25.0" ||
		a.renewal.Base != "https://graph.instagram.com" {
		t.Errorf("got %s, %s, %s", a.facebook.Base, a.instagram.Base, a.renewal.Base)
	}
	a = New(networks.Env{Base: "http://127.0.0.1:9700/x", Version: "v26.0"})
	if a.facebook.Base != "http://127.0.0.1:9700/x/v26.0" || a.instagram.Base != a.facebook.Base || a.renewal.Base != "http://127.0.0.1:9700/x" {
		t.Errorf("got %s, %s, %s", a.facebook.Base, a.instagram.Base, a.renewal.Base)
	}
}

func TestCheckSaysWhoseTheTokenIs(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		switch c.Name() {
		case "GET me":
			return nettest.Answer{Body: `{"user_id":"17841","username":"bakery","account_type":"BUSINESS","id":"999"}`}
		case "GET me/permissions":
			return nettest.Answer{Body: `{"data":[{"permission":"instagram_basic","status":"granted"}]}`}
		}
		return nettest.Answer{Body: `{"id":"17841","username":"bakery","name":"Bakery"}`}
	})
	p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || p.RemoteID != "17841" || p.Handle != "bakery" || p.Name != "Bakery" || len(p.Scopes) != 1 || p.Settings != nil {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = adapter(h).Check(t.Context(), byInstagramLogin())
	if err != nil || p.RemoteID != "17841" || p.Settings["account_type"] != "BUSINESS" || p.Scopes != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestFollowReadsTheAddressAndCommentsByForm(t *testing.T) {
	t.Parallel()
	lag := true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		switch {
		case c.Method == "POST":
			return nettest.Answer{Body: `{"id":"c1"}`}
		case lag:
			return refuse(100, 33)
		}
		return nettest.Answer{Body: `{"id":"18001","permalink":"https://www.instagram.com/p/BBB/"}`}
	})
	job, kept := jobOf(posts()["image"]), h.Handles()
	job.Post.FirstComment = "First"
	r, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: "18001"}, kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || r.Permalink != "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	if c := h.Last(); c.Name() != "POST 18001/comments" || c.Form.Get("message") != "First" || c.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("commented by %s %v", c.Name(), c.Form)
	}
	lag = false
	r, err = adapter(h).Follow(t.Context(), job, r, kept)
	if err != nil || r.Permalink != "https://www.instagram.com/p/BBB/" || h.Count("POST 18001/comments") != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestAStoryGetsNoComment(t *testing.T) {
	t.Parallel()
	h := host(t, newAccount())
	job := jobOf(posts()["story"])
	job.Post.FirstComment = "First"
	if _, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: "1", Permalink: "x"}, h.Handles()); err != nil || len(h.Calls()) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestTheStateOfAContainerIsReadFromWordsToo(t *testing.T) {
	t.Parallel()
	for p, want := range map[progress]string{
		{"FINISHED", "x"}: graph.Finished, {"", "Finished: Media has been uploaded."}: graph.Finished, {"", "In Progress: x"}: graph.InProgress,
		{"", "Error: 2207026"}: graph.Failed, {"", "Expired: x"}: graph.Expired, {"", ""}: graph.InProgress, {"NEW_ONE", ""}: graph.InProgress, {"PUBLISHED", ""}: graph.Published,
	} {
		if got := p.state(); got != want {
			t.Errorf("%+v: got %s, want %s", p, got, want)
		}
	}
}

func TestEveryFormatOfTheCatalogueHasAPost(t *testing.T) {
	t.Parallel()
	ig, _ := network.Get(network.Instagram)
	for _, rule := range ig.Formats {
		found := false
		for _, p := range posts() {
			found = found || p.Format == rule.Format
		}
		if !found {
			t.Errorf("no test publishes %s", rule.Format)
		}
	}
}
