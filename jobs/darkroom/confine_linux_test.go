package darkroom_test

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Herald under nice as nobody in particular may not bring a child forward.
func TestAChildStepsBackAndNeverForward(t *testing.T) {
	t.Parallel()
	level, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	for further, want := range map[int]int{0: max(5, 20-level), 10: min(19, max(5, 20-level+10))} {
		if got, err := room(t).Niceness(t.Context(), further); err != nil || strings.TrimSpace(got) != strconv.Itoa(want) {
			t.Errorf("started %d further back it stands at %q, %v, want %d", further, got, err, want)
		}
	}
}
