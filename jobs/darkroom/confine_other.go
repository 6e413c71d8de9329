//go:build unix && !linux

package darkroom

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine takes from this process what it does not need. It cannot be undone.
func confine(b bounds) error {
	limit := func(what int, n int64) error {
		return unix.Setrlimit(what, &unix.Rlimit{Cur: uint64(n), Max: uint64(n)})
	}
	if err := errors.Join(limit(unix.RLIMIT_CPU, b.Seconds), limit(unix.RLIMIT_FSIZE, b.FileSize), limit(unix.RLIMIT_CORE, 0)); err != nil {
		return fmt.Errorf("confine the darkroom: %w", err)
	}
	return nil
}

// become makes this process another program, which keeps the limits.
func become(args []string) error {
	if len(args) == 0 {
		return errors.New("no tool was named")
	}
	return fmt.Errorf("start %s: %w", args[0], syscall.Exec(args[0], args, os.Environ()))
}

// peak is not told everywhere in the same unit.
func peak() int64 { return 0 }

func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
