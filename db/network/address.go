package network

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxAddress bounds an account's address, in bytes.
const maxAddress = 2048

// Where a host name ends, by RFC 1035: bytes of a label, and of the whole name.
const (
	maxLabel = 63
	maxHost  = 253
)

// CleanAddress reads the address that a person gives for an account of a network,
// and writes it as it is kept: scheme and host in small letters, the host in ASCII
// without a last dot, no port that is the scheme's own. Of a network whose address is a
// server alone it takes nothing behind that. What is wrong is a sentence in say; whether
// Herald may call the address is asked elsewhere.
func CleanAddress(name Name, raw string) (address, say string) {
	raw = strings.TrimSpace(raw)
	u, say := parseAddress(raw)
	if say != "" {
		return "", say
	}
	host, say := CleanHost(u.Hostname())
	if say != "" {
		return "", say
	}
	port, say := cleanPort(u)
	if say != "" {
		return "", say
	}
	u.Host = host + port
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]" + port
	}
	if u.Path == "/" {
		u.Path = ""
	}
	u.ForceQuery = false
	if n, ok := Get(name); ok && n.Origin && (u.Path != "" || u.RawQuery != "") {
		return "", "Give the server alone, without what comes after its name: " + u.Scheme + "://" + u.Host + "."
	}
	return u.String(), ""
}

const sayNoAddress = "That is not a web address. It should look like https://example.com."

// parseAddress takes the address apart and refuses the parts that none may have.
func parseAddress(raw string) (u *url.URL, say string) {
	switch {
	case len(raw) > maxAddress:
		return nil, "That address is too long: keep it under 2,048 characters."
	case !utf8.ValidString(raw) || strings.ContainsFunc(raw, oddRune):
		return nil, "That address contains spaces or characters that an address cannot have."
	case strings.Contains(raw, "#"):
		return nil, "Leave out the part of the address after #."
	}
	u, err := url.Parse(raw)
	if rest, _, _ := strings.Cut(raw, "/"); strings.Contains(rest, ".") {
		if host, wrong := CleanHost(rest); wrong == "" { // a name without what comes before it
			return nil, "Begin the address with https://, as https://" + host + "."
		}
	}
	if err != nil && strings.Contains(err.Error(), "invalid port") {
		return nil, sayPort
	}
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, sayNoAddress
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil, "Begin the address with https://; nothing else can be used."
	}
	if u.User != nil {
		return nil, "Leave user name and password out of the address."
	}
	return u, ""
}

func oddRune(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\\' || r == '"' || r == '<' || r == '>' || r == unicode.ReplacementChar
}

const sayPort = "The port in the address is a number from 1 to 65535."

// cleanPort is the port with its colon, or nothing where it is the scheme's own.
func cleanPort(u *url.URL) (port, say string) {
	if u.Port() == "" {
		if strings.HasSuffix(u.Host, ":") {
			return "", sayPort
		}
		return "", ""
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil || n < 1 || n > 65535 {
		return "", sayPort
	}
	if n == map[string]int{"https": 443, "http": 80}[u.Scheme] {
		return "", ""
	}
	return ":" + strconv.Itoa(n), ""
}

// CleanHost writes the name of a host as it is kept: in ASCII and small letters,
// without a last dot. Addresses of IP pass. What is wrong is a sentence in say.
func CleanHost(raw string) (host, say string) {
	if addr, err := netip.ParseAddr(raw); err == nil {
		if addr.Zone() != "" {
			return "", "That is not a host name that can be used."
		}
		return addr.String(), ""
	}
	ascii, err := idna.Lookup.ToASCII(raw)
	host = strings.TrimSuffix(ascii, ".")
	for label := range strings.SplitSeq(host, ".") {
		switch {
		case host == "":
			return "", sayNoAddress
		case label == "":
			return "", "The host name in the address has two dots in a row, or begins with one."
		case len(label) > maxLabel:
			return "", "A part of the host name between two dots is longer than 63 characters."
		}
	}
	if len(host) > maxHost {
		return "", "The host name in the address is longer than 253 characters."
	}
	if err != nil {
		return "", "That is not a host name that can be used."
	}
	return strings.ToLower(host), ""
}
