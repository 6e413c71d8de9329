package jobs_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/sim"
)

// scrape is what Prometheus reads of a worker.
func scrape(t *testing.T, server *jobs.Server) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(server.Metrics()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}

func wantLines(t *testing.T, said string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(said, line+"\n") {
			t.Errorf("/metrics lacks %q:\n%s", line, said)
		}
	}
}

func TestAWorkerTellsWhatItDid(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	hook, mastodon := s.account(t, a, client, network.Webhook), s.account(t, a, client, network.Mastodon)
	s.fault(t, sim.Fault{Network: network.Mastodon, Kind: sim.Invalid, Step: sim.Commit, Times: 1})
	for _, text := range []string{"One", "Two"} {
		s.write(t, a, model.Content{Text: text, Accounts: []model.AccountID{hook}}, 0)
	}
	s.write(t, a, model.Content{Text: "Three", Accounts: []model.AccountID{mastodon}}, 0)
	server := s.start(t)
	s.await(t, "all ended", func() bool { return s.settled(t) })
	said := scrape(t, server)
	wantLines(t, said, `herald_publish_attempts_total{network="webhook",outcome="published"} 2`, `herald_publish_attempts_total{network="mastodon",outcome="validation"} 1`,
		"herald_publish_lateness_seconds_count 3", "herald_dispatches_overdue 0", `herald_outbox_oldest_seconds{shard="second"} 0`, `herald_queue_tasks{queue="publish",state="archived"} 0`)
	if strings.Contains(said, "north") || strings.Contains(said, "bakery") {
		t.Errorf("it names people:\n%s", said)
	}
}

func TestAWorkerTellsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	hook := s.account(t, a, a.Client(t, "bakery"), network.Webhook)
	server := s.worker(t) // it does nothing by itself
	_, ticker, _ := server.Verbs()
	relayed := func() {
		if _, err := ticker.Relay(t.Context(), a.Shard); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s.write(t, a, model.Content{Text: "Bread", Accounts: []model.AccountID{hook}}, 0)
	}
	relayed()
	if _, err := ticker.Dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.write(t, a, model.Content{Text: "Rolls", Accounts: []model.AccountID{hook}}, 0)
	}
	relayed()
	s.write(t, a, model.Content{Text: "Cake", Accounts: []model.AccountID{hook}}, time.Hour)
	s.Super(t, a.Shard, `UPDATE tenant.outbox SET made_at = made_at - interval '1 hour' WHERE relayed_at IS NULL`)
	said := scrape(t, server)
	wantLines(t, said, `herald_queue_tasks{queue="publish",state="pending"} 2`, "herald_dispatches_overdue 3", `herald_outbox_oldest_seconds{shard="main"} 0`)
	if !strings.Contains(said, `herald_outbox_oldest_seconds{shard="second"} 36`) {
		t.Errorf("no event is an hour old:\n%s", said)
	}
}
