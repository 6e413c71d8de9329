package jobs_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"herald/db"
	"herald/db/network"
	"herald/db/picture/picturetest"
)

// A PDF is scanned like everything else, counted, drawn, and kept as it is.
func TestADocumentBecomesReady(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.LinkedIn, network.Instagram)
	src := picturetest.Leaflet(4, 600, 800)
	id := a.upload(t, network.Document, "application/pdf", "menu.pdf", src)
	broken := a.upload(t, network.Document, "application/pdf", "half.pdf", append([]byte("%PDF-1.4\n"), []byte(strings.Repeat("x", 5000)+"startxref\n7\n%%EOF")...))
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	p := a.asset(t, id)
	if p.State != db.MediaReady || p.Kind != network.Document || p.Type != "application/pdf" || p.Probe.Frames != 4 || p.Width != 600 || p.Height != 800 || p.ThumbPath == "" || len(p.Renditions) > 0 {
		t.Errorf("%+v", p.Asset)
	}
	o, err := a.store.Open(t.Context(), p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if b, err := io.ReadAll(o); err != nil || !bytes.Equal(b, src) || o.Info().Type != "application/pdf" {
		t.Errorf("%d bytes of %d as %s: %v", len(b), len(src), o.Info().Type, err)
	}
	if p := a.asset(t, broken); p.State != db.MediaRefused || !strings.Contains(p.Reason, "PDF is damaged") {
		t.Errorf("%s: %s", p.State, p.Reason)
	}
}
