package review

import (
	"fmt"
	"net/http"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/approvals"
	"herald/views/layout"
)

// look is how the page of a workspace appears to a client.
func (h *handler) look(of model.TenantID, l db.ShownLook) layout.Look {
	return web.Look(l, h.media(of))
}

// accentSheet says a colour again for light and for dark pages, as tokens.css does. The
// names are those of roles that carry an agency's own colour.
const accentSheet = `@layer tokens {
  :root, [data-theme="light"] { --fill: %[1]s; --fill-hover: color-mix(in oklab, %[1]s 84%%, black); --on-fill: var(--paper-0); --link: %[1]s; }
  @media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { --fill: %[2]s; --fill-hover: color-mix(in oklab, %[2]s 84%%, white); --on-fill: var(--night-0); --link: %[2]s; } }
  [data-theme="dark"] { --fill: %[2]s; --fill-hover: color-mix(in oklab, %[2]s 84%%, white); --on-fill: var(--night-0); --link: %[2]s; }
}
`

// showAccent answers GET /looks/{file}, such as 1f6feb.css. It is the same for
// everybody, and says of nobody that they have this colour.
func showAccent(w http.ResponseWriter, r *http.Request) error {
	digits, css := strings.CutSuffix(r.PathValue("file"), ".css")
	accent, err := model.ParseAccent(digits)
	if err != nil || !css || string(accent) != "#"+digits {
		return model.Refuse(model.NotFound, "There is no such colour.")
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, _ = fmt.Fprintf(w, accentSheet, accent.OnLight(), accent.OnDark()) // the reader left
	return nil
}

// media is the address of a file on the page.
func (h *handler) media(of model.TenantID) approvals.Addresses {
	return web.PublicMedia(h.Ring, of, h.Now(), h.URLLife)
}
