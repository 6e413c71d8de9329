package sheet

import (
	"archive/zip"
	"bytes"
	"io"

	"github.com/xuri/excelize/v2"
)

// The limits of what an XLSX file may unfold to.
const (
	maxUnfolded = 48 << 20
	maxParts    = 500
)

// readXLSX reads the first sheet that shows. Cells come as they are stored: a date
// is a number of days, and a formula what it last came to. A panic of the library
// is a file that cannot be read.
func readXLSX(data []byte) (t Table, err error) {
	defer func() {
		if recover() != nil {
			t, err = Table{}, errNoWorkbook
		}
	}()
	if err := unfolds(data); err != nil {
		return t, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{RawCellValue: true, UnzipSizeLimit: maxUnfolded, UnzipXMLSizeLimit: maxUnfolded})
	if err != nil {
		return t, errNoWorkbook
	}
	defer book.Close()
	rows, err := book.Rows(firstSheet(book))
	if err != nil {
		return t, errNoWorkbook
	}
	defer rows.Close()
	b := builder{}
	for line := 1; rows.Next(); line++ {
		record, err := rows.Columns()
		if err != nil {
			return t, errNoWorkbook
		}
		if err := b.add(record, line); err != nil {
			return t, err
		}
		if line > 20*MaxRows {
			return t, refuse("This table has more than %d lines, most of them empty. Delete those.", 20*MaxRows)
		}
	}
	return b.close(io.EOF)
}

var errNoWorkbook = refuse("This workbook cannot be read. Open it in a spreadsheet and save it as .xlsx or .csv.")

// unfolds refuses a file that would grow too large.
func unfolds(data []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return errNoWorkbook
	}
	var sum uint64
	for _, f := range archive.File {
		if sum += f.UncompressedSize64; sum > maxUnfolded || f.UncompressedSize64 > maxUnfolded {
			return refuse("This workbook unfolds to more than 48 MB. Save the sheet alone, as .csv.")
		}
	}
	if len(archive.File) > maxParts {
		return refuse("This workbook has too many parts. Save the sheet alone, as .csv.")
	}
	return nil
}

func firstSheet(book *excelize.File) string {
	for _, name := range book.GetSheetList() {
		if shown, err := book.GetSheetVisible(name); err == nil && shown {
			return name
		}
	}
	return book.GetSheetName(0)
}
