package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"herald/cmd/internal/boot"
	"herald/static"
)

func readConfig() (boot.Config, error) { return boot.Read(os.Environ()) }

func serveCommand(ctx context.Context, args []string, out io.Writer) error {
	if err := parse(flags("serve"), args); err != nil {
		return err
	}
	return withApp(ctx, func(a *boot.App) error {
		if err := static.Check(); err != nil {
			return err
		}
		if err := a.Ready(ctx); err != nil {
			return err
		}
		boot.HushRedis(a.Log)
		stopMetrics, err := a.Metrics(ctx)
		if err != nil {
			return err
		}
		defer stopMetrics()
		stop, at, err := a.Listen(ctx, "the web", a.Config.Addr, a.Web())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Herald serves %s (listening on %s)\n", a.Config.BaseURL, at)
		<-ctx.Done()
		stop()
		return nil
	})
}

func workCommand(ctx context.Context, args []string, out io.Writer) error {
	if err := parse(flags("work"), args); err != nil {
		return err
	}
	return withApp(ctx, func(a *boot.App) error {
		if err := a.Ready(ctx); err != nil {
			return err
		}
		boot.HushRedis(a.Log)
		worker, err := a.Worker()
		if err != nil {
			return err
		}
		stopMetrics, err := a.Metrics(ctx, worker.Metrics())
		if err != nil {
			return err
		}
		defer stopMetrics()
		if err := worker.Start(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "Herald works with %d publishes at once\n", a.Config.Pipeline.Workers)
		<-ctx.Done()
		worker.Stop()
		return nil
	})
}

func withApp(ctx context.Context, f func(*boot.App) error) error {
	config, err := readConfig()
	if err != nil {
		return err
	}
	app, err := boot.Open(ctx, config, config.Logger())
	if err != nil {
		return err
	}
	defer app.Close()
	return f(app)
}

func migrateCommand(ctx context.Context, args []string, out io.Writer) error {
	if err := parse(flags("migrate"), args); err != nil {
		return err
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	if err := config.Databases(); err != nil {
		return err
	}
	n, err := config.Migrate(ctx)
	if err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintln(out, "Everything is up to date.")
	} else {
		fmt.Fprintf(out, "%d migrations applied.\n", n)
	}
	return reseal(ctx, config, out)
}

// reseal seals what older keys sealed under the newest, so that they may leave
// the ring. What no key opens is the doctor's to fail for: workers wait for it.
func reseal(ctx context.Context, config boot.Config, out io.Writer) error {
	n, err := config.Reseal(ctx)
	if err != nil {
		return err
	}
	if n.Stale > 0 {
		fmt.Fprintf(out, "%d tokens and links sealed again under the newest key.\n", n.Stale)
	}
	if n.Shut > 0 {
		fmt.Fprintf(out, "%d %s\n", n.Shut, sayShut)
	}
	return nil
}

const sayShut = "sealed tokens or links are opened by no key of HERALD_KEYS. Put the key that is gone back behind the newest and run herald migrate, or reconnect the accounts."

func versionCommand(_ context.Context, args []string, out io.Writer) error {
	if err := parse(flags("version"), args); err != nil {
		return err
	}
	if _, err := boot.Read(os.Environ()); err != nil {
		return err
	}
	fmt.Fprintf(out, "herald %s, %s, %s\n", boot.Version, builtFrom(debug.ReadBuildInfo()), runtime.Version())
	return nil
}

// builtFrom says what the program was built from, as far as the build wrote it down.
func builtFrom(info *debug.BuildInfo, ok bool) string {
	commit, changed := "", false
	if ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
	}
	switch {
	case commit == "":
		return "built without its history, so the commit is not known"
	case changed:
		return "commit " + commit + " with changes on top"
	}
	return "commit " + commit
}
