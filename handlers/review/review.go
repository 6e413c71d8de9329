package review

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	"herald/views/approvals"
	"herald/views/review"
)

// Deps are what the review pages work with.
type Deps struct {
	*web.Edge
	Ring    *secret.Ring
	URLLife time.Duration // of media links; a page's are good for twice as long at most
	BaseURL string
}

type handler struct{ Deps }

// linkFunc is a handler for who holds a link. gone is why it no longer works;
// then rs can only ask for a fresh one.
type linkFunc func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error

// open finds the link and answers what is none with NotFound.
func (h *handler) open(f linkFunc) http.Handler {
	return h.Open(func(w http.ResponseWriter, r *http.Request) error {
		h.headers(w)
		rs, err := h.Store.Review(r.Context(), r.PathValue("token"))
		if rs == nil {
			return err
		}
		return f(w, r, rs, err)
	})
}

// headers keep the address of the page, which is its key, out of caches, search
// engines and other sites' logs.
func (h *handler) headers(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !h.trustworthy() {
		// Over plain http browsers say where a form comes from by Origin alone, and
		// no-referrer would blank that too: the form could not be told from a
		// stranger's. Other sites are still told nothing.
		w.Header().Set("Referrer-Policy", "same-origin")
	}
}

// trustworthy says whether browsers send Sec-Fetch-Site to this address.
func (h *handler) trustworthy() bool {
	u, err := url.Parse(h.BaseURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "::1"
}

// confirmed lets a form through that carries a token of its link's page.
func (h *handler) confirmed(f linkFunc) http.Handler {
	return h.open(func(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
		if err := rs.Confirm(r.PostFormValue("page")); err != nil {
			return err
		}
		return f(w, r, rs, gone)
	})
}

func path(r *http.Request) string { return "/review/" + url.PathEscape(r.PathValue("token")) }

// media is the address of a file on the page: signed, expiring, and enough by
// itself, since the reader has no session. The expiry is rounded up, so that a
// browser meets the same address for a while.
func (h *handler) media(rs *db.ReviewScope) approvals.Addresses {
	expires := h.Now().Add(2 * h.URLLife).Truncate(h.URLLife)
	return func(id model.MediaID, file string) string {
		return "/m/" + h.Ring.SignMedia(secret.ForNetwork, secret.MediaLink{Tenant: int64(rs.Workspace()), Media: int64(id), File: file}, expires)
	}
}

func (h *handler) showGone(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if no, ok := model.Refused(gone); ok {
		return web.Render(w, r, http.StatusGone, review.Gone(review.GoneProps{Agency: rs.Agency, Say: no.Say, Path: path(r), Token: rs.PageToken(), MayAsk: rs.MayAskFresh()}))
	}
	return gone
}

// outcome is what a form led to, for the page that answers it.
type outcome struct {
	status int
	done   string
	bad    string
	items  map[model.RequestID]itemOutcome
}

type itemOutcome struct {
	words   string
	problem string
	comment string
	unsaid  string
	changed *db.Changed
}

// showPage answers GET /review/{token}.
func (h *handler) showPage(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if gone != nil {
		return h.showGone(w, r, rs, gone)
	}
	return h.draw(w, r, rs, outcome{status: http.StatusOK, done: doneWords[r.URL.Query().Get("done")]})
}

// doneWords are said after a form; which one, its answer's address tells.
var doneWords = map[string]string{
	"approve":         "Approved. Thank you!",
	"request_changes": "Your wishes are with the agency. You get an e-mail when there is a new version.",
	"reject":          "Rejected. The agency knows, and this post will not go out.",
	"all":             "All approved. Thank you!",
	"comment":         "Your comment was added.",
}

func (h *handler) draw(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, o outcome) error {
	page, err := rs.Page(r.Context())
	if err != nil {
		return err
	}
	p := review.Props{Agency: rs.Agency, Client: rs.Client, Person: rs.Person, Path: path(r), Token: rs.PageToken(),
		Until: approvals.When(page.Expires, rs.Zone), Done: o.done, Bad: o.bad, Media: h.media(rs)}
	for _, i := range page.Items {
		out := o.items[i.ID]
		item := review.Item{Request: i.ApprovalRequest, Mine: i.Mine, Decide: i.MayDecide, Newer: i.Newer, Words: out.words, Problem: out.problem, Comment: out.comment, Unsaid: out.unsaid}
		for id, other := range o.items {
			if other.changed != nil && (id == i.ID || other.changed.Newer == i.ID) {
				item.Changed = approvals.Differences(other.changed.Before, other.changed.After)
			}
		}
		p.Items = append(p.Items, item)
	}
	return web.Render(w, r, o.status, review.Page(p))
}
