package web

import (
	"net/http"
	"net/url"
	"strings"
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

// toSignIn sends the browser to the sign-in page and back afterwards. A client that
// uploads can do nothing with a page.
func toSignIn(w http.ResponseWriter, r *http.Request) {
	if FromUploader(r) {
		http.Error(w, "You are signed out. Sign in again, then choose the file again: the upload goes on where it stopped.", http.StatusUnauthorized)
		return
	}
	path := "/signin"
	if r.Method == http.MethodGet && !FromHTMX(r) {
		path += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	_ = See(w, r, path)
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
