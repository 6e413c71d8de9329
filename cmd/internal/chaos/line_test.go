package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"herald/db/cluster"
)

// line is a Postgres that can be stopped and started while everybody keeps its
// address: a server of our own behind a socket that stays.
type line struct {
	dir    string
	l      net.Listener
	mu     sync.Mutex
	server *cluster.Cluster
}

var theLine line

// open starts the server and makes it the one that all tests here use.
func (l *line) open() {
	var err error
	if l.dir, err = os.MkdirTemp("", "herald-chaos"); err != nil {
		panic(err)
	}
	if err = l.startServer(); err != nil {
		panic(err)
	}
	if l.l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		panic(err)
	}
	go l.serve()
	_ = os.Setenv("HERALD_TEST_DATABASE_URL", fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", cluster.Superuser, l.l.Addr()))
}

func (l *line) startServer() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := cluster.Start(ctx, cluster.Options{Dir: l.dir + "/pg", Durable: true})
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	return err
}

// stop stops the server; connections are cut and new ones refused.
func (l *line) stop() {
	l.mu.Lock()
	server := l.server
	l.server = nil
	l.mu.Unlock()
	if server != nil {
		server.Stop()
	}
}

// close ends it and clears up. It may be called without an open.
func (l *line) close() {
	if l.l == nil {
		return
	}
	l.l.Close()
	l.stop()
	_ = os.RemoveAll(l.dir)
}

func (l *line) serve() {
	for {
		near, err := l.l.Accept()
		if err != nil {
			return
		}
		go l.join(near)
	}
}

func (l *line) join(near net.Conn) {
	defer near.Close()
	far, err := l.dial()
	if err != nil {
		return
	}
	defer far.Close()
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go carry(far, near)
	go carry(near, far)
	<-done
}

func (l *line) dial() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil, net.ErrClosed
	}
	u, err := url.Parse(l.server.URL(cluster.Superuser, "postgres"))
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(context.Background(), "unix", u.Query().Get("host")+"/.s.PGSQL."+u.Query().Get("port"))
}
