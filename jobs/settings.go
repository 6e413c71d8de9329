package jobs

import (
	"time"

	"herald/db/network"
)

// Settings are the times and limits of the pipeline. Every one is an operator's
// setting, so that a test can shrink it.
type Settings struct {
	Tick              time.Duration                 // HERALD_TICK
	Lookahead         time.Duration                 // HERALD_LOOKAHEAD
	RetryBase         time.Duration                 // HERALD_RETRY_BASE
	RetryCap          time.Duration                 // HERALD_RETRY_CAP
	MaxAttempts       int                           // HERALD_MAX_ATTEMPTS
	RateLimitPatience time.Duration                 // HERALD_RATE_LIMIT_PATIENCE
	StaleEnqueued     time.Duration                 // HERALD_STALE_ENQUEUED
	StaleInFlight     time.Duration                 // HERALD_STALE_IN_FLIGHT
	SweepEvery        time.Duration                 // HERALD_SWEEP_EVERY
	GuardStale        time.Duration                 // HERALD_GUARD_STALE
	ReconcileAfter    time.Duration                 // HERALD_RECONCILE_AFTER
	Settle            time.Duration                 // HERALD_SETTLE
	LateCutoff        time.Duration                 // HERALD_LATE_CUTOFF
	SuspensionGrace   time.Duration                 // HERALD_SUSPENSION_GRACE
	AccountCap        int                           // HERALD_ACCOUNT_RATE_LIMIT, its number
	AccountWindow     time.Duration                 // and its time
	AppQuotas         map[network.Name]network.Rate // HERALD_<NETWORK>_QUOTA
	ProviderTimeout   time.Duration                 // HERALD_PROVIDER_TIMEOUT
	ProviderURLTTL    time.Duration                 // HERALD_PROVIDER_URL_TTL
	Workers           int                           // HERALD_WORKERS
	MediaWorkers      int                           // HERALD_MEDIA_WORKERS
	Drain             time.Duration                 // how long Stop waits for calls under way
}

// Defaults are the design's.
func Defaults() Settings {
	return Settings{
		Tick: time.Second, Lookahead: 2 * time.Second,
		RetryBase: time.Minute, RetryCap: time.Hour, MaxAttempts: 5, RateLimitPatience: 24 * time.Hour,
		StaleEnqueued: 15 * time.Minute, StaleInFlight: 10 * time.Minute, SweepEvery: 5 * time.Minute, GuardStale: 5 * time.Minute,
		ReconcileAfter: 30 * time.Second, Settle: 2 * time.Minute, LateCutoff: 24 * time.Hour, SuspensionGrace: 7 * 24 * time.Hour,
		AccountCap: 25, AccountWindow: time.Hour, ProviderTimeout: 30 * time.Second, ProviderURLTTL: 6 * time.Hour, Workers: 32, MediaWorkers: 2, Drain: 25 * time.Second,
	}
}

// refreshAhead is how long before its end a token is renewed inline.
const refreshAhead = 5 * time.Minute
