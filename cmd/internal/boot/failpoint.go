package boot

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// failPoint reads HERALD_TEST_KILL ("point" or "point:n"): at the n-th passing
// of the named point of the pipeline the process kills itself, as a power cut
// would. Crash tests set it; without it there are no fail-points.
func failPoint() func(string) {
	want, nth, _ := strings.Cut(os.Getenv("HERALD_TEST_KILL"), ":")
	if want == "" {
		return nil
	}
	n, err := strconv.Atoi(nth)
	if err != nil || n < 1 {
		n = 1
	}
	var passed atomic.Int64
	return func(point string) {
		if point == want && passed.Add(1) == int64(n) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}
