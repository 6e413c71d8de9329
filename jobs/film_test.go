package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// films are videos that ffmpeg makes once, each of its kind.
var films sync.Map

// film makes a video with the given arguments for what is shown and how.
func film(t *testing.T, args ...string) []byte {
	t.Helper()
	name := strings.Join(args, " ")
	if b, ok := films.Load(name); ok {
		return b.([]byte)
	}
	all := append(append([]string{"-v", "error", "-nostdin"}, args...), "-metadata", "location=+52.5200+013.4050/", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1")
	var out, said bytes.Buffer
	cmd := exec.Command("ffmpeg", all...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("ffmpeg is needed; .tools/setup.sh installs it: %v: %s", err, said.String())
	}
	films.Store(name, out.Bytes())
	return out.Bytes()
}

func h264(t *testing.T) []byte {
	return film(t, "-f", "lavfi", "-i", "testsrc2=s=180x320:r=30:d=3", "-f", "lavfi", "-i", "sine=d=3", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-shortest")
}

func mpeg4(t *testing.T) []byte {
	return film(t, "-f", "lavfi", "-i", "testsrc2=s=180x320:r=30:d=3", "-c:v", "mpeg4")
}

func TestAVideoBecomesReady(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	id := a.upload(t, network.Video, "video/mp4", "film.mp4", h264(t))
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	p := got.Probe
	if got.State != db.MediaReady || got.Width != 180 || got.Height != 320 || got.DurationMs < 2900 || got.DurationMs > 3100 || p.Tool != "ffprobe" || p.VideoCodec != "h264" ||
		p.AudioCodec != "aac" || p.HasAudio == nil || !*p.HasAudio || p.FPS < 29.5 || p.FPS > 30.5 || p.Frames != 90 || len(got.Placeholder) == 0 || got.Progress != 100 {
		t.Errorf("got %+v, %+v", got.Asset, p)
	}
	if c, kind := a.config(t, got.ThumbPath); c.Width*16 != c.Height*9 || kind != "jpeg" {
		t.Errorf("poster: %+v %s", c, kind)
	}
	if bytes.Contains(a.bytes(t, got.Path), []byte("+52.5200")) {
		t.Error("what is published says where it was taken")
	}
	if len(got.Renditions) != 0 { // Instagram takes it as it is
		t.Errorf("renditions: %+v", got.Renditions)
	}
}

func TestAVideoIsConvertedForNetworksThatNeedIt(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram, network.Mastodon)
	id := a.upload(t, network.Video, "video/mp4", "old.mp4", mpeg4(t))
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	if got.State != db.MediaReady || got.Probe.HasAudio == nil || *got.Probe.HasAudio {
		t.Fatalf("got %+v, %+v", got.Asset, got.Probe)
	}
	if len(got.Renditions) != 1 || got.Renditions[0].State != "ready" || got.Renditions[0].Progress != 100 || got.Renditions[0].Width != 180 {
		t.Fatalf("renditions: %+v", got.Renditions)
	}
	if b := a.bytes(t, got.Renditions[0].Path); !bytes.Contains(b, []byte("avc1")) {
		t.Error("it is no H.264")
	}
}

// What a worker tells of its progress stands in the file's row while it works, and
// is no news to pages that show something else.
func TestProgressIsWrittenWhileTheWorkLasts(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	changes := 0
	options := a.Options()
	options.Changed = func(model.TenantID) { changes++ }
	pipe, err := db.OpenPipeline(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	a.lib.Pipe, a.lib.Lease = pipe, 80*time.Millisecond
	id := a.upload(t, network.Video, "video/mp4", "film.mp4", h264(t))
	w, err := pipe.BeginMedia(t.Context(), a.due(t)[0].MediaKey, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	work, tell, end := a.lib.Shift(t.Context(), w)
	for _, percent := range []int{7, 42, 99} {
		tell(percent)
		for until := time.Now().Add(20 * time.Second); a.asset(t, id).Progress != percent; {
			if time.Now().After(until) {
				t.Fatalf("it says %d, want %d", a.asset(t, id).Progress, percent)
			}
		}
	}
	if changes != 0 {
		t.Errorf("pages were told %d times", changes)
	}
	a.Super(t, a.Shard, `UPDATE tenant.media_tasks SET owner = NULL`) // another has it
	<-work.Done()
	if !errors.Is(context.Cause(work), db.ErrLostLease) {
		t.Errorf("the work ended with %v", context.Cause(work))
	}
	end()
}

func TestAVideoIsTakenWithoutTools(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	a.lib.Room = a.lib.Room.WithoutTools()
	id := a.upload(t, network.Video, "video/mp4", "film.mp4", h264(t))
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	if got.State != db.MediaReady || got.Probe.Tool != "ffprobe_missing" || got.Probe.VideoCodec != "" || got.Probe.HasAudio != nil || got.Width != 180 || got.ThumbPath != "" {
		t.Errorf("got %+v, %+v", got.Asset, got.Probe)
	}
	if bytes.Contains(a.bytes(t, got.Path), []byte("+52.5200")) {
		t.Error("what is published says where it was taken")
	}
}

func TestABrokenVideoIsRefused(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	b := h264(t)
	noise := bytes.Clone(b)
	for i := 1200; i < len(noise); i++ {
		noise[i] = byte(i * 7)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{"cut": {b[:len(b)-3000], "cut short"}, "noise": {noise, "d"}} {
		id := a.upload(t, network.Video, "video/mp4", name, c.b)
		a.work(t)
		if got := a.asset(t, id); got.State != db.MediaRefused || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: %s, %q", name, got.State, got.Reason)
		}
	}
}
