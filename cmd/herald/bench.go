package main

import (
	"context"
	"io"
	"os"
	"time"

	"herald/cmd/internal/bench"
	"herald/cmd/internal/boot"
)

func benchCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flags("bench")
	asJSON := f.Bool("json", false, "print the figures as JSON")
	targets := f.Int("targets", 10_000, "targets due at once")
	rounds := f.Int("rounds", 3, "interleaved rounds of floor and drain at each concurrency")
	steady := f.Duration("steady", 20*time.Second, "how long 100 targets a second are due")
	pictures := f.Bool("pictures", false, "measure thumbnails alone")
	upload := f.Bool("upload", false, "measure an upload of 2 GB alone")
	library := f.Bool("library", false, "measure pages of a library of 10,000 files alone")
	pages := f.Bool("pages", false, "measure the screens with 10,000 targets alone; fails where one is over its limits")
	fanout := f.Bool("fanout", false, "measure one post to 40 accounts of 12 networks alone")
	if err := parse(f, args); err != nil {
		return err
	}
	if _, err := boot.Read(os.Environ()); err != nil {
		return err
	}
	size := bench.Size{Targets: *targets, Rounds: *rounds, Steady: *steady}
	switch {
	case *pictures:
		return bench.RunPictures(ctx, size, *asJSON, out)
	case *upload:
		return bench.RunUpload(ctx, *asJSON, out)
	case *fanout:
		return bench.RunFanout(ctx, *asJSON, out)
	case *pages:
		return bench.RunPages(ctx, *asJSON, out)
	case *library:
		return bench.RunLibrary(ctx, *asJSON, out)
	}
	return bench.Run(ctx, size, *asJSON, out)
}
