package darkroom

import (
	"bytes"
	"strings"
	"testing"

	"herald/db/model"
	"herald/db/picture"
)

// Whatever the bytes are, they are counted or refused in a sentence.
func FuzzADocumentIsCountedOrRefused(f *testing.F) {
	f.Add("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>\nendobj\ntrailer << /Size 4 /Root 1 0 R >>\nstartxref\n0\n%%EOF")
	f.Add("%PDF-1.7\nstartxref\n-1\n%%EOF")
	f.Add("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R /Kids [1 0 R] /Count 5 >>\nendobj\ntrailer << /Root 1 0 R >>\nstartxref\n9\n%%EOF")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 10_000 || !strings.HasPrefix(s, "%PDF-") {
			return
		}
		var facts picture.Facts
		err := leaf(&facts, bytes.NewReader([]byte(s)))
		if _, no := model.Refused(err); err != nil && !no || err == nil && (facts.Frames < 1 || facts.Width < 0) {
			t.Errorf("%+v, %v", facts, err)
		}
	})
}
