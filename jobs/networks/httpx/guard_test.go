package httpx

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"herald/db/model"
	"herald/jobs/networks/fault"
)

// inside are addresses of every class that leads, or may lead, to something
// that is not the open internet.
var inside = []string{
	"127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", // loopback and private
	"0.0.0.0", "0.1.2.3", "::", "::1", // this host
	"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "::ffff:10.0.0.1", // IPv4-mapped
	"::7f00:1", "::127.0.0.1", "::a9fe:a9fe", // IPv4-compatible
	"::ffff:0:7f00:1", "::ffff:0:a9fe:a9fe", // IPv4-translated
	"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1:fffe::1", // NAT64
	"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", // 6to4
	"2001::1", "2001:0:7f00:1::", "2001:10::1", // Teredo and other assignments of 2001::/23
	"100.64.0.1", "100.100.100.200", "100.127.255.254", // shared address space
	"198.18.0.1", "198.19.255.254", "192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1", // benchmark, IETF, documentation
	"192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1", // AS112, AMT, 6to4 relay
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", // multicast and reserved
	"169.254.169.254", "169.254.170.2", "169.254.0.23", "fe80::1", "fe80::1%eth0", "::1%lo", "2606:4700::1%eth0", // link-local and zones
	"fc00::1", "fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fec0::1", "100::1", "2001:db8::1", "3fff::1", "5f00::1", "ff02::1", "2620:4f:8000::1",
	"168.63.129.16", "::ffff:168.63.129.16", // Azure's inside
	"8000::1", "4000::1", "200::1", // not assigned
}

var outside = []string{
	"8.8.8.8", "1.1.1.1", "93.184.216.34", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.255.255",
	"172.32.0.1", "169.253.255.255", "223.255.255.254", "168.63.129.17", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::8", "2001:4860:4860::8888",
}

func noOwn() ([]net.Addr, error) { return nil, nil }

func dialAddress(addr string) (network, address string) {
	network = "tcp4"
	if strings.Contains(addr, ":") {
		network = "tcp6"
	}
	return network, net.JoinHostPort(addr, "443")
}

func TestGuardRefusesEveryClassOfInsideAddress(t *testing.T) {
	t.Parallel()
	g := guard{own: noOwn}
	for _, addr := range inside {
		if network, address := dialAddress(addr); g.checkDial(network, address, false) == nil {
			t.Errorf("%s: dialled, want refused", addr)
		}
	}
}

func TestGuardDialsPublicAddressesOnTheHTTPSPortOnly(t *testing.T) {
	t.Parallel()
	g := guard{own: noOwn}
	for _, addr := range outside {
		network, address := dialAddress(addr)
		if err := g.checkDial(network, address, false); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		if g.checkDial(network, address, true) == nil {
			t.Errorf("%s: dialled for plain http, want refused", addr)
		}
		for _, port := range []string{"22", "25", "80", "2375", "6379", "8443", "11211"} {
			if g.checkDial(network, net.JoinHostPort(addr, port), false) == nil {
				t.Errorf("%s port %s: dialled, want refused", addr, port)
			}
		}
	}
	for _, network := range []string{"tcp", "udp4", "unix", ""} {
		if g.checkDial(network, "8.8.8.8:443", false) == nil {
			t.Errorf("network %q: dialled, want refused", network)
		}
	}
}

func TestGuardAllowsEverythingWithinTheAllowedPrefixesAndNothingBeside(t *testing.T) {
	t.Parallel()
	allow, err := ParsePrefixes("10.1.0.0/16, 192.168.7.7 ,fd00:1::/32")
	if err != nil {
		t.Fatal(err)
	}
	g := guard{allow: allow, own: noOwn}
	for _, addr := range []string{"10.1.2.3", "::ffff:10.1.2.3", "192.168.7.7", "fd00:1::9"} {
		network, _ := dialAddress(addr)
		if err := g.checkDial(network, net.JoinHostPort(addr, "8080"), true); err != nil {
			t.Errorf("%s over http: %v", addr, err)
		}
	}
	for _, addr := range []string{"10.2.0.1", "192.168.7.8", "fd00:2::9", "127.0.0.1", "fd00:1::9%eth0"} {
		if network, address := dialAddress(addr); g.checkDial(network, address, false) == nil {
			t.Errorf("%s: dialled, want refused", addr)
		}
	}
	for _, bad := range []string{"10.0.0.0/33", "localhost", "10.0.0", "1.2.3.4/8/8"} {
		if _, err := ParsePrefixes(bad); err == nil {
			t.Errorf("ParsePrefixes(%q): no error", bad)
		}
	}
}

func TestGuardRefusesThisMachinesOwnPublicAddress(t *testing.T) {
	t.Parallel()
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("93.184.216.34"), Mask: net.CIDRMask(24, 32)}}, nil
	}
	g := guard{own: own}
	if g.checkDial("tcp4", "93.184.216.34:443", false) == nil {
		t.Error("own address: dialled, want refused")
	}
	if err := g.checkDial("tcp4", "93.184.216.35:443", false); err != nil {
		t.Errorf("neighbour: %v", err)
	}
	g.own = func() ([]net.Addr, error) { return nil, io.ErrUnexpectedEOF }
	if g.checkDial("tcp4", "8.8.8.8:443", false) == nil {
		t.Error("own addresses unknown: dialled, want refused")
	}
}

