package boot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"herald/db"
	"herald/db/model"
)

// Explain says an error to the operator: a plain sentence for each thing that is
// wrong, which ends with what to do about it where that is known.
func (c Config) Explain(err error) []string {
	if words, ok := c.known(err); ok {
		return []string{words}
	}
	if list := joined(err); len(list) > 0 {
		var all []string
		for _, one := range list {
			all = append(all, c.Explain(one)...)
		}
		return all
	}
	return []string{strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), " ")}
}

// joined are the parts of what errors.Join made, wherever in the chain that is.
func joined(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		many, ok := err.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		var lines []string
		for _, one := range many.Unwrap() {
			lines = append(lines, one.Error())
		}
		if strings.Join(lines, "\n") == err.Error() { // fmt.Errorf with several causes reads otherwise
			return many.Unwrap()
		}
	}
	return nil
}

func (c Config) known(err error) (string, bool) {
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return c.noDatabase(connect), true
	}
	if bad, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return c.databaseSetting(func(url string) bool { return url == bad.ConnString }) + " is no address of a Postgres, as postgres://user:password@host:5432/herald is. Correct it.", true
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return c.refused(refusal)
	}
	if away, ok := errors.AsType[*redisError](err); ok {
		return c.noRedis(away.err), true
	}
	if errors.Is(err, db.ErrAway) && errors.Is(err, context.DeadlineExceeded) {
		return "A database did not answer in time. See that it runs and is not overloaded, then try again.", true
	}
	return "", false
}

// refused tells what a Postgres refuses once somebody is in: what is not there yet, and
// what needs a user with more rights.
func (c Config) refused(e *pgconn.PgError) (string, bool) {
	unmade := strings.Contains(e.Message, "schema_versions") || strings.Contains(e.Message, "schema control") || strings.Contains(e.Message, "schema tenant")
	switch {
	case e.Code == "42P01" || e.Code == "3F000" || e.Code == "42501" && unmade:
		return sayMigrate, true
	case e.Code == "42501":
		return fmt.Sprintf("Postgres says %q. Give %sDATABASE_URL, and the address of each shard, a user who may create schemas and roles.", e.Message, prefix), true
	}
	return "", false
}

const sayMigrate = "The databases are not set up yet. Run herald migrate first."

// sayBehind is for databases that lack n migrations.
func sayBehind(n int) error {
	if n == 1 {
		return say("The databases lack one migration. Run herald migrate first.")
	}
	return say("The databases lack %d migrations. Run herald migrate first.", n)
}

// say makes an error that is a sentence for the operator.
func say(format string, args ...any) error {
	return model.Refuse(model.Unavailable, fmt.Sprintf(format, args...))
}

// databaseSetting is the name of the setting whose address is meant.
func (c Config) databaseSetting(is func(url string) bool) string {
	for _, shard := range slices.Sorted(maps.Keys(c.ShardURLs)) {
		if is(c.ShardURLs[shard]) && !is(c.DatabaseURL) {
			return prefix + "SHARD_" + strings.ToUpper(shard) + "_URL"
		}
	}
	return prefix + "DATABASE_URL"
}

// noDatabase says why a Postgres let nobody in.
func (c Config) noDatabase(e *pgconn.ConnectError) string {
	setting := c.databaseSetting(func(url string) bool {
		o, err := pgconn.ParseConfig(url)
		return err == nil && o.Host == e.Config.Host && o.Port == e.Config.Port && o.Database == e.Config.Database
	})
	at := "Postgres at " + place(e.Config.Host, e.Config.Port)
	ours := strings.HasPrefix(e.Config.User, "herald_") && c.Ring != nil
	refusal, refused := errors.AsType[*pgconn.PgError](e)
	text := e.Error()
	switch {
	case !refused && strings.Contains(text, "refused TLS") && strings.Count(text, "\n") == 0:
		return at + " speaks no TLS. Turn it on there, or add sslmode=disable to " + setting + " if the way to it is trusted."
	case !refused && strings.Contains(text, "invalid body length"), !refused && strings.Contains(text, "unknown message type"):
		return "What answers at " + place(e.Config.Host, e.Config.Port) + " is no Postgres. Correct " + setting + "."
	case !refused:
		return at + " does not answer" + why(e) + ". Start it, or correct " + setting + "."
	case refusal.Code == "28000" && strings.Contains(refusal.Message, "pg_hba.conf"):
		return fmt.Sprintf("%s lets the user %s into the database %s from no machine like this one. Add a line for it to pg_hba.conf there.", at, e.Config.User, e.Config.Database)
	case strings.HasPrefix(refusal.Code, "28") && ours:
		return fmt.Sprintf("%s does not let Herald's role %s in. Run herald migrate, which makes that role and its password; if it ran already, put the %sKEYS back that it ran with.", at, e.Config.User, prefix)
	case strings.HasPrefix(refusal.Code, "28"):
		return fmt.Sprintf("%s does not take the user %s with this password. Correct %s.", at, e.Config.User, setting)
	case refusal.Code == "3D000":
		return fmt.Sprintf("%s has no database named %s. Make it with createdb %s, or correct %s.", at, e.Config.Database, e.Config.Database, setting)
	case refusal.Code == "53300":
		return at + " has no connection left. Raise its max_connections, or stop what holds them."
	case refusal.Code == "57P03":
		return at + " is starting or stopping. Try again in a moment."
	}
	return at + " let nobody in: " + refusal.Message + ". Check " + setting + "."
}

