package darkroom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
)

const (
	posterTime = 2 * time.Minute
	copyTime   = 20 * time.Minute
	// encodeTime is what making a video may take of all processors together: much longer
	// than it runs.
	encodeTime = 12 * time.Hour
)

// noMovies is what is said where QuickTime movies cannot be made MP4s.
const noMovies = "This is a QuickTime movie, and this Herald has no ffmpeg to make an MP4 of it. Export it as MP4 and upload that."

// Strip makes what is published of a video, in dir: an MP4 with picture and sound,
// and nothing else told. With ffmpeg its index comes first, so that it plays while
// it loads; without, the file stays as it lies and only its metadata goes. Of a
// QuickTime movie what no MP4 can hold is made anew; tell is told how far that is,
// in percent.
func (r *Room) Strip(ctx context.Context, src *os.File, dir string, tell func(percent int)) (File, error) {
	facts, err := r.Inspect(ctx, src)
	switch {
	case err != nil:
		return File{}, err
	case r.ffmpeg == "" && facts.Type == picture.MOV:
		return File{}, model.Refuse(model.Unprocessable, noMovies)
	case r.ffmpeg == "":
		a, err := r.child(ctx, order{Step: "strip", Dir: dir}, src)
		if err != nil {
			return File{}, err
		}
		return *a.Published, nil
	case facts.Type == picture.MOV:
		return r.remake(ctx, src, dir, facts.Duration, tell)
	}
	args := []string{"-map", "0:V:0", "-map", "0:a:0?", "-c", "copy"}
	if err := r.tool(ctx, copyTime, src, in(dir, "published"), args, 0, nil); err != nil {
		return File{}, err
	}
	return sized(in(dir, "published"), facts)
}

// remake makes an MP4 of a QuickTime movie.
func (r *Room) remake(ctx context.Context, src *os.File, dir string, length time.Duration, tell func(percent int)) (File, error) {
	look, err := r.Probe(ctx, src)
	if err != nil && !errors.Is(err, ErrNoTool) {
		return File{}, err
	}
	path := in(dir, "published")
	if err := r.tool(ctx, encodeTime, src, path, remaking(look), length, tell); err != nil {
		return File{}, err
	}
	return r.made(ctx, path)
}

// remaking is ffmpeg's arguments for an MP4 of what a look found: what browsers
// and networks know is copied, and anything else made what they do. Nothing is
// known of a movie that nobody could look into, so that all of it is made anew.
func remaking(l Look) []string {
	args := []string{"-map", "0:V:0", "-map", "0:a:0?"}
	if slices.Contains([]string{"h264", "hevc"}, l.VideoCodec) {
		args = append(args, "-c:v", "copy")
	} else {
		args = append(args, "-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2,setsar=1,format=yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", "-crf", "18", "-g", "60")
	}
	if slices.Contains([]string{"aac", "mp3"}, l.AudioCodec) {
		return append(args, "-c:a", "copy")
	}
	return append(args, "-c:a", "aac", "-b:a", "192k", "-ar", "48000", "-ac", "2")
}

// Encodes returns an error where ffmpeg cannot make what Transcode promises.
func (r *Room) Encodes(ctx context.Context) error {
	if r.ffmpeg == "" {
		return ErrNoTool
	}
	ctx, cancel := r.timed(ctx, probeTime)
	defer cancel()
	return r.run(ctx, r.command(ctx, bounds{Memory: toolMemory, Seconds: int64(probeTime / time.Second), FileSize: 1}, "tool", r.ffmpeg, "-v", "error", "-nostdin",
		"-f", "lavfi", "-i", "color=s=64x64:d=0.1", "-c:v", "libx264", "-f", "null", "-"))
}

// Poster makes a thumbnail of a video, in dir, from an early moment. It returns
// ErrNoTool where there is no ffmpeg.
func (r *Room) Poster(ctx context.Context, src *os.File, length time.Duration, dir string) (thumb File, placeholder []byte, err error) {
	if r.ffmpeg == "" {
		return thumb, nil, ErrNoTool
	}
	ctx, cancel := r.timed(ctx, posterTime)
	defer cancel()
	dir = in(dir, "poster") // beside what else is made of the video
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return thumb, nil, err
	}
	at := min(time.Second, length/3).Seconds()
	args := append([]string{r.ffmpeg, "-v", "error", "-nostdin", "-ss", strconv.FormatFloat(at, 'f', 3, 64)}, source()...)
	args = append(args, "-map", "0:V:0", "-frames:v", "1", "-vf", "scale=1280:1280:force_original_aspect_ratio=decrease", "-pix_fmt", "rgb24", "-c:v", "png", "-f", "image2", "-y", in(dir, "still"))
	cmd := r.command(ctx, bounds{Memory: toolMemory, Seconds: int64(posterTime / time.Second), FileSize: r.limits.VideoBytes}, "tool", args...)
	cmd.ExtraFiles = []*os.File{src}
	if err := r.run(ctx, cmd); err != nil {
		return thumb, nil, unreadable(err)
	}
	still, err := os.Open(in(dir, "still"))
	if err != nil {
		return thumb, nil, fmt.Errorf("%w: no picture came of it", ErrUnreadable)
	}
	defer still.Close()
	a, err := r.child(ctx, order{Step: "develop", Dir: dir}, still)
	if err != nil {
		return thumb, nil, err
	}
	return *a.Thumb, a.Placeholder, nil
}

