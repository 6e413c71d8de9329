package sheet

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"herald/db/model"
)

func encoded(t *testing.T, e encoding.Encoding, s string) []byte {
	t.Helper()
	out, err := e.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheSameTableInEveryEncodingAndWithEveryDelimiter(t *testing.T) {
	t.Parallel()
	plain := "Text,Datum\r\n\"Grüße, „heute“ – 5 €\nzweite Zeile\",29.3.2026\r\n\r\n  ,\r\nnoch einer,\r\n"
	semicolons := "Text;Datum\n\"Grüße, „heute“ – 5 €\nzweite Zeile\";29.3.2026\nnoch einer;\n"
	for name, data := range map[string][]byte{
		"UTF-8":                    []byte(plain),
		"UTF-8 with a mark":        []byte("\ufeff" + plain),
		"UTF-16, little":           encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), plain),
		"UTF-16, big":              encoded(t, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), plain),
		"UTF-16 without a mark":    encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), plain),
		"UTF-16, big, no mark":     encoded(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), plain),
		"Windows-1252":             encoded(t, charmap.Windows1252, plain),
		"semicolons":               []byte(semicolons),
		"tabs":                     []byte(strings.ReplaceAll(semicolons, ";", "\t")),
		"tabs, Windows":            encoded(t, charmap.Windows1252, strings.ReplaceAll(semicolons, ";", "\t")),
		"old Mac, in a cell alone": []byte("Text,Datum\n\"Grüße, „heute“ – 5 €\rzweite Zeile\",29.3.2026\nnoch einer,\n"),
	} {
		got, err := Read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := [][]string{{"Grüße, „heute“ – 5 €\nzweite Zeile", "29.3.2026"}, {"noch einer", ""}}
		if !slices.Equal(got.Head, []string{"Text", "Datum"}) || len(got.Rows) != 2 || !slices.Equal(got.Rows[0], want[0]) || !slices.Equal(got.Rows[1], want[1]) {
			t.Errorf("%s: %q", name, got.Rows)
		}
	}
}

