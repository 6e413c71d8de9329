package db

import (
	"context"
	"crypto/sha256"
	"time"
)

// Bucket is how much of one thing may be done: Burst at once, and then one more
// for every Drip of time. It is a leaky bucket, so there is no window that
// somebody could wait for the end of.
type Bucket struct {
	Kind  string // what it counts, as "signin address"
	Burst int
	Drip  time.Duration
}

const sqlThrottleTake = `
	INSERT INTO control.throttles AS t (kind, who, level, at) VALUES ($1, $2, 1, $3)
	ON CONFLICT (kind, who) DO UPDATE
	   SET level = greatest(t.level - greatest(extract(epoch FROM $3 - t.at), 0)::float8 / $4, 0) + 1, at = greatest(t.at, $3)
	 WHERE greatest(t.level - greatest(extract(epoch FROM $3 - t.at), 0)::float8 / $4, 0) + 1 <= $5`

const sqlThrottleWait = `
	SELECT greatest(t.level - greatest(extract(epoch FROM $3 - t.at), 0)::float8 / $4, 0) + 1 - $5 FROM control.throttles t WHERE kind = $1 AND who = $2`

// Take puts one drop into who's bucket, in one statement, so that no number of
// callers at once gets past it. If there is no room it takes nothing, and wait is
// how long until there is. Only a keyed hash of who is kept.
func (s *Store) Take(ctx context.Context, b Bucket, who string) (wait time.Duration, err error) {
	defer wrap(&err, "take from bucket %s", b.Kind)
	hash := s.who(b, who)
	did, err := s.control.Exec(ctx, sqlThrottleTake, b.Kind, hash, s.now(), b.Drip.Seconds(), float64(b.Burst))
	if err != nil || did.RowsAffected() == 1 {
		return 0, err
	}
	var over float64
	err = s.control.QueryRow(ctx, sqlThrottleWait, b.Kind, hash, s.now(), b.Drip.Seconds(), float64(b.Burst)).Scan(&over)
	if noRows(err) {
		return time.Second, nil // emptied meanwhile: the next try finds room
	}
	return max(time.Duration(over*float64(b.Drip)), time.Second), err
}

const sqlThrottleGive = `UPDATE control.throttles SET level = greatest(level - 1, 0) WHERE kind = $1 AND who = $2`

// GiveBack takes one drop out again: it was for something that was in order.
func (s *Store) GiveBack(ctx context.Context, b Bucket, who string) (err error) {
	defer wrap(&err, "give back to bucket %s", b.Kind)
	_, err = s.control.Exec(ctx, sqlThrottleGive, b.Kind, s.who(b, who))
	return err
}

// Drain empties who's bucket.
func (s *Store) Drain(ctx context.Context, b Bucket, who string) (err error) {
	defer wrap(&err, "drain bucket %s", b.Kind)
	_, err = s.control.Exec(ctx, `DELETE FROM control.throttles WHERE kind = $1 AND who = $2`, b.Kind, s.who(b, who))
	return err
}

// who is keyed, since there are few enough network addresses to try them all.
func (s *Store) who(b Bucket, who string) []byte {
	sum := sha256.Sum256([]byte(s.ring.Derive("throttle") + "\n" + b.Kind + "\n" + who))
	return sum[:]
}
