package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"syscall"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/jobs/darkroom"
	"herald/jobs/scan"
)

// Librarian does what is owed to uploaded files: it has them scanned, makes what is
// published of them, makes renditions for networks, and takes deleted ones out of
// the store. What it is told twice it does once: every step begins by taking a
// lease and ends by asking whether that is still its own.
type Librarian struct {
	Pipe    *db.Pipeline
	Blobs   blob.Store
	Scanner scan.Scanner
	Room    *darkroom.Room
	Log     *slog.Logger
	Now     func() time.Time
	Lease   time.Duration // zero: two minutes
}

const (
	mediaLease = 2 * time.Minute
	// maxTries is how often a file's work may fail before it is refused, and how
	// often it may take its worker with it.
	maxTries = 6
	// awayWait is how soon a scanner or store that does not answer is asked again.
	awayWait = 30 * time.Second
	// progressEvery is how often what is told of a task's progress is written down.
	progressEvery = time.Second
)

func (l *Librarian) lease() time.Duration {
	if l.Lease > 0 {
		return l.Lease
	}
	return mediaLease
}

// Work does one task. The error is for the log: whatever happened is written down,
// or the lease runs out and another does it.
func (l *Librarian) Work(ctx context.Context, key db.MediaKey) error {
	w, err := l.Pipe.BeginMedia(ctx, key, l.lease())
	if errors.Is(err, db.ErrLostLease) {
		return nil
	}
	if err != nil {
		return err
	}
	s := l.begin(ctx, w)
	defer s.end()
	return l.settle(context.WithoutCancel(ctx), w, l.carry(s.ctx, w, s))
}

// shift is one task under way: it keeps the lease and writes down how far it is.
type shift struct {
	ctx     context.Context
	end     func()
	percent atomic.Int64
}

// begin keeps the lease until end. Losing it ends the shift's context.
func (l *Librarian) begin(ctx context.Context, w db.MediaWork) *shift {
	s := &shift{}
	inner, cancel := context.WithCancelCause(ctx)
	s.ctx = inner
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.hold(inner, w, s, cancel)
	}()
	s.end = func() { cancel(nil); <-stopped }
	return s
}

// hold keeps the lease until ctx ends, and asks for it early to say how far the
// work is.
func (l *Librarian) hold(ctx context.Context, w db.MediaWork, s *shift, lost func(error)) {
	beat := time.NewTicker(min(l.lease()/8, progressEvery))
	defer beat.Stop()
	held, said := time.Now(), 0 // of the network, not of the clock that rules read
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			percent := int(s.percent.Load())
			if percent == said && time.Since(held) < l.lease()/8 {
				continue
			}
			if err := l.Pipe.HoldMedia(ctx, w, l.lease(), percent); errors.Is(err, db.ErrLostLease) {
				lost(err)
			}
			held, said = time.Now(), percent
		}
	}
}

// tell notes progress; the next beat writes it.
func (s *shift) tell(percent int) { s.percent.Store(int64(percent)) }

func (l *Librarian) carry(ctx context.Context, w db.MediaWork, s *shift) error {
	switch {
	case w.Tries > maxTries:
		return model.Refuse(model.Unprocessable, "Herald stopped several times while it was reading this file. Export it again and upload the new file.")
	case w.State == db.MediaDeleted:
		return l.erase(ctx, w)
	case w.RenditionID != nil:
		return l.render(ctx, w, s)
	case w.State == db.MediaScanning:
		if err := l.scan(ctx, w); err != nil {
			return err
		}
		return l.develop(ctx, w, s)
	case w.State == db.MediaProcessing:
		return l.develop(ctx, w, s)
	}
	return l.Pipe.DropMedia(ctx, w)
}

// settle writes down what became of a task that did not end itself.
func (l *Librarian) settle(ctx context.Context, w db.MediaWork, err error) error {
	var harm *harmful
	no, refused := model.Refused(err)
	switch {
	case err == nil || errors.Is(err, db.ErrLostLease):
		return nil
	case errors.Is(err, context.Canceled):
		return ignoreLease(l.Pipe.WaitMedia(ctx, w, 0, "", "the worker stopped", true))
	case errors.As(err, &harm):
		return ignoreLease(l.Pipe.RefuseMedia(ctx, w, db.MediaQuarantined, harm.say(), harm.key))
	case refused && w.RenditionID != nil:
		return ignoreLease(l.Pipe.FinishRendition(ctx, w, db.Rendition{Reason: no.Say}))
	case refused:
		return ignoreLease(l.Pipe.RefuseMedia(ctx, w, db.MediaRefused, no.Say, w.OriginalPath))
	}
	return errors.Join(err, ignoreLease(l.wait(ctx, w, err)))
}

