package main

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"herald/cmd/internal/embedded"
	"herald/db"
	"herald/db/dbtest"
)

// herald runs a command as an operator would, with these settings and no others.
func herald(t *testing.T, environ map[string]string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "HERALD_") || strings.HasPrefix(e, "PG") }), "HERALD_TEST_MAIN=1")
	for name, value := range environ {
		cmd.Env = append(cmd.Env, "HERALD_"+name+"="+value)
	}
	var out, bad strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &bad
	_ = cmd.Run()
	return out.String(), bad.String()
}

// nowhere is an address on which nothing listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// refuser is a Postgres that lets nobody in, with a code and words of the real one.
func refuser(t *testing.T, code, message string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
			b := pgproto3.NewBackend(conn, conn)
			if _, err := b.ReceiveStartupMessage(); err == nil {
				b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: message})
				_ = b.Flush()
			}
			_ = conn.Close()
		}
	}()
	return "postgres://herald:secret-word@" + l.Addr().String() + "/herald?sslmode=disable"
}

// noTLS is a Postgres that answers no to TLS.
func noTLS(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
			_, _ = conn.Read(make([]byte, 8))
			_, _ = conn.Write([]byte("N"))
			_ = conn.Close()
		}
	}()
	return "postgres://herald:secret-word@" + l.Addr().String() + "/herald?sslmode=disable"
}

