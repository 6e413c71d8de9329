package bluesky

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// session is what an app password was exchanged for.
type session struct {
	token   secret.Token
	expires time.Time
}

// ahead is how long before its end a session is not used any more.
const ahead = 5 * time.Minute

var appPassword = regexp.MustCompile(`^[a-z0-9]{4}(-[a-z0-9]{4}){3}$`)

// isAppPassword says whether a credential is an app password, and no token.
func isAppPassword(t secret.Token) bool { return appPassword.MatchString(t.Reveal()) }

// token is the access token of an account: its own, or that of a session made
// with its app password. Servers limit how often one may sign in, so a session
// is kept and made by one caller at a time.
func (a *Adapter) token(ctx context.Context, job networks.Job) (secret.Token, error) {
	account := job.Account
	if !isAppPassword(account.Token) {
		return account.Token, nil
	}
	key := sessionKey(account)
	if s, ok := a.sessions.Load(key); ok && a.now().Before(s.(session).expires.Add(-ahead)) {
		return s.(session).token, nil
	}
	s, err, _ := a.signing.Do(key, func() (any, error) {
		made, err := a.signIn(context.WithoutCancel(ctx), account, account.Token, job.Trail)
		if err != nil {
			return nil, err
		}
		s := session{made.Access, a.expiry(made.Access)}
		a.sessions.Store(key, s)
		return s, nil
	})
	if err != nil {
		f := *fault.Of(err) // several callers may have it
		return secret.Token{}, &f
	}
	return s.(session).token, nil
}

// sessionKey tells accounts and their passwords apart without keeping either.
func sessionKey(account networks.Account) string {
	sum := sha256.Sum256([]byte(server(account) + "\n" + identifier(account) + "\n" + account.Token.Reveal()))
	return hex.EncodeToString(sum[:])
}

// forget drops a session that the server no longer takes, and says whether it
// was there.
func (a *Adapter) forget(account networks.Account, token secret.Token) bool {
	key := sessionKey(account)
	s, ok := a.sessions.Load(key)
	if ok && s.(session).token.Reveal() == token.Reveal() {
		a.sessions.Delete(key)
	}
	return ok
}

// opened is what signing in and renewing answer.
type opened struct {
	Access  secret.Token
	Refresh secret.Token
	who
}

// who is an account as its server describes it.
type who struct {
	DID    string   `json:"did"`
	Handle string   `json:"handle"`
	Doc    document `json:"didDoc"`
	Active *bool    `json:"active"`
	Status string   `json:"status"`
}

// document is the part of a DID document that says where the account lives.
type document struct {
	Service []struct {
		ID       string `json:"id"`
		Endpoint any    `json:"serviceEndpoint"`
	} `json:"service"`
}

// home is the account's personal data server, or "".
func (d document) home() string {
	for _, s := range d.Service {
		if endpoint, ok := s.Endpoint.(string); ok && strings.HasSuffix(s.ID, "#atproto_pds") {
			return endpoint
		}
	}
	return ""
}

func identifier(account networks.Account) string {
	if account.RemoteID != "" {
		return account.RemoteID
	}
	return strings.TrimPrefix(account.Handle, "@")
}

// signIn makes a session with an app password.
func (a *Adapter) signIn(ctx context.Context, account networks.Account, password secret.Token, trail httpx.Trail) (opened, error) {
	body := map[string]string{"identifier": identifier(account), "password": password.Reveal()}
	return a.open(ctx, account, rest.Call{Trail: trail, Path: "xrpc/com.atproto.server.createSession", JSON: body})
}

func (a *Adapter) open(ctx context.Context, account networks.Account, c rest.Call) (o opened, err error) {
	var got struct {
		Access  string `json:"accessJwt"`
		Refresh string `json:"refreshJwt"`
		who
	}
	c.Step, c.Method = httpx.Token, http.MethodPost
	answer, err := a.door(account).Do(ctx, c, &got)
	if err != nil {
		return o, err
	}
	if got.Access == "" {
		return o, httpx.Unparsable(httpx.Token, answer)
	}
	o = opened{Access: secret.NewToken(got.Access), who: got.who}
	if got.Refresh != "" {
		o.Refresh = secret.NewToken(got.Refresh)
	}
	return o, got.who.blocked()
}

// blocked is the fault of an account that its server does not serve.
func (w who) blocked() error {
	if w.Active == nil || *w.Active {
		return nil
	}
	return fault.New(fault.Auth, "AccountInactive", "This Bluesky account is not active ("+httpx.SafeText(w.Status)+"). Look into the account itself, then reconnect it.")
}

