package boot

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestRedisIsHeardOnceAMinuteForEachKindOfTrouble(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	l := &redisLog{log: slog.New(slog.NewTextHandler(&b, nil)), now: func() time.Time { return now }, last: map[string]time.Time{}}
	for range 100 {
		l.Printf(t.Context(), "redis: cannot dial %s", "10.0.0.1")
		l.Printf(t.Context(), "sentinel: %s is lost\n", "main")
	}
	now = now.Add(redisQuiet)
	l.Printf(t.Context(), "redis: cannot dial %s", "10.0.0.2")
	if got := strings.Count(b.String(), "\n"); got != 3 || strings.Count(b.String(), "level=WARN msg=redis") != 3 || !strings.Contains(b.String(), `say="cannot dial 10.0.0.2"`) {
		t.Errorf("%d lines: %s", got, &b)
	}
}