// tricks are forms of addresses that lead, in one reader or another, inside.
var tricks = []string{
	"", "example.com", "//example.com", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com", "unix:/run/x", "javascript:alert(1)",
	"http://example.com/", "HTTP://example.com/",
	"https://127.0.0.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://127.1/", "https://127.0.1/",
	"https://0/", "https://017700000001/", "https://127.000.000.001/", "https://127.0.0.1./",
	"https://[::1]/", "https://[::]/", "https://[0:0:0:0:0:0:0:1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/",
	"https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://[fe80::1%25eth0]/", "https://[fd00:ec2::254]/", "https://169.254.169.254/latest",
	"https://8.8.8.8/", "https://[2606:4700:4700::1111]/",
	"https://user@example.com/", "https://user:pw@example.com/", "https://example.com@127.0.0.1/", "https://127.0.0.1:80@example.com/", "https://127.0.0.1%2f@example.com/",
	"https://127.0.0.1#@example.com/", "https://example.com/#x", `https://example.com\@127.0.0.1/`, "https://127%2e0%2e0%2e1/", "https://exa\tmple.com/", "https://example.com/ x",
	"https:127.0.0.1", "https:///127.0.0.1", "https://", "https://:443/",
	"https://127。0。0。1/", "https://127．0．0．1/", "https://１２７.０.０.１/", "https://①②⑦.⓪.⓪.①/", "https://ⓛocalhost/", "https://ｌｏｃａｌｈｏｓｔ./",
	"https://LOCALHOST/", "https://localhost./", "https://a.localhost/", "https://metadata/", "https://metadata.google.internal./", "https://METADATA.GOOGLE.INTERNAL/",
	"https://kubernetes.default.svc/", "https://db/", "https://redis/", "https://printer.local/", "https://nas.home.arpa/",
	"https://127.0.0.1.nip.io/", "https://169.254.169.254.sslip.io/", "https://localtest.me/", "https://make-1.2.3.4-rebind-127.0.0.1-rr.1u.ms/",
	"https://example.com:22/", "https://example.com:80/", "https://example.com:8443/",
	"https://exam\u200bple.com/", "https://example.com/\x00", "https://xn--/", "https://" + strings.Repeat("a", 2100) + ".com/",
}

func TestCheckAddressRefusesTricksInOneSentence(t *testing.T) {
	t.Parallel()
	for _, raw := range tricks {
		err := CheckAddress(raw, nil)
		no, ok := model.Refused(err)
		if !ok || no.Kind != model.Unprocessable {
			t.Errorf("%q: got %v, want a refusal", raw, err)
			continue
		}
		if !strings.HasSuffix(no.Say, ".") || strings.Contains(no.Say, "127") {
			t.Errorf("%q: not a sentence, or it shows the address: %q", raw, no.Say)
		}
	}
}

func TestCheckAddressTakesOrdinaryAddresses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://example.com", "https://example.com:443/hook?x=1&y=2", "https://EXAMPLE.com./hook", "https://bücher.example.com/", "https://xn--bcher-kva.example.com/",
		"https://hooks.zapier.com/hooks/catch/1/abc/", "https://1.example.com/", "https://a.b.c.d.example.co.uk/%2e%2e",
	} {
		if err := CheckAddress(raw, nil); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
	allow := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, raw := range []string{"http://127.0.0.1:9090/x", "https://127.0.0.1/", "http://localhost:9090", "http://receiver:8080/hook"} {
		if err := CheckAddress(raw, allow); err != nil {
			t.Errorf("%q within the allowed range: %v", raw, err)
		}
	}
	for _, raw := range []string{"http://10.0.0.1/", "https://[::1]/", "https://8.8.8.8/", "http://u@127.0.0.1/", "https://2130706433/"} {
		if CheckAddress(raw, allow) == nil {
			t.Errorf("%q beside the allowed range: taken, want refused", raw)
		}
	}
}

