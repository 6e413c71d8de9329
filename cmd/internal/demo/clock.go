package demo

import (
	"sync"
	"time"
)

// clock is the time of everything in the demo. While the past month is made it is
// moved from event to event, and runs on from each as clocks do, so that what
// happens takes its real time; from then on it is the machine's.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration // of the machine's; while the past is made, below zero
}

// Now is the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time { return time.Now().Add(c.ahead).Round(0) }

// begin puts the clock back to at.
func (c *clock) begin(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = time.Until(at)
}

// forward moves the clock to at, never back.
func (c *clock) forward(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.now()) {
		c.ahead = time.Until(at)
	}
}

// release lets the machine's time go on from here.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = 0
}
