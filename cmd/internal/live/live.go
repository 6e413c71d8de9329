// Package live tells open pages that their workspace changed. What changed stays
// in Postgres; only the word that something did goes through Redis, from whichever
// process made the change to those that have pages open. A message that is lost
// costs a page a reload. It also remembers, in Redis and for moments, who has a post
// open. Start with New.
package live

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db/model"
)

const (
	channel = "herald:live:" // and the place: a workspace's number, or with a post's
	gather  = 200 * time.Millisecond
	patient = 5 * time.Second
)

// Hub is one process's ear and voice.
type Hub struct {
	redis redis.UniversalClient
	log   *slog.Logger

	mu      sync.Mutex
	ears    map[string]map[chan struct{}]bool // by place: a workspace's number, or with a post's
	changed map[string]bool                   // places to be told of
	wake    chan struct{}
	end     context.CancelFunc
	done    sync.WaitGroup
}

// New starts listening and telling; Close ends both.
func New(client redis.UniversalClient, log *slog.Logger) *Hub {
	ctx, end := context.WithCancel(context.Background())
	h := &Hub{redis: client, log: log, ears: map[string]map[chan struct{}]bool{}, changed: map[string]bool{}, wake: make(chan struct{}, 1), end: end}
	h.done.Go(func() { h.tell(ctx) })
	h.done.Go(func() { h.listen(ctx) })
	return h
}

// Close ends the hub and every Listen.
func (h *Hub) Close() {
	h.end()
	h.done.Wait()
	h.Hush()
}

// Hush ends every Listen, so that their requests do not hold up a shutdown.
func (h *Hub) Hush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for place, list := range h.ears {
		for ear := range list {
			close(ear)
		}
		delete(h.ears, place)
	}
}

// Changed says that a workspace changed. It returns at once; what comes within a
// moment is told together.
func (h *Hub) Changed(tenant model.TenantID) { h.say(workspace(tenant)) }

func workspace(tenant model.TenantID) string { return strconv.FormatInt(int64(tenant), 10) }

// say has a place told.
func (h *Hub) say(place string) {
	h.mu.Lock()
	h.changed[place] = true
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Listen returns a channel that gets a word when the workspace changes, and is
// closed when the process ends. The caller calls stop.
func (h *Hub) Listen(tenant model.TenantID) (words <-chan struct{}, stop func()) {
	return h.listenTo(workspace(tenant))
}

func (h *Hub) listenTo(place string) (words <-chan struct{}, stop func()) {
	ear := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ears[place] == nil {
		h.ears[place] = map[chan struct{}]bool{}
	}
	h.ears[place][ear] = true
	return ear, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.ears[place], ear)
		if len(h.ears[place]) == 0 {
			delete(h.ears, place)
		}
	}
}

func (h *Hub) hear(place string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ear := range h.ears[place] {
		select {
		case ear <- struct{}{}:
		default: // it has a word already
		}
	}
}

// tell publishes what changed, at most once in gather, all workspaces in one trip.
func (h *Hub) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		h.publish(ctx)
	}
}

func (h *Hub) publish(ctx context.Context) {
	h.mu.Lock()
	changed := h.changed
	h.changed = map[string]bool{}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	_, err := h.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for place := range changed {
			p.Publish(ctx, channel+place, "")
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		h.log.WarnContext(ctx, "open pages were not told of a change", "err", err)
	}
}

// listen hears what any process tells. The client connects again by itself.
func (h *Hub) listen(ctx context.Context) {
	sub := h.redis.PSubscribe(ctx, channel+"*")
	defer sub.Close()
	words := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-words:
			if !open {
				return
			}
			h.hear(strings.TrimPrefix(m.Channel, channel))
		}
	}
}
