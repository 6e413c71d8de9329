package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// SignIn is the page at which a network asks a person for our app, with what of RFC
// 6749 and RFC 7636 it does in its own way. Of its endpoint the codes are redeemed.
type SignIn struct {
	Endpoint
	Page   string // the address of the page
	Scopes []string
	Apart  string            // what parts them; a space if empty
	Proof  Proof             // how the verifier is proved
	More   map[string]string // further parameters of the page
	End    string            // where tokens are given back; empty if nowhere
}

// Proof is how a network has PKCE. The empty one is none.
type Proof string

// The proofs.
const (
	S256 Proof = "S256" // the digest in base64, as RFC 7636 has it
	Hex  Proof = "hex"  // the digest in hexadecimal, as TikTok has it
)

func (p Proof) challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	if p == Hex {
		return hex.EncodeToString(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Authorize is the address of the page for one sign-in.
func (s SignIn) Authorize(c networks.Consent) string {
	apart := s.Apart
	if apart == "" {
		apart = " "
	}
	q := url.Values{s.idField(): {s.ID}, "redirect_uri": {c.Redirect}, "response_type": {"code"}, "state": {c.State}}
	if len(s.Scopes) > 0 {
		q.Set("scope", strings.Join(s.Scopes, apart))
	}
	if s.Proof != "" {
		q.Set("code_challenge", s.Proof.challenge(c.Verifier))
		q.Set("code_challenge_method", "S256")
	}
	for name, value := range s.More {
		q.Set(name, value)
	}
	return s.Page + "?" + q.Encode()
}

// Redeem exchanges a code. What else the answer says is read into more, which may
// be nil. Auth: the code is no good any more.
func (s SignIn) Redeem(ctx context.Context, c networks.Consent, code string, more any) (networks.Tokens, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.Redirect}}
	if s.Proof != "" {
		form.Set("code_verifier", c.Verifier)
	}
	g, answer, err := s.grant(ctx, form)
	if f := fault.Of(err); f != nil && f.Kind == fault.Auth {
		f.Say = s.Network + " did not accept the sign-in: it took too long, or it was used before. Begin again."
	}
	if err != nil {
		return networks.Tokens{}, err
	}
	if more != nil && json.Unmarshal(answer.Body, more) != nil {
		return networks.Tokens{}, httpx.Unparsable(httpx.Token, answer)
	}
	return s.tokens(g), nil
}

// Revoke gives a token back (RFC 7009).
func (s SignIn) Revoke(ctx context.Context, token secret.Token) error {
	if s.End == "" || token.Empty() {
		return nil
	}
	e := s.Endpoint
	e.URL = s.End
	call, door := e.call(url.Values{"token": {token.Reveal()}})
	_, err := door.Do(ctx, call, nil)
	return err
}

// call is a call of the endpoint, at which our app shows itself.
func (e Endpoint) call(form url.Values) (rest.Call, rest.Door) {
	door := rest.Door{HTTP: e.HTTP, Table: e.table(), Sign: e.basic}
	call := rest.Call{Step: httpx.Token, Method: http.MethodPost, Address: e.URL, Form: form}
	if e.Basic {
		call.Token = secret.NewToken(e.Secret)
		return call, door
	}
	form.Set(e.idField(), e.ID)
	if e.Secret != "" {
		form.Set("client_secret", e.Secret)
	}
	return call, door
}

// grant asks the endpoint for tokens.
func (e Endpoint) grant(ctx context.Context, form url.Values) (g granted, answer *httpx.Answer, err error) {
	call, door := e.call(form)
	answer, err = door.Do(ctx, call, &g)
	if f := fault.Of(err); f != nil && f.Kind == fault.RateLimited && f.Wait == 0 && answer != nil && e.Wait != nil {
		f.Wait = e.Wait(answer)
	}
	if err == nil && g.Access == "" {
		err = httpx.Unparsable(httpx.Token, answer)
	}
	return g, answer, err
}
