package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:f::/48")}
	for name, c := range map[string]struct {
		peer string
		said []string
		want string
	}{
		"nobody stands in front":          {"192.0.2.1:4000", nil, "192.0.2.1:4000"},
		"a stranger says who it is":       {"192.0.2.1:4000", []string{"203.0.113.7"}, "192.0.2.1:4000"},
		"a stranger claims to be a proxy": {"192.0.2.1:4000", []string{"203.0.113.7, 10.0.0.1"}, "192.0.2.1:4000"},
		"one proxy":                       {"10.0.0.1:4000", []string{"203.0.113.7"}, "203.0.113.7:0"},
		"two proxies":                     {"10.0.0.1:4000", []string{"203.0.113.7, 10.2.0.1"}, "203.0.113.7:0"},
		"a visitor who writes one too":    {"10.0.0.1:4000", []string{"198.51.100.9, 203.0.113.7"}, "203.0.113.7:0"},
		"a visitor who names a proxy":     {"10.0.0.1:4000", []string{"198.51.100.9, 10.9.9.9, 203.0.113.7, 10.2.0.1"}, "203.0.113.7:0"},
		"several headers":                 {"10.0.0.1:4000", []string{"198.51.100.9", "203.0.113.7", "10.2.0.1"}, "203.0.113.7:0"},
		"rubbish before the visitor":      {"10.0.0.1:4000", []string{"<script>, 203.0.113.7"}, "203.0.113.7:0"},
		"rubbish at the end":              {"10.0.0.1:4000", []string{"203.0.113.7, unknown"}, "10.0.0.1:4000"},
		"rubbish behind the last proxy":   {"10.0.0.1:4000", []string{"unknown, 10.2.0.1"}, "10.2.0.1:0"},
		"nothing said":                    {"10.0.0.1:4000", nil, "10.0.0.1:4000"},
		"nothing in it":                   {"10.0.0.1:4000", []string{""}, "10.0.0.1:4000"},
		"everybody is inside":             {"10.0.0.1:4000", []string{"10.3.0.1, 10.2.0.1"}, "10.3.0.1:0"},
		"IPv6":                            {"[2001:db8:f::1]:4000", []string{"2001:db8:1::5"}, "[2001:db8:1::5]:0"},
		"IPv4 in IPv6":                    {"[::ffff:10.0.0.1]:4000", []string{"::ffff:203.0.113.7"}, "203.0.113.7:0"},
		"a socket":                        {"@", []string{"203.0.113.7"}, "@"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = c.peer
		for _, said := range c.said {
			r.Header.Add("X-Forwarded-For", said)
		}
		got := ""
		h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })
		Behind(trusted, h).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if r.RemoteAddr != c.peer {
			t.Errorf("%s: the request of others was changed", name)
		}
		Behind(nil, h).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.peer {
			t.Errorf("%s: without a setting it is %s", name, got)
		}
	}
}
