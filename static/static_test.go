package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestSetUpHasCollectedTheBrowserCode(t *testing.T) {
	t.Parallel()
	if err := Check(); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFileIsKeptForEverWithItsTypeAndBothEncodings(t *testing.T) {
	t.Parallel()
	for name, f := range tree().files {
		plain := get(t, URL(name))
		body, _ := io.ReadAll(plain.Body)
		if plain.StatusCode != 200 || !bytes.Equal(body, f.raw) {
			t.Errorf("%s: status %d, %d bytes", name, plain.StatusCode, len(body))
		}
		if kind := plain.Header.Get("Content-Type"); kind == "" || kind != f.kind {
			t.Errorf("%s: no type for this kind of file", name)
		}
		if c := plain.Header.Get("Cache-Control"); !strings.Contains(c, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, c)
		}
		if f.gzip == nil {
			continue
		}
		packed := get(t, URL(name), "Accept-Encoding", "br, gzip;q=0.8")
		unpack, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if body, _ := io.ReadAll(unpack); !bytes.Equal(body, f.raw) {
			t.Errorf("%s: the packed form differs", name)
		}
	}
}

func TestGzipIsOnlySentToWhoTakesIt(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "br": false, "gzip": true, "deflate, gzip": true, "gzip;q=0": false, "gzip; q=0.5": true, "*": true,
	} {
		if got := takesGzip(accept); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestAnAddressOfAnotherVersionIsNotKept(t *testing.T) {
	t.Parallel()
	res := get(t, "/static/000000000000/css/app.css")
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("status %d, Cache-Control %q", res.StatusCode, res.Header.Get("Cache-Control"))
	}
	again := get(t, "/static/000000000000/css/app.css", "If-None-Match", res.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("asked again: status %d", again.StatusCode)
	}
}

func TestOnlyFilesOfTheTreeAreServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "css", "css/", "dist/.gitignore", "package.json", "static.go", "../go.mod", "css/none.css"} {
		if res := get(t, prefix+tree().hash+"/"+name); res.StatusCode != http.StatusNotFound {
			t.Errorf("%q: status %d", name, res.StatusCode)
		}
	}
}

func TestTheStyleSheetBeginsWithTheOrderOfLayers(t *testing.T) {
	t.Parallel()
	if css := string(tree().files["css/app.css"].raw); !strings.HasPrefix(css, "@layer reset") {
		t.Errorf("it begins with %.60q", css)
	}
}

// TestSheetsOfSinglePagesStandApart: what only the library shows is not part of
// what every page loads.
func TestSheetsOfSinglePagesStandApart(t *testing.T) {
	t.Parallel()
	all, apart := string(tree().files["css/app.css"].raw), string(tree().files["css/library.css"].raw)
	if strings.Contains(all, ".library-bar") || !strings.Contains(apart, ".library-bar") || strings.Contains(apart, ".shell-main {") {
		t.Error("the sheets are mixed")
	}
}

func TestTheHashFollowsEveryByteAndName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, raw := range []map[string][]byte{
		{"a.css": []byte("x")}, {"a.css": []byte("y")}, {"b.css": []byte("x")}, {"a.css": []byte("x"), "b.css": nil},
	} {
		seen[build(raw).hash] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d hashes of 4 trees", len(seen))
	}
}

var address = regexp.MustCompile(`"((?:css|js|img|dist)/[\w./-]+\.\w+)"`)

func TestEveryFileThatViewsNameIsThere(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("../views", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".templ" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range address.FindAllSubmatch(text, -1) {
			if tree().files[string(m[1])] == nil {
				t.Errorf("%s names %s, which is not in static", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