// Transcode makes what a recipe says of a video, in dir. length is the video's;
// tell is told how far it is, in percent.
func (r *Room) Transcode(ctx context.Context, src *os.File, recipe network.Recipe, length time.Duration, dir string, tell func(percent int)) (File, error) {
	if r.ffmpeg == "" {
		return File{}, model.Refuse(model.Unprocessable, "This video has to be converted for the network, and this Herald has no ffmpeg to do it. Export it as "+wanted(recipe)+" and upload that.")
	}
	if recipe.Type != string(picture.MP4) || recipe.Codec != "h264" {
		return File{}, fmt.Errorf("recipe %q is of no video that can be made", recipe)
	}
	path := in(dir, "rendition")
	if err := r.tool(ctx, encodeTime, src, path, encoding(recipe), length, tell); err != nil {
		return File{}, err
	}
	f, err := r.made(ctx, path)
	if err == nil && recipe.Bytes > 0 && f.Bytes > recipe.Bytes {
		return f, model.Refuse(model.Unprocessable, fmt.Sprintf("This video does not come down to the %d MB that the network takes. Cut it shorter and upload it again.", recipe.Bytes/1_000_000))
	}
	return f, err
}

// made measures a video that was made.
func (r *Room) made(ctx context.Context, path string) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	facts, err := r.Inspect(ctx, file)
	if err != nil {
		return File{}, fmt.Errorf("look at what was made: %w", err)
	}
	return sized(path, facts)
}

func wanted(r network.Recipe) string {
	say := fmt.Sprintf("MP4 with H.264 and AAC, %d × %d", r.Width, r.Height)
	if r.FPS > 0 {
		say += fmt.Sprintf(", %.0f frames a second", r.FPS)
	}
	return say
}

// encoding is ffmpeg's arguments for a recipe. Crop and size count upright: ffmpeg
// turns the picture before it filters.
func encoding(r network.Recipe) []string {
	filter := ""
	if c := r.Crop; !c.Whole() {
		filter = fmt.Sprintf("crop=%d:%d:%d:%d,", c.Width, c.Height, c.X, c.Y)
	}
	filter += fmt.Sprintf("scale=%d:%d,setsar=1,format=yuv420p", r.Width, r.Height)
	args := []string{"-map", "0:V:0", "-map", "0:a:0?", "-vf", filter, "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", "-g", "60",
		"-c:a", "aac", "-b:a", "128k", "-ar", "48000", "-ac", "2"}
	if r.FPS > 0 {
		args = append(args, "-r", strconv.FormatFloat(r.FPS, 'f', -1, 64))
	}
	if r.BitRate == 0 {
		return append(args, "-crf", "21")
	}
	picture := strconv.FormatInt(max(r.BitRate-140_000, 100_000), 10)
	return append(args, "-b:v", picture, "-maxrate", picture, "-bufsize", picture)
}

// tool runs ffmpeg on a video and has it write an MP4 without metadata.
func (r *Room) tool(ctx context.Context, most time.Duration, src *os.File, to string, what []string, length time.Duration, tell func(int)) error {
	ctx, cancel := r.timed(ctx, most)
	defer cancel()
	args := append([]string{r.ffmpeg, "-v", "error", "-nostdin"}, source()...)
	args = append(args, what...)
	args = append(args, "-map_metadata", "-1", "-map_chapters", "-1", "-dn", "-sn", "-fflags", "+bitexact", "-movflags", "+faststart",
		"-progress", "pipe:1", "-nostats", "-f", "mp4", "-y", to)
	cmd := r.command(ctx, bounds{Memory: toolMemory, Seconds: int64(most / time.Second), FileSize: r.limits.VideoBytes}, "tool", args...)
	cmd.ExtraFiles = []*os.File{src}
	cmd.Stdout = &watch{length: length, tell: tell}
	return unreadable(r.run(ctx, cmd))
}

// watch reads what ffmpeg says of its progress: lines of name=value.
type watch struct {
	length time.Duration
	tell   func(percent int)
	line   []byte
}

// Write implements io.Writer.
func (w *watch) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' {
			if len(w.line) < 100 {
				w.line = append(w.line, c)
			}
			continue
		}
		w.said(string(w.line))
		w.line = w.line[:0]
	}
	return len(p), nil
}

func (w *watch) said(line string) {
	micro, ok := strings.CutPrefix(line, "out_time_us=")
	n, err := strconv.ParseInt(micro, 10, 64)
	if ok && err == nil && w.tell != nil && w.length > 0 {
		w.tell(int(min(99, max(0, time.Duration(n)*time.Microsecond*100/w.length))))
	}
}
