package sim_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

// consent opens a sign-in page, follows the link whose text holds say, and
// returns where the person was sent.
func (w *world) consent(address, say string) *url.URL {
	w.t.Helper()
	page := w.get(address).want(w.t, 200)
	for _, m := range regexp.MustCompile(`href="(\?[^"]+)"`).FindAllStringSubmatch(page.raw, -1) {
		link := html.UnescapeString(m[1])
		if strings.Contains(link, url.QueryEscape(say)) {
			path, _, _ := strings.Cut(address, "?")
			g := w.get(path+link).want(w.t, 302)
			back, err := url.Parse(g.header.Get("Location"))
			if err != nil {
				w.t.Fatal(err)
			}
			return back
		}
	}
	w.t.Fatalf("no link %s on %s", say, page.raw)
	return nil
}

func TestFacebookSignInLeadsToPageTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Facebook, sim.Account{ID: "1001", Name: "Bakery"})
	dialog := fb + "/dialog/oauth?" + values("client_id", "app", "redirect_uri", "http://herald.test/back", "state", "s1", "scope", "pages_manage_posts,pages_read_engagement", "response_type", "code")
	back := w.consent(dialog, "allow:")
	if back.Host != "herald.test" || back.Query().Get("state") != "s1" {
		t.Fatalf("sent to %s", back)
	}
	exchange := []string{"client_id", "app", "client_secret", "x", "redirect_uri", "http://herald.test/back", "code", back.Query().Get("code")}
	token := func(pairs ...string) got { return w.get(fb + "/oauth/access_token?" + values(pairs...)) }
	user := token(exchange...).want(t, 200)
	token(exchange...).graphFail(t, 400, "100", "") // a code works once
	long := token("client_id", "app", "client_secret", "x", "grant_type", "fb_exchange_token", "fb_exchange_token", user.str("access_token")).want(t, 200)
	if long.str("expires_in") != "5184000" {
		t.Errorf("got %s", long.raw)
	}
	w.form(fb+"/1001/feed", "access_token", long.str("access_token"), "message", "a").graphFail(t, 400, "210", "")
	pages := w.get(fb+"/me/accounts?fields=id,name,access_token&access_token="+long.str("access_token")).want(t, 200)
	found := regexp.MustCompile(`"access_token":"([^"]+)"`).FindStringSubmatch(pages.raw)
	if found == nil || !strings.Contains(pages.raw, "Bakery") {
		t.Fatalf("the pages are %s", pages.raw)
	}
	id := w.form(fb+"/1001/feed", "access_token", found[1], "message", "a").want(t, 200).str("id")
	if g := w.get(fb+"/"+id+"?fields=application&access_token="+found[1]).want(t, 200); g.str("application.id") != "app" {
		t.Errorf("the post is by %s", g.raw)
	}
	debug := w.get(fb+"/debug_token?access_token=x&input_token="+found[1]).want(t, 200)
	if debug.str("data.is_valid") != "true" || !strings.Contains(debug.raw, "pages_manage_posts") {
		t.Errorf("the token is %s", debug.raw)
	}
	if no := w.consent(dialog, "deny"); no.Query().Get("error") != "access_denied" {
		t.Errorf("sent to %s", no)
	}
	w.get(fb+"/dialog/oauth?client_id=app").want(t, 400)
}

func TestFacebookExpiredTokenCannotBeExchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := fb + "/oauth/access_token?" + values("client_id", "app", "client_secret", "x", "grant_type", "fb_exchange_token") + "&fb_exchange_token="
	w.get(ask+"expired-1").graphFail(t, 400, "190", "463")
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "unavailable" })
	w.get(ask+"fine").graphFail(t, 503, "2", "")
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "none" })
	w.fault(sim.Fault{Network: network.Facebook, Step: sim.Token, Kind: sim.ExpiredToken, Times: 1})
	w.get(ask+"fine").graphFail(t, 400, "190", "463")
	w.get(ask+"fine").want(t, 200)
}

func TestInstagramSignInAndRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Instagram, sim.Account{ID: "17841", Handle: "bakery"})
	back := w.consent("/instagram/oauth/authorize?"+values("client_id", "app", "redirect_uri", "http://herald.test/back", "response_type", "code", "scope", "instagram_business_basic,instagram_business_content_publish"), "allow:17841")
	short := w.form("/instagram/oauth/access_token", "client_id", "app", "client_secret", "x", "grant_type", "authorization_code", "redirect_uri", "http://herald.test/back", "code", back.Query().Get("code")+"#_").want(t, 200)
	if short.str("user_id") != "17841" {
		t.Fatalf("got %s", short.raw)
	}
	long := w.get("/instagram/access_token?"+values("grant_type", "ig_exchange_token", "client_secret", "x", "access_token", short.str("access_token"))).want(t, 200).str("access_token")
	refresh := func() got {
		return w.get("/instagram/refresh_access_token?" + values("grant_type", "ig_refresh_token", "access_token", long))
	}
	refresh().graphFail(t, 400, "100", "") // too young
	w.pass(25 * time.Hour)
	fresh := refresh().want(t, 200)
	if fresh.str("expires_in") != "5184000" {
		t.Errorf("got %s", fresh.raw)
	}
	me := w.get("/instagram/v25.0/me?fields=user_id,username,account_type&access_token="+fresh.str("access_token")).want(t, 200)
	if me.str("user_id") != "17841" || me.str("username") != "bakery" {
		t.Errorf("got %s", me.raw)
	}
	w.pass(60 * 24 * time.Hour)
	refresh().graphFail(t, 400, "190", "463")
}

