package darkroom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"herald/db/model"
	"herald/db/picture"
)

// noPhotos is what is said where HEIC photos cannot be opened.
const noPhotos = "This is a HEIC photo, and this Herald has no heif-convert to open it. Export it as JPEG, or set the phone's camera to “Most compatible”, and upload that."

// open has a child carry out an order on a picture. A HEIC photo is made a JPEG
// first.
func (r *Room) open(ctx context.Context, o order, src *os.File) (answer, error) {
	head := make([]byte, picture.HeadSize)
	n, err := src.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return answer{}, err
	}
	if t, _ := picture.Sniff(head[:n]); t != picture.HEIC {
		return r.child(ctx, o, src)
	}
	dir, err := os.MkdirTemp(o.Dir, "photo-*")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(dir)
	still, err := r.convert(ctx, src, dir)
	if err != nil {
		return answer{}, err
	}
	defer still.Close()
	o.Turned = true // that is done, and the camera's note of it is left as it was
	return r.child(ctx, o, still)
}

// convert makes a JPEG of a HEIC photo, upright, in dir. Of several photos in one
// file it takes the first.
func (r *Room) convert(ctx context.Context, src *os.File, dir string) (*os.File, error) {
	if _, err := r.Inspect(ctx, src); err != nil { // its budget, before anything is decoded
		return nil, err
	}
	if r.heif == "" {
		return nil, model.Refuse(model.Unprocessable, noPhotos)
	}
	ctx, cancel := r.timed(ctx, r.limits.Time)
	defer cancel()
	b := bounds{Memory: r.limits.Memory + overhead, Seconds: int64(r.limits.Time / time.Second), FileSize: r.limits.PictureBytes * 2}
	cmd := r.command(ctx, b, "tool", r.heif, "--quiet", "-q", strconv.Itoa(photoQuality), "/dev/fd/3", in(dir, "still.jpg"))
	cmd.ExtraFiles = []*os.File{src}
	if err := r.run(ctx, cmd); err != nil {
		if gave, ok := errors.AsType[*exec.ExitError](err); ok && gave.Exited() && !errors.Is(err, ErrFull) {
			return nil, fmt.Errorf("%w: %w", errBadPhoto, err)
		}
		return nil, err
	}
	made, err := filepath.Glob(in(dir, "still*.jpg"))
	if err != nil || len(made) == 0 {
		return nil, errBadPhoto
	}
	slices.SortFunc(made, func(a, b string) int { return len(a) - len(b) })
	return os.Open(made[0])
}

// photoQuality keeps what a photo has; what is published of it is made from this.
const photoQuality = 95

var errBadPhoto = model.Refuse(model.Unprocessable, "This photo is damaged and can't be read. Export it as JPEG and upload the new file.")
