// Package secret keeps what must not be read by others: tokens sealed at rest
// under a rotatable key ring, and a Token type that no log or template prints.
package secret

import "log/slog"

// Token is a credential in memory. It prints as *** wherever it is formatted;
// only Reveal gives it away, at the one place that puts it on the wire.
type Token struct{ plain string }

// NewToken wraps a plain credential.
func NewToken(plain string) Token { return Token{plain} }

// Reveal returns the plain credential.
func (t Token) Reveal() string { return t.plain }

// Empty says whether there is no credential.
func (t Token) Empty() bool { return t.plain == "" }

func (t Token) String() string   { return "***" }
func (t Token) GoString() string { return "***" }

// MarshalText keeps a token out of JSON.
func (t Token) MarshalText() ([]byte, error) { return []byte("***"), nil }

// LogValue keeps a token out of the log.
func (t Token) LogValue() slog.Value { return slog.StringValue("***") }
