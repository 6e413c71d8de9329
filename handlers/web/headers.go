package web

import (
	"net/http"
	"net/url"
	"strings"

	"herald/db/model"
	"herald/views/signin"
	"herald/views/ui"
)

// policy allows nothing but our own files: no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

// Headers gives every answer the headers that keep browsers from helping an attacker.
func Headers(secure bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
		if secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// LinkHeaders keep the address of a page behind an e-mailed link, which is its key, out
// of caches, search engines and other sites' logs.
func LinkHeaders(w http.ResponseWriter, base string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !trustworthy(base) {
		// Over plain http browsers say where a form comes from by Origin alone, and
		// no-referrer would blank that too: the form could not be told from a
		// stranger's. Other sites are still told nothing.
		w.Header().Set("Referrer-Policy", "same-origin")
	}
}

// trustworthy says whether browsers send Sec-Fetch-Site to an address.
func trustworthy(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "::1"
}

var errForeign = model.Refuse(model.Forbidden, "This was sent by a page of another site, not by a page of Herald, so nothing was done. If you meant to do it, open Herald and do it there.")

// OwnOrigin refuses what pages of other sites have a browser send to change something.
func (e *Edge) OwnOrigin(next http.Handler) http.Handler {
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(e.Open(func(w http.ResponseWriter, r *http.Request) error {
		r.PostForm = url.Values{} // what another site wrote is neither read nor shown
		return errForeign
	}))
	return own.Handler(next)
}

// saySignedOut is for a page that stays as it is.
const saySignedOut = "You are signed out, so nothing was done. What is on this page stays: sign in again in another tab, then come back and go on here."

var errOverSignedOut = model.Refuse(model.TooLarge, "You are signed out, and with its files this is more than this form may hold while you are. Sign in first, then send it again.")

// toSignIn sends the browser to the sign-in page and back afterwards. A form that
// somebody wrote in goes along, and is offered again once they are in. A page that htmx
// works on stays, and a client that uploads can do nothing with a page.
func toSignIn(w http.ResponseWriter, r *http.Request) error {
	if FromUploader(r) {
		http.Error(w, "You are signed out. Sign in again, then choose the file again: the upload goes on where it stopped.", http.StatusUnauthorized)
		return nil
	}
	if FromListener(r) {
		return fallSilent(w)
	}
	if FromHTMX(r) {
		w.Header().Set("HX-Retarget", "#notices")
		w.Header().Set("HX-Reswap", "innerHTML")
		link := ui.NoticeLink{Label: "Sign in", Href: signInPath(cameFrom(r, "HX-Current-URL"))}
		return Render(w, r, http.StatusUnauthorized, ui.Notice(ui.NoticeProps{Tone: ui.Warn, Say: saySignedOut, Link: link}))
	}
	if r.Method == http.MethodGet {
		return See(w, r, signInPath(r.URL.RequestURI()))
	}
	form, ok := KeepForm(w, r)
	if form.Over {
		return errOverSignedOut
	}
	if !ok {
		return See(w, r, signInPath(cameFrom(r, "Referer")))
	}
	w.Header().Set("Cache-Control", "no-store")
	return Render(w, r, http.StatusUnauthorized, signin.Page(signin.Props{Action: "/signin", Next: cameFrom(r, "Referer"), Kept: form.Props(""), Carried: form.Carry()}))
}

func signInPath(next string) string {
	if next == "" {
		return "/signin"
	}
	return "/signin?next=" + url.QueryEscape(next)
}

// cameFrom is the page of ours that a header names, or nothing.
func cameFrom(r *http.Request, header string) string {
	u, err := url.Parse(r.Header.Get(header))
	if err != nil || u.Host != r.Host {
		return ""
	}
	return LocalPath(u.RequestURI(), "")
}

// LocalPath returns next if it is a path of ours, else otherwise: nobody is sent
// to another site by a link into ours.
func LocalPath(next, otherwise string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return otherwise
	}
	return next
}
