package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/darkroom"
)

// develop makes what is published of an upload that was found clean.
func (l *Librarian) develop(ctx context.Context, w db.MediaWork, s *shift) error {
	b, err := l.tray(ctx, w.OriginalPath)
	if err != nil {
		return err
	}
	defer b.clear()
	d := db.Developed{}
	switch w.Kind {
	case network.Video:
		err = l.developVideo(ctx, w, s, b, &d)
	case network.Document:
		err = l.developDocument(ctx, w, b, &d)
	default:
		err = l.developPicture(ctx, w, b, &d)
	}
	if err == nil {
		d.Recipes, err = l.ahead(ctx, w, d)
	}
	if err == nil {
		err = l.Pipe.ReadyMedia(ctx, w, d)
	}
	if err != nil {
		l.forget(ctx, d.Path, d.ThumbPath)
	}
	return err
}

func (l *Librarian) developPicture(ctx context.Context, w db.MediaWork, b *tray, d *db.Developed) error {
	print, err := l.Room.Develop(ctx, b.file, b.dir)
	if err != nil {
		return err
	}
	d.Probe, d.Placeholder = db.Probe{Tool: "herald", Frames: int64(print.Published.Facts.Frames)}, print.Placeholder
	return l.keep(ctx, w, print.Published, print.Thumb, d)
}

// developDocument keeps a PDF as it is: what is in it, its author and title among it,
// cannot be taken out without making another one. Without a tool it has no picture.
func (l *Librarian) developDocument(ctx context.Context, w db.MediaWork, b *tray, d *db.Developed) error {
	print, err := l.Room.Document(ctx, b.file, b.dir)
	if err != nil {
		return err
	}
	d.Probe, d.Placeholder = db.Probe{Tool: "herald", Frames: int64(print.Published.Facts.Frames)}, print.Placeholder
	return l.keep(ctx, w, print.Published, print.Thumb, d)
}

var errBadVideo = model.Refuse(model.Unprocessable, "This video is damaged and can't be read. Export it again as MP4 and upload the new file.")

