package boot

import (
	"net/http"
	"testing"

	"herald/cmd/internal/live"
)

func TestStopEndsTheServer(t *testing.T) {
	t.Parallel()
	app := &App{Live: &live.Hub{}}
	stop, at, err := app.Listen(t.Context(), "the web", "127.0.0.1:0", http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at, nil)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	if err := ask(); err != nil {
		t.Error(err)
	}
	if stop(); ask() == nil {
		t.Error("it answers after it was stopped")
	}
}
