package cluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// helperDir makes the test binary a program that starts a cluster in the folder
// it names ("temp" for none), says so and waits to be killed.
const helperDir = "CLUSTER_TEST_HELPER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		helper(strings.TrimPrefix(dir, "temp"))
		return
	}
	os.Exit(m.Run())
}

func helper(dir string) {
	c, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println(c.process.Pid(), c.home.socket, c.URL(Superuser, "postgres"))
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if dir != "" {
		c.Stop()
	}
}

func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

func query(t *testing.T, c *Cluster, sql string) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL(Superuser, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// openDir is a folder that a service user can reach, as a checkout usually is.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "herald-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestATemporaryClusterAnswersAndLeavesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	if got := query(t, c, "SELECT lower('ÄÖ') || current_setting('fsync')"); got != "äöoff" {
		t.Errorf("got %q", got)
	}
	c.Stop()
	c.Stop()
	if _, err := os.Stat(c.home.root); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if syscall.Kill(c.process.Pid(), 0) != syscall.ESRCH {
		t.Error("the server still runs")
	}
}

func TestADurableClusterKeepsItsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "pg")
	c := start(t, Options{Dir: dir, Durable: true})
	query(t, c, "WITH x AS (SELECT 1) SELECT current_setting('fsync')")
	exec1(t, c, "CREATE TABLE kept (word text)")
	exec1(t, c, "INSERT INTO kept VALUES ('still here')")
	c.Stop()
	again := start(t, Options{Dir: dir, Durable: true})
	if got := query(t, again, "SELECT word FROM kept"); got != "still here" {
		t.Errorf("got %q", got)
	}
}

func exec1(t *testing.T, c *Cluster, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL(Superuser, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderInUseIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "pg")
	start(t, Options{Dir: dir})
	_, err := Start(t.Context(), Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "is in use by another Herald") {
		t.Errorf("got %v", err)
	}
}

func TestAFolderOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "was made by Postgres 9 and this machine has only Postgres") {
		t.Errorf("got %v", err)
	}
}

func TestAPidFileThatNamesAStrangerDoesNotStopAStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "pg")
	c := start(t, Options{Dir: dir})
	c.Stop()
	stranger := start(t, Options{}) // of the same user, so that Postgres itself would take it for the server
	stale := fmt.Sprintf("%d\n%s\n", stranger.process.Pid(), c.home.data)
	if err := os.WriteFile(filepath.Join(c.home.data, "postmaster.pid"), []byte(stale), 0o644); err != nil {
		t.Fatal(err)
	}
	again := start(t, Options{Dir: dir})
	query(t, again, "SELECT 'up'")
}

func TestAnInterruptedFirstStartIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	for _, half := range []string{"data.new/base", "data/base"} {
		if err := os.MkdirAll(filepath.Join(dir, half), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	query(t, start(t, Options{Dir: dir}), "SELECT 'up'")
}

func TestALongFolderNameStillGetsASocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), strings.Repeat("long/", 30), "with, comma")
	query(t, start(t, Options{Dir: dir}), "SELECT 'up'")
}

func TestRootsOwnFolderWorksAndEmptyingItStartsOver(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "closed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := start(t, Options{Dir: dir})
	if root := c.home.root; root != dir {
		t.Cleanup(func() { os.RemoveAll(root) })
	}
	exec1(t, c, "CREATE TABLE kept (word text)")
	c.Stop()
	again := start(t, Options{Dir: dir})
	if got := query(t, again, "SELECT coalesce(to_regclass('kept')::text, 'none')"); got != "kept" {
		t.Errorf("after a second start: %q", got)
	}
	again.Stop()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fresh := start(t, Options{Dir: dir})
	if got := query(t, fresh, "SELECT coalesce(to_regclass('kept')::text, 'none')"); got != "none" {
		t.Errorf("after the folder was emptied: %q", got)
	}
}

// started runs the helper as another program and returns it with its server's
// process and socket folder.
func started(t *testing.T, dir string, attr *syscall.SysProcAttr) (cmd *exec.Cmd, pid int, socket string) {
	t.Helper()
	cmd = exec.Command(shared(t), "-test.run=none")
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	cmd.SysProcAttr, cmd.Stderr = attr, os.Stderr
	if nobody, _ := ServiceUser("nobody"); !nobody.reaches(".") {
		cmd.Dir = "/"
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscan(line, &pid, &socket); err != nil {
		t.Fatalf("the helper said %q", line)
	}
	return cmd, pid, socket
}

// shared is a copy of this binary that other users may run.
func shared(t *testing.T) string {
	t.Helper()
	bytes, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(openDir(t), "helper")
	if err := os.WriteFile(path, bytes, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAKilledProgramTakesItsServerAndTemporaryFolderAlong(t *testing.T) {
	t.Parallel()
	cmd, pid, socket := started(t, "temp", nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server ends", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	eventually(t, "the folder goes", func() bool { _, err := os.Stat(socket); return os.IsNotExist(err) })
}

func TestAFolderOfAKilledProgramStartsAgainAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "pg")
	cmd, _, _ := started(t, dir, nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	query(t, start(t, Options{Dir: dir}), "SELECT 'up'")
}

func TestAnOrdinaryUserCanStartACluster(t *testing.T) {
	t.Parallel()
	var attr *syscall.SysProcAttr
	if nobody, err := ServiceUser("nobody"); err != nil {
		t.Fatal(err)
	} else if nobody != nil {
		attr = &syscall.SysProcAttr{Credential: nobody.credential()}
	}
	_, pid, _ := started(t, "temp", attr)
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		t.Error("the server does not run")
	}
}

func TestWhatAKilledRunLeftIsSwept(t *testing.T) {
	t.Parallel()
	base := openDir(t)
	old := filepath.Join(base, "herald-pg-1")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := lock(filepath.Join(old, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if sweep(base); !exists(old) {
		t.Error("a folder in use was swept")
	}
	f.Close()
	if sweep(base); exists(old) {
		t.Error("a folder that nobody uses was left")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("waited in vain: %s", what)
}
