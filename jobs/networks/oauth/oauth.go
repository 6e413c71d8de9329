// Package oauth is what networks share where a person signs in for our app (RFC
// 6749): the page that asks them, the code that they bring back, and the tokens that
// are renewed. Networks whose endpoint is one of its own kind (Graph) use the page
// alone. Start with SignIn, then Endpoint.
package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Endpoint is a network's token endpoint.
type Endpoint struct {
	HTTP    *httpx.Client
	URL     string
	ID      string                            // of our app
	Secret  string                            // of our app
	IDField string                            // what the network calls client_id, if it has a name of its own
	Basic   bool                              // our app shows itself in a header, not in the form
	Dead    []string                          // further error codes that say that the refresh token is spent
	Network string                            // as people call it
	Now     func() time.Time                  // the clock, if nil
	Wait    func(*httpx.Answer) time.Duration // of a limit, where no Retry-After says it; may be nil
}

// granted is what an endpoint answers. When the refresh token ends has a name of each
// network's own: TikTok's, that of LinkedIn and Pinterest, and at a renewal another of
// Pinterest's, which is a time.
type granted struct {
	Access         string `json:"access_token"`
	Refresh        string `json:"refresh_token"`
	Seconds        figure `json:"expires_in"`
	RefreshSeconds figure `json:"refresh_expires_in"`
	RefreshLeft    figure `json:"refresh_token_expires_in"`
	RefreshEnds    figure `json:"refresh_token_expires_at"`
	Scope          string `json:"scope"`
}

// figure is a number, which comes as text at times. What is none is zero: a token that
// was handed out is not lost over it.
type figure float64

// UnmarshalJSON reads it.
func (f *figure) UnmarshalJSON(raw []byte) error {
	if n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64); err == nil && n > 0 {
		*f = figure(min(n, 1e10))
	}
	return nil
}

// Refresh exchanges an account's refresh token. Auth: the network no longer
// knows it, and a person has to connect again. An endpoint that is away, or that
// does not know our app, is Transient: the connection is not at fault.
func (e Endpoint) Refresh(ctx context.Context, refresh secret.Token) (networks.Tokens, error) {
	if refresh.Empty() {
		return networks.Tokens{}, fault.New(fault.Auth, "no_refresh_token", "This connection cannot be renewed without you. Reconnect the account.")
	}
	g, _, err := e.grant(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh.Reveal()}})
	if err != nil {
		return networks.Tokens{}, err
	}
	return e.tokens(g), nil
}

func (e Endpoint) idField() string {
	if e.IDField != "" {
		return e.IDField
	}
	return "client_id"
}

func (e Endpoint) basic(req *http.Request, own secret.Token) {
	req.SetBasicAuth(url.QueryEscape(e.ID), url.QueryEscape(own.Reveal()))
}

func (e Endpoint) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// tokens keeps what the answer leaves out empty: no refresh token means that the
// old one stays, no life that it does not end.
func (e Endpoint) tokens(g granted) networks.Tokens {
	t := networks.Tokens{Access: secret.NewToken(g.Access)}
	if g.Refresh != "" {
		t.Refresh = secret.NewToken(g.Refresh)
	}
	t.Expires = e.after(g.Seconds)
	if t.RefreshExpires = e.after(cmp.Or(g.RefreshSeconds, g.RefreshLeft)); t.RefreshExpires.IsZero() {
		t.RefreshExpires = moment(g.RefreshEnds)
	}
	t.Scopes = strings.FieldsFunc(g.Scope, func(r rune) bool { return r == ' ' || r == ',' })
	return t
}

// after is the end of a life in seconds; zero for none.
func (e Endpoint) after(life figure) time.Time {
	if life == 0 {
		return time.Time{}
	}
	return e.now().Add(time.Duration(min(life, 1e9)) * time.Second)
}

// moment is a time in seconds since 1970; zero for what is none of this century.
func moment(at figure) time.Time {
	if at < 1e9 || at >= 1e10 {
		return time.Time{}
	}
	return time.Unix(int64(at), 0).UTC()
}

// table is what RFC 6749, section 5.2, says of refusals.
func (e Endpoint) table() rest.Table {
	const dead = "{network} no longer accepts this connection. Reconnect the account."
	t := rest.Table{Network: e.Network, Read: read, Inside: true, Rows: []rest.Row{
		{Code: "invalid_grant", Kind: fault.Auth, Say: dead},
		{Code: "invalid_client", Kind: fault.Transient, Say: "{network} does not know Herald's app. The operator has to correct its client id and secret."},
		{Code: "unauthorized_client", Kind: fault.Permission, Say: "{network} does not let Herald's app renew connections. The operator has to look at the app's settings."},
		{Code: "invalid_scope", Kind: fault.Permission, Say: "{network} no longer grants what Herald needs. Reconnect the account and grant everything that is asked."},
		{Code: "access_denied", Kind: fault.Permission, Say: "{network} no longer lets Herald in. Reconnect the account and grant everything that is asked."},
		{Code: "temporarily_unavailable", Kind: fault.Transient, Say: "{network} cannot renew connections for a moment."},
		{Code: "server_error", Kind: fault.Transient, Say: "{network} cannot renew connections for a moment."},
	}}
	for _, code := range e.Dead {
		t.Rows = append(t.Rows, rest.Row{Code: code, Kind: fault.Auth, Say: dead})
	}
	return t
}

// read reads the error of RFC 6749. Its description is not shown: some endpoints
// repeat in it what they were sent.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Error string `json:"error"`
		LogID string `json:"log_id"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Error == "" {
		return rest.Problem{}, false
	}
	return rest.Problem{Code: body.Error, RequestID: body.LogID}, true
}
