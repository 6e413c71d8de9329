// Package httpx is the only door to other people's servers. Its two clients
// differ in whom they trust: New reaches hosts that the configuration names,
// NewGuarded reaches addresses that users choose and checks what is dialled.
package httpx

import (
	"context"
	"errors"
	"net/http"
)

// Client sends requests and keeps their evidence.
type Client struct{}

// Answer is a response read to its end (at most the client's size limit).
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	RequestID string
}

// Do sends req once and reads the answer, whatever its status. An error is a
// *fault.Fault: Transient if no byte was sent or step is not Commit, Unknown
// otherwise, Validation if a guarded client refused the address.
func (c *Client) Do(ctx context.Context, trail Trail, step Step, req *http.Request) (*Answer, error) {
	return nil, errors.New("in the making")
}
