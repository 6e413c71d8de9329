package jobs_test

import (
	"net"
	"sync/atomic"
	"testing"
)

// listener is an inside service that nobody may connect to.
type listener struct {
	addr string
	n    atomic.Int64
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	one := &listener{addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			one.n.Add(1)
			conn.Close()
		}
	}()
	return one
}

func (l *listener) count() int64 { return l.n.Load() }