// wait puts a task off for a fault that is not the file's, or not for sure.
func (l *Librarian) wait(ctx context.Context, w db.MediaWork, err error) error {
	fault := fmt.Sprintf("%.300s", err)
	switch {
	case errors.Is(err, scan.ErrAway):
		return l.Pipe.WaitMedia(ctx, w, awayWait, "Not yet scanned: the virus scanner does not answer. The file is safe, and is scanned as soon as it does.", fault, true)
	case errors.Is(err, blob.ErrFull):
		return l.Pipe.WaitMedia(ctx, w, 4*awayWait, "Waiting: there is no room left where files are kept. Ask whoever runs this Herald.", fault, true)
	case errors.Is(err, darkroom.ErrFull), errors.Is(err, syscall.ENOSPC):
		return l.Pipe.WaitMedia(ctx, w, 4*awayWait, "Waiting: there is no room left to work on files. Ask whoever runs this Herald.", fault, true)
	case errors.Is(err, blob.ErrAway), errors.Is(err, blob.ErrDenied), errors.Is(err, blob.ErrBucket):
		return l.Pipe.WaitMedia(ctx, w, awayWait, "Waiting: the place where files are kept does not answer. Nothing is lost.", fault, true)
	case w.Tries >= maxTries && w.RenditionID != nil:
		return l.Pipe.FinishRendition(ctx, w, db.Rendition{Reason: "Herald could not make this file for the network. Try again, or upload another one."})
	case w.Tries >= maxTries:
		return l.Pipe.RefuseMedia(ctx, w, db.MediaRefused, "Herald could not read this file. Export it again and upload the new file.", w.OriginalPath)
	}
	say := ""
	if errors.Is(err, darkroom.ErrStopped) {
		say = "Waiting: Herald's machine is too busy to work on this file now. It is tried again by itself."
	}
	return l.Pipe.WaitMedia(ctx, w, time.Duration(w.Tries*w.Tries)*5*time.Second, say, fault, false)
}

func ignoreLease(err error) error {
	if errors.Is(err, db.ErrLostLease) {
		return nil
	}
	return err
}

// harmful is a file that the scanner found something in. Its bytes lie in the
// quarantine.
type harmful struct{ found, key string }

func (h *harmful) Error() string { return "harmful: " + h.found }

func (h *harmful) say() string {
	return "This file is harmful (" + h.found + "). It is locked away, and nothing can use it."
}

// scan has every byte of the upload looked at. What harms is moved to where no
// link leads, before anything else is written.
func (l *Librarian) scan(ctx context.Context, w db.MediaWork) error {
	object, err := l.Blobs.Open(ctx, w.OriginalPath)
	away := errors.Is(err, fs.ErrNotExist)
	if away { // moved by one who did not come to write it down
		object, err = l.Blobs.Open(ctx, blob.Quarantined(w.OriginalPath))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	defer object.Close()
	v, err := l.Scanner.Scan(ctx, &until{ctx, object})
	switch {
	case err != nil:
		return err
	case v.TooLarge:
		return model.Refuse(model.Unprocessable, "This file is too large to scan for viruses, so nobody knows whether it is harmful. Make it smaller, or ask whoever runs this Herald to let the scanner read more.")
	case v.Found != "":
		if err := l.Blobs.Move(ctx, w.OriginalPath, blob.Quarantined(w.OriginalPath)); err != nil && !away {
			return err
		}
		return &harmful{v.Found, blob.Quarantined(w.OriginalPath)}
	case away:
		if err := l.Blobs.Move(ctx, blob.Quarantined(w.OriginalPath), w.OriginalPath); err != nil {
			return err
		}
	}
	return l.Pipe.CleanMedia(ctx, w)
}

var errGone = model.Refuse(model.Unprocessable, "The bytes of this file are not in the store any more. Upload it again.")

// erase takes a deleted file's bytes out of the store.
func (l *Librarian) erase(ctx context.Context, w db.MediaWork) error {
	keys, err := l.Pipe.MediaFiles(ctx, w)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := l.Blobs.Delete(ctx, key); err != nil {
			return err
		}
	}
	return l.Pipe.EraseMedia(ctx, w)
}
