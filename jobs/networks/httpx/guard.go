package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
)

// maxRedirects is how many redirects a guarded read follows.
const maxRedirects = 2

// refusal is why an address that a user chose is not called. Its sentence names
// no address, so that it tells nothing about the inside of our network.
type refusal struct{ say string }

func (r *refusal) Error() string { return r.say }

// NewGuarded makes the client for addresses that users choose. It speaks https
// to port 443 of public addresses only; within the prefixes of allow it also
// speaks plain http and to any port. The address actually dialled is checked,
// each time, so no name, redirect or second look-up gets around the rule. A
// read follows two redirects, each checked again and, on another origin,
// without credentials; a write follows none. No connection is kept.
func NewGuarded(o Options, allow []netip.Prefix) *Client {
	return newGuarded(o, guard{allow: slices.Clone(allow), own: net.InterfaceAddrs}, nil)
}

func newGuarded(o Options, g guard, resolver *net.Resolver) *Client {
	c := newClient(o)
	c.check = func(req *http.Request) error { return g.checkURL(req.URL) }
	c.http = &http.Client{
		Transport:     schemes{secure: g.transport(c, resolver, false), plain: g.transport(c, resolver, true)},
		CheckRedirect: g.checkRedirect,
	}
	return c
}

// guard holds the rule for addresses that users choose.
type guard struct {
	allow []netip.Prefix             // where everything is allowed
	own   func() ([]net.Addr, error) // the addresses of this machine
}

func (g guard) transport(c *Client, resolver *net.Resolver, plain bool) *http.Transport {
	t := newTransport(&net.Dialer{
		Timeout:  dialTimeout,
		Resolver: resolver,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			return g.checkDial(network, address, plain)
		},
	}, c.timeout)
	t.Proxy = nil
	t.DisableKeepAlives = true
	return t
}

// schemes sends https and plain http through transports of their own, because
// a dialer does not learn the scheme and http has a stricter rule.
type schemes struct{ secure, plain http.RoundTripper }

func (s schemes) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.URL.Scheme {
	case "https":
		return s.secure.RoundTrip(req)
	case "http":
		return s.plain.RoundTrip(req)
	}
	closeBody(req)
	return nil, &refusal{"Only https addresses can be used."}
}

// checkRedirect follows reads only. What it refuses fails the call; what it
// does not follow comes back as the 3xx that it is.
func (g guard) checkRedirect(req *http.Request, via []*http.Request) error {
	if m := via[0].Method; m != "" && m != http.MethodGet && m != http.MethodHead {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	if err := g.checkURL(req.URL); err != nil {
		return err
	}
	if last := via[len(via)-1].URL; last.Scheme != req.URL.Scheme || last.Host != req.URL.Host || via[0].URL.Host != req.URL.Host {
		req.Header = publicHeaders(req.Header)
	}
	return nil
}

// publicHeaders are the headers that may go to another origin.
func publicHeaders(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
		if v, ok := h[name]; ok {
			kept[name] = v
		}
	}
	return kept
}

// checkDial is the guard itself: it judges the address that a connection is
// about to be made to, after all names are resolved. No prefix contains an
// address with a zone, so those are refused too.
func (g guard) checkDial(network, address string, plain bool) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return &refusal{"Herald does not connect to addresses of that sort."}
	}
	addr := to.Addr().Unmap()
	switch {
	case within(g.allow, addr):
		return nil
	case plain:
		return &refusal{"Only https addresses can be used."}
	case to.Port() != 443:
		return &refusal{"Only the standard https port (443) can be used."}
	case !public(addr), g.isOwn(addr):
		return &refusal{sayInside}
	}
	return nil
}

const sayInside = "That address lies inside a private network, and Herald does not connect to those."

// isOwn tells whether addr belongs to this machine, which a packet to its
// public address would reach from the inside. Not knowing counts as yes.
func (g guard) isOwn(addr netip.Addr) bool {
	own, err := g.own()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap().WithZone("") == addr
	})
}

func within(prefixes []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// public tells whether addr, unmapped and without zone, is an ordinary address
// of the internet. For IPv6 only what is assigned for that (2000::/3) counts,
// which shuts out every form that embeds an IPv4 address.
func public(addr netip.Addr) bool {
	if addr.Is6() && !worldwide.Contains(addr) {
		return false
	}
	return addr.IsGlobalUnicast() && !within(special, addr)
}

var worldwide = netip.MustParsePrefix("2000::/3")

// special are the ranges of the IANA registries that are not the open internet,
// and the one public address that is a cloud's inside.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// ParsePrefixes reads a comma-separated list of CIDRs, as the configuration
// gives it. A single address stands for itself.
func ParsePrefixes(list string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for part := range splitList(list) {
		p, err := netip.ParsePrefix(part)
		if addr, single := netip.ParseAddr(part); err != nil && single == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, errors.New("not an address range: " + part)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
