// Package hooks is what machines and bare links call: stored media by signed
// address. A link says for whom it was made. One for a member needs that
// member's session and media.view as well; one for a network or an approver is
// enough by itself and runs out soon. A calendar's address reads with the rights
// of whoever made it, and until they revoke it. Start with Register.
package hooks

import (
	"herald/db/blob"
	"herald/db/secret"
	"herald/handlers/web"
)

// Deps are what hooks work with.
type Deps struct {
	Edge    *web.Edge
	Ring    *secret.Ring
	Blobs   blob.Store
	BaseURL string // of this Herald, without a trailing slash
}

// Register adds the routes to mux. GET answers HEAD as well.
func Register(mux web.Mux, d Deps) {
	m := media{d}
	mux.Handle("GET /m/{signed}", d.Edge.Open(m.show))
	mux.Handle("GET /feeds/{file}", d.Edge.Open(feed{d}.show))
}
