package scan_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"herald/jobs/scan"
)

// The daemon of the tests: one for all of them, with two signatures of its own and
// a stream limit of one megabyte.
var daemon struct{ socket, tcp string }

const harmful = "herald-test: this line is known to the tests' clamd"

func TestMain(m *testing.M) {
	code, err := withClamd(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withClamd(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "clamd") // short, since a socket's path may not be long
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	stop, err := startClamd(dir)
	if err != nil {
		return 1, err
	}
	defer stop()
	return run(), nil
}

func startClamd(dir string) (stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	daemon.socket, daemon.tcp = filepath.Join(dir, "s"), fmt.Sprintf("127.0.0.1:%d", port)
	config := fmt.Sprintf("Foreground yes\nLocalSocket %s\nTCPSocket %d\nTCPAddr 127.0.0.1\nDatabaseDirectory %s/db\nStreamMaxLength 1M\nTemporaryDirectory %s\nUser root\n",
		daemon.socket, port, dir, dir)
	if os.Geteuid() != 0 {
		config = strings.ReplaceAll(config, "User root\n", "")
	}
	// Name:0 (any kind of file):* (anywhere):the text in hexadecimal
	signatures := fmt.Sprintf("Herald.Line:0:*:%x\nHerald.Eicar:0:*:%x\n", harmful, eicar())
	err = errors.Join(os.Mkdir(filepath.Join(dir, "db"), 0o755), os.WriteFile(filepath.Join(dir, "db", "test.ndb"), []byte(signatures), 0o644),
		os.WriteFile(filepath.Join(dir, "clamd.conf"), []byte(config), 0o644))
	if err != nil {
		return nil, err
	}
	program := "/usr/sbin/clamd"
	if p, err := exec.LookPath("clamd"); err == nil {
		program = p
	}
	cmd := exec.Command(program, "--config-file="+filepath.Join(dir, "clamd.conf"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("clamd is needed; .tools/setup.sh installs it: %w", err)
	}
	stop = func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }
	for range 600 {
		if scan.NewClamd(daemon.socket).Ping(context.Background()) == nil && scan.NewClamd(daemon.tcp).Ping(context.Background()) == nil {
			return stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, fmt.Errorf("clamd did not start: %s", said.String())
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func eicar() string {
	return `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`
}

// scanners are all ways to ask.
func scanners() map[string]scan.Scanner {
	return map[string]scan.Scanner{"socket": scan.NewClamd(daemon.socket), "tcp": scan.NewClamd(daemon.tcp), "signature": scan.Signature{}}
}

func zipped(t *testing.T, body []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.Create("a folder/x.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestEveryScannerFindsEicarAndLetsTheRestPass(t *testing.T) {
	t.Parallel()
	split := strings.Repeat("x", 64<<10-30) + eicar() // over the border of two chunks
	for name, s := range scanners() {
		for what, body := range map[string]string{
			"bare": eicar(), "with a line end": eicar() + "\n", "in a zip": string(zipped(t, []byte(eicar()))), "over two chunks": split,
			"in a zip in a zip": string(zipped(t, zipped(t, []byte(eicar())))),
		} {
			v, err := s.Scan(t.Context(), strings.NewReader(body))
			if err != nil || v.Clean() || !strings.Contains(strings.ToLower(v.Found), "eicar") {
				t.Errorf("%s, eicar %s: %+v, %v", name, what, v, err)
			}
		}
		for what, body := range map[string]string{"nothing": "", "a text": "hello", "half of it": eicar()[:40], "a zip": string(zipped(t, []byte("hello"))),
			"half a zip": string(zipped(t, []byte("hello"))[:60]), "just below the limit": strings.Repeat("x", 1<<20-1)} {
			if v, err := s.Scan(t.Context(), strings.NewReader(body)); err != nil || !v.Clean() {
				t.Errorf("%s, %s: %+v, %v", name, what, v, err)
			}
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClamdNamesWhatItFound(t *testing.T) {
	t.Parallel()
	v, err := scan.NewClamd(daemon.socket).Scan(t.Context(), strings.NewReader("before "+harmful+" after"))
	if err != nil || v.Found != "Herald.Line.UNOFFICIAL" {
		t.Errorf("got %+v, %v", v, err)
	}
}

// Above its limit clamd answers and hangs up while bytes are still on their way.
func TestAboveClamdsLimitNobodyKnows(t *testing.T) {
	t.Parallel()
	for _, s := range []scan.Scanner{scan.NewClamd(daemon.socket), scan.NewClamd(daemon.tcp)} {
		for range 5 { // how far the writing gets differs from time to time
			v, err := s.Scan(t.Context(), io.LimitReader(zeros{}, 64<<20))
			if err != nil || !v.TooLarge || v.Clean() {
				t.Fatalf("64 MB: %+v, %v, want too large", v, err)
			}
		}
		v, err := s.Scan(t.Context(), io.MultiReader(strings.NewReader(eicar()), io.LimitReader(zeros{}, 64<<20)))
		if err != nil || v.Clean() {
			t.Errorf("64 MB that begin with eicar: %+v, %v", v, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAScannerThatIsAwayHasNoVerdict(t *testing.T) {
	t.Parallel()
	for what, answer := range map[string]func(net.Conn){
		"hangs up":           func(net.Conn) {},
		"says an error":      func(c net.Conn) { _, _ = io.WriteString(c, "stream: Can't allocate memory ERROR\x00") },
		"says half":          func(c net.Conn) { _, _ = io.WriteString(c, "stre") },
		"says OK and more":   func(c net.Conn) { _, _ = io.WriteString(c, "stream: OK FOR NOW\x00") },
		"says FOUND nothing": func(c net.Conn) { _, _ = io.WriteString(c, " FOUND\x00") },
		"talks on and on":    func(c net.Conn) { _, _ = io.Copy(c, io.LimitReader(zeros{}, 1<<20)) },
	} {
		address := pretend(t, answer)
		if v, err := scan.NewClamd(address).Scan(t.Context(), strings.NewReader("hello")); !errors.Is(err, scan.ErrAway) {
			t.Errorf("%s: %+v, %v, want ErrAway", what, v, err)
		}
	}
	for _, address := range []string{"/nowhere/clamd.sock", "127.0.0.1:1", "localhost:1"} {
		c := scan.NewClamd(address)
		if _, err := c.Scan(t.Context(), strings.NewReader("hello")); !errors.Is(err, scan.ErrAway) {
			t.Errorf("%s: %v, want ErrAway", address, err)
		}
		if err := c.Ping(t.Context()); !errors.Is(err, scan.ErrAway) {
			t.Errorf("ping %s: %v, want ErrAway", address, err)
		}
	}
}

// pretend listens as a clamd that reads what it is sent and answers so.
func pretend(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64)
			_, _ = io.ReadAtLeast(conn, buf, len("zINSTREAM\x00")+4+len("hello")+4)
			answer(conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestABrokenDiskIsNotTheScannersFault(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for name, s := range scanners() {
		_, err := s.Scan(t.Context(), io.MultiReader(strings.NewReader("hello"), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, scan.ErrAway) {
			t.Errorf("%s: %v, want the disk's own error", name, err)
		}
	}
}

func TestAScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	ctx, cancel := context.WithCancel(t.Context())
	address := pretend(t, func(net.Conn) { cancel(); <-silent })
	if _, err := scan.NewClamd(address).Scan(ctx, strings.NewReader("hello")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheSignatureScannerLooksBehindAPicture(t *testing.T) {
	t.Parallel()
	v, err := scan.Signature{}.Scan(t.Context(), strings.NewReader("\xff\xd8\xff\xe0"+string(zipped(t, []byte(eicar())))))
	if err != nil || v.Clean() {
		t.Errorf("got %+v, %v", v, err)
	}
}

// A small archive may hold more than anybody wants to unpack.
func TestTheSignatureScannerUnpacksSoMuchAndNoMore(t *testing.T) {
	t.Parallel()
	bomb := zipped(t, make([]byte, 65<<20))
	if len(bomb) > 200<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	if v, err := (scan.Signature{}).Scan(t.Context(), bytes.NewReader(bomb)); err != nil || !v.TooLarge {
		t.Errorf("got %+v, %v, want too large", v, err)
	}
	deep := []byte(eicar())
	for range 6 {
		deep = zipped(t, deep)
	}
	if v, err := (scan.Signature{}).Scan(t.Context(), bytes.NewReader(deep)); err != nil || v.Clean() {
		t.Errorf("six deep: %+v, %v", v, err)
	}
}
