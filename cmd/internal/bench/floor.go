package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db"
)

// The floor is the least that a durable publisher does, in plain pgx and fed from
// memory: a claim with its attempt, committed; the same HTTP call; the result,
// committed. One statement a commit, no guards, no evidence, no queue.
const (
	sqlFloorClaim = `
		WITH c AS (UPDATE floor_jobs SET state = 'publishing' WHERE id = $1 AND state = 'scheduled' RETURNING id)
		INSERT INTO floor_attempts (job_id, began_at) SELECT id, now() FROM c`
	sqlFloorFinish = `
		WITH u AS (UPDATE floor_jobs SET state = 'published', external_id = $2 WHERE id = $1 AND state = 'publishing' RETURNING id)
		UPDATE floor_attempts a SET ended_at = now() FROM u WHERE a.job_id = u.id`
)

// floor runs n such jobs at a concurrency and returns jobs per second.
func (w *world) floor(ctx context.Context, n, concurrency int) (perSecond float64, err error) {
	if err := w.exec(ctx, db.MainShard, `DROP TABLE IF EXISTS floor_jobs, floor_attempts`); err != nil {
		return 0, err
	}
	if err := w.exec(ctx, db.MainShard, `CREATE TABLE floor_jobs (id bigint PRIMARY KEY, state text NOT NULL, external_id text)`); err != nil {
		return 0, err
	}
	if err := w.exec(ctx, db.MainShard, `CREATE TABLE floor_attempts (job_id bigint PRIMARY KEY, began_at timestamptz NOT NULL, ended_at timestamptz)`); err != nil {
		return 0, err
	}
	if err := w.exec(ctx, db.MainShard, `INSERT INTO floor_jobs SELECT i, 'scheduled' FROM generate_series(1, $1) i`, n); err != nil {
		return 0, err
	}
	if err := w.settle(ctx); err != nil {
		return 0, err
	}
	config, err := pgxpool.ParseConfig(w.config.DatabaseURL)
	if err != nil {
		return 0, err
	}
	config.MaxConns = int32(concurrency)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	return w.runFloor(ctx, pool, n, concurrency)
}

func (w *world) runFloor(ctx context.Context, pool *pgxpool.Pool, n, concurrency int) (float64, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}, Timeout: 30 * time.Second}
	feed := make(chan int)
	errs := make(chan error, concurrency)
	var wg sync.WaitGroup
	began := time.Now()
	for range concurrency {
		wg.Go(func() {
			for id := range feed {
				if err := floorJob(ctx, pool, client, w.simURL, id); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	go func() {
		defer close(feed)
		for i := range n {
			select {
			case feed <- i + 1:
			case <-ctx.Done():
				return
			}
		}
	}()
	wg.Wait()
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(n) / time.Since(began).Seconds(), ctx.Err()
	}
}

func floorJob(ctx context.Context, pool *pgxpool.Pool, client *http.Client, base string, id int) error {
	if _, err := pool.Exec(ctx, sqlFloorClaim, id); err != nil {
		return err
	}
	form := url.Values{"message": {fmt.Sprintf("floor %d", id)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/facebook/v25.0/9999/feed?fields=id,permalink_url", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer token")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the simulator answered %d: %s", resp.StatusCode, body)
	}
	_, err = pool.Exec(ctx, sqlFloorFinish, id, string(body))
	return err
}

// loneCommit is the median time of a durable commit with nobody beside it. Where it
// is short the floor is bound by its own work and not by the disk, and sharing
// commits gains little.
func (w *world) loneCommit(ctx context.Context) (time.Duration, error) {
	if err := w.exec(ctx, db.MainShard, `CREATE TABLE IF NOT EXISTS floor_commits (n bigint)`); err != nil {
		return 0, err
	}
	var took []time.Duration
	for i := range 201 {
		began := time.Now()
		if err := w.exec(ctx, db.MainShard, `INSERT INTO floor_commits VALUES ($1)`, i); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
