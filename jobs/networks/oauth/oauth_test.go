package oauth_test

import (
	"testing"
	"time"

	"herald/db/secret"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
	"herald/jobs/networks/oauth"
)

func endpoint(h *nettest.Host) oauth.Endpoint {
	return oauth.Endpoint{HTTP: h.Client, URL: h.URL + "/x/token", ID: "app", Secret: "hush", Network: "YouTube", Now: func() time.Time { return nettest.Noon }}
}

func TestARefreshTokenIsExchanged(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		refresh string
		life    time.Duration
		scopes  int
		holds   time.Duration // of the refresh token
	}{
		`{"access_token":"A","expires_in":3599,"scope":"a b","token_type":"Bearer"}`:                                 {"", 3599 * time.Second, 2, 0},
		`{"access_token":"A","expires_in":"7200","refresh_token":"R2","scope":"a,b,c"}`:                              {"R2", 2 * time.Hour, 3, 0},
		`{"access_token":"A","expires_in":0,"scope":null}`:                                                           {"", 0, 0, 0},
		`{"access_token":"A","expires_in":null,"refresh_token":"","refresh_expires_in":1}`:                           {"", 0, 0, time.Second},
		`{"access_token":"A","expires_in":60,"refresh_token":"R2","refresh_token_expires_in":"600"}`:                 {"R2", time.Minute, 0, 10 * time.Minute},
		`{"access_token":"A","expires_in":60,"refresh_token_expires_in":0,"refresh_token_expires_at":1788264000}`:    {"", time.Minute, 0, time.Unix(1788264000, 0).Sub(nettest.Noon)},
		`{"access_token":"A","expires_in":"soon","refresh_token_expires_at":"2027-01-01T00:00:00","scope":"a"}`:      {"", 0, 1, 0},
		`{"access_token":"A","expires_in":-5,"refresh_token_expires_at":31536000,"refresh_expires_in":{"days":180}}`: {"", 0, 0, 0},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
		got, err := endpoint(h).Refresh(t.Context(), secret.NewToken("R1"))
		if err != nil || got.Access.Reveal() != "A" || got.Refresh.Reveal() != want.refresh || len(got.Scopes) != want.scopes {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
		if life := got.Expires.Sub(nettest.Noon); want.life != life && !(want.life == 0 && got.Expires.IsZero()) {
			t.Errorf("%s: lives %v", body, life)
		}
		if holds := got.RefreshExpires.Sub(nettest.Noon); want.holds != holds && !(want.holds == 0 && got.RefreshExpires.IsZero()) {
			t.Errorf("%s: its refresh token holds %v", body, holds)
		}
		c := h.Last()
		if c.Name() != "POST token" || c.Form.Encode() != "client_id=app&client_secret=hush&grant_type=refresh_token&refresh_token=R1" || c.Header.Get("Authorization") != "" {
			t.Errorf("asked %s with %v", c.Name(), c.Form)
		}
	}
}

func TestOurAppShowsItselfAsTheNetworkWants(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `{"access_token":"A"}`} })
	e := endpoint(h)
	e.Basic = true
	if _, err := e.Refresh(t.Context(), secret.NewToken("R1")); err != nil {
		t.Fatal(err)
	}
	if c := h.Last(); c.Header.Get("Authorization") != "Basic YXBwOmh1c2g=" || c.Form.Has("client_secret") {
		t.Errorf("%v, %v", c.Header, c.Form)
	}
	e.Basic, e.IDField = false, "client_key"
	if _, err := e.Refresh(t.Context(), secret.NewToken("R1")); err != nil || h.Last().Form.Get("client_key") != "app" {
		t.Errorf("%v, %v", h.Last().Form, err)
	}
}

func TestOnlyADeadTokenEndsTheConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   fault.Kind
	}{
		{400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, fault.Auth},
		{200, `{"error":"invalid_grant","error_description":"Refresh token is invalid or expired.","log_id":"L1"}`, fault.Auth},
		{400, `{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`, fault.Auth},
		{401, `{"error":"invalid_client"}`, fault.Transient},
		{403, `{"error":"access_denied"}`, fault.Permission},
		{400, `{"error":"invalid_scope"}`, fault.Permission},
		{400, `{"error":"unauthorized_client"}`, fault.Permission},
		{503, `{"error":"temporarily_unavailable"}`, fault.Transient},
		{500, `{"error":"server_error"}`, fault.Transient},
		{503, `<html>`, fault.Transient},
		{429, ``, fault.RateLimited},
		{200, `{}`, fault.Transient},
		{200, `<html>`, fault.Transient},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Status: c.status, Body: c.body} })
		e := endpoint(h)
		e.Dead = []string{"invalid_request"}
		if _, err := e.Refresh(t.Context(), secret.NewToken("R1")); fault.Of(err) == nil || fault.Of(err).Kind != c.want {
			t.Errorf("%d %s: got %v, want %s", c.status, c.body, err, c.want)
		}
	}
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{} })
	if _, err := endpoint(h).Refresh(t.Context(), secret.Token{}); fault.Of(err).Kind != fault.Auth || len(h.Calls()) > 0 {
		t.Errorf("without a refresh token: %v", err)
	}
}
