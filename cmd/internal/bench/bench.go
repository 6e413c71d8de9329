package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"herald/db/model"
)

// Report is one run's figures. Ratios are what holds from machine to machine.
type Report struct {
	Targets    int
	LoneCommit time.Duration
	Rounds     []Round
	Steady     lateness
	IdleFew    time.Duration // a tick with 10 workspaces
	IdleMany   time.Duration // with 10,000
	SingleLate time.Duration
	Pictures   Pictures
	Upload     Upload
	Library    Library
	Fanout     Fanout
}

// Round is one concurrency: medians of interleaved rounds of floor and drain.
type Round struct {
	Concurrency int
	Floor       float64 // jobs a second
	Drain       drained
	Ratio       float64
	Aim         float64
}

// Size is how much a run does.
type Size struct {
	Targets int
	Rounds  int
	Steady  time.Duration
}

// RunPictures measures pictures alone.
func RunPictures(ctx context.Context, size Size, asJSON bool, out io.Writer) error {
	dir, err := os.MkdirTemp("", "herald-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := pictures(ctx, dir, size.Rounds)
	if err != nil {
		return err
	}
	return write(out, asJSON, p)
}

// Run measures everything and prints it as text, or as JSON.
func Run(ctx context.Context, size Size, asJSON bool, out io.Writer) error {
	return inWorld(ctx, func(w *world) error {
		for i := range 10 {
			if err := w.workspace(ctx, shardOf(i), model.TenantID(i+1)); err != nil {
				return err
			}
		}
		say := func(format string, args ...any) {
			if !asJSON {
				fmt.Fprintf(out, format, args...)
			}
		}
		r, err := w.measure(ctx, size, say)
		if err != nil {
			return err
		}
		if r.Pictures, err = pictures(ctx, w.dir, size.Rounds); err != nil {
			return fmt.Errorf("pictures: %w", err)
		}
		cookie, err := w.member(ctx)
		if err != nil {
			return err
		}
		if r.Upload, err = w.upload(ctx, cookie); err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		if r.Library, err = w.library(ctx, cookie); err != nil {
			return fmt.Errorf("library: %w", err)
		}
		if r.Fanout, err = w.fanout(ctx); err != nil {
			return fmt.Errorf("fan-out: %w", err)
		}
		return write(out, asJSON, r)
	})
}

// inWorld runs f with servers of its own, which are gone afterwards.
func inWorld(ctx context.Context, f func(*world) error) error {
	dir, err := os.MkdirTemp("", "herald-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := openWorld(ctx, dir)
	if err != nil {
		return err
	}
	defer w.close()
	return f(w)
}

// write prints figures as text, or as JSON.
func write(out io.Writer, asJSON bool, figures interface{ print(io.Writer) }) error {
	if asJSON {
		return json.NewEncoder(out).Encode(figures)
	}
	figures.print(out)
	return nil
}

func (w *world) measure(ctx context.Context, size Size, say func(string, ...any)) (r Report, err error) {
	r.Targets = size.Targets
	if r.LoneCommit, err = w.loneCommit(ctx); err != nil {
		return r, fmt.Errorf("lone commit: %w", err)
	}
	first := int64(1)
	next := func() int64 { f := first; first += 1_000_000; return f }
	for _, c := range []struct {
		concurrency int
		aim         float64
	}{{32, 1.33}, {128, 2.0}} {
		round := Round{Concurrency: c.concurrency, Aim: c.aim}
		var floors []float64
		var drains []drained
		for i := range size.Rounds {
			f, err := w.floor(ctx, size.Targets, c.concurrency)
			if err != nil {
				return r, fmt.Errorf("floor: %w", err)
			}
			d, err := w.drain(ctx, next(), size.Targets, c.concurrency)
			if err != nil {
				return r, fmt.Errorf("drain: %w", err)
			}
			floors, drains = append(floors, f), append(drains, d)
			say("round %d at %d: floor %.0f/s, drain %.0f/s\n", i+1, c.concurrency, f, d.PerSecond)
		}
		slices.Sort(floors)
		slices.SortFunc(drains, func(a, b drained) int { return int(a.PerSecond - b.PerSecond) })
		round.Floor, round.Drain = floors[len(floors)/2], drains[len(drains)/2]
		round.Ratio = round.Drain.PerSecond / round.Floor
		r.Rounds = append(r.Rounds, round)
	}
	if r.Steady, err = w.steady(ctx, next(), 100, size.Steady); err != nil {
		return r, fmt.Errorf("steady: %w", err)
	}
	if r.SingleLate, err = w.single(ctx, next(), size.Targets); err != nil {
		return r, fmt.Errorf("single: %w", err)
	}
	if r.IdleFew, err = w.idle(ctx, 10); err != nil {
		return r, fmt.Errorf("idle: %w", err)
	}
	r.IdleMany, err = w.idle(ctx, 10_000)
	return r, err
}

func (r Report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%d targets due at once, two shards, fsync on; medians of interleaved rounds\n", r.Targets)
	fmt.Fprintf(out, "a durable commit with nobody beside it takes %s\n", ms(r.LoneCommit))
	for _, c := range r.Rounds {
		d := c.Drain
		fmt.Fprintf(out, "  concurrency %-3d  floor %6.0f/s   Herald %6.0f/s   ratio %.2f (aim %.2f)\n", c.Concurrency, c.Floor, d.PerSecond, c.Ratio, c.Aim)
		fmt.Fprintf(out, "    per publish: %.2f statements (aim 0.50), %.2f commits (aim 0.35), %.2f Redis trips (aim 3.20), %.2f Redis commands\n", d.Statements, d.Commits, d.RedisTrips, d.RedisCmds)
		fmt.Fprintf(out, "    burst lateness: p50 %s, p99 %s, last %s; relay of its events took %s\n", ms(d.Late.P50), ms(d.Late.P99), ms(d.Late.Max), ms(d.Relay))
	}
	fmt.Fprintf(out, "steady 100 due/s: lateness p50 %s, p99 %s (aim 25ms), last %s, early %d (aim 0)\n", ms(r.Steady.P50), ms(r.Steady.P99), ms(r.Steady.Max), r.Steady.Early)
	fmt.Fprintf(out, "idle tick: 10 workspaces %s, 10,000 workspaces %s (aim 2ms)\n", ms(r.IdleFew), ms(r.IdleMany))
	fmt.Fprintf(out, "another workspace's single post behind %d: %s late (aim 1s)\n", r.Targets, ms(r.SingleLate))
	r.Pictures.print(out)
	r.Upload.print(out)
	r.Library.print(out)
	r.Fanout.print(out)
}

func ms(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
