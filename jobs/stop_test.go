package jobs_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"herald/jobs"
)

func TestAWorkerStopsWithoutComplaint(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	var shared redis.UniversalClient
	server := s.worker(t, func(d *jobs.Deps) { shared = d.Redis })
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if said := s.log.tail(); strings.Contains(said, "level=") {
		t.Errorf("it said:\n%s", said)
	}
	if err := shared.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the connection, which others use too: %v", err)
	}
}
