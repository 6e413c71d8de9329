package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const (
	chunk       = 64 << 10
	replyLimit  = 4 << 10
	dialTimeout = 5 * time.Second
	// quiet is how long clamd may take nothing and say nothing. Its own
	// ReadTimeout and MaxScanTime are two minutes.
	quiet = 3 * time.Minute
)

// Clamd asks a clamd by its INSTREAM command, one connection a file.
type Clamd struct {
	network, address string
	quiet            time.Duration
}

// NewClamd makes a client of the clamd at address: a socket's path, or host:port
// with 3310 where no port is given.
func NewClamd(address string) *Clamd {
	if strings.HasPrefix(address, "/") {
		return &Clamd{"unix", address, quiet}
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(address, "3310")
	}
	return &Clamd{"tcp", address, quiet}
}

// Ping implements Scanner.
func (c *Clamd) Ping(ctx context.Context) error {
	reply, err := c.talk(ctx, "zPING\x00", nil)
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("%w: it answered %.100q to PING", ErrAway, reply)
	}
	return err
}

// Scan implements Scanner.
func (c *Clamd) Scan(ctx context.Context, r io.Reader) (Verdict, error) {
	reply, err := c.talk(ctx, "zINSTREAM\x00", r)
	if err != nil {
		return Verdict{}, err
	}
	return readReply(reply)
}

// readReply knows three answers and takes no other for clean.
func readReply(reply string) (Verdict, error) {
	said := strings.TrimPrefix(reply, "stream: ")
	if found, ok := strings.CutSuffix(said, " FOUND"); ok && found != "" {
		return Verdict{Found: found}, nil
	}
	switch {
	case said == "OK":
		return Verdict{}, nil
	case strings.HasPrefix(said, "INSTREAM size limit exceeded"):
		return Verdict{TooLarge: true}, nil
	}
	return Verdict{}, fmt.Errorf("%w: it said %.200q", ErrAway, reply)
}

// talk sends a command, with a body as chunks if there is one, and reads the
// answer. Whoever says too much is cut off by clamd, which has answered by then:
// so the answer is read even if writing failed.
func (c *Clamd) talk(ctx context.Context, command string, body io.Reader) (string, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, c.network, c.address)
	if err != nil {
		return "", away(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	sent := c.send(ctx, conn, command, body)
	if source, ok := errors.AsType[*sourceError](sent); ok {
		return "", source.err
	}
	_ = c.extend(ctx, conn)
	reply, err := io.ReadAll(io.LimitReader(conn, replyLimit))
	text := strings.TrimRight(string(reply), "\x00\r\n")
	if text == "" {
		return "", away(ctx, errors.Join(sent, err))
	}
	return text, nil
}

// sourceError is a failure of what is scanned, not of the scanner.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

func (c *Clamd) send(ctx context.Context, conn net.Conn, command string, body io.Reader) error {
	_ = c.extend(ctx, conn)
	if _, err := io.WriteString(conn, command); err != nil || body == nil {
		return err
	}
	buf := make([]byte, 4+chunk)
	for {
		n, err := io.ReadFull(body, buf[4:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return &sourceError{err}
		}
		last := err != nil
		if n > 0 {
			_ = c.extend(ctx, conn)
			binary.BigEndian.PutUint32(buf, uint32(n))
			if _, err := conn.Write(buf[:4+n]); err != nil {
				return err
			}
		}
		if last {
			_, err := conn.Write([]byte{0, 0, 0, 0})
			return err
		}
	}
}

// extend gives clamd time from now on, unless the caller has given up.
func (c *Clamd) extend(ctx context.Context, conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(c.quiet)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return conn.SetDeadline(time.Unix(1, 0))
	}
	return nil
}

// away sorts what a connection said: the caller's own end, or the scanner's.
func away(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return fmt.Errorf("%w: it hung up without an answer", ErrAway)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}
