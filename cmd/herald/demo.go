package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"herald/cmd/internal/demo"
)

func demoCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flags("demo")
	var o demo.Options
	f.StringVar(&o.Addr, "addr", "", "where the web listens (default 127.0.0.1:8080)")
	f.StringVar(&o.Data, "data", filepath.Join(".herald", "demo"), "folder that keeps the data between runs")
	f.BoolVar(&o.Fresh, "fresh", false, "start over: throw away what the folder holds of an earlier run")
	if err := parse(f, args); err != nil {
		return err
	}
	o.Environ = os.Environ()
	fmt.Fprintln(out, "Herald is getting ready ...")
	d, err := demo.Start(ctx, o)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(out, "Stopped before it was ready.")
		return nil
	}
	if err != nil {
		return err
	}
	d.Say(out)
	<-ctx.Done()
	fmt.Fprintln(out, "\nHerald stops; what is being published is finished first.")
	d.Stop()
	return nil
}
