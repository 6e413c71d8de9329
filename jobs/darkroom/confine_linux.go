package darkroom

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// politeness is how far a child steps back behind publishing.
const politeness = 5

// confine takes from this process what it does not need. It cannot be undone.
func confine(b bounds) error {
	limit := func(what int, n int64) error {
		return unix.Setrlimit(what, &unix.Rlimit{Cur: uint64(n), Max: uint64(n)})
	}
	err := errors.Join(
		limit(unix.RLIMIT_DATA, b.Memory), limit(unix.RLIMIT_CPU, b.Seconds), limit(unix.RLIMIT_FSIZE, b.FileSize),
		limit(unix.RLIMIT_NOFILE, 64), limit(unix.RLIMIT_CORE, 0),
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), stepBack())
	if err != nil {
		return fmt.Errorf("confine the darkroom: %w", err)
	}
	return nil
}

// stepBack leaves a process alone that stands further back already: only root may bring
// one forward.
func stepBack() error {
	level, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // the kernel's: 20 less the niceness
	if err != nil || 20-level >= politeness {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, politeness)
}

// become makes this process another program, which keeps the limits.
func become(args []string) error {
	if len(args) == 0 {
		return errors.New("no tool was named")
	}
	return fmt.Errorf("start %s: %w", args[0], syscall.Exec(args[0], args, os.Environ()))
}

// peak is the most memory that this process has had, in bytes. What the kernel
// tells a parent counts what the parent itself had before.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

// apart gives a child a group of its own, so that a Ctrl-C does not reach it
// before its parent has drained, and has it end with its parent.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
