package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Scratch is a short-named temporary folder that one private process uses. What
// a killed run left is removed by the next NewScratch.
type Scratch struct {
	Path string
	lock *os.File
}

// NewScratch makes a folder closed to everyone but the user (and root).
func NewScratch(kind string, as *User) (*Scratch, error) {
	base := scratchBase(as)
	sweep(base)
	dir, err := os.MkdirTemp(base, "herald-"+kind+"-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	s := &Scratch{Path: dir}
	if s.lock, err = lock(filepath.Join(dir, "lock")); err == nil {
		err = as.Own(dir)
	}
	if err != nil {
		s.Remove()
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	return s, nil
}

// Remove takes the folder away. It may be called on nil.
func (s *Scratch) Remove() {
	if s == nil {
		return
	}
	_ = os.RemoveAll(s.Path)
	if s.lock != nil {
		s.lock.Close()
	}
}

// scratchBase is the usual temporary folder unless a socket's address there
// would be too long or the user cannot reach it.
func scratchBase(as *User) string {
	dir := os.TempDir()
	if len(dir) > maxSocketDir-len("/herald-redis-0123456789") || !as.reaches(dir) {
		return "/tmp"
	}
	return dir
}

// sweep removes folders whose lock nobody holds. Young ones are left alone: they
// may stand between being made and being locked.
func sweep(base string) {
	found, _ := filepath.Glob(filepath.Join(base, "herald-*-*", "lock"))
	for _, path := range found {
		dir := filepath.Dir(path)
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < 10*time.Second {
			continue
		}
		if f, err := lock(path); err == nil {
			_ = os.RemoveAll(dir)
			f.Close()
		}
	}
}

// lock takes a file for as long as it stays open, which ends with us at the
// latest. It fails with EWOULDBLOCK when another has it.
func lock(path string) (*os.File, error) {
	return flock(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// reaches tells whether the user may pass through every folder down to dir.
func (u *User) reaches(dir string) bool {
	if u == nil {
		return true
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for err == nil {
		info, statErr := os.Stat(dir)
		if statErr != nil || !u.passes(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
	return false
}

func (u *User) passes(info fs.FileInfo) bool {
	uid, gid := owner(info)
	switch mode := info.Mode().Perm(); {
	case uid == u.UID:
		return mode&0o100 != 0
	case gid == u.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

func owner(info fs.FileInfo) (uid, gid int) {
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), int(st.Gid)
}

func psOf(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return string(out), err
}
