package httpx

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

const dialTimeout = 10 * time.Second

// newTransport speaks HTTP/1.1 only, one request at a time on a connection:
// HTTP/2 would share a connection between publishes, so that one reset made all
// of them unknown, and it has retries of its own.
func newTransport(d *net.Dialer, timeout time.Duration) *http.Transport {
	t := &http.Transport{
		DialContext:            counted(d),
		Protocols:              new(http.Protocols),
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  timeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        idle,
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// once copies req so that net/http has no way to send it again. It re-sends
// when a reused connection dies, if the body can be rewound (GetBody) or if
// there is none and the request carries an Idempotency-Key; it looks for that
// header under its canonical name only, and servers take any case.
func once(ctx context.Context, req *http.Request, agent string) *http.Request {
	r := req.Clone(ctx)
	r.GetBody = nil
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if v, ok := r.Header[name]; ok {
			delete(r.Header, name)
			r.Header[strings.ToLower(name)] = v
		}
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", agent)
	}
	return r
}

// wire watches whether a byte of one request left for the network.
type wire struct {
	headers atomic.Bool // the headers were written, if only to a buffer
	conn    atomic.Pointer[countedConn]
	before  atomic.Int64 // bytes that the connection had carried already
}

func (w *wire) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			conn := info.Conn
			if t, ok := conn.(*tls.Conn); ok {
				conn = t.NetConn()
			}
			if c, ok := conn.(*countedConn); ok {
				w.before.Store(c.written.Load())
				w.conn.Store(c)
			}
		},
		WroteHeaders: func() { w.headers.Store(true) },
	})
}

// sent is false only if it is certain that nothing that could take effect left:
// a request whose headers did not get out whole does not, and one that sits in
// a buffer of a dead connection does not either.
func (w *wire) sent() bool {
	c := w.conn.Load()
	return w.headers.Load() && (c == nil || c.written.Load() > w.before.Load())
}

// countedConn counts the bytes that the kernel took.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

func counted(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}
