package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/declare"
	"herald/db"
)

// applyCommand brings the databases to what YAML files declare.
func applyCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flags("apply")
	example := f.Bool("example", false, "print a commented file with every key, and do nothing")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return errUsage
	}
	if *example {
		_, err := out.Write(declare.Example().Text)
		return err
	}
	if f.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "herald apply needs a file: herald apply FILE..., or herald apply --example for what one looks like.")
		return errUsage
	}
	doc, err := declare.Read(f.Args()...)
	if err != nil {
		return err
	}
	return applyDocument(ctx, doc, out)
}

func applyDocument(ctx context.Context, doc declare.Document, out io.Writer) error {
	config, err := readConfig()
	if err != nil {
		return err
	}
	if err := config.Databases(); err != nil {
		return err
	}
	store, err := db.Open(ctx, config.Database(time.Now))
	if err != nil {
		return err
	}
	defer store.Close()
	if err := boot.Migrated(ctx, store); err != nil {
		return err
	}
	changes, err := declare.Apply(ctx, store, doc)
	for _, line := range changes {
		fmt.Fprintln(out, line)
	}
	if err == nil && len(changes) == 0 {
		fmt.Fprintln(out, "Nothing to change.")
	}
	return err
}
