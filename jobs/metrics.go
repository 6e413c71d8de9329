package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/network"
)

// Metrics count what this worker did, and say when they are asked what waits in
// the queues and in Postgres. No label names a workspace or a person.
type Metrics struct {
	pipe  *db.Pipeline
	redis redis.UniversalClient

	attempts *prometheus.CounterVec
	lateness prometheus.Histogram
	tasks    *prometheus.Desc
	overdue  *prometheus.Desc
	unread   *prometheus.Desc
}

func newMetrics(pipe *db.Pipeline, r redis.UniversalClient) *Metrics {
	return &Metrics{
		pipe: pipe, redis: r,
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "herald_publish_attempts_total",
			Help: "Attempts to publish, by network and by how they ended: published, or the class of the fault."}, []string{"network", "outcome"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "herald_publish_lateness_seconds",
			Help:    "How long after its time a post's first call that publishes began.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800, 7200}}),
		tasks:   prometheus.NewDesc("herald_queue_tasks", "Tasks in Redis, by queue and state.", []string{"queue", "state"}, nil),
		overdue: prometheus.NewDesc("herald_dispatches_overdue", "Dispatches whose time has come and that no worker was told of; counted up to 100000.", nil, nil),
		unread:  prometheus.NewDesc("herald_outbox_oldest_seconds", "For how long the oldest event has waited for its relay, by shard.", []string{"shard"}, nil),
	}
}

// began notes the first call that publishes a target. m may be nil: nobody counts.
func (m *Metrics) began(work db.Work, at time.Time) {
	if m != nil && work.Attempt == 1 {
		m.lateness.Observe(max(at.Sub(work.DueAt), 0).Seconds())
	}
}

// ended notes how an attempt ended.
func (m *Metrics) ended(name network.Name, outcome string) {
	if m != nil {
		m.attempts.WithLabelValues(string(name), outcome).Inc()
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	m.attempts.Describe(out)
	m.lateness.Describe(out)
	for _, d := range []*prometheus.Desc{m.tasks, m.overdue, m.unread} {
		out <- d
	}
}

// askedFor is how long a scrape waits for Redis and Postgres.
const askedFor = 5 * time.Second

// Collect implements prometheus.Collector. What cannot be found out is an invalid
// metric, which a scrape reports and leaves out.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.attempts.Collect(out)
	m.lateness.Collect(out)
	ctx, cancel := context.WithTimeout(context.Background(), askedFor)
	defer cancel()
	m.queues(ctx, out)
	m.backlog(ctx, out)
}

func (m *Metrics) backlog(ctx context.Context, out chan<- prometheus.Metric) {
	b, err := m.pipe.Backlog(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(m.overdue, err)
		return
	}
	out <- prometheus.MustNewConstMetric(m.overdue, prometheus.GaugeValue, float64(b.Due))
	for shard, age := range b.Events {
		out <- prometheus.MustNewConstMetric(m.unread, prometheus.GaugeValue, age.Seconds(), shard)
	}
}

// states are where asynq keeps a queue's tasks: a list for what is at hand, and
// sorted sets for what has a time.
var states = []struct {
	name string
	list bool
}{{"pending", true}, {"active", true}, {"scheduled", false}, {"retry", false}, {"archived", false}}

// queues counts all tasks in one round trip.
func (m *Metrics) queues(ctx context.Context, out chan<- prometheus.Metric) {
	pipe := m.redis.Pipeline()
	var sizes []*redis.IntCmd
	for _, queue := range queueNames {
		for _, s := range states {
			key := "asynq:{" + queue + "}:" + s.name
			if s.list {
				sizes = append(sizes, pipe.LLen(ctx, key))
			} else {
				sizes = append(sizes, pipe.ZCard(ctx, key))
			}
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		out <- prometheus.NewInvalidMetric(m.tasks, err)
		return
	}
	for i, size := range sizes {
		out <- prometheus.MustNewConstMetric(m.tasks, prometheus.GaugeValue, float64(size.Val()), queueNames[i/len(states)], states[i%len(states)].name)
	}
}
