package jobs_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"herald/db"
	"herald/db/dbtest"
)

// cable is a connection to Postgres that can be pulled out.
type cable struct {
	t      *testing.T
	addr   string // where it listens
	target string // the socket of the real server

	mu    sync.Mutex
	l     net.Listener
	conns map[net.Conn]bool
}

// plug lays a cable to the test's Postgres.
func plug(t *testing.T, w *dbtest.World) *cable {
	t.Helper()
	u, err := url.Parse(w.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{t: t, addr: "127.0.0.1:0", target: u.Query().Get("host") + "/.s.PGSQL." + u.Query().Get("port"), conns: map[net.Conn]bool{}}
	c.mend()
	t.Cleanup(c.cut)
	return c
}

// through are the options of a world by way of the cable.
func (c *cable) through(o db.Options) db.Options {
	over := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			c.t.Fatal(err)
		}
		u.Host, u.RawQuery = c.addr, "sslmode=disable"
		return u.String()
	}
	o.Control = over(o.Control)
	shards := map[string]string{}
	for name, address := range o.Shards {
		shards[name] = over(address)
	}
	o.Shards = shards
	return o
}

// cut ends every connection and refuses new ones.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.l.Close()
	for conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
}

// mend lets connections through, again at the same address.
func (c *cable) mend() {
	c.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", c.addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.l, c.addr = l, l.Addr().String()
	c.mu.Unlock()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			c.join(near)
		}
	}()
}

func (c *cable) join(near net.Conn) {
	far, err := (&net.Dialer{}).DialContext(context.Background(), "unix", c.target)
	if err != nil {
		near.Close()
		return
	}
	c.mu.Lock()
	c.conns[near], c.conns[far] = true, true
	c.mu.Unlock()
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		to.Close()
		from.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.conns, to)
		delete(c.conns, from)
	}
	go carry(far, near)
	go carry(near, far)
}
