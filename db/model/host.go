package model

import (
	"net/netip"
	"strings"
)

// HostOf is the name in a Host header or a URL's host: lower case, without port and
// without the dot that ends it.
func HostOf(header string) string {
	host := strings.ToLower(strings.TrimSpace(header))
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}

var errHostShape = RefuseField("host", "Write the host name alone, such as review.agency.example: no https://, no path, no port.")

// CheckHost refuses a name, in its ASCII form, that cannot be a host of somebody's own.
func CheckHost(host string) error {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || len(host) > 253 || !strings.Contains(host, ".") {
		return errHostShape
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return errHostShape
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" {
		return errHostShape // an address in disguise
	}
	return nil
}
