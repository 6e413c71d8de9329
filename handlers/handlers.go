// Package handlers is Herald over HTTP: New puts the audiences behind one
// handler. The desk is for signed-in staff, review for approvers with a link,
// signin for getting in, hooks for machines. Deny is the default: every route of
// the desk names its permission, and only the signed-in wrapper makes a Scope.
package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/connect"
	"herald/handlers/desk"
	"herald/handlers/hooks"
	"herald/handlers/review"
	"herald/handlers/signin"
	"herald/handlers/web"
	"herald/static"
)

// Deps are what the web needs.
type Deps struct {
	Store        *db.Store
	Ring         *secret.Ring
	Blobs        blob.Store
	Log          *slog.Logger
	Now          func() time.Time
	BaseURL      string
	URLLife      time.Duration // HERALD_SIGNED_URL_TTL
	UploadBytes  int64
	Cost         secret.Cost
	Proxies      []netip.Prefix              // HERALD_TRUSTED_PROXIES
	Ready        func(context.Context) error // what /readyz asks besides the databases
	CheckAddress connect.AddressChecker      // refuses addresses that Herald may not call
	Fetch        desk.Fetcher                // reads files at addresses that people choose
	CheckToken   connect.TokenChecker        // asks a network about a token
	Versions     map[network.Name]string     // of networks' APIs, where the operator chose one
	Reviews      map[network.Name]string     // the last days of networks' reviews of the app, where the operator entered one
	Networks     connect.Networks            // asks networks for whoever signs in there
	Hosts        db.HostLooker               // looks at names that agencies say are theirs
	Presence     desk.Presence               // says who has a post open
	Changes      desk.Changes                // says when a workspace changes
}

// patience is how long a form waits for its files: most pictures take less.
const patience = 5 * time.Second

// New is the whole web of one Herald.
func New(d Deps) http.Handler {
	mux := http.NewServeMux()
	hosts := &web.Hosts{Held: d.Store.HeldHosts, Own: d.BaseURL, Log: d.Log}
	register(mux, d, hosts)
	return web.Behind(d.Proxies, web.Headers(secure(d), web.Paced(edge(d).OwnOrigin(hosts.Only(mux, nothing(edge(d)))))))
}

// nothing answers an address at which there is nothing.
func nothing(edge *web.Edge) http.Handler {
	return edge.Open(func(w http.ResponseWriter, r *http.Request) error {
		return model.Refuse(model.NotFound, "There is nothing at this address.")
	})
}

func edge(d Deps) *web.Edge {
	return &web.Edge{Store: d.Store, Log: d.Log, Now: d.Now, Sessions: &web.Sessions{Store: d.Store, Secure: secure(d), Now: d.Now}}
}

// Patterns lists every address that New answers, for the test that walks each
// with a stranger's ids.
func Patterns(d Deps) []string {
	var all list
	register(&all, d, nil)
	return all
}

type list []string

func (l *list) Handle(pattern string, _ http.Handler) { *l = append(*l, pattern) }

func secure(d Deps) bool { return strings.HasPrefix(d.BaseURL, "https://") }

func register(mux web.Mux, d Deps, hosts *web.Hosts) {
	edge := edge(d)
	desk := &desk.Desk{Edge: edge, Ring: d.Ring, Blobs: d.Blobs, BaseURL: d.BaseURL, URLLife: d.URLLife, Cost: d.Cost, Limits: desk.Limits{UploadBytes: d.UploadBytes, Patience: patience}, CheckAddress: d.CheckAddress, Fetch: d.Fetch, CheckToken: d.CheckToken, Networks: d.Networks, Versions: d.Versions, Reviews: d.Reviews, Hosts: d.Hosts, Changes: d.Changes, Presence: d.Presence}
	mux = web.Intake{Mux: mux, Edge: edge, Bodies: bodies}
	desk.Register(mux)
	signin.Register(mux, edge, d.Ring, d.Cost)
	review.Register(mux, review.Deps{Edge: edge, Ring: d.Ring, URLLife: d.URLLife, BaseURL: d.BaseURL, Hosts: hosts, Read: desk.ReadComment})
	connect.Register(mux, connect.Deps{Edge: edge, Networks: d.Networks, CheckAddress: d.CheckAddress, CheckToken: d.CheckToken, BaseURL: d.BaseURL, Ring: d.Ring, URLLife: d.URLLife, Secure: secure(d)})
	hooks.Register(mux, hooks.Deps{Edge: edge, Ring: d.Ring, Blobs: d.Blobs, BaseURL: d.BaseURL})
	mux.Handle("GET "+web.HostChallenge, edge.Open(hosts.Answer))
	mux.Handle("GET /hosts", edge.Open(hosts.Ask))
	mux.Handle("GET /static/", static.Handler())
	mux.Handle("GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("ok\n")) }))
	mux.Handle("GET /readyz", readiness(d))
	mux.Handle("GET /{$}", edge.Open(func(w http.ResponseWriter, r *http.Request) error { return web.See(w, r, "/signin") }))
	mux.Handle("/", nothing(edge))
}

// bodies are the addresses that take more or less than an ordinary form: those that
// read files, by limits of their own, and the one that anybody may knock at.
var bodies = map[string]web.Body{
	"POST /w/{slug}/posts": web.Own, "POST /w/{slug}/posts/{id}": web.Own, "POST /w/{slug}/posts/form": web.Own, "POST /w/{slug}/posts/copies/removals": web.Own, "POST /w/{slug}/wordings/templates": web.Own, "POST /w/{slug}/posts/check": web.Own,
	"POST /w/{slug}/media": web.Own, "POST /w/{slug}/media/files": web.Own, "POST /w/{slug}/uploads": web.Own, "PATCH /w/{slug}/uploads/{upload}": web.Own,
	"POST /w/{slug}/imports": web.Own, "POST /w/{slug}/approvals/{request}/comments": web.Own, "POST /review/{token}/comments": web.Own, "POST /w/{slug}/settings/look": web.Own, "POST /w/{slug}/settings/clients/{client}/look": web.Own,
	"POST /signin": signin.FormBytes, "/": web.Own, // nothing is there to be read
}

// readiness answers /readyz: one line that says what is missing.
func readiness(d Deps) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := d.Ready(r.Context()); err != nil {
			d.Log.WarnContext(r.Context(), "not ready", "err", err)
			http.Error(w, "not ready: see the log", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
}
