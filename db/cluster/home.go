package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// home is where one cluster lives. Its lock is held as long as we live, so two
// programs never start a server on the same data.
type home struct {
	user    *User
	root    string // data and log
	data    string
	socket  string // its folder
	scratch string // what to remove at the end; empty for nothing
	temp    bool

	lock *os.File
	dir  *Scratch
}

func openHome(dir string) (*home, error) {
	u, err := ServiceUser("postgres", "nobody")
	if err != nil {
		return nil, err
	}
	h := &home{user: u, temp: dir == ""}
	if h.temp {
		err = h.useScratch()
		h.root = h.socket
	} else {
		err = h.keep(dir)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	h.data = filepath.Join(h.root, "data")
	if err := h.adopt(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *home) close() {
	if h.lock != nil {
		h.lock.Close()
	}
	h.dir.Remove()
}

func (h *home) log() string { return filepath.Join(h.root, "postgres.log") }

// signal asks for a shutdown that writes everything down, unless the data is
// thrown away in any case.
func (h *home) signal() syscall.Signal {
	if h.temp {
		return syscall.SIGQUIT
	}
	return syscall.SIGINT
}

// version is the major version of the data; 0 if there is none yet.
func (h *home) version() int {
	text, _ := os.ReadFile(filepath.Join(h.data, "PG_VERSION"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

func (h *home) useScratch() error {
	s, err := NewScratch("pg", h.user)
	if err != nil {
		return err
	}
	h.dir, h.socket, h.scratch = s, s.Path, s.Path
	return nil
}

// keep opens a folder that outlives the run.
func (h *home) keep(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, h.mode()); err != nil {
		return fmt.Errorf("make the folder of the database: %w", err)
	}
	if h.lock, err = lock(filepath.Join(dir, "lock")); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("the folder %s is in use by another Herald: stop that one, or choose another folder", dir)
		}
		return fmt.Errorf("open the folder of the database: %w", err)
	}
	if h.root, err = h.place(dir); err != nil {
		return err
	}
	return h.placeSocket()
}

// mode lets the service user through to its own folders when we are root.
func (h *home) mode() fs.FileMode {
	if h.user != nil {
		return 0o711
	}
	return 0o700
}

// place is dir, unless the service user cannot reach into it, as below the home
// of root. Then the data lies under /var/lib/herald, tied to dir by a token in
// both: when somebody empties dir, the data counts as gone too.
func (h *home) place(dir string) (string, error) {
	if h.user.reaches(dir) {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	far := filepath.Join("/var/lib/herald", fmt.Sprintf("%x", sum[:6]))
	here, _ := os.ReadFile(filepath.Join(dir, "token"))
	there, err := os.ReadFile(filepath.Join(far, "token"))
	if err == nil && len(here) > 0 && string(here) == string(there) {
		return far, nil
	}
	token := []byte(rand.Text())
	return far, errors.Join(
		os.RemoveAll(far),
		os.MkdirAll(far, 0o711),
		os.WriteFile(filepath.Join(far, "token"), token, 0o600),
		os.WriteFile(filepath.Join(dir, "token"), token, 0o600),
	)
}

// placeSocket prefers the folder itself, where psql finds it, but a socket's
// address has room for about a hundred bytes, and Postgres reads a comma as the
// start of a second one.
func (h *home) placeSocket() error {
	h.socket = filepath.Join(h.root, "socket")
	if len(h.socket) > maxSocketDir || strings.ContainsAny(h.socket, `,"`) {
		return h.useScratch()
	}
	return nil
}

const maxSocketDir = 103 - len("/.s.PGSQL.") - len(socketPort)

// adopt settles who owns the data: the user that made it, if it is there.
func (h *home) adopt() error {
	if info, err := os.Stat(h.data); err == nil {
		uid, gid := owner(info)
		switch {
		case h.user != nil && uid != 0:
			h.user = &User{Name: "#" + strconv.Itoa(uid), UID: uid, GID: gid}
		case h.user == nil && uid != os.Getuid():
			return fmt.Errorf("the folder %s was made by another user: choose another folder, or remove it", h.root)
		}
	}
	if err := os.MkdirAll(h.socket, 0o700); err != nil {
		return err
	}
	return h.user.Own(h.socket)
}

// clearStale removes the pid file that a killed server left. We hold the lock,
// so a server that is still there belongs to a run that just died: it is asked
// to stop and waited for.
func (h *home) clearStale(ctx context.Context) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		p := readPidFile(h.data)
		if p.pid <= 0 || !serves(p.pid, h.data) {
			break
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("a Postgres of an earlier run (process %d) still has %s open and does not stop", p.pid, h.data)
		}
		_ = syscall.Kill(p.pid, syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
	}
	err := os.Remove(filepath.Join(h.data, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// serves tells whether the process is a server on the data, and not a stranger
// that got the number since. A server's working folder is its data; where /proc is
// missing, its command line names it.
func serves(pid int, data string) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	if _, err := os.Stat("/proc/self/cwd"); err == nil {
		cwd, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
		here, hereErr := os.Stat(data)
		return err == nil && hereErr == nil && os.SameFile(cwd, here)
	}
	out, err := psOf(pid)
	return err == nil && strings.Contains(out, data)
}
