package bench

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"herald/db/picture"
	"herald/jobs/darkroom"
)

// Pictures is how thumbnails of 12-megapixel JPEGs compare with vipsthumbnail's,
// both in processor time, so that neither cores nor neighbours count.
type Pictures struct {
	Here  time.Duration // a thumbnail takes
	Vips  time.Duration // zero: vipsthumbnail is not installed
	Ratio float64       // of their speeds
	Peak  int64         // bytes of memory that a picture's whole development takes at most
}

const (
	photos      = 4
	photoWidth  = 4000
	photoHeight = 3000
	thumbSide   = 640
)

// pictures takes the median of interleaved rounds.
func pictures(ctx context.Context, dir string, rounds int) (p Pictures, err error) {
	files, err := takePhotos(dir)
	if err != nil {
		return p, err
	}
	vips, _ := exec.LookPath("vipsthumbnail")
	var ours, theirs []time.Duration
	for range max(rounds, 3) {
		d, err := thumbnailsHere(ctx, files)
		if err != nil {
			return p, err
		}
		ours = append(ours, d)
		if vips == "" {
			continue
		}
		if d, err = thumbnailsThere(ctx, vips, dir, files); err != nil {
			return p, err
		}
		theirs = append(theirs, d)
	}
	p.Here = median(ours)
	if len(theirs) > 0 {
		p.Vips = median(theirs)
		p.Ratio = float64(p.Vips) / float64(p.Here)
	}
	p.Peak, err = developmentPeak(ctx, files[0], dir)
	return p, err
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// takePhotos paints the demo's pictures as large as a phone's.
func takePhotos(dir string) (files []string, err error) {
	for i := range photos {
		img := picture.Paint(picture.Coast, uint64(i+1), photoWidth, photoHeight)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 92}); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, fmt.Sprintf("photo%d.jpg", i))
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

func thumbnailsHere(ctx context.Context, files []string) (time.Duration, error) {
	room := picture.NewDarkroom(picture.Standard())
	before := processorTime()
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		if _, err := room.Thumbnail(ctx, bytes.NewReader(b), io.Discard, thumbSide); err != nil {
			return 0, err
		}
	}
	return (processorTime() - before) / time.Duration(len(files)), nil
}

// processorTime is what this process and its collector have used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// thumbnailsThere makes all of them in one process, so that its start counts once.
func thumbnailsThere(ctx context.Context, vips, dir string, files []string) (time.Duration, error) {
	args := append([]string{"--size", fmt.Sprintf("%dx%d", thumbSide, thumbSide), "-o", filepath.Join(dir, "thumb-%s.jpg[Q=82]")}, files...)
	cmd := exec.CommandContext(ctx, vips, args...)
	cmd.Env = append(os.Environ(), "VIPS_CONCURRENCY=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("vipsthumbnail: %w: %s", err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(len(files)), nil
}

// developmentPeak has one photo developed as an upload is.
func developmentPeak(ctx context.Context, path, dir string) (int64, error) {
	room, err := darkroom.New(picture.Standard())
	if err != nil {
		return 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	p, err := room.Develop(ctx, file, dir)
	return p.Peak, err
}

func (p Pictures) print(out io.Writer) {
	fmt.Fprintf(out, "thumbnail of a 12-megapixel JPEG: %s of processor time", ms(p.Here))
	if p.Vips > 0 {
		fmt.Fprintf(out, ", vipsthumbnail %s, ratio of speeds %.2f (aim 0.80)", ms(p.Vips), p.Ratio)
	} else {
		fmt.Fprint(out, "; vipsthumbnail is not installed, so there is no ratio")
	}
	fmt.Fprintf(out, "\ndeveloping one takes %d MB at most (aim 150)\n", p.Peak>>20)
}
