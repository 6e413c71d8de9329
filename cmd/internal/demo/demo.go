package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/mailbox"
	"herald/jobs/sim"
	"herald/static"
)

// Options are what a demo is started with.
type Options struct {
	Addr    string   // where the web listens; empty: HERALD_ADDR, or 127.0.0.1:8080
	Data    string   // folder
	Fresh   bool     // start over
	Environ []string // settings
}

// Demo is a running demo.
type Demo struct {
	URL      string // the web, on this machine
	Networks string // the simulated networks
	Mailbox  string
	Data     string
	New      bool // this start made the data

	config boot.Config
	set    boot.Config // as it was set, before the demo put its own in
	folder *folder
	doors  doors
	clock  *clock
	sim    *sim.Sim
	box    *mailbox.Mailbox
	stops  []func() // in the order in which things were started
}

// doors are what the three ports answer.
type doors struct{ web, networks, mailbox door }

// Start starts everything and returns when the web is ready to serve. Its error
// is one plain sentence where a person can mend it; nothing is left running then.
func Start(ctx context.Context, o Options) (_ *Demo, err error) {
	d := &Demo{clock: &clock{}}
	defer func() {
		if err != nil {
			d.Stop()
		}
	}()
	if d.config, err = boot.Read(o.Environ); err != nil {
		return nil, err
	}
	d.set = d.config
	if err := static.Check(); err != nil {
		return nil, err
	}
	if err := d.open(o); err != nil {
		return nil, err
	}
	if err := d.listen(ctx, o); err != nil {
		return nil, err
	}
	if err := d.fill(ctx); err != nil {
		return nil, err
	}
	return d, d.run(ctx)
}

// Stop drains and ends everything, what was started last first. It may be called
// twice, and after a Start that failed.
func (d *Demo) Stop() {
	for _, stop := range slices.Backward(d.stops) {
		stop()
	}
	d.stops = nil
}

func (d *Demo) onStop(f func()) { d.stops = append(d.stops, f) }

// open takes the folder, and from it what stands in for settings nobody made.
func (d *Demo) open(o Options) (err error) {
	if d.folder, err = openFolder(o.Data, o.Fresh); err != nil {
		return err
	}
	d.onStop(d.folder.close)
	d.Data = d.folder.path
	d.config.MediaURL = cmp.Or(d.config.MediaURL, d.folder.mediaURL())
	if d.config.Ring == nil {
		d.config.Ring, err = d.folder.ring()
	}
	return err
}

// run opens Herald on the data and lets it work.
func (d *Demo) run(ctx context.Context) error {
	log, err := d.logger()
	if err != nil {
		return err
	}
	app, err := boot.Open(ctx, d.config, log)
	if err != nil {
		return err
	}
	d.onStop(app.Close)
	if err := app.Ready(ctx); err != nil {
		return err
	}
	worker, err := app.Worker()
	if err != nil {
		return err
	}
	stopMetrics, err := app.Metrics(ctx, worker.Metrics())
	if err != nil {
		return err
	}
	d.onStop(stopMetrics)
	d.onStop(d.keepNetworks())
	if err := worker.Start(ctx); err != nil {
		return err
	}
	stopWeb := d.stops[webStop]
	d.onStop(func() { // both may take a while, and neither waits for the other
		var wg sync.WaitGroup
		wg.Go(worker.Stop)
		wg.Go(stopWeb)
		wg.Wait()
	})
	d.doors.web.open(app.Web())
	return nil
}

// webStop is where, among the stops, that of the web stands: behind the folder's.
const webStop = 1

// Say prints what a person needs to know.
func (d *Demo) Say(w io.Writer) {
	fmt.Fprintf(w, "\nHerald is ready: %s\n\n", d.config.BaseURL)
	fmt.Fprintf(w, "  Sign in as, all with the password %s:\n", password)
	for _, p := range people() {
		fmt.Fprintf(w, "    %-24s %s\n", p.email, p.what)
	}
	fmt.Fprintf(w, "\n  Simulated networks       %s\n", d.Networks)
	fmt.Fprintf(w, "  Mailbox, review links    %s\n", d.Mailbox)
	fmt.Fprintf(w, "  Data and log             %s\n", d.Data)
	fmt.Fprint(w, "\nCtrl-C stops it; the data stays. herald demo --fresh starts over.\n")
}
