package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
)

// TestTheWatchSeesWhatItMust breaks a page on purpose in every way that the other
// tests rely on being told about.
func TestTheWatchSeesWhatItMust(t *testing.T) {
	t.Parallel()
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(`console.error("said so"); fetch("/gone"); throw new Error("thrown")`))
		case "/":
			w.Header().Set("Content-Security-Policy", "script-src 'self'; style-src 'self'")
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Bad</title><style>p { width: 900px }</style>
				<p style="color: red">Words</p><img alt="" src="/gone.png"><table width="800"><tr><td>wide</table><script>1</script><script src="/broken.js"></script>`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(bad.Close)
	w, err := here.browser.Open(browser.Phone)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Shut)
	p := &tab{Window: w, t: t}
	p.visit(bad.URL)
	for _, want := range []string{"said so", "thrown", "inline script", "inline style", "status of 404"} {
		p.until("the browser to complain about "+want, func() bool {
			for _, one := range p.Trouble() {
				if strings.Contains(one.Say, want) {
					return true
				}
			}
			return false
		})
	}
	if wide, err := p.Wide(); err != nil || len(wide) < 2 || !strings.Contains(strings.Join(wide, " "), "table") {
		t.Errorf("what is too wide: %v, %v", wide, err)
	}
}
