package desk

import (
	"context"
	"time"

	tusd "github.com/tus/tusd/v2/pkg/handler"

	"herald/db/model"
	"herald/handlers/web"
)

const (
	askHold  = 100 * time.Millisecond // between two tries to get an upload that another request has
	keepHold = 2 * time.Second        // between two words of a holder; and so long it may not know that it is wanted
)

// NewLock makes the hold of this request on an upload. It is a lease in Postgres,
// since the next request of a browser may meet another process.
func (in *intake) NewLock(id string) (tusd.Lock, error) {
	return &hold{intake: in, id: model.UploadID(web.ID(id))}, nil
}

type hold struct {
	*intake
	id   model.UploadID
	stop context.CancelFunc
	done chan struct{}
}

// Lock waits for the upload and takes it. letGo is called once another request
// wants it: as a rule the same browser, back after a connection that broke here
// unnoticed.
func (h *hold) Lock(ctx context.Context, letGo func()) error {
	for {
		ok, err := h.scope.HoldUpload(ctx, h.id, h.holder)
		if err != nil {
			return h.no(ctx, err)
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return tusd.ErrLockTimeout
		case <-time.After(askHold):
		}
	}
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.done = stop, make(chan struct{})
	go h.keep(keep, letGo)
	return nil
}

// keep says now and then that the holder lives.
func (h *hold) keep(ctx context.Context, letGo func()) {
	defer close(h.done)
	tick := time.NewTicker(keepHold)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if wanted, err := h.scope.KeepUpload(ctx, h.id, h.holder); wanted && err == nil {
			letGo()
		}
	}
}

// Unlock lets the next request have the upload.
func (h *hold) Unlock() error {
	h.stop()
	<-h.done
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return h.scope.FreeUpload(ctx, h.id, h.holder)
}
