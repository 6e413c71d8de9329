package desk

import (
	"bytes"
	"io"
	"log/slog"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"herald/db/model"
	"herald/handlers/web"
)

// /dev/full answers every write as a full disk does.
func TestAFormKeepsItsWordsWhenTheDiskIsFull(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, name := range []string{"first.jpg", "second.jpg"} {
		part, err := w.CreateFormFile("files", name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(make([]byte, 300<<10))
	}
	if err := w.WriteField("text", "Typed before the upload"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &parts{Values: url.Values{}, create: func() (*os.File, error) {
		fd, err := syscall.Open("/dev/full", syscall.O_WRONLY, 0)
		return os.NewFile(uintptr(fd), filepath.Join(dir, "gone")), err
	}}
	if err := p.read(multipart.NewReader(&body, w.Boundary()), 1<<20); err != nil {
		t.Fatal(err)
	}
	if len(p.files) != 2 || !noRoom(p.files[0].full) || !noRoom(p.files[1].full) || p.files[0].file != nil {
		t.Errorf("files %+v", p.files)
	}
	edge := web.Edge{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if no, ok := model.Refused(edge.Stored(t.Context(), p.files[0].full)); !ok || !strings.Contains(no.Say, "no room left") {
		t.Errorf("it is not said: %v", p.files[0].full)
	}
	if got := p.Get("text"); got != "Typed before the upload" {
		t.Errorf("the form lost its words: %q", got)
	}
}