// workbook writes one, with a hidden sheet before the one that shows.
func workbook(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.NewSheet("Posts"); err != nil {
		t.Fatal(err)
	}
	_ = f.SetCellStr("Sheet1", "A1", "secret")
	f.SetActiveSheet(1)
	_ = f.SetSheetVisible("Sheet1", false)
	style, _ := f.NewStyle(&excelize.Style{NumFmt: 22})
	for cell, v := range map[string]any{"A1": "Text", "B1": "When", "C1": "Link", "A2": "Bread\nand cheese", "B2": 46110.604166666664, "A4": "=HYPERLINK(\"x\")", "C4": "https://a.example"} {
		if err := f.SetCellValue("Posts", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	_ = f.SetCellStyle("Posts", "B2", "B2", style)
	_ = f.SetCellFormula("Posts", "C2", `WEBSERVICE("http://evil.example/")`)
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAWorkbookIsReadAndNothingInItIsWorkedOut(t *testing.T) {
	t.Parallel()
	got, err := Read(workbook(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Head, []string{"Text", "When", "Link"}) || len(got.Rows) != 2 || got.Rows[0][0] != "Bread\nand cheese" || got.Rows[0][2] != "" || got.Line[1] != 4 {
		t.Errorf("%q", got.Rows)
	}
	if when, ok := ParseWhen(got.Rows[0][1], "", true); !ok || when.String() != "2026-03-29T14:30" {
		t.Errorf("%q is %v", got.Rows[0][1], when)
	}
}

// bomb is a small archive that says it is small and unfolds to size zeros.
func bomb(t *testing.T, size int64, honest bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(o io.Writer) (io.WriteCloser, error) { return flate.NewWriter(o, 9) })
	var folded bytes.Buffer
	z, _ := flate.NewWriter(&folded, 9)
	_, _ = io.CopyN(z, zero{}, size)
	_ = z.Close()
	said := uint64(size)
	if !honest {
		said = 100
	}
	part, err := w.CreateRaw(&zip.FileHeader{Name: "xl/workbook.xml", Method: zip.Deflate, UncompressedSize64: said, CompressedSize64: uint64(folded.Len())})
	if err == nil {
		_, err = part.Write(folded.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestWhatIsTooMuchOrNoTableIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		say  string
	}{
		"nothing":          {nil, "is empty"},
		"blanks":           {[]byte(" \n\t\n"), "is empty"},
		"a head alone":     {[]byte("Text,Date\n"), "has no rows"},
		"too many bytes":   {bytes.Repeat([]byte("a"), MaxBytes+1), "larger than 5 MB"},
		"too many rows":    {[]byte("Text\n" + strings.Repeat("a\n", MaxRows+1)), "more than 2000 rows"},
		"too many columns": {[]byte(strings.Repeat("a,", MaxColumns) + "b\nc\n"), "more than 60 columns"},
		"a huge cell":      {[]byte("Text\n" + strings.Repeat("a", MaxCell+1)), "A cell of line 2"},
		"an open quote":    {[]byte("Text,Date\nfine,\n\"open,2026-03-01\nmore"), "Line 3 cannot be read"},
		"a loose quote":    {[]byte("Text,Date\nhe said \"no\",\n"), "Line 2 cannot be read"},
		"a picture":        {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "no table"},
		"an old workbook":  {[]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "old Excel"},
		"no workbook":      {[]byte("PK\x03\x04 and nothing"), "cannot be read"},
		"a bomb":           {bomb(t, 200<<20, true), "unfolds to more than 48 MB"},
		"a bomb that lies": {bomb(t, 200<<20, false), "cannot be read"},
	} {
		_, err := Read(c.data)
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDaysAndTimesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day, clock string
		dayFirst   bool
		want       string // empty: none
	}{
		{"2026-03-29", "14:30", true, "2026-03-29T14:30"}, {"29.3.2026", "2:30 PM", true, "2026-03-29T14:30"}, {"29/03/2026", "14.30", true, "2026-03-29T14:30"},
		{"3/29/2026", "2pm", false, "2026-03-29T14:00"}, {"3/4/2026", "9:00", true, "2026-04-03T09:00"}, {"3/4/2026", "9:00", false, "2026-03-04T09:00"},
		{"March 29, 2026", "14:30:00", true, "2026-03-29T14:30"}, {"29 Mar 2026", "14:30 Uhr", true, "2026-03-29T14:30"}, {"46110", "0.6041666666666666", true, "2026-03-29T14:30"},
		{"46110.604166666664", "", true, "2026-03-29T14:30"}, {"2026-03-29 14:30", "", true, "2026-03-29T14:30"}, {"2026-03-29T14:30:00", "", true, "2026-03-29T14:30"},
		{"29 March 2026 2:30 pm", "", true, "2026-03-29T14:30"}, {"29.3.2026, 14:30", "", true, "2026-03-29T14:30"}, {"46110", "1.5", true, ""},
		{"31.2.2026", "10:00", true, ""}, {"tomorrow", "10:00", true, ""}, {"2026-03-29", "", true, ""}, {"46110", "", true, ""}, {"2026-03-29", "25:00", true, ""}, {"", "10:00", true, ""}, {"NaN", "", true, ""}, {"1e300", "", true, ""},
	} {
		got, ok := ParseWhen(c.day, c.clock, c.dayFirst)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%q %q: %v %v, want %q", c.day, c.clock, got, ok, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("Text;Date\n\"a\nb\";1.2.2026\n"))
	f.Add([]byte("\xff\xfeT\x00,\x00D\x00\n\x00a\x00,\x00b\x00"))
	f.Add([]byte("Gr\xfc\xdfe\tx\n=1+1\t'@x\n"))
	f.Add([]byte("PK\x03\x04\x14\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(data)
		if err != nil {
			if _, ok := model.Refused(err); !ok {
				t.Fatalf("%v", err)
			}
			return
		}
		if len(got.Rows) == 0 || len(got.Rows) > MaxRows || len(got.Head) > MaxColumns || len(got.Line) != len(got.Rows) {
			t.Fatalf("%d rows, %d columns", len(got.Rows), len(got.Head))
		}
		for _, row := range got.Rows {
			if len(row) != len(got.Head) {
				t.Fatalf("a row of %d cells below %d", len(row), len(got.Head))
			}
			for _, cell := range row {
				if strings.ContainsRune(cell, 0) || !strings.EqualFold(cell, strings.ToValidUTF8(cell, "")) {
					t.Fatalf("%q cannot be stored", cell)
				}
			}
			ParseWhen(row[0], "", true)
		}
	})
}
