// Package sheet reads tables that people keep in spreadsheets: CSV and TSV in the
// encodings that spreadsheets write, and XLSX. Nothing in a table is ever worked
// out: a formula is what the file says it came to. What is too large is refused
// before it is unfolded. Start with Read.
package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"herald/db/model"
)

// The limits of a table.
const (
	MaxBytes   = 5 << 20 // of the file
	MaxRows    = 2000    // below the head
	MaxColumns = 60
	MaxCell    = 20_000 // bytes
)

// Table is a head and rows that are as wide as it; empty rows are left out.
type Table struct {
	Head []string
	Rows [][]string
	Line []int // in the file, of each row; the head is line 1
}

// Read reads a file by what it is, whatever its name says. It refuses what is no
// table, what is larger than the limits, and a quote that is never closed, with its
// line.
func Read(data []byte) (t Table, err error) {
	switch {
	case len(data) > MaxBytes:
		return t, refuse("This file is larger than 5 MB. Split it into several.")
	case len(bytes.TrimSpace(data)) == 0:
		return t, refuse("This file is empty.")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return readXLSX(data)
	case bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")):
		return t, refuse("This is a file of an old Excel, or one that is locked with a password. Save it as .xlsx or .csv.")
	}
	text, err := decode(data)
	if err != nil {
		return t, err
	}
	return readCSV(text)
}

func refuse(format string, args ...any) error {
	return model.RefuseField("file", fmt.Sprintf(format, args...))
}

// decode finds out the encoding: by a byte order mark, by the zeros of UTF-16, as
// UTF-8, and else as Windows writes it in the west.
func decode(data []byte) (string, error) {
	var text []byte
	var err error
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		text = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		text, err = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
	case zeros(data, 1):
		text, err = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(data)
	case zeros(data, 0):
		text, err = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Bytes(data)
	case utf8.Valid(data):
		text = data
	default:
		text, err = charmap.Windows1252.NewDecoder().Bytes(data)
	}
	if err != nil || bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return "", refuse("This is no table that can be read. Save it as .csv or .xlsx.")
	}
	return string(text), nil
}

// zeros says whether most bytes at odd (1) or even (0) places of the beginning are
// zero, which makes the text UTF-16.
func zeros(data []byte, at int) bool {
	head := data[:min(len(data), 400)]
	n := 0
	for i := at; i < len(head); i += 2 {
		if head[i] == 0 {
			n++
		}
	}
	return len(head) > 3 && n*10 > len(head)/2*7
}

func readCSV(text string) (t Table, err error) {
	in := csv.NewReader(strings.NewReader(text))
	in.Comma, in.FieldsPerRecord = delimiter(text), -1
	b := builder{}
	for {
		record, err := in.Read()
		if record == nil && err != nil {
			return b.close(err)
		}
		if err != nil {
			return t, unread(err)
		}
		line, _ := in.FieldPos(0)
		if err := b.add(record, line); err != nil {
			return t, err
		}
	}
}

func unread(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return refuse("Line %d cannot be read: a quotation mark is not closed there, or stands within a cell without being doubled.", parse.StartLine)
	}
	return refuse("This is no table that can be read. Save it as .csv or .xlsx.")
}

// delimiter is what parts the cells of the first line: what is there most, outside
// of quotation marks.
func delimiter(text string) rune {
	count := map[rune]int{}
	quoted := false
	for i, r := range text {
		if r == '"' {
			quoted = !quoted
		}
		if !quoted && (r == '\n' || r == '\r') && i > 0 && len(strings.TrimSpace(text[:i])) > 0 {
			break
		}
		if !quoted {
			count[r]++
		}
	}
	best := ','
	for _, r := range []rune{'\t', ';', '|'} {
		if count[r] > count[best] {
			best = r
		}
	}
	return best
}

// builder puts a table together, within its limits.
type builder struct{ t Table }

func (b *builder) add(record []string, line int) error {
	for len(record) > 0 && strings.TrimSpace(record[len(record)-1]) == "" {
		record = record[:len(record)-1]
	}
	switch {
	case len(record) == 0:
		return nil
	case len(record) > MaxColumns:
		return refuse("Line %d has more than %d columns.", line, MaxColumns)
	}
	for i, cell := range record {
		if len(cell) > MaxCell {
			return refuse("A cell of line %d is longer than %d characters.", line, MaxCell)
		}
		record[i] = tidy(cell)
	}
	if b.t.Head == nil {
		b.t.Head = record
		return nil
	}
	if len(b.t.Rows) == MaxRows {
		return refuse("This table has more than %d rows. Split it into several.", MaxRows)
	}
	for len(b.t.Head) < len(record) {
		b.t.Head = append(b.t.Head, "")
	}
	b.t.Rows, b.t.Line = append(b.t.Rows, record), append(b.t.Line, line)
	return nil
}

// close ends the table: every row is made as wide as the head.
func (b *builder) close(err error) (Table, error) {
	if _, broken := errors.AsType[*csv.ParseError](err); broken {
		return Table{}, unread(err)
	}
	if len(b.t.Rows) == 0 {
		return Table{}, refuse("This table has no rows. The first line names the columns, each line below it is a post.")
	}
	for i, row := range b.t.Rows {
		b.t.Rows[i] = append(row, make([]string, len(b.t.Head)-len(row))...)
	}
	return b.t, nil
}

// tidy takes away what shows as nothing around a cell, and the mark by which
// spreadsheets keep a text from being taken for a formula.
func tidy(cell string) string {
	cell = strings.ReplaceAll(strings.ReplaceAll(cell, "\r\n", "\n"), "\r", "\n")
	cell = strings.Trim(strings.ReplaceAll(cell, "\x00", ""), " \t\n\u00a0\ufeff")
	if rest, marked := strings.CutPrefix(cell, "'"); marked && strings.IndexAny(rest, "=+-@＝＋－＠|%") == 0 {
		return rest
	}
	return strings.ToValidUTF8(cell, "\ufffd")
}
