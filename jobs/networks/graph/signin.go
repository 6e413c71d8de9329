package graph

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Code is an authorization code as Meta's services take it: Redeem gets a token of an
// hour or two for it, Prolong one of sixty days for that.
type Code struct {
	Door       // without a version where the calls have none
	ID, Secret string
	Network    string // as people call it
	Now        func() time.Time
}

// Issued is a token as Meta answers it. The numbers and permissions of a person come
// with some of them.
type Issued struct {
	Token       string   `json:"access_token"`
	Seconds     Int      `json:"expires_in"`
	User        ID       `json:"user_id"`
	Permissions []string `json:"permissions"`
}

// Redeem exchanges a code. What sticks to its end is Meta's own.
func (k Code) Redeem(ctx context.Context, c networks.Consent, path, code string) (i Issued, err error) {
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {k.ID}, "client_secret": {k.Secret}, "redirect_uri": {c.Redirect}, "code": {strings.TrimSuffix(code, "#_")}}
	answer, err := k.Do(ctx, Call{Step: httpx.Token, Method: http.MethodPost, Path: path, Form: form}, &i)
	if f := fault.Of(err); f != nil && (f.Kind == fault.Auth || f.Kind == fault.Validation || f.Kind == fault.Permission) {
		f.Kind, f.Say = fault.Auth, k.Network+" did not accept the sign-in: it took too long, or it was used before. Begin again."
	}
	if err == nil && i.Token == "" {
		err = httpx.Unparsable(httpx.Token, answer)
	}
	return i, err
}

// Prolong exchanges a token for one of sixty days. The query names the kind of
// exchange, and the token under the name that this kind has for it.
func (k Code) Prolong(ctx context.Context, path string, query url.Values) (networks.Tokens, error) {
	var i Issued
	query.Set("client_secret", k.Secret)
	answer, err := k.Do(ctx, Call{Step: httpx.Token, Method: http.MethodGet, Path: path, Query: query}, &i)
	if err == nil && i.Token == "" {
		err = httpx.Unparsable(httpx.Token, answer)
	}
	if err != nil {
		return networks.Tokens{}, err
	}
	t := networks.Tokens{Access: secret.NewToken(i.Token)}
	if i.Seconds > 0 {
		t.Expires = k.Now().Add(time.Duration(i.Seconds) * time.Second)
	}
	return t, nil
}
