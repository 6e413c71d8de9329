// Package static holds what browsers fetch: our css, js and img, and in dist the
// code and fonts of others, which `go tool task setup` collects from npm. One
// hash of the whole tree is part of every address, so an answer may be kept for
// ever and a page never mixes two versions. It promises that modules and styles
// find each other by relative addresses. Start with URL and Handler.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed css js img all:dist
var files embed.FS

// prefix is where Handler must be mounted.
const prefix = "/static/"

// URL is the address of a file of the tree, as in URL("css/app.css").
func URL(name string) string { return prefix + tree().hash + "/" + name }

// Symbol is the source of one symbol of an SVG file of the tree, to be put into a
// page that draws it a hundred times. Empty if there is none.
func Symbol(name, id string) string {
	f := tree().files[name]
	if f == nil {
		return ""
	}
	_, rest, found := strings.Cut(string(f.raw), `<symbol id="`+id+`"`)
	body, _, closed := strings.Cut(rest, "</symbol>")
	if !found || !closed {
		return ""
	}
	return `<symbol id="` + id + `"` + body + "</symbol>"
}

// SymbolPlace is where a symbol stands among those of an SVG file of the tree,
// counted from 1; 0 if it is not among them.
func SymbolPlace(name, id string) int {
	f := tree().files[name]
	if f == nil {
		return 0
	}
	return f.symbols[id]
}

var symbolID = regexp.MustCompile(`<symbol id="([^"]+)"`)

// symbolsOf numbers the symbols of an SVG file.
func symbolsOf(name string, raw []byte) map[string]int {
	places := map[string]int{}
	if path.Ext(name) != ".svg" {
		return places
	}
	for i, m := range symbolID.FindAllSubmatch(raw, -1) {
		places[string(m[1])] = i + 1
	}
	return places
}

// Check says what to run when the browser code of others is missing, as it is
// in a checkout that was built before its first set-up.
func Check() error {
	for _, name := range []string{"dist/htmx.min.js", "dist/icons.svg"} {
		if tree().files[name] == nil {
			return errors.New("the browser code is missing from this build: run `go tool task setup`, then build again")
		}
	}
	return nil
}

// Handler answers GET /static/{hash}/{name}. An address with another hash comes
// from a page of another version: it gets the file as it is here, to be asked
// for again next time.
func Handler() http.Handler {
	t := tree()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, prefix), "/")
		f := t.files[name]
		switch {
		case f == nil:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET.", http.StatusMethodNotAllowed)
		case hash != t.hash:
			f.serve(w, r, "no-cache")
		default:
			f.serve(w, r, "public, max-age=31536000, immutable")
		}
	})
}

type file struct {
	kind string // the media type
	etag string
	raw  []byte
	gzip []byte // nil where it saves nothing

	symbols map[string]int // where each symbol stands, of an SVG file
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", cache)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", f.etag)
	body := f.raw
	if f.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			body = f.gzip
		}
	}
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the browser left
	}
}

func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" || name == "*" {
			return !slices.Contains([]string{"q=0", "q=0.0", "q=0.00", "q=0.000"}, strings.TrimSpace(q))
		}
	}
	return false
}

// kinds are the only types of file that the tree may hold.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg", ".ico": "image/x-icon",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".json": "application/json",
	".webmanifest": "application/manifest+json", ".html": "text/html; charset=utf-8",
}

type builtTree struct {
	hash  string
	files map[string]*file
}

// tree reads the embedded files once; they cannot change while we run.
var tree = sync.OnceValue(func() builtTree {
	raw := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			raw[name], err = files.ReadFile(name)
		}
		return err
	})
	if err != nil {
		panic(err) // an embedded file system cannot fail to be read
	}
	bundle(raw)
	return build(raw)
})

// bundle makes css/app.css of all style sheets, so that a page asks once, and of
// those in a folder, as css/library, a sheet for the pages that have use for it.
// The order of layers stands in layers.css; within a layer it is by file name.
func bundle(raw map[string][]byte) {
	if raw["css/app.css"] != nil {
		return
	}
	all := map[string][]byte{"css/app.css": bytes.Clone(raw["css/layers.css"])}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		into := "css/app.css"
		switch dir := path.Dir(name); {
		case path.Dir(dir) == "css":
			into = dir + ".css"
		case dir != "css" || name == "css/layers.css":
			continue
		}
		all[into] = append(append(all[into], '\n'), raw[name]...)
	}
	maps.Copy(raw, all)
}

func build(raw map[string][]byte) builtTree {
	t := builtTree{files: map[string]*file{}}
	whole := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		sum := sha256.Sum256(raw[name])
		fmt.Fprintf(whole, "%s %x\n", name, sum)
		t.files[name] = &file{
			kind: kinds[path.Ext(name)],
			etag: fmt.Sprintf(`"%x"`, sum[:8]),
			raw:  raw[name],
			gzip: compressed(raw[name]),

			symbols: symbolsOf(name, raw[name]),
		}
	}
	t.hash = fmt.Sprintf("%x", whole.Sum(nil)[:6])
	return t
}

func compressed(raw []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(raw)
	_ = w.Close() // a buffer takes everything
	if out.Len() > len(raw)*9/10 {
		return nil
	}
	return out.Bytes()
}
