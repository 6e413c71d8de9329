package blob

import (
	"context"
	"fmt"
	"io"
)

// ctxReader stops giving bytes once ctx is over.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// onlyWriter hides ReadFrom, so that io.CopyBuffer goes through ctxReader and
// its buffer in pieces that a cancellation can come between.
type onlyWriter struct{ io.Writer }

func ready(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ValidKey(key)
}

func wrap(err *error, verb string) {
	if *err != nil {
		*err = fmt.Errorf("%s media: %w", verb, *err)
	}
}

// shown is ready for what leads out of the store: nothing quarantined.
func shown(ctx context.Context, key string) error {
	if err := ready(ctx, key); err != nil {
		return err
	}
	if key == Quarantined(key) {
		return fmt.Errorf("%s is quarantined", key)
	}
	return nil
}
