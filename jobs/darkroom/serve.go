package darkroom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
)

// bounds are a child's limits.
type bounds struct {
	Memory   int64 // bytes of its own data
	Seconds  int64 // of processor time
	FileSize int64 // of anything that it writes
}

// Serve is this program as a child, if its arguments say so: it does what it was
// told and ends. Call it first thing in main, and in TestMain of tests that have a
// Room.
func Serve() {
	if len(os.Args) < 2 || os.Args[1] != Flag {
		return
	}
	if err := serve(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func serve(args []string) error {
	if len(args) < 4 {
		return errors.New("the darkroom is no command: Herald starts it itself")
	}
	var b bounds
	for i, into := range []*int64{&b.Memory, &b.Seconds, &b.FileSize} {
		n, err := strconv.ParseInt(args[1+i], 10, 64)
		if err != nil || n <= 0 {
			return fmt.Errorf("%q is no limit", args[1+i])
		}
		*into = n
	}
	if err := confine(b); err != nil {
		return err
	}
	if args[0] == "tool" {
		return become(args[4:])
	}
	return follow(os.Stdin, os.Stdout, os.NewFile(3, "upload"))
}

// follow carries out the order that is read from in.
func follow(in io.Reader, out io.Writer, upload *os.File) error {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	info, err := upload.Stat()
	if err != nil {
		return fmt.Errorf("look at the upload: %w", err)
	}
	w := work{order: o, room: picture.NewDarkroom(o.Limits), src: io.NewSectionReader(upload, 0, info.Size())}
	if o.Turned {
		w.room = w.room.Turned()
	}
	err = w.do(context.Background())
	if no, ok := model.Refused(err); ok {
		w.answer = answer{Refusal: no}
	} else if err != nil {
		w.answer = answer{Fault: err.Error(), Full: errors.Is(err, syscall.ENOSPC)}
	}
	w.answer.Peak = peak()
	return json.NewEncoder(out).Encode(w.answer)
}

// work is one order being carried out.
type work struct {
	order
	answer answer
	room   *picture.Darkroom
	src    *io.SectionReader
}

func (w *work) do(ctx context.Context) (err error) {
	switch w.Step {
	case "inspect":
		w.answer.Facts, err = picture.Inspect(ctx, w.src, w.Limits)
		return err
	case "develop":
		return w.develop(ctx)
	case "render":
		return w.render(ctx)
	case "document":
		w.answer.Published, err = w.file("published", func(out io.Writer) (picture.Facts, error) { return document(ctx, w.src, out, w.Limits) })
		return err
	case "strip":
		w.answer.Published, err = w.file("published", func(out io.Writer) (f picture.Facts, err error) {
			if f, err = picture.Inspect(ctx, w.src, w.Limits); err != nil {
				return f, err
			}
			return f, picture.StripVideo(ctx, w.src, out)
		})
		return err
	}
	return fmt.Errorf("no order %q", w.Step)
}

func (w *work) develop(ctx context.Context) (err error) {
	w.answer.Published, err = w.file("published", func(out io.Writer) (picture.Facts, error) { return w.room.Upright(ctx, w.src, out) })
	if err != nil {
		return err
	}
	w.answer.Thumb, err = w.file("thumb", func(out io.Writer) (f picture.Facts, err error) {
		f, w.answer.Placeholder, err = w.room.Card(ctx, w.src, out, thumbSide)
		return f, err
	})
	return err
}

func (w *work) render(ctx context.Context) error {
	recipe, err := network.ParseRecipe(w.Recipe)
	if err != nil {
		return err
	}
	w.answer.Published, err = w.file("rendition", func(out io.Writer) (picture.Facts, error) { return w.room.Render(ctx, w.src, out, recipe) })
	return err
}

// file has make write a file of the order's folder.
func (w *work) file(name string, make func(io.Writer) (picture.Facts, error)) (*File, error) {
	path := in(w.Dir, name)
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	facts, err := make(out)
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	f, err := sized(path, facts)
	return &f, err
}
