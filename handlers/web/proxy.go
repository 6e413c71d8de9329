package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Behind makes RemoteAddr the address of whoever asked, where trusted proxies
// stand in front: each of them adds to the end of X-Forwarded-For whom it was
// asked by. Read from the end, the first address that is no trusted proxy's is
// the visitor's; what stands before it anybody may have written. A request that
// comes from elsewhere keeps its address, whatever it says in headers.
func Behind(trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := visitor(r, trusted); from.IsValid() {
			asked := *r
			asked.RemoteAddr = netip.AddrPortFrom(from, 0).String()
			r = &asked
		}
		next.ServeHTTP(w, r)
	})
}

// visitor is the address that the trusted proxies vouch for; invalid if the
// request comes from none of them, or none of them says.
func visitor(r *http.Request, trusted []netip.Prefix) (from netip.Addr) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !within(peer.Addr(), trusted) {
		return netip.Addr{}
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, one := range slices.Backward(said) {
		addr, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			return from // what no proxy of ours wrote ends the chain
		}
		if from = addr.Unmap(); !within(from, trusted) {
			return from
		}
	}
	return from
}

func within(addr netip.Addr, list []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}
