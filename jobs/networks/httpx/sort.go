package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"herald/jobs/networks/fault"
)

// maxWait is the longest wait that is believed.
const maxWait = 24 * time.Hour

// Sort gives the class of an answer about which the network's documentation
// says nothing. It never returns nil: a 2xx that the caller could not use
// sorts as Unparsable does. Adapters ask their own table first.
func Sort(step Step, a *Answer) *fault.Fault {
	kind, say := classify(step, a.Status)
	if a.OK() {
		return Unparsable(step, a)
	}
	f := fault.New(kind, "http_"+strconv.Itoa(a.Status), say)
	f.Status, f.RequestID = a.Status, a.RequestID
	if kind == fault.RateLimited {
		f.Wait = RetryAfter(a)
	}
	return f
}

func classify(step Step, status int) (fault.Kind, string) {
	switch {
	case status == http.StatusTooManyRequests:
		return fault.RateLimited, "The network asked us to slow down."
	case status == http.StatusTooEarly, status == http.StatusMisdirectedRequest:
		return fault.Transient, "The network was not ready for the request."
	case status >= 500, status == http.StatusRequestTimeout, status == 499:
		if step == Commit {
			return fault.Unknown, "The network reported a failure of its own, so the post may be live or not."
		}
		return fault.Transient, "The network reported a failure of its own."
	case status == http.StatusUnauthorized:
		return fault.Auth, "The network no longer accepts the connection. Reconnect the account."
	case status == http.StatusForbidden:
		return fault.Permission, "The network says that this account may not do that."
	case status == http.StatusNotFound, status == http.StatusGone:
		return fault.Validation, "The network does not find what the post refers to."
	case status/100 == 3:
		return fault.Validation, "The address has moved, and a post is not sent on to another place."
	default:
		return fault.Validation, "The network refused the post."
	}
}

// Unparsable is the class of a 2xx whose body is not what was promised: on the
// commit call the post is probably live, anywhere else the call is repeated.
func Unparsable(step Step, a *Answer) *fault.Fault {
	f := fault.New(fault.Transient, "unparsable", "The network's answer could not be read.")
	if step == Commit {
		f.Kind, f.Say = fault.Unknown, "The network's answer could not be read, so the post may be live or not."
	}
	f.Status, f.RequestID = a.Status, a.RequestID
	return f
}

// RetryAfter is how long the answer's Retry-After header asks to wait, in
// seconds or as a date, at most 24 h; 0 if it does not say.
func RetryAfter(a *Answer) time.Duration {
	v := strings.TrimSpace(a.Header.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return CapWait(time.Duration(min(max(s, 0), maxWait.Seconds()) * float64(time.Second)))
	}
	if t, err := http.ParseTime(v); err == nil {
		return CapWait(t.Sub(a.At))
	}
	return 0
}

// CapWait keeps a wait that a network asked for between 0 and 24 h.
func CapWait(d time.Duration) time.Duration { return min(max(d, 0), maxWait) }

// sortError gives the class of a call that brought no whole answer.
func sortError(step Step, sent bool, a *Answer, err error) *fault.Fault {
	if no, ok := errors.AsType[*refusal](err); ok {
		f := fault.New(fault.Validation, "address_refused", no.say)
		f.Cause = no
		return f
	}
	code, what := reason(err)
	f := fault.New(fault.Transient, code, "The network could not be reached: "+what+".")
	if sent && step == Commit {
		f.Kind, f.Say = fault.Unknown, "The network did not confirm the post ("+what+"), so it may be live or not."
	} else if sent {
		f.Say = "The network did not answer properly: " + what + "."
	}
	f.Cause = &quiet{what, err}
	if a != nil {
		f.Status, f.RequestID = a.Status, a.RequestID
	}
	return f
}

// quiet is an error whose text is safe to keep. What it wraps is not: net/http
// puts the whole address into its errors.
type quiet struct {
	what string
	err  error
}

func (q *quiet) Error() string { return q.what }
func (q *quiet) Unwrap() error { return q.err }

// reason names what went wrong, as a code and in words of ours where we have
// them.
func reason(err error) (code, what string) {
	var (
		dns     *net.DNSError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		timeout net.Error
	)
	switch {
	case errors.Is(err, errTooLarge):
		return "answer_too_large", errTooLarge.Error()
	case errors.Is(err, context.Canceled):
		return "cancelled", "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout", "no answer in time"
	case errors.Is(err, errBroken):
		return "answer_broken", errBroken.Error()
	case errors.As(err, &dns):
		return "no_such_host", "the host name was not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused", "the connection was refused"
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &alert), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "tls", "no secure connection: " + SafeText(inner(err).Error())
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection_reset", "the connection was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection_closed", "the connection was closed without an answer"
	}
	return "call_failed", SafeText(inner(err).Error())
}

// inner takes the address off an error of net/http.
func inner(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return fmt.Errorf("%w", err)
}
