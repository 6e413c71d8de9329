package web

import (
	"context"
	"errors"
	"syscall"

	"herald/db/blob"
	"herald/db/model"
)

// Stored turns what the place where files are kept could not do into a sentence
// for the person, and logs the cause for the operator. Every other error it
// returns as it is.
func (e *Edge) Stored(ctx context.Context, err error) error {
	say := ""
	switch {
	case errors.Is(err, blob.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		say = "There is no room left where files are kept. Nothing that was there is lost. Tell whoever runs this Herald, then try again."
	case errors.Is(err, blob.ErrAway) || errors.Is(err, blob.ErrDenied) || errors.Is(err, blob.ErrBucket):
		say = "The place where files are kept can't be reached just now. Nothing that was there is lost. Try again in a few minutes."
	default:
		return err
	}
	e.Log.ErrorContext(ctx, "files cannot be kept or read", "err", err)
	return model.Refuse(model.Unavailable, say)
}
