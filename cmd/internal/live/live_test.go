package live

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/cmd/internal/embedded"
)

// hubs are two processes' hubs on one real Redis.
func hubs(t *testing.T) (here, there *Hub) {
	t.Helper()
	server, err := embedded.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	open := func() *Hub {
		client := redis.NewClient(&redis.Options{Network: server.Network, Addr: server.Addr, Password: server.Password})
		h := New(client, slog.New(slog.DiscardHandler))
		t.Cleanup(func() { h.Close(); _ = client.Close() })
		return h
	}
	return open(), open()
}

func TestAChangeIsHeardInEveryProcessAndOnlyByItsWorkspace(t *testing.T) {
	t.Parallel()
	here, there := hubs(t)
	mine, stop := there.Listen(7)
	defer stop()
	others, stopOthers := there.Listen(8)
	defer stopOthers()
	deadline := time.After(20 * time.Second)
	for heard := false; !heard; { // the subscription may not stand yet
		here.Changed(7)
		select {
		case <-mine:
			heard = true
		case <-time.After(300 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing was heard")
		}
	}
	select {
	case <-others:
		t.Error("another workspace heard it")
	default:
	}
}

func TestAListenerThatLeftOrIsHushedHoldsNothingUp(t *testing.T) {
	t.Parallel()
	here, _ := hubs(t)
	_, stop := here.Listen(7)
	stop()
	here.hear("7")
	words, stopLater := here.Listen(7)
	here.Hush()
	if _, open := <-words; open {
		t.Error("a hushed listener got a word")
	}
	stopLater()
	here.hear("7")
}