// mastodonTokens signs in with PKCE and returns the answer of the token call.
func (w *world) mastodonTokens() got {
	w.t.Helper()
	app := w.json("/mastodon/api/v1/apps", `{"client_name":"Herald","redirect_uris":["http://herald.test/back"],"scopes":"write:statuses read:statuses"}`).want(w.t, 200)
	sum := sha256.Sum256([]byte("verifier"))
	back := w.consent("/mastodon/oauth/authorize?"+values("client_id", app.str("client_id"), "redirect_uri", "http://herald.test/back", "response_type", "code",
		"scope", "write:statuses read:statuses", "code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method", "S256"), "allow:77")
	exchange := func(secret, verifier string) got {
		return w.form("/mastodon/oauth/token", "grant_type", "authorization_code", "client_id", app.str("client_id"), "client_secret", secret,
			"redirect_uri", "http://herald.test/back", "code", back.Query().Get("code"), "code_verifier", verifier)
	}
	exchange("wrong", "verifier").want(w.t, 401)
	return exchange(app.str("client_secret"), "verifier")
}

func TestMastodonSignInWithPKCE(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Mastodon, sim.Account{ID: "77", Handle: "bakery"})
	g := w.mastodonTokens().want(t, 200)
	if g.json["refresh_token"] != nil || g.json["expires_in"] != nil || g.str("scope") != "write:statuses read:statuses" {
		t.Errorf("got %s", g.raw)
	}
	auth := []string{"Authorization", "Bearer " + g.str("access_token")}
	w.send(w.request("POST", toot, "application/x-www-form-urlencoded", "status=hi", auth...)).want(t, 200)
	w.wantPosts(network.Mastodon, "77", 1)
	w.upload("/mastodon/api/v2/media", "file", jpegOf(4, 4), auth).want(t, 403)
	w.form("/mastodon/oauth/revoke", "client_id", "x", "client_secret", "y", "token", g.str("access_token")).want(t, 200)
	w.send(w.request("POST", toot, "application/x-www-form-urlencoded", "status=hi", auth...)).want(t, 401)
	if d := w.get("/mastodon/.well-known/oauth-authorization-server").want(t, 200); !strings.HasSuffix(d.str("token_endpoint"), "/mastodon/oauth/token") {
		t.Errorf("got %s", d.raw)
	}
}

func TestRefreshTokensRotateAndAReplayEndsTheFamily(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Knobs.Refresh = "rotate" })
	w.sim.AddAccount(network.Mastodon, sim.Account{ID: "77", Token: "T", Refresh: "R1", Expires: noon.Add(time.Hour)})
	renew := func(token string) got {
		return w.form("/mastodon/oauth/token", "grant_type", "refresh_token", "client_id", "app", "client_secret", "x", "refresh_token", token)
	}
	use := func(token string) got {
		return w.get("/mastodon/api/v1/accounts/verify_credentials", "Authorization", "Bearer "+token)
	}
	w.pass(2 * time.Hour)
	use("T").want(t, 401)
	second := renew("R1").want(t, 200)
	if second.str("refresh_token") == "" || second.str("refresh_token") == "R1" || second.str("expires_in") != "7200" {
		t.Fatalf("got %s", second.raw)
	}
	use(second.str("access_token")).want(t, 200)
	third := renew(second.str("refresh_token")).want(t, 200)
	if g := renew("R1").want(t, 400); g.str("error") != "invalid_grant" {
		t.Errorf("a replay got %s", g.raw)
	}
	use(third.str("access_token")).want(t, 401)
	renew(third.str("refresh_token")).want(t, 400)
	renew("never").want(t, 400)
}

func TestRefreshTokensMayBeOmittedOrUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Knobs.Refresh = "omit" })
	w.sim.AddAccount(network.Mastodon, sim.Account{ID: "77", Token: "T", Refresh: "R1"})
	renew := func() got {
		return w.form("/mastodon/oauth/token", "grant_type", "refresh_token", "client_id", "app", "client_secret", "x", "refresh_token", "R1")
	}
	for range 2 {
		if g := renew().want(t, 200); g.json["refresh_token"] != nil {
			t.Errorf("got %s", g.raw)
		}
	}
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "unavailable" })
	renew().want(t, 503)
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "rotate" })
	renew().want(t, 200) // the failed try spent nothing
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "none" })
	renew().want(t, 400)
}
