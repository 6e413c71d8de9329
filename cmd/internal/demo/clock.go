package demo

import (
	"sync"
	"time"
)

// clock is the time of everything in the demo: one that is moved while the past
// month is made, the machine's own from then on.
type clock struct {
	mu sync.Mutex
	at time.Time // zero: the machine's
}

// Now is the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now()
	}
	return c.at
}

// forward moves the clock to at, never back.
func (c *clock) forward(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
}

// release lets the machine's time go on from here.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
}