// Refresh renews a session. The refresh token is spent by it, and the new one has
// to be saved before it is used. An app password kept as the refresh token makes
// a new session each time and stays.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	var o opened
	var err error
	switch {
	case account.Refresh.Empty():
		return networks.Tokens{}, fault.New(fault.Auth, "no_refresh_token", "This connection cannot be renewed without you. Reconnect the account.")
	case isAppPassword(account.Refresh):
		o, err = a.signIn(ctx, account, account.Refresh, nil)
		o.Refresh = secret.Token{}
	default:
		o, err = a.open(ctx, account, rest.Call{Path: "xrpc/com.atproto.server.refreshSession", Token: account.Refresh})
	}
	if err != nil {
		return networks.Tokens{}, err
	}
	return networks.Tokens{Access: o.Access, Refresh: o.Refresh, Expires: a.expiry(o.Access), RefreshExpires: ends(o.Refresh)}, nil
}

// usualLife is how long an access token lives where it does not say.
const usualLife = 2 * time.Hour

// expiry is when an access token ends.
func (a *Adapter) expiry(token secret.Token) time.Time {
	if at := ends(token); !at.IsZero() {
		return at
	}
	return a.now().Add(usualLife)
}

// ends reads when a token ends, zero where it does not say; it is nobody's business to
// check its signature but the server's.
func ends(token secret.Token) time.Time {
	var claims struct {
		Expires json.Number `json:"exp"`
	}
	parts := strings.Split(token.Reveal(), ".")
	if len(parts) == 3 {
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(raw, &claims) == nil {
			if seconds, err := claims.Expires.Int64(); err == nil && seconds > 0 && seconds < 1<<40 {
				return time.Unix(seconds, 0).UTC()
			}
		}
	}
	return time.Time{}
}

// pass is a token with which the video service may put a file into the account.
func (r run) pass(ctx context.Context) (secret.Token, error) {
	host, err := r.host(ctx)
	if err != nil {
		return secret.Token{}, err
	}
	var made struct {
		Token string `json:"token"`
	}
	c := rest.Call{Step: httpx.Prepare, Method: http.MethodGet, Path: "xrpc/com.atproto.server.getServiceAuth", Query: url.Values{
		"aud": {"did:web:" + host}, "lxm": {"com.atproto.repo.uploadBlob"}, "exp": {strconv.FormatInt(r.now().Add(30*time.Minute).Unix(), 10)}}}
	answer, err := r.do(ctx, r.job, c, &made)
	if err != nil {
		return secret.Token{}, err
	}
	if made.Token == "" {
		return secret.Token{}, httpx.Unparsable(httpx.Prepare, answer)
	}
	return secret.NewToken(made.Token), nil
}

// host is the name of the server that the account really lives on: a front door
// that serves many does not take files from the video service.
func (r run) host(ctx context.Context) (string, error) {
	home := r.base
	if home == "" {
		home = r.job.Account.Settings["pds"]
	}
	if home == "" {
		me, err := r.me(ctx, r.job, httpx.Prepare)
		if err != nil {
			return "", err
		}
		home = me.Doc.home()
	}
	if home == "" {
		home = server(r.job.Account)
	}
	u, err := url.Parse(home)
	if err != nil || u.Host == "" {
		return "", fault.New(fault.Validation, "address", "The account's server address cannot be used. Correct it in the account's settings.")
	}
	return url.QueryEscape(u.Host), nil
}

// me asks the server whose token it is.
func (a *Adapter) me(ctx context.Context, job networks.Job, step httpx.Step) (me who, err error) {
	answer, err := a.do(ctx, job, rest.Call{Step: step, Method: http.MethodGet, Path: "xrpc/com.atproto.server.getSession"}, &me)
	if err == nil && me.DID == "" {
		err = httpx.Unparsable(step, answer)
	}
	if err == nil {
		err = me.blocked()
	}
	return me, err
}

// Check asks whose the credential is, and learns where the account lives.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	me, err := a.me(ctx, networks.Job{Account: account}, httpx.Check)
	if err != nil {
		return networks.Profile{}, err
	}
	p := networks.Profile{RemoteID: me.DID, Handle: "@" + me.Handle, Name: me.Handle}
	if home := me.Doc.home(); home != "" {
		p.Settings = map[string]string{"pds": home}
	}
	return p, nil
}
