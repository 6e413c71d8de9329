// Package picturetest makes files for tests.
package picturetest

import (
	"bytes"
	"fmt"
)

// Leaflet is a PDF of so many pages, with something on each. Width and height are in
// points.
func Leaflet(pages, width, height int) []byte {
	var b, kids bytes.Buffer
	var at []int
	add := func(body string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	b.WriteString("%PDF-1.4\n")
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", i+4)
	}
	draw := fmt.Sprintf("1 0 0 rg 0 0 %d %d re f", width/2, height)
	add("<< /Type /Catalog /Pages 2 0 R >>")
	add(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String()))
	add(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(draw), draw))
	for range pages {
		add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 3 0 R >>", width, height))
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}
