package jobs_test

import (
	"flag"
	"os"
	"testing"

	"herald/jobs/darkroom"
)

// TestMain lets more tests run at once than there are cores: most of their time
// is spent waiting for an instant, a network or a lease.
func TestMain(m *testing.M) {
	darkroom.Serve()
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("5")
	}
	os.Exit(m.Run())
}
