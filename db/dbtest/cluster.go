package dbtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"herald/db/cluster"
)

// Server is the Postgres that a test binary uses.
type Server struct {
	url func(user, database string) string
}

// URL is the address of a database for a role.
func (s *Server) URL(user, database string) string { return s.url(user, database) }

// Cluster returns the one server of this test binary and starts it at the first
// call; it ends with the binary, however that ends. HERALD_TEST_DATABASE_URL
// names another server to use: its role must be a superuser, and it must let the
// roles that tests make in without a password. Without any Postgres a test
// fails, so Cluster panics with the sentence that says what to install.
func Cluster() *Server { return theServer() }

var theServer = sync.OnceValue(func() *Server {
	s, err := open(os.Getenv("HERALD_TEST_DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	return s
})

func open(given string) (*Server, error) {
	if given != "" {
		return elsewhere(given)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		return nil, err
	}
	return &Server{url: c.URL}, nil
}

// elsewhere keeps the password for the role it was given with. The server's
// superuser takes the place of our own, "postgres".
func elsewhere(given string) (*Server, error) {
	base, err := url.Parse(given)
	if err != nil || base.User == nil || (base.Scheme != "postgres" && base.Scheme != "postgresql") {
		return nil, fmt.Errorf("HERALD_TEST_DATABASE_URL is not of the form postgres://user@host/database")
	}
	return &Server{url: func(user, database string) string {
		u := *base
		u.Path = "/" + database
		if user != cluster.Superuser && user != base.User.Username() {
			u.User = url.User(user)
		}
		return u.String()
	}}, nil
}
