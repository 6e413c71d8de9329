package jobs_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"herald/db"
	"herald/db/network"
)

// leaflet is a PDF of so many pages.
func leaflet(pages int) []byte {
	var b, kids bytes.Buffer
	var at []int
	add := func(body string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	b.WriteString("%PDF-1.4\n")
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", i+3)
	}
	add("<< /Type /Catalog /Pages 2 0 R >>")
	add(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String()))
	for range pages {
		add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] >>")
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

// A PDF is scanned like everything else, counted, drawn, and kept as it is.
func TestADocumentBecomesReady(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.LinkedIn, network.Instagram)
	src := leaflet(4)
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
