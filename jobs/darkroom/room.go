package darkroom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
)

// ErrDied: the child ended by itself without an answer.
var ErrDied = errors.New("the darkroom's process died")

// ErrStopped: the child was ended from outside, by the clock or by whoever ran out of
// memory. How busy a machine is says nothing about a file.
var ErrStopped = errors.New("the darkroom's process was stopped")

// errSlow: the child used up its processor time, which no other work counts into.
var errSlow = model.Refuse(model.Unprocessable, "This file takes too long to read. Export it again, smaller, and upload the new file.")

// ErrFull: there was no room left to write what was made.
var ErrFull = errors.New("no room left to work on files")

// File is what was made, in the folder that it was asked into.
type File struct {
	Path  string
	Facts picture.Facts
	Bytes int64
}

// Print is what a picture or video becomes when it is developed.
type Print struct {
	Published   File
	Thumb       File   // Path empty where there is none
	Placeholder []byte // a ThumbHash; nil where there is no thumbnail
	Peak        int64  // bytes that the child had in memory at most
}

// Room makes pictures and videos in child processes. It holds no place for them:
// the caller says how many run at once.
type Room struct {
	limits   picture.Limits
	patience float64
	self     []string // this program, as a child
	// Where they are; empty if they are not.
	ffmpeg, ffprobe, heif, poppler string
}

// Flag is the first argument of this program as a child. Programs that do not know
// it, tests without Serve among them, end with an error.
const Flag = "--darkroom"

// New makes a room. It looks for ffmpeg, ffprobe, heif-convert and pdftoppm in PATH.
func New(limits picture.Limits) (*Room, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	r := &Room{limits: limits, patience: patience, self: []string{self, Flag}}
	r.ffmpeg, _ = exec.LookPath("ffmpeg")
	r.ffprobe, _ = exec.LookPath("ffprobe")
	r.heif, _ = exec.LookPath("heif-convert")
	r.poppler, _ = exec.LookPath("pdftoppm")
	return r, nil
}

// WithoutTools is the room on a machine that has none of them.
func (r *Room) WithoutTools() *Room {
	bare := *r
	bare.ffmpeg, bare.ffprobe, bare.heif, bare.poppler = "", "", "", ""
	return &bare
}

// Tools are what the room found to work with: whether videos can be looked into,
// whether they can be made, whether HEIC photos can be opened, and whether the first
// page of a PDF can be drawn.
type Tools struct{ Probe, Make, Photo, Page bool }

// Tools says what the room found.
func (r *Room) Tools() Tools {
	return Tools{r.ffprobe != "", r.ffmpeg != "", r.heif != "", r.poppler != ""}
}

// thumbSide is the longer side of a thumbnail, for a card on a sharp screen.
const thumbSide = 640

// order is what a child is told on its standard input; the file is its descriptor 3.
type order struct {
	Step   string         `json:"step"` // develop, render, inspect, strip, document
	Dir    string         `json:"dir"`
	Limits picture.Limits `json:"limits"`
	Recipe string         `json:"recipe,omitempty"`
	Turned bool           `json:"turned,omitempty"` // the pixels are upright, whatever the file says
}

// answer is what it says on its standard output.
type answer struct {
	Refusal     *model.Refusal `json:"refusal,omitempty"`
	Fault       string         `json:"fault,omitempty"`
	Full        bool           `json:"full,omitempty"` // the fault is that of a full disk
	Facts       picture.Facts  `json:"facts"`
	Published   *File          `json:"published,omitempty"`
	Thumb       *File          `json:"thumb,omitempty"`
	Placeholder []byte         `json:"placeholder,omitempty"`
	Peak        int64          `json:"peak,omitempty"`
}

// Inspect measures a file without decoding it.
func (r *Room) Inspect(ctx context.Context, src *os.File) (picture.Facts, error) {
	a, err := r.child(ctx, order{Step: "inspect"}, src)
	return a.Facts, err
}

// Develop makes what is published of a picture, and its thumbnail, in dir.
func (r *Room) Develop(ctx context.Context, src *os.File, dir string) (Print, error) {
	a, err := r.open(ctx, order{Step: "develop", Dir: dir}, src)
	if err != nil {
		return Print{}, err
	}
	return Print{Published: *a.Published, Thumb: *a.Thumb, Placeholder: a.Placeholder, Peak: a.Peak}, nil
}

