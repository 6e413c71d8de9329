package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"herald/cmd/internal/boot"
	"herald/jobs/sim"
)

func simulateCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flags("simulate")
	addr := f.String("addr", "127.0.0.1:9090", "where the simulated networks listen")
	if err := parse(f, args); err != nil {
		return err
	}
	if _, err := boot.Read(os.Environ()); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return boot.CannotListen("the networks", *addr, "--addr", err)
	}
	srv := &http.Server{Handler: sim.New(sim.Options{}).Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	fmt.Fprintf(out, "Simulated networks at http://%s\n", l.Addr())
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
