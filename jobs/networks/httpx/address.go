package httpx

import (
	"iter"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"herald/db/model"
	"herald/db/network"
)

// maxAddress is the longest address that is taken from a person.
const maxAddress = 2048

// CheckAddress tells at save time, in one sentence for the person (a
// *model.Refusal), that an address they typed will not be called. It looks at
// the address only, not at what its name resolves to: it is there to be
// friendly, the guarded client's dialer to be safe.
func CheckAddress(raw string, allow []netip.Prefix) error {
	g := guard{allow: allow}
	err := g.checkRaw(raw)
	if err == nil {
		return nil
	}
	return model.Refuse(model.Unprocessable, err.Error())
}

func (g guard) checkRaw(raw string) error {
	switch {
	case raw == "":
		return &refusal{"Enter an address that starts with https://."}
	case len(raw) > maxAddress:
		return &refusal{"That address is too long."}
	case strings.ContainsFunc(raw, oddRune):
		return &refusal{"That address contains spaces or characters that an address cannot have."}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return &refusal{"That is not a web address. It should look like https://example.com/path."}
	}
	if u.Fragment != "" || strings.Contains(raw, "#") {
		return &refusal{"Leave out the part of the address after #."}
	}
	if err := g.checkURL(u); err != nil {
		return err
	}
	return g.checkHost(u)
}

func oddRune(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\\' || r == unicode.ReplacementChar
}

// checkURL is what every guarded call must satisfy before a name is looked up.
func (g guard) checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || len(g.allow) == 0):
		return &refusal{"Only https addresses can be used."}
	case u.Opaque != "" || u.Hostname() == "":
		return &refusal{"That is not a web address. It should look like https://example.com/path."}
	case u.User != nil:
		return &refusal{"Leave user name and password out of the address."}
	}
	return nil
}

// checkHost judges the host by its looks. Where some private addresses are
// allowed, a name may lead there, and only the dialer can tell.
func (g guard) checkHost(u *url.URL) error {
	if addr, bad := netip.ParseAddr(u.Hostname()); bad == nil {
		return g.checkLiteral(addr)
	}
	host, say := network.CleanHost(u.Hostname())
	if say != "" {
		return &refusal{say}
	}
	if addr, bad := netip.ParseAddr(host); bad == nil {
		return g.checkLiteral(addr)
	}
	if numeric(host) {
		return &refusal{"Use the name of the host, not its number."}
	}
	if len(g.allow) > 0 {
		return nil
	}
	if p := u.Port(); p != "" && p != "443" {
		return &refusal{"Only the standard https port (443) can be used."}
	}
	if !strings.Contains(host, ".") || insideName(host) {
		return &refusal{sayInside}
	}
	return nil
}

func (g guard) checkLiteral(addr netip.Addr) error {
	switch plain := addr.Unmap(); {
	case within(g.allow, plain):
		return nil
	case !public(plain):
		return &refusal{sayInside}
	}
	return &refusal{"Use the name of the host, not its number."}
}

// numeric tells whether a host is one of the short, decimal, octal or hex forms
// of an IPv4 address that some resolvers read: its last label is a number.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// insideNames are names, with all names below them, that never lead to the open
// internet or lead to a cloud's metadata.
var insideNames = []string{
	"localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "svc",
	"metadata.tencentyun.com", "metadata.goog", "localtest.me", "lvh.me", "nip.io", "sslip.io", "1u.ms",
}

func insideName(host string) bool {
	return slices.ContainsFunc(insideNames, func(n string) bool {
		return host == n || strings.HasSuffix(host, "."+n)
	})
}

// splitList yields the non-empty parts of a comma-separated list.
func splitList(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(list, ",") {
			if part = strings.TrimSpace(part); part != "" && !yield(part) {
				return
			}
		}
	}
}
