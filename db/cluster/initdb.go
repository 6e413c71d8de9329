package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fill makes the data folder if it is not there yet. It appears whole or not at
// all: a run killed in the middle leaves only data.new, which the next removes.
func (h *home) fill(ctx context.Context, bin binaries, o Options) error {
	if h.version() != 0 {
		return nil
	}
	fresh := h.data + ".new"
	if err := h.emptyFolder(fresh); err != nil {
		return err
	}
	build := initdb
	if !o.Durable {
		build = copyCached
	}
	if err := build(ctx, bin, fresh, h.user, o.Durable); err != nil {
		return err
	}
	if err := os.RemoveAll(h.data); err != nil { // without PG_VERSION it is no cluster
		return err
	}
	return os.Rename(fresh, h.data)
}

func (h *home) emptyFolder(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return h.user.Own(path)
}

// locales are tried in turn: every text must sort and fold alike wherever Herald
// runs, and lower('Ä') must be 'ä', which the C locale does not do.
var locales = [][]string{
	{"--locale=C.UTF-8"},
	{"--locale-provider=icu", "--icu-locale=und", "--locale=C"},
}

func initdb(ctx context.Context, bin binaries, data string, as *User, sync bool) error {
	var first error
	for _, locale := range locales {
		args := append([]string{"-D", data, "-U", Superuser, "-A", "trust", "-E", "UTF8", "--no-instructions"}, locale...)
		if !sync {
			args = append(args, "--no-sync")
		}
		err := runAs(ctx, as, bin.path("initdb"), args...)
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("make a Postgres data folder: %w", err)
		}
	}
	return first
}

func runAs(ctx context.Context, as *User, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = environment(), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as.credential()}
	dieWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// cacheLife is short enough that no cleaner of temporary files has begun to eat
// from the cached folder.
const cacheLife = 72 * time.Hour

// copyCached copies a finished data folder that test binaries share, and makes
// it first if it is missing: initdb takes one to two seconds, a copy a tenth.
// A lock lets one binary make it while the others wait. Whatever is wrong with
// the cache costs time only.
func copyCached(ctx context.Context, bin binaries, data string, as *User, _ bool) error {
	cache := filepath.Join(scratchBase(as), fmt.Sprintf("herald-initdb-%s-%d", bin.version, os.Getuid()))
	held, err := flock(cache+".lock", syscall.LOCK_EX)
	if err != nil {
		return initdb(ctx, bin, data, as, false)
	}
	defer held.Close()
	if !usable(cache, as) {
		if err := makeCache(ctx, bin, cache, as); err != nil {
			return initdb(ctx, bin, data, as, false)
		}
	}
	return runAs(ctx, as, "/bin/cp", "-R", cache+"/.", data)
}

func makeCache(ctx context.Context, bin binaries, cache string, as *User) error {
	h := home{user: as}
	if err := h.emptyFolder(cache + ".new"); err != nil {
		return err
	}
	if err := initdb(ctx, bin, cache+".new", as, false); err != nil {
		return err
	}
	if err := os.RemoveAll(cache); err != nil {
		return err
	}
	return os.Rename(cache+".new", cache)
}

// usable refuses what another user may have laid there under our name.
func usable(cache string, as *User) bool {
	info, err := os.Lstat(cache)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || time.Since(info.ModTime()) > cacheLife {
		return false
	}
	want := os.Getuid()
	if as != nil {
		want = as.UID
	}
	uid, _ := owner(info)
	_, err = os.Stat(filepath.Join(cache, "PG_VERSION"))
	return uid == want && err == nil
}
