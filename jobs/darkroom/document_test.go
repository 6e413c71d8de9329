package darkroom_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	pdf "github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"herald/db/model"
	"herald/db/picture"
	"herald/db/picture/picturetest"
	"herald/jobs/darkroom"
)

func locked(t *testing.T, user, owner string) []byte {
	t.Helper()
	api.DisableConfigDir()
	conf := pdf.NewAESConfiguration(user, owner, 256)
	var out bytes.Buffer
	if err := api.Encrypt(bytes.NewReader(picturetest.Leaflet(2, 300, 400)), &out, conf); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestADocumentIsKeptAsItIsCountedAndDrawn(t *testing.T) {
	t.Parallel()
	src := picturetest.Leaflet(12, 300, 400)
	p, err := room(t).Document(t.Context(), open(t, src), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Published.Facts; f.Type != picture.PDF || f.Frames != 12 || f.Width != 300 || f.Height != 400 {
		t.Errorf("published: %+v", f)
	}
	if b, err := os.ReadFile(p.Published.Path); err != nil || !bytes.Equal(b, src) {
		t.Errorf("%d bytes were kept of %d: %v", len(b), len(src), err)
	}
	if f := p.Thumb; f.Facts.Width != 480 || f.Facts.Height != 640 || picture.Blur(p.Placeholder, 16) == nil {
		t.Errorf("thumbnail: %+v", f)
	}
	p, err = room(t).WithoutTools().Document(t.Context(), open(t, src), t.TempDir())
	if err != nil || p.Published.Facts.Frames != 12 || p.Thumb.Path != "" {
		t.Errorf("without tools: %+v, %v", p, err)
	}
}

func TestADocumentThatNetworksRefuseIsRefusedInWords(t *testing.T) {
	t.Parallel()
	whole := picturetest.Leaflet(3, 300, 400)
	limits := picture.Standard()
	limits.Pages = 2
	short, err := darkroom.New(limits)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		data []byte
		room *darkroom.Room
		say  string
	}{
		"a password":        {locked(t, "open", "own"), room(t), "locked with a password"},
		"a lock":            {locked(t, "", "own"), room(t), "locked with a password"},
		"cut short":         {whole[:len(whole)/2], room(t), "cut short"},
		"no table":          {append([]byte("%PDF-1.4\n"), []byte(strings.Repeat("x", 5000)+"startxref\n7\n%%EOF")...), room(t), "damaged"},
		"no page":           {picturetest.Leaflet(0, 300, 400), room(t), "no pages"},
		"too many":          {whole, short, "has 3 pages; the limit is 2"},
		"a count that lies": {bytes.Replace(whole, []byte("/Count 3"), []byte("/Count 9"), 1), room(t), "damaged"},
	} {
		_, err := c.room.Document(t.Context(), open(t, c.data), t.TempDir())
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, c.say) {
			t.Errorf("%s: %v, want %q", what, err, c.say)
		}
	}
}

// A picture's place takes no document, and the other way about.
func TestADocumentIsNoPicture(t *testing.T) {
	t.Parallel()
	if _, err := room(t).Develop(t.Context(), open(t, picturetest.Leaflet(1, 300, 400)), t.TempDir()); err == nil || !strings.Contains(err.Error(), "PDF, and a picture is needed") {
		t.Errorf("developed as a picture: %v", err)
	}
	if _, err := room(t).Document(t.Context(), open(t, photo(t, 300, 200)), t.TempDir()); err == nil || !strings.Contains(err.Error(), "PDF is damaged") {
		t.Errorf("a picture as a document: %v", err)
	}
}