// TestEveryErrorOfAnOperatorIsOnePlainSentence starts commands with one thing wrong
// each: one line that says what, and what to do.
func TestEveryErrorOfAnOperatorIsOnePlainSentence(t *testing.T) {
	t.Parallel()
	world := dbtest.New(t)
	queue, err := embedded.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Stop)
	busy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good := map[string]string{
		"DATABASE_URL": world.ControlURL, "SHARD_SECOND_URL": world.ShardURL[dbtest.SecondShard], "REDIS_URL": "redis-socket://" + queue.Addr,
		"KEYS": "a passphrase for tests that is long enough to be one", "MEDIA_URL": "file://" + t.TempDir(), "ADDR": "127.0.0.1:0",
	}
	gone := nowhere(t)
	but := func(pairs ...string) map[string]string {
		environ := map[string]string{}
		for name, value := range good {
			environ[name] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			if environ[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
				delete(environ, pairs[i])
			}
		}
		return environ
	}
	agency := filepath.Join(t.TempDir(), "agency.yaml")
	if err := os.WriteFile(agency, []byte("plans: [{name: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := emptyDatabase(t, world)
	for _, c := range []struct {
		name    string
		environ map[string]string
		args    string
		want    string
	}{
		{"no shard", but("SHARD_SECOND_URL", "postgres://herald@"+gone+"/second"), "serve work doctor apply", "Postgres at " + gone + " does not answer: connection refused. Start it, or correct HERALD_SHARD_SECOND_URL."},
		{"no database", but("DATABASE_URL", "postgres://herald@"+gone+"/herald"), "serve work migrate apply doctor", "Postgres at " + gone + " does not answer: connection refused. Start it, or correct HERALD_DATABASE_URL."},
		{"no host", but("DATABASE_URL", "postgres://herald@nowhere.invalid/herald"), "migrate", "does not answer: there is no host named nowhere.invalid. Start it, or correct HERALD_DATABASE_URL."},
		{"no address", but("DATABASE_URL", "postgres://herald:secret-word@[::1/herald"), "serve migrate apply", "HERALD_DATABASE_URL is no address of a Postgres, as postgres://user:password@host:5432/herald is. Correct it."},
		{"not migrated", but("DATABASE_URL", empty, "SHARD_SECOND_URL", ""), "serve work doctor apply", "The databases are not set up yet. Run herald migrate first."},
		{"no right", but("DATABASE_URL", asUser(t, empty, "herald_app"), "SHARD_SECOND_URL", ""), "migrate", `Postgres says "permission denied for database`},
		{"wrong password", but("DATABASE_URL", refuser(t, "28P01", `password authentication failed for user "herald"`)), "migrate", "does not take the user herald with this password. Correct HERALD_DATABASE_URL."},
		{"no role yet", but("DATABASE_URL", refuser(t, "28P01", `password authentication failed for user "herald_app"`)), "serve work doctor apply", "does not let Herald's role herald_app in. Run herald migrate, which makes that role and its password; if it ran already, put the HERALD_KEYS back that it ran with."},
		{"no such database", but("DATABASE_URL", refuser(t, "3D000", `database "herald" does not exist`)), "migrate", "has no database named herald. Make it with createdb herald, or correct HERALD_DATABASE_URL."},
		{"starting", but("DATABASE_URL", refuser(t, "57P03", "the database system is starting up")), "serve", "is starting or stopping. Try again in a moment."},
		{"no redis", but("REDIS_URL", "redis://"+gone+"/0"), "serve work doctor", "Redis at " + gone + " does not answer: connection refused. Start it, or correct HERALD_REDIS_URL."},
		{"no redis address", but("REDIS_URL", "localhost:6379/secret-word"), "serve work doctor", "HERALD_REDIS_URL is no address of a Redis, as redis://:password@host:6379/0 is. Correct it."},
		{"no TLS", but("DATABASE_URL", strings.Replace(noTLS(t), "disable", "require", 1)), "migrate", "speaks no TLS. Turn it on there, or add sslmode=disable to HERALD_DATABASE_URL if the way to it is trusted."},
		{"redis password", but("REDIS_URL", "redis://:wrong@"+redisWithPassword(t)), "serve doctor", "wants another user or password. Correct HERALD_REDIS_URL."},
		{"port in use", but("ADDR", busy.Addr().String()), "serve", "the web cannot listen on " + busy.Addr().String() + ": another program does already. Stop that one, or choose another address with HERALD_ADDR."},
		{"no port", but("ADDR", "here"), "serve", `the web cannot listen on "here", which is no address as 127.0.0.1:8080 is. Correct HERALD_ADDR.`},
		{"metrics in use", but("METRICS_ADDR", busy.Addr().String()), "serve work", "choose another address with HERALD_METRICS_ADDR."},
		{"no media", but("MEDIA_URL", "file://"+file+"/media"), "serve work doctor", "The folder for media, " + file + "/media, cannot be used: not a directory. Give it to the user that Herald runs as, or set HERALD_MEDIA_URL to another."},
		{"simulate", but(), "simulate --addr=" + busy.Addr().String(), "the networks cannot listen on " + busy.Addr().String() + ": another program does already. Stop that one, or choose another address with --addr."},
	} {
		commands := strings.Fields(c.args)
		if commands[0] == "simulate" {
			commands = []string{c.args}
		}
		for _, command := range commands {
			t.Run(c.name+" "+command, func(t *testing.T) {
				t.Parallel()
				args := strings.Fields(command)
				if command == "apply" {
					args = append(args, agency)
				}
				out, bad := herald(t, c.environ, args...)
				if strings.Contains(out+bad, "secret-word") {
					t.Errorf("it shows a password: %s%s", out, bad)
				}
				if command == "doctor" {
					bad = strings.Join(strings.Fields(out), " ")
				} else if strings.Count(bad, "\n") != 1 || !strings.HasPrefix(bad, "herald "+args[0]+": ") {
					t.Errorf("it is not one line: %s", bad)
				}
				if !strings.Contains(bad, c.want) {
					t.Errorf("got  %s\nwant %s", bad, c.want)
				}
			})
		}
	}
}

// asUser is an address for somebody else.
func asUser(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(name)
	return u.String()
}

func emptyDatabase(t *testing.T, world *dbtest.World) string {
	t.Helper()
	config, err := pgx.ParseConfig(world.ControlURL)
	if err != nil {
		t.Fatal(err)
	}
	name := config.Database + "_empty"
	world.Super(t, db.MainShard, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		conn, err := pgx.ConnectConfig(context.WithoutCancel(t.Context()), config)
		if err != nil {
			return
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		_, _ = conn.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return strings.Replace(world.ControlURL, "/"+config.Database, "/"+name, 1)
}

// redisWithPassword is a Redis that wants another word than anybody brings.
func redisWithPassword(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
			go func() {
				defer conn.Close()
				b := make([]byte, 4096)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					for range strings.Count(string(b[:n]), "*") { // one answer for each command
						_, _ = conn.Write([]byte("-WRONGPASS invalid username-password pair or user is disabled.\r\n"))
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestEachMissingSettingIsALineOfItsOwn starts with nothing set.
func TestEachMissingSettingIsALineOfItsOwn(t *testing.T) {
	t.Parallel()
	for command, missing := range map[string]int{"serve": 4, "work": 4, "migrate": 2} {
		_, bad := herald(t, nil, command)
		lines := strings.Split(strings.TrimSpace(bad), "\n")
		for _, line := range lines {
			if !regexp.MustCompile(`^herald ` + command + `: HERALD_[A-Z_]+ is not set: .+$`).MatchString(line) {
				t.Errorf("%q", line)
			}
		}
		if len(lines) != missing {
			t.Errorf("%d lines: %s", len(lines), bad)
		}
	}
}

// TestTheDoctorTellsOneThingALine looks at every line of it, good and bad.
func TestTheDoctorTellsOneThingALine(t *testing.T) {
	t.Parallel()
	out, _ := herald(t, map[string]string{"DATABASE_URL": "postgres://herald@" + nowhere(t) + "/herald"}, "doctor")
	world := dbtest.New(t)
	more, _ := herald(t, map[string]string{
		"DATABASE_URL": world.ControlURL, "SHARD_SECOND_URL": world.ShardURL[dbtest.SecondShard], "REDIS_URL": "redis://" + nowhere(t), "BASE_URL": "http://herald.example",
		"KEYS": "a passphrase for tests that is long enough to be one", "MEDIA_URL": "file:///dev/null/media"}, "doctor")
	for line := range strings.Lines(out + more) {
		if !regexp.MustCompile(`^(ok  |BAD |warn)  [a-z]+ +\S`).MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	if strings.Count(more, "\n") < 12 || !strings.Contains(more, "BAD   storage") || !strings.Contains(more, "ok    database") {
		t.Errorf("one thing that is wrong hides the rest:\n%s", more)
	}
}

// TestTheDoctorFitsATerminal wraps what is long below its own words.
func TestTheDoctorFitsATerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words that are said ", 30) + "https://" + strings.Repeat("x", 120)
	var b strings.Builder
	printFinding(&b, "BAD ", finding{what: "settings", say: long}, doctorWidth)
	for n, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		if begins := strings.HasPrefix(line, "BAD   settings   words"); begins != (n == 0) || n > 0 && !regexp.MustCompile(`^ {17}\S`).MatchString(line) {
			t.Errorf("%d: %q", n, line)
		}
		if utf8.RuneCountInString(line) > doctorWidth && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%d is too long: %q", n, line)
		}
	}
	if strings.Join(strings.Fields(b.String()), " ") != "BAD settings "+long {
		t.Error("a word is lost")
	}
}
