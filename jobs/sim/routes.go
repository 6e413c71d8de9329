package sim

import (
	"embed"
	"io"
	"net/http"
	"strings"

	"herald/db/network"
)

//go:embed page
var pageFiles embed.FS

// routes sorts requests: control, the files of the pages, and the networks, each
// under its name.
func (s *Sim) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/_control/", s.control())
	mux.HandleFunc("GET /_media/{id}", s.showMedia)
	mux.HandleFunc("GET /_static/{name}", s.showStatic)
	mux.HandleFunc("GET /{$}", s.showIndex)
	mux.HandleFunc("/", s.enter)
	return mux
}

// enter hands a request to the network that its path begins with: to the page
// for people if it asks for one, else to the API.
func (s *Sim) enter(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p := s.places[network.Name(name)]
	if p == nil {
		s.showMissing(w, "There is no simulated network here.")
		return
	}
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case reading && (rest == "" || p.name == network.Webhook && !strings.HasPrefix(rest, "p/")):
		s.showNetwork(w, r, p, rest)
	case reading && (strings.HasPrefix(rest, "p/") || strings.HasPrefix(rest, "@") || s.hasPage(r, p)):
		s.showPost(w, r, p)
	default:
		// Like a network's front doors, it hears a caller out before it answers: a
		// connection that ends in the middle of what was sent may end without the answer.
		defer func() { _, _ = io.Copy(io.Discard, r.Body) }()
		http.StripPrefix("/"+name, p).ServeHTTP(w, r)
	}
}

// hasPage says whether a post's address leads to r.
func (s *Sim) hasPage(r *http.Request, p *place) bool {
	_, ok := s.state.Load().at(p.name).page(strings.TrimSuffix(r.URL.EscapedPath(), "/"))
	return ok
}

// showMedia gives a file of a post.
func (s *Sim) showMedia(w http.ResponseWriter, r *http.Request) {
	b, ok := s.state.Load().media.get(r.PathValue("id"))
	if !ok || b.kind == "file" || b.mime == "image/svg+xml" {
		s.showMissing(w, "This file is not kept any more.")
		return
	}
	w.Header().Set("Content-Type", b.mime)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Cache-Control", "max-age=3600")
	serveBytes(w, r, b.data)
}

func (s *Sim) showStatic(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{"sim.css": "text/css; charset=utf-8", "page.svg": "image/svg+xml", "sim.js": "text/javascript; charset=utf-8"}
	name := r.PathValue("name")
	data, err := pageFiles.ReadFile("page/" + name)
	if err != nil || types[name] == "" {
		s.showMissing(w, "There is no such file.")
		return
	}
	w.Header().Set("Content-Type", types[name])
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "max-age=60")
	_, _ = w.Write(data)
}
