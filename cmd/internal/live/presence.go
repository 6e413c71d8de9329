package live

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db/model"
)

const (
	attended = "herald:here:" // and the workspace's and the post's number: who has it open
	stays    = 35 * time.Second
	briefly  = time.Second
)

// Attend says that a user has a post open, for as long as stays, and returns since when
// others have. Whoever was there and said nothing for as long is gone by itself. While
// Redis is away nobody is there, and nothing fails: who has a post open hinders nobody.
func (h *Hub) Attend(ctx context.Context, tenant model.TenantID, post model.PostID, user model.UserID, now time.Time) map[model.UserID]time.Time {
	ctx, cancel := context.WithTimeout(ctx, briefly)
	defer cancel()
	place := placeOf(tenant, post)
	fields, err := h.redis.HGetAll(ctx, attended+place).Result()
	if err != nil {
		h.log.DebugContext(ctx, "who has a post open is not known", "err", err)
		return nil
	}
	others, gone := present(fields, now)
	since, again := others[user]
	if !again {
		since = now
	}
	delete(others, user)
	if err := h.mark(ctx, attended+place, user, since, now, gone); err != nil {
		h.log.DebugContext(ctx, "who has a post open is not kept", "err", err)
	} else if !again {
		h.say(place)
	}
	return others
}

// Attended returns a channel that gets a word when somebody opens the post, and is
// closed when the process ends. The caller calls stop.
func (h *Hub) Attended(tenant model.TenantID, post model.PostID) (words <-chan struct{}, stop func()) {
	return h.listenTo(placeOf(tenant, post))
}

func placeOf(tenant model.TenantID, post model.PostID) string {
	return fmt.Sprintf("%d:%d", tenant, post)
}

// present reads who is there from what they said: since when, and until when it holds.
func present(fields map[string]string, now time.Time) (there map[model.UserID]time.Time, gone []string) {
	there = map[model.UserID]time.Time{}
	for field, value := range fields {
		var since, until int64
		id, err := strconv.ParseInt(field, 10, 64)
		if _, bad := fmt.Sscanf(value, "%d %d", &since, &until); err != nil || bad != nil || until <= now.UnixMilli() {
			gone = append(gone, field)
			continue
		}
		there[model.UserID(id)] = time.UnixMilli(since)
	}
	return there, gone
}

func (h *Hub) mark(ctx context.Context, key string, user model.UserID, since, now time.Time, gone []string) error {
	_, err := h.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		if len(gone) > 0 {
			p.HDel(ctx, key, gone...)
		}
		p.HSet(ctx, key, strconv.FormatInt(int64(user), 10), fmt.Sprintf("%d %d", since.UnixMilli(), now.Add(stays).UnixMilli()))
		p.Expire(ctx, key, stays)
		return nil
	})
	return err
}
