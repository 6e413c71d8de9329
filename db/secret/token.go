// Package secret keeps what must not be read by others. It seals tokens at
// rest and signs expiring links under a rotatable key ring, hashes passwords
// and review-link tokens, and has a Token type that no log or template prints.
// Nothing here reads the environment or the clock, and nothing logs. Start
// with ring.go.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "***"

// Token is a credential in memory. It prints as *** wherever it is formatted;
// only Reveal gives it away, at the one place that puts it on the wire.
//
// The credential hangs on a pointer because fmt may not call methods of
// unexported fields: a struct that holds a Token then prints an address.
type Token struct{ plain *string }

// NewToken wraps a plain credential.
func NewToken(plain string) Token { return Token{&plain} }

// Reveal returns the plain credential.
func (t Token) Reveal() string {
	if t.plain == nil {
		return ""
	}
	return *t.plain
}

// Empty says whether there is no credential.
func (t Token) Empty() bool { return t.Reveal() == "" }

func (t Token) String() string   { return masked }
func (t Token) GoString() string { return masked }

// Format keeps a token out of every verb, those that pass String by included.
func (t Token) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, masked) }

// MarshalText keeps a token out of JSON.
func (t Token) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue keeps a token out of the log.
func (t Token) LogValue() slog.Value { return slog.StringValue(masked) }
