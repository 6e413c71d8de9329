package boot

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// HushRedis sends what the Redis client says to log: by itself the client writes it to
// stderr, a line for each try while Redis is away. It holds for the whole process, so
// only commands call it.
func HushRedis(log *slog.Logger) {
	redis.SetLogger(&redisLog{log: log, now: time.Now, last: map[string]time.Time{}})
}

// redisLog tells each kind of line once a minute, as a warning; the rest is for who
// looks closely.
type redisLog struct {
	log  *slog.Logger
	now  func() time.Time
	mu   sync.Mutex
	last map[string]time.Time // by the line's format
}

const redisQuiet = time.Minute

// Printf is the client's way to say something.
func (l *redisLog) Printf(ctx context.Context, format string, args ...any) {
	level := slog.LevelDebug
	if l.due(format) {
		level = slog.LevelWarn
	}
	l.log.Log(ctx, level, "redis", "say", strings.TrimPrefix(strings.TrimSpace(fmt.Sprintf(format, args...)), "redis: "))
}

func (l *redisLog) due(format string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, told := l.last[format]; told && l.now().Sub(at) < redisQuiet {
		return false
	}
	l.last[format] = l.now()
	return true
}