// developVideo takes the metadata out, and then looks at what will be published. It
// asks ffprobe and ffmpeg where they are, and goes without where not.
func (l *Librarian) developVideo(ctx context.Context, w db.MediaWork, s *shift, b *tray, d *db.Developed) error {
	published, err := l.Room.Strip(ctx, b.file, b.dir, func(percent int) { s.tell(percent / 2) })
	if errors.Is(err, darkroom.ErrUnreadable) {
		return errors.Join(err, errBadVideo)
	}
	if err != nil {
		return err
	}
	s.tell(50)
	file, err := os.Open(published.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := l.look(ctx, file, published, d); err != nil {
		return err
	}
	s.tell(60)
	thumb, placeholder, err := l.Room.Poster(ctx, file, time.Duration(d.DurationMs)*time.Millisecond, b.dir)
	if err != nil && !errors.Is(err, darkroom.ErrNoTool) && !errors.Is(err, darkroom.ErrUnreadable) {
		return err
	}
	s.tell(90)
	d.Placeholder = placeholder
	return l.keep(ctx, w, published, thumb, d)
}

// look has ffprobe look into a video. Without it what the file's own index says is
// kept, and that nobody looked.
func (l *Librarian) look(ctx context.Context, file *os.File, f darkroom.File, d *db.Developed) error {
	d.DurationMs, d.Probe = f.Facts.Duration.Milliseconds(), db.Probe{Tool: "ffprobe_missing", Rotation: f.Facts.Rotation}
	look, err := l.Room.Probe(ctx, file)
	switch {
	case err == nil:
		d.DurationMs, d.Probe = look.Duration.Milliseconds(), probeOf(look)
	case errors.Is(err, darkroom.ErrUnreadable):
		return errors.Join(err, errBadVideo)
	case !errors.Is(err, darkroom.ErrNoTool):
		return err
	}
	return nil
}

func probeOf(l darkroom.Look) db.Probe {
	return db.Probe{Tool: "ffprobe", Container: l.Container, VideoCodec: l.VideoCodec, AudioCodec: l.AudioCodec, HasAudio: &l.HasAudio,
		FPS: l.FPS, FPSVaries: l.FPSVaries, Rotation: l.Rotation, Frames: l.Frames}
}

// keep puts what was made into the store.
func (l *Librarian) keep(ctx context.Context, w db.MediaWork, published, thumb darkroom.File, d *db.Developed) (err error) {
	d.Type, d.Width, d.Height, d.Bytes = string(published.Facts.Type), published.Facts.Width, published.Facts.Height, published.Bytes
	if d.Path, err = l.put(ctx, w, published); err != nil || thumb.Path == "" {
		return err
	}
	d.ThumbPath, err = l.put(ctx, w, thumb)
	return err
}

func (l *Librarian) put(ctx context.Context, w db.MediaWork, f darkroom.File) (string, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	key := blob.Key(int64(w.Key.Tenant), l.Now(), f.Facts.Type.Ext())
	_, err = l.Blobs.Put(ctx, key, file, blob.Options{Size: f.Bytes})
	if err != nil {
		return "", err
	}
	return key, nil
}

// forget takes stored bytes away that nothing points at.
func (l *Librarian) forget(ctx context.Context, keys ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, key := range keys {
		if key == "" {
			continue
		}
		if err := l.Blobs.Delete(ctx, key); err != nil {
			l.Log.WarnContext(ctx, "stored file left behind", "err", err)
		}
	}
}

// mostAhead is how many renditions are made of a file before a post asks for them.
const mostAhead = 12

// ahead lists what the networks of the client's accounts would have made of a file,
// and what browsers need to play it.
func (l *Librarian) ahead(ctx context.Context, w db.MediaWork, d db.Developed) ([]string, error) {
	serves, err := l.Pipe.MediaServes(ctx, w)
	if err != nil {
		return nil, err
	}
	m := network.Media{Kind: w.Kind, Type: d.Type, Bytes: d.Bytes, Width: d.Width, Height: d.Height, Duration: time.Duration(d.DurationMs) * time.Millisecond,
		Frames: d.Probe.Frames, VideoCodec: d.Probe.VideoCodec, AudioCodec: d.Probe.AudioCodec, FPS: d.Probe.FPS}
	var list []string
	for _, s := range serves {
		n, ok := network.Get(s.Network)
		if !ok {
			continue
		}
		for _, r := range n.With(s.Settings).Ahead(m, framings(n, m.Kind, s)) {
			list = append(list, r.String())
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	list = list[:min(len(list), mostAhead)]
	if look := m.Preview(); !look.Zero() && !slices.ContainsFunc(list, plays) {
		list = append(list, look.String())
	}
	return list, nil
}

func plays(recipe string) bool {
	r, err := network.ParseRecipe(recipe)
	return err == nil && r.Plays()
}

func framings(n *network.Network, kind network.MediaKind, s db.Serve) map[string]network.Framing {
	all := map[string]network.Framing{}
	for _, p := range n.Presets(kind) {
		all[p.Key] = network.Framing{Crop: s.Crops[p.Key], Focal: model.Focal{X: s.FocalX, Y: s.FocalY}}
	}
	return all
}

// render makes one rendition, from the upload where it is still there.
func (l *Librarian) render(ctx context.Context, w db.MediaWork, s *shift) error {
	if w.State != db.MediaReady {
		return l.Pipe.DropMedia(ctx, w)
	}
	recipe, err := network.ParseRecipe(w.Recipe)
	if err != nil {
		return model.Refuse(model.Unprocessable, "Herald does not know any more how to make this file. Save the post again.")
	}
	from := w.OriginalPath
	if from == "" || w.Kind == network.Video { // a video's picture and sound were copied as they are
		from = w.Path
	}
	b, err := l.tray(ctx, from)
	if err != nil {
		return err
	}
	defer b.clear()
	var f darkroom.File
	if w.Kind == network.Video {
		f, err = l.Room.Transcode(ctx, b.file, recipe, time.Duration(w.DurationMs)*time.Millisecond, b.dir, s.tell)
	} else {
		f, err = l.Room.Render(ctx, b.file, recipe, b.dir)
	}
	if err != nil {
		return err
	}
	return l.keepRendition(ctx, w, f)
}

func (l *Librarian) keepRendition(ctx context.Context, w db.MediaWork, f darkroom.File) error {
	key, err := l.put(ctx, w, f)
	if err != nil {
		return err
	}
	err = l.Pipe.FinishRendition(ctx, w, db.Rendition{Type: string(f.Facts.Type), Path: key, Bytes: f.Bytes, Width: f.Facts.Width, Height: f.Facts.Height,
		DurationMs: f.Facts.Duration.Milliseconds()})
	if err != nil {
		l.forget(ctx, key)
	}
	return err
}

// tray is a stored file at hand, with a folder to work in.
type tray struct {
	file *os.File
	dir  string
	free func() error
}

// tray opens a stored file for a child process. One in a local folder is used
// where it lies; any other is fetched first.
func (l *Librarian) tray(ctx context.Context, key string) (*tray, error) {
	object, err := l.Blobs.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	b := &tray{}
	if b.dir, err = os.MkdirTemp("", "herald-darkroom-*"); err != nil {
		return nil, errors.Join(err, object.Close())
	}
	if lies, ok := object.(interface{ OnDisk() *os.File }); ok {
		b.file, b.free = lies.OnDisk(), object.Close
		return b, nil
	}
	defer object.Close()
	b.free = func() error { return nil }
	if b.file, err = fetch(ctx, object, filepath.Join(b.dir, "upload")); err != nil {
		b.clear()
		return nil, err
	}
	return b, nil
}

func fetch(ctx context.Context, from io.Reader, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, &until{ctx, from}); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			err = fmt.Errorf("%w: %w", blob.ErrFull, err)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (b *tray) clear() {
	if b.file != nil {
		_ = b.file.Close()
	}
	_ = b.free()
	_ = os.RemoveAll(b.dir)
}

// until reads as long as its context lasts.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