// place is host and port as a person reads them, or a socket's folder.
func place(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	return net.JoinHostPort(host, fmt.Sprint(port))
}

// why is what kept a connection from being made, in brackets.
func why(err error) string {
	unknown, noName := errors.AsType[*net.DNSError](err)
	wire, timed := errors.AsType[net.Error](err)
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case noName && unknown.IsNotFound:
		return ": there is no host named " + unknown.Name
	case errors.Is(err, context.DeadlineExceeded), timed && wire.Timeout():
		return " in time"
	case ok:
		return ": " + errno.Error()
	}
	return ""
}

// redisError is any error of Redis, which the client's own types do not tell.
type redisError struct{ err error }

func (e *redisError) Error() string { return "Redis: " + e.err.Error() }
func (e *redisError) Unwrap() error { return e.err }

// PingRedis says whether Redis answers.
func (a *App) PingRedis(ctx context.Context) error {
	if err := a.Redis.Ping(ctx).Err(); err != nil {
		return &redisError{err}
	}
	return nil
}

func (c Config) noRedis(err error) string {
	at, setting := "Redis", prefix+"REDIS_URL"
	if u, err := url.Parse(c.RedisURL); err == nil && cmp.Or(u.Host, u.Path) != "" {
		at += " at " + cmp.Or(u.Host, u.Path)
	}
	for _, word := range []string{"NOAUTH", "WRONGPASS", "invalid password", "ERR AUTH"} {
		if strings.Contains(err.Error(), word) {
			return at + " wants another user or password. Correct " + setting + "."
		}
	}
	if strings.HasPrefix(err.Error(), "LOADING") {
		return at + " is still starting. Try again in a moment."
	}
	return at + " does not answer" + why(err) + ". Start it, or correct " + setting + "."
}

// CannotListen says why an address cannot be listened on, and which setting or flag
// to change.
func CannotListen(name, addr, setting string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return say("%s cannot listen on %s: another program does already. Stop that one, or choose another address with %s.", name, addr, setting)
	case errors.Is(err, syscall.EACCES):
		return say("%s may not listen on %s as this user. Choose a port above 1023 with %s.", name, addr, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return say("%s cannot listen on %s: this machine has no such address. Correct %s.", name, addr, setting)
	}
	return say("%s cannot listen on %q, which is no address as 127.0.0.1:8080 is. Correct %s.", name, addr, setting)
}

// mediaError is why files cannot be kept where HERALD_MEDIA_URL says.
type mediaError struct {
	words string
	err   error
}

func (e *mediaError) Error() string { return e.words }
func (e *mediaError) Unwrap() error { return e.err }

// MediaTrouble says whether it is the place of files that keeps Herald from starting.
func MediaTrouble(err error) bool {
	_, ok := errors.AsType[*mediaError](err)
	return ok
}

func noMedia(address string, err error) error {
	words := fmt.Sprintf("%sMEDIA_URL: %s", prefix, err)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		words = fmt.Sprintf("The folder for media, %s, cannot be used: %s. Give it to the user that Herald runs as, or set %sMEDIA_URL to another.", strings.TrimPrefix(address, "file://"), at.Err, prefix)
	}
	return &mediaError{words, err}
}
