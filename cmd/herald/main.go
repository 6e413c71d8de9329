// Command herald is Herald: the web, the workers, and what an operator needs
// around them, in one binary. Every subcommand has a file of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	_ "time/tzdata" // zones must not depend on the machine

	"herald/cmd/internal/boot"
	"herald/jobs/darkroom"
)

// command is one subcommand. Its error is told on stderr, in a plain sentence for
// each thing that is wrong.
type command struct {
	name string
	help string
	run  func(ctx context.Context, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"demo", "everything in one process, with its own Postgres and Redis, simulated networks and demo data", demoCommand},
		{"serve", "the web", serveCommand},
		{"work", "the workers and the scheduler", workCommand},
		{"migrate", "bring every database up to date", migrateCommand},
		{"apply", "declare workspaces, people, clients and accounts from YAML", applyCommand},
		{"simulate", "the simulated networks", simulateCommand},
		{"doctor", "check configuration, databases, Redis, storage, mail and clock", doctorCommand},
		{"bench", "measure the pipeline", benchCommand},
		{"version", "version, commit, Go", versionCommand},
	}
}

func main() {
	darkroom.Serve() // ends here if this process is a child that opens an upload
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	boot.HushRedis(slog.New(slog.DiscardHandler)) // while a command starts, its error says it all
	os.Exit(run(ctx, os.Args[1:]))
}

// errUsage is wrong usage, already explained: exit status 2.
var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(os.Stdout)
		return status(len(args) == 0)
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], os.Stdout)
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		}
		config, _ := readConfig() // what of it can be read tells which setting is meant
		for _, say := range config.Explain(err) {
			fmt.Fprintln(os.Stderr, "herald "+c.name+": "+say)
		}
		return 1
	}
	fmt.Fprintf(os.Stderr, "herald: there is no command %q.\n\n", args[0])
	usage(os.Stderr)
	return 2
}

func status(wrong bool) int {
	if wrong {
		return 2
	}
	return 0
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Herald brings approved posts onto every network exactly once.\n\nUsage: herald COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.help)
	}
	fmt.Fprint(w, "\nherald COMMAND -h lists a command's flags. Settings come from HERALD_ environment names; see the README.\n")
}

// flags makes a command's flag set; parse refuses what is left over.
func flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet("herald "+name, flag.ContinueOnError)
	f.SetOutput(os.Stderr)
	return f
}

func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if f.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s takes no argument %q.\n", f.Name(), f.Arg(0))
		return errUsage
	}
	return nil
}