// Render makes what a recipe says of a picture, in dir.
func (r *Room) Render(ctx context.Context, src *os.File, recipe network.Recipe, dir string) (File, error) {
	a, err := r.open(ctx, order{Step: "render", Dir: dir, Recipe: recipe.String()}, src)
	if err != nil {
		return File{}, err
	}
	return *a.Published, nil
}

// overhead is what this program needs before it has opened anything.
const overhead = 160 << 20

// child starts this program again for one order.
func (r *Room) child(ctx context.Context, o order, src *os.File) (a answer, err error) {
	o.Limits = r.limits
	ctx, cancel := r.timed(ctx, r.limits.Time)
	defer cancel()
	said, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	cmd := r.command(ctx, bounds{Memory: r.limits.Memory + overhead, Seconds: int64(r.limits.Time / time.Second), FileSize: r.limits.VideoBytes}, "serve")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = bytes.NewReader(said), &out, []*os.File{src}
	if err := r.run(ctx, cmd); err != nil {
		return a, err
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("%w: it said %.100q", ErrDied, out.String())
	}
	switch {
	case a.Refusal != nil:
		return a, a.Refusal
	case a.Full:
		return a, fmt.Errorf("%w: %s", ErrFull, a.Fault)
	case a.Fault != "":
		return a, errors.New(a.Fault)
	}
	return a, nil
}

// process is a command with the limits that it was given.
type process struct {
	*exec.Cmd
	bounds
}

// command is this program with its limits, in the given mode.
func (r *Room) command(ctx context.Context, b bounds, mode string, args ...string) process {
	limits := []string{mode, strconv.FormatInt(b.Memory, 10), strconv.FormatInt(b.Seconds, 10), strconv.FormatInt(b.FileSize, 10)}
	all := append(append(append([]string{}, r.self[1:]...), limits...), args...)
	cmd := exec.CommandContext(ctx, r.self[0], all...)
	// Nothing of ours is a file's business: no key, no address of a database.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GOMAXPROCS=1", "GOMEMLIMIT=" + strconv.FormatInt(b.Memory*3/4, 10), "GOTRACEBACK=none"}
	cmd.WaitDelay = 5 * time.Second
	apart(cmd)
	return process{cmd, b}
}

// patience is how many times its processor time a child may take by the clock: on a
// busy machine it waits behind everything else.
const patience = 5

// timed ends one that hangs; a file that asks too much meets its processor time first.
func (r *Room) timed(ctx context.Context, processor time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(encodeTime, time.Duration(r.patience*float64(processor))))
}

// run starts a command and waits for it. It returns ErrStopped for one that was ended,
// ErrDied for one that failed, and a refusal besides where the file asked too much.
func (r *Room) run(ctx context.Context, cmd process) error {
	var trouble tail
	cmd.Stderr = &trouble
	err := cmd.Run()
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fmt.Errorf("%w by the clock: %s", ErrStopped, trouble.String())
	case ctx.Err() != nil:
		return ctx.Err()
	case cmd.ProcessState == nil:
		return fmt.Errorf("start the darkroom: %w", err)
	case noRoom(trouble.String()):
		return fmt.Errorf("%w: %s", ErrFull, trouble.String())
	case err == nil:
		return nil
	case !cmd.killed():
		return fmt.Errorf("%w: %w: %s", ErrDied, err, trouble.String())
	case cmd.usedUp():
		return fmt.Errorf("%w: %w", ErrDied, errSlow)
	}
	return fmt.Errorf("%w by the system", ErrStopped)
}

// killed says whether a process had no say in its end.
func (p process) killed() bool {
	status, ok := p.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// usedUp says whether it had its processor time. The system goes by its clock's ticks
// when it ends one and counts exactly afterwards, which on a busy machine is less.
func (p process) usedUp() bool {
	used := p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	return used > time.Duration(p.Seconds)*time.Second/2
}

// noRoom finds a full disk in what a program complains of. heif-convert is content
// with it otherwise.
func noRoom(complaint string) bool {
	said := strings.ToLower(complaint)
	return strings.Contains(said, syscall.ENOSPC.Error()) || strings.Contains(said, "out of disk space")
}

// tail keeps the end of what a program complains of.
type tail struct{ b []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - 500; over > 0 {
		t.b = t.b[over:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }

func sized(path string, f picture.Facts) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	return File{Path: path, Facts: f, Bytes: info.Size()}, nil
}

func in(dir, name string) string { return filepath.Join(dir, name) }
