package live

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db/model"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestWhoHasAPostOpenIsKnownInEveryProcessAndGoneByItself(t *testing.T) {
	t.Parallel()
	here, there := hubs(t)
	if got := here.Attend(t.Context(), 7, 42, 1, noon); len(got) != 0 {
		t.Errorf("the first finds %v", got)
	}
	later := noon.Add(10 * time.Second)
	if got := there.Attend(t.Context(), 7, 42, 2, later); len(got) != 1 || !got[1].Equal(noon) {
		t.Errorf("the second finds %v", got)
	}
	if got := here.Attend(t.Context(), 7, 42, 1, later); len(got) != 1 || !got[2].Equal(later) {
		t.Errorf("the first, still there, finds %v", got)
	}
	if got := there.Attend(t.Context(), 7, 42, 2, later.Add(10*time.Second)); !got[1].Equal(noon) {
		t.Errorf("the first is there since %v", got[1])
	}
	for what, got := range map[string]map[model.UserID]time.Time{
		"another workspace": here.Attend(t.Context(), 8, 42, 3, later), "another post": here.Attend(t.Context(), 7, 43, 3, later),
	} {
		if len(got) != 0 {
			t.Errorf("%s finds %v", what, got)
		}
	}
	if got := here.Attend(t.Context(), 7, 42, 3, later.Add(stays)); len(got) != 1 || !got[2].Equal(later) {
		t.Errorf("after the first fell silent there are %v", got)
	}
	for _, key := range []string{"herald:here:7:42", "herald:here:8:42"} {
		if left, err := here.redis.PTTL(t.Context(), key).Result(); err != nil || left <= 0 || left > stays {
			t.Errorf("%s is kept for %v, %v", key, left, err)
		}
	}
}

func TestWhoOpensAPostIsHeardOnlyByThoseWhoHaveItOpen(t *testing.T) {
	t.Parallel()
	here, there := hubs(t)
	words, stop := there.Attended(7, 42)
	defer stop()
	other, stopOther := there.Attended(7, 43)
	defer stopOther()
	whole, stopWhole := there.Listen(7)
	defer stopWhole()
	deadline := time.After(20 * time.Second)
	for user, heard := model.UserID(1), false; !heard; user++ { // the subscription may not stand yet
		here.Attend(t.Context(), 7, 42, user, noon)
		select {
		case <-words:
			heard = true
		case <-time.After(300 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing was heard")
		}
	}
	select {
	case <-other:
		t.Error("another post heard it")
	case <-whole:
		t.Error("every open page of the workspace heard it")
	default:
	}
}

func TestWithoutRedisNobodyIsThereAndNothingFails(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	h := New(client, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { h.Close(); _ = client.Close() })
	if got := h.Attend(context.Background(), 7, 42, 1, noon); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}