func FuzzCheckAddressNeverTakesWhatTheGuardWouldRefuseByLooks(f *testing.F) {
	for _, raw := range tricks {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if CheckAddress(raw, nil) != nil {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Hostname() == "" || (u.Port() != "" && u.Port() != "443") {
			t.Errorf("taken: %q", raw)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err == nil {
			t.Errorf("taken: the literal %q", raw)
		}
	})
}

// TestGuardedClientReachesNothingInsideByAnyTrick sends a request to every
// trick, with a listener on the loopback that must stay untouched.
func TestGuardedClientReachesNothingInsideByAnyTrick(t *testing.T) {
	t.Parallel()
	c := NewGuarded(Options{Timeout: 2 * time.Second}, nil)
	c.http.Transport = schemes{
		secure: newGuarded(Options{Timeout: time.Second}, guard{own: noOwn}, nowhere()).http.Transport.(schemes).secure,
		plain:  newGuarded(Options{Timeout: time.Second}, guard{own: noOwn}, nowhere()).http.Transport.(schemes).plain,
	}
	for _, raw := range tricks {
		u, err := url.Parse(raw)
		if err != nil || strings.HasPrefix(u.Hostname(), "example.com") || u.Hostname() == "8.8.8.8" || u.Hostname() == "2606:4700:4700::1111" {
			continue
		}
		answer, err := c.Do(t.Context(), nil, Commit, &http.Request{Method: http.MethodPost, URL: u, Header: http.Header{}})
		if f := fault.Of(err); answer != nil || f == nil || f.Kind == fault.Unknown {
			t.Errorf("%q: answer %v, fault %v; want refused or not found", raw, answer, err)
		}
	}
}

func TestGuardedClientRefusesALoopbackServerUnlessAllowed(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer srv.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer secure.Close()

	for _, address := range []string{srv.URL, secure.URL} {
		_, err := NewGuarded(Options{}, nil).Do(t.Context(), nil, Commit, get(t, address))
		if f := fault.Of(err); f == nil || f.Kind != fault.Validation || f.Code != "address_refused" {
			t.Errorf("not allowed: got %v, want address_refused", err)
		}
	}
	if hits.Load() != 0 {
		t.Fatal("the server was reached")
	}
	answer, err := loopback(t).Do(t.Context(), nil, Commit, get(t, srv.URL))
	if err != nil || answer.Status != 200 {
		t.Errorf("allowed: %v, %v", answer, err)
	}
	_, err = loopback(t).Do(t.Context(), nil, Commit, get(t, strings.Replace(srv.URL, "http://", "http://user:pw@", 1)))
	if f := fault.Of(err); f == nil || f.Code != "address_refused" {
		t.Errorf("with user name and password: got %v, want address_refused", err)
	}
}

func TestGuardedClientIgnoresTheEnvironmentsProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	s := NewGuarded(Options{}, nil).http.Transport.(schemes)
	for _, rt := range []http.RoundTripper{s.secure, s.plain} {
		if tr := rt.(*http.Transport); tr.Proxy != nil || !tr.DisableKeepAlives {
			t.Error("a guarded transport has a proxy or keeps connections")
		}
	}
}

func TestGuardedClientIsNotFooledByANameThatChangesItsAnswer(t *testing.T) {
	t.Parallel()
	var hits, inner atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer srv.Close()
	port := srv.Listener.Addr().(*net.TCPAddr).Port
	secret := listenOn(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), uint16(port)), &inner)
	defer secret.Close()

	names := &nameServer{answers: [][4]byte{{127, 0, 0, 1}}}
	g := guard{allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, own: noOwn}
	c := newGuarded(Options{Timeout: 5 * time.Second}, g, names.resolver())
	address := "http://rebind.attacker.net:" + itoa(port) + "/"

	if _, err := c.Do(t.Context(), nil, Commit, get(t, address)); err != nil {
		t.Fatalf("first look-up, an allowed address: %v", err)
	}
	names.set([][4]byte{{127, 0, 0, 2}})
	_, err := c.Do(t.Context(), nil, Commit, get(t, address))
	if f := fault.Of(err); f == nil || f.Code != "address_refused" {
		t.Errorf("second look-up, an address inside: got %v, want address_refused", err)
	}
	names.set([][4]byte{{127, 0, 0, 2}, {127, 0, 0, 1}})
	if _, err := c.Do(t.Context(), nil, Commit, get(t, address)); err != nil {
		t.Errorf("mixed answer: %v, want the allowed one to be used", err)
	}
	if hits.Load() != 2 || inner.Load() != 0 {
		t.Errorf("allowed server hit %d times, inner %d; want 2 and 0", hits.Load(), inner.Load())
	}
}

func listenOn(t *testing.T, at netip.AddrPort, hits *atomic.Int32) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatalf("listen on a second loopback address: %v", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	return s
}

// nameServer answers every A question with its addresses.
type nameServer struct {
	answers [][4]byte
	now     atomic.Pointer[[][4]byte]
}

func (n *nameServer) set(a [][4]byte) { n.now.Store(&a) }

// nowhere is a resolver that knows no name.
func nowhere() *net.Resolver { return (&nameServer{}).resolver() }

func (n *nameServer) resolver() *net.Resolver {
	n.set(n.answers)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.serve(server)
		return client, nil
	}}
}

func (n *nameServer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		msg := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, msg); err != nil {
			return
		}
		out := n.answer(msg)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}

func (n *nameServer) answer(msg []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(msg) != nil || len(m.Questions) == 0 {
		return nil
	}
	q, addrs := m.Questions[0], *n.now.Load()
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	if len(addrs) == 0 {
		m.Header.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: a},
			})
		}
	}
	out, _ := m.Pack()
	return out
}
