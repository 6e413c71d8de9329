package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// listenWeb takes the address a person asked for, or says in a sentence why not.
func listenWeb(ctx context.Context, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("something else listens on %s already; stop it, or choose another address with --addr", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s; choose a port above 1023 with --addr", addr)
	case err != nil:
		return nil, fmt.Errorf("%s is no address to listen on, as 127.0.0.1:8080 is: %w", addr, err)
	}
	return l, nil
}

// listenBeside takes the port that is step behind the web's, or any free one.
func listenBeside(ctx context.Context, web net.Listener, step int) (net.Listener, error) {
	host, text, _ := net.SplitHostPort(web.Addr().String())
	port, _ := strconv.Atoi(text)
	var lc net.ListenConfig
	if l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port+step))); err == nil {
		return l, nil
	}
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("no port is free: %w", err)
	}
	return l, nil
}

// address is a listener's as a browser on this machine reaches it.
func address(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// serve answers on l until stop, which lets answers that were begun end.
func serve(l net.Listener, h http.Handler) (stop func()) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends by stop
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
		<-done
	}
}

// door is the web's handler, which is put in place when it is ready.
type door struct{ inner atomic.Pointer[http.Handler] }

func (d *door) open(h http.Handler) { d.inner.Store(&h) }

// ServeHTTP asks people to wait until the door is open.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := d.inner.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Refresh", "1")
	http.Error(w, "The demo is getting ready. This page tries again by itself.", http.StatusServiceUnavailable)
}

// onlyMedia lets nobody in but the networks that fetch pictures: what is behind
// lives in the past while the demo's month is made.
func onlyMedia(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/m/", h)
	mux.Handle("/", &door{})
	return mux
}

// here reaches our own base address on this machine, whatever it is called
// outside: the simulated networks fetch media from it.
type here struct{ base, at string }

// RoundTrip sends what is for the base address to the listener.
func (t here) RoundTrip(r *http.Request) (*http.Response, error) {
	if rest, ours := strings.CutPrefix(r.URL.String(), t.base+"/"); ours {
		again, err := http.NewRequestWithContext(r.Context(), r.Method, t.at+"/"+rest, nil)
		if err != nil {
			return nil, err
		}
		again.Header = r.Header
		r = again
	}
	return http.DefaultTransport.RoundTrip(r)
}
