package e2e

import (
	"bytes"
	"io"
	"regexp"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"herald/cmd/internal/browser"
)

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// TestAMonthIsPrintedOnOnePage prints it as the browser does.
func TestAMonthIsPrintedOnOnePage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	one := a.planned(t, p)
	p.visit(a.path("/calendar?view=month&date=" + one.date[:7]))
	stream, err := p.PDF(&proto.PagePrintToPDF{PreferCSSPageSize: true, PrintBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	pdf, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pdfPage.FindAll(pdf, -1)); n != 1 {
		t.Errorf("a month takes %d pages", n)
	}
	if !bytes.Contains(pdf, []byte("841.91998 594.95996")) && !regexp.MustCompile(`MediaBox\s*\[0 0 84[12][.0-9]* 59[45]`).Match(pdf) {
		t.Errorf("the page is not A4 across: %s", regexp.MustCompile(`MediaBox[^\]]*`).Find(pdf))
	}
}
