// Package scan asks whether a file is harmful, before anything else looks at it.
// Clamd asks a clamd; Signature knows the EICAR test file alone and is for places
// where nothing real is at stake.
//
// What it promises: a file counts as clean only if every byte of it was looked at
// and the scanner said so. A scanner that cannot be asked is an error, after which
// the file waits; it is never an answer. Start with Scanner.
package scan

import (
	"context"
	"errors"
	"io"
)

// Verdict is what a scanner says of a file.
type Verdict struct {
	Found    string // what harms; empty for a file that is clean
	TooLarge bool   // the scanner does not take files of this size: nobody knows
}

// Clean says whether the file may be used.
func (v Verdict) Clean() bool { return v.Found == "" && !v.TooLarge }

// ErrAway: the scanner cannot be asked now. Ask again later.
var ErrAway = errors.New("the scanner does not answer")

// Scanner looks through files. One may be used by several goroutines.
type Scanner interface {
	// Scan reads r to its end. An error means that nothing is known: it wraps
	// ErrAway where the scanner is the reason, and the error of r where that is.
	Scan(ctx context.Context, r io.Reader) (Verdict, error)
	// Ping says whether the scanner could be asked now.
	Ping(ctx context.Context) error
}
