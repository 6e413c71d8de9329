package web

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/model"
	"herald/views/problem"
	"herald/views/ui"
)

// Edge is what stands between requests and handlers.
type Edge struct {
	Store    *db.Store
	Sessions *Sessions
	Log      *slog.Logger
	Now      func() time.Time
}

// Mux is what the audiences register their addresses with.
type Mux interface {
	Handle(pattern string, handler http.Handler)
}

// Open wraps a handler that needs no one to be signed in.
func (e *Edge) Open(f func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			e.Fail(w, r, err)
		}
	})
}

// SignedFunc is a handler for a person in a workspace.
type SignedFunc func(w http.ResponseWriter, r *http.Request, scope *db.Scope) error

// Signed wraps a handler of the workspace in {slug}. It sends who is not signed
// in to the sign-in page, refuses who is not in the workspace with NotFound and
// who has permission p nowhere in it with Forbidden. Which clients p reaches is the
// Scope's to check.
func (e *Edge) Signed(p model.Permission, f SignedFunc) http.Handler {
	return e.Open(func(w http.ResponseWriter, r *http.Request) error {
		user, err := e.Sessions.User(r)
		if err != nil {
			return err
		}
		if user == 0 {
			return toSignIn(w, r)
		}
		scope, err := e.Store.Enter(r.Context(), user, r.PathValue("slug"))
		if err != nil {
			return err
		}
		if !scope.Actor.MayAnywhere(p) {
			return model.Refuse(model.Forbidden, "Your role does not allow that in this workspace. Ask an owner or admin.")
		}
		w.Header().Set("Cache-Control", "no-store")
		return f(w, r, scope)
	})
}

// statuses say which HTTP status a refusal has.
var statuses = map[model.Kind]int{
	model.Unprocessable: http.StatusUnprocessableEntity,
	model.NotFound:      http.StatusNotFound,
	model.Conflict:      http.StatusConflict,
	model.Forbidden:     http.StatusForbidden,
	model.TooMany:       http.StatusTooManyRequests,
	model.TooLarge:      http.StatusRequestEntityTooLarge,
	model.Gone:          http.StatusGone,
	model.Unavailable:   http.StatusServiceUnavailable,
}

// Status returns the HTTP status of an error: a refusal's own, or 500.
func Status(err error) int {
	if no, ok := model.Refused(err); ok {
		return statuses[no.Kind]
	}
	if errors.Is(err, db.ErrAway) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Fail answers with an error. A refusal is its sentence and status. A fault of
// ours is logged once and shown as a reference. What a person had written is shown with
// it. In a page that htmx works on, the words become a notice and the page stays; a
// client that uploads gets them as plain text.
func (e *Edge) Fail(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	if FromUploader(r) {
		status, say := e.Words(r.Context(), err)
		http.Error(w, say, status)
		return
	}
	status, say, ref := e.sort(r.Context(), err, "route", r.Pattern, "from", r.RemoteAddr)
	if FromListener(r) {
		_ = fallSilent(w)
		return
	}
	still := context.WithoutCancel(r.Context()) // a form that did not come whole cancels it, and its sender still listens
	if FromHTMX(r) {
		w.Header().Set("HX-Retarget", "#notices")
		w.Header().Set("HX-Reswap", "innerHTML")
		w.Header().Set("HX-Reselect", "notice-card") // not what the page's own answer would hold
		notice := problem.For(status, say)
		render(still, w, status, ui.Notice(ui.NoticeProps{Tone: ui.Bad, Say: notice.Say, Reference: ref}))
		return
	}
	p := problem.For(status, say)
	if status == http.StatusForbidden && r.PathValue("slug") != "" {
		p.Title = problem.NoRole // only who is in a workspace has a role
	}
	p.Reference = ref
	if form, ok := KeepForm(w, r); ok {
		p.Kept = form.Props(sendAgain[status])
	}
	render(still, w, status, problem.Page(p))
}

// sendAgain are the words of the button that sends a refused form once more, for
// what may go well the next time.
var sendAgain = map[int]string{
	http.StatusTooManyRequests: "Send it again", http.StatusInternalServerError: "Send it again", http.StatusServiceUnavailable: "Send it again",
}

// sort tells a refusal from a fault of ours, which it logs under a reference.
func (e *Edge) sort(ctx context.Context, err error, where ...any) (status int, say, ref string) {
	if db.Unstorable(err) {
		err = errUnstorable
	}
	if no, ok := model.Refused(err); ok {
		return Status(err), no.Say, ""
	}
	ref = rand.Text()[:8]
	if ctx.Err() == nil {
		e.Log.ErrorContext(ctx, "request failed", append(where, "err", err, "ref", ref)...)
	}
	if errors.Is(err, db.ErrAway) {
		return Status(err), sayAway, ref
	}
	return Status(err), "", ref
}

var errUnstorable = model.Refuse(model.Unprocessable, "This holds a character that cannot be kept: a null character, or bytes that are no text. Take it out and send it again.")

// sayAway is for a person whose page or form came while the database was away.
const sayAway = "Herald could not reach its database just now, so nothing was saved. Nobody was signed out. Keep this page, or go back to it with what you wrote, and try again in a moment."

// Words are what Fail says, for answers that are no page.
func (e *Edge) Words(ctx context.Context, err error) (status int, say string) {
	status, say, ref := e.sort(ctx, e.Stored(ctx, err))
	if ref != "" && say == "" {
		say = "Something broke on our side, and nothing you did was wrong. Try again in a moment. The reference is " + ref + "."
	}
	return status, say
}

// FromUploader says whether the request is of a client that uploads by the tus
// protocol.
func FromUploader(r *http.Request) bool { return r.Header.Get("Tus-Resumable") != "" }

// FromHTMX says whether the request wants a part of a page.
func FromHTMX(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// FromListener says whether a page listens for events, which nobody asked it to: a
// refusal is no news to its reader.
func FromListener(r *http.Request) bool { return r.Header.Get("Accept") == "text/event-stream" }

// fallSilent ends listening: the page does not ask again, and nothing is shown.
func fallSilent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Part is the id of the part of a page that htmx asks for; empty if it has none.
func Part(r *http.Request) string {
	_, id, _ := strings.Cut(r.Header.Get("HX-Target"), "#")
	return id
}

// Render answers with a page or a part of one.
func Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	render(r.Context(), w, status, c)
	return nil
}

// render writes a component. Once the status is sent there is nobody left to
// tell of an error, and a broken connection is no fault of ours.
func render(ctx context.Context, w http.ResponseWriter, status int, c templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = c.Render(ctx, w)
}

// See sends the browser on to path after a POST, in a form that plain forms and
// htmx both follow.
func See(w http.ResponseWriter, r *http.Request, path string) error {
	if FromHTMX(r) {
		w.Header().Set("HX-Redirect", path)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}
