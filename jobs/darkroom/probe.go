package darkroom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Look is what ffprobe finds in a video.
type Look struct {
	Container  string
	VideoCodec string // as ffprobe calls it; "h264 yuv422p" where its colours are not those that all show
	AudioCodec string
	HasAudio   bool
	FPS        float64
	FPSVaries  bool
	Frames     int64 // 0 where the file does not say
	Rotation   int   // clockwise
	Width      int   // upright
	Height     int
	Duration   time.Duration
}

// ErrNoTool: the machine has no ffprobe or no ffmpeg.
var ErrNoTool = errors.New("ffmpeg is not installed")

// ErrUnreadable: a tool cannot read the video.
var ErrUnreadable = errors.New("the tool cannot read this video")

// source is how a tool is told to read descriptor 3: as MP4 and as nothing else, so
// that no playlist can send it to other files or to the network.
func source() []string {
	return []string{"-protocol_whitelist", "file", "-f", "mov", "-i", "/dev/fd/3"}
}

const (
	toolMemory = 3 << 30 // 4K frames, several of them at once
	probeTime  = time.Minute
)

// Probe looks into a video. It returns ErrNoTool where there is no ffprobe.
func (r *Room) Probe(ctx context.Context, src *os.File) (Look, error) {
	if r.ffprobe == "" {
		return Look{}, ErrNoTool
	}
	ctx, cancel := r.timed(ctx, probeTime)
	defer cancel()
	args := append([]string{r.ffprobe, "-v", "error"}, source()...)
	args = append(args, "-print_format", "json", "-show_entries",
		"format=format_name,duration:stream=codec_type,codec_name,pix_fmt,width,height,avg_frame_rate,r_frame_rate,nb_frames:stream_disposition=attached_pic:stream_side_data=rotation")
	cmd := r.command(ctx, bounds{Memory: toolMemory, Seconds: int64(probeTime / time.Second), FileSize: 1}, "tool", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.ExtraFiles = &out, []*os.File{src}
	if err := r.run(ctx, cmd); err != nil {
		return Look{}, unreadable(err)
	}
	return readLook(out.Bytes())
}

// unreadable says that a tool gave a file up; what else may end it is not the
// file's fault.
func unreadable(err error) error {
	if errors.Is(err, ErrDied) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// probed is ffprobe's own form.
type probed struct {
	Format struct {
		Name     string `json:"format_name"`
		Duration string `json:"duration"`
	} `json:"format"`
	Streams []struct {
		Kind        string `json:"codec_type"`
		Codec       string `json:"codec_name"`
		Pixels      string `json:"pix_fmt"`
		Width       int    `json:"width"`
		Height      int    `json:"height"`
		Average     string `json:"avg_frame_rate"`
		Base        string `json:"r_frame_rate"`
		Frames      string `json:"nb_frames"`
		Disposition struct {
			Picture int `json:"attached_pic"`
		} `json:"disposition"`
		Side []struct {
			Rotation *float64 `json:"rotation"`
		} `json:"side_data_list"`
	} `json:"streams"`
}

func readLook(out []byte) (l Look, err error) {
	var p probed
	if err := json.Unmarshal(out, &p); err != nil {
		return l, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	l.Container, _, _ = strings.Cut(p.Format.Name, ",")
	if s, err := strconv.ParseFloat(p.Format.Duration, 64); err == nil && s > 0 && s < 1e7 {
		l.Duration = time.Duration(s * float64(time.Second)).Round(time.Millisecond)
	}
	for _, s := range p.Streams {
		switch {
		case s.Kind == "audio" && !l.HasAudio:
			l.HasAudio, l.AudioCodec = true, s.Codec
		case s.Kind == "video" && l.VideoCodec == "" && s.Disposition.Picture == 0:
			l.VideoCodec, l.Width, l.Height = codec(s.Codec, s.Pixels), s.Width, s.Height
			l.FPS = rate(s.Average)
			base := rate(s.Base)
			l.FPSVaries = l.FPS > 0 && math.Abs(base-l.FPS)/l.FPS > 0.02
			l.Frames, _ = strconv.ParseInt(s.Frames, 10, 64)
			for _, side := range s.Side {
				if side.Rotation != nil { // counted against the clock
					l.Rotation = ((-int(math.Round(*side.Rotation/90))*90)%360 + 360) % 360
				}
			}
		}
	}
	if l.VideoCodec == "" {
		return l, fmt.Errorf("%w: it found no picture in it", ErrUnreadable)
	}
	if l.Rotation == 90 || l.Rotation == 270 {
		l.Width, l.Height = l.Height, l.Width
	}
	return l, nil
}

// codec is how a picture is encoded. H.264 with more colours than networks and
// browsers can show, as cameras write it, is another thing than H.264 to them.
func codec(name, pixels string) string {
	if name == "h264" && !slices.Contains([]string{"", "yuv420p", "yuvj420p"}, pixels) {
		return name + " " + pixels
	}
	return name
}

// rate reads 30000/1001.
func rate(s string) float64 {
	over, under, _ := strings.Cut(s, "/")
	a, err1 := strconv.ParseFloat(over, 64)
	b, err2 := strconv.ParseFloat(under, 64)
	if err1 != nil || err2 != nil || b == 0 {
		return 0
	}
	return math.Round(a/b*1000) / 1000
}
