package desk

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/ui"
)

// exportHead is the first line of an export.
var exportHead = []string{"Planned", "Time zone", "Client", "Network", "Account", "Status", "Text", "Labels", "Campaign", "Written by", "Post", "Published at"}

// exportCalendar answers GET /calendar.csv with what a calendar of the same view,
// date and filters shows, a line for each account: RFC 4180, with a byte order mark
// for the spreadsheets that ask for one. Times are those of the client's clocks and
// carry their distance to UTC.
func (d *Desk) exportCalendar(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l := calendarLookup(scope, r.URL.Query())
	day, err := calendarDate(l.values.Get("date"))
	if err != nil {
		return err
	}
	span := db.Span(l.values.Get("view"))
	switch span {
	case "":
		span = db.MonthSpan
	case "list":
		span = ""
	case db.MonthSpan, db.WeekSpan, db.DaySpan:
	default:
		return model.RefuseField("view", "The calendar shows a month, a week, a day or a list. Choose one of them.")
	}
	rows, choices, more, err := scope.CalendarExport(r.Context(), span, day, l.filter)
	if err != nil {
		return err
	}
	if more {
		return model.Refuse(model.Unprocessable, "That is more than 5000 lines. Narrow it by a filter, or export a month at a time.")
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="herald.csv"`)
	h.Set("Cache-Control", "private, no-store")
	return d.writeExport(w, scope, rows, choices)
}

func (d *Desk) writeExport(w http.ResponseWriter, scope *db.Scope, rows []db.ExportRow, c db.Choices) error {
	if _, err := w.Write([]byte("\uFEFF")); err != nil {
		return nil // the browser has gone
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	lines := [][]string{exportHead}
	for _, row := range rows {
		lines = append(lines, d.exportLine(scope, row, c))
	}
	_ = out.WriteAll(lines)
	return nil
}

func (d *Desk) exportLine(scope *db.Scope, row db.ExportRow, c db.Choices) []string {
	labels, campaign := exportLabels(row.Labels, c.Labels)
	author := ""
	if i := slices.IndexFunc(c.Authors, func(a db.Author) bool { return a.ID == row.Author }); i >= 0 {
		author = c.Authors[i].Name
	}
	line := []string{localStamp(row.DueAt, row.Zone), row.Zone, row.Client, network.Label(row.Network), row.Handle, ui.StatusWord(row.Shown), row.Text,
		labels, campaign, author, d.BaseURL + at(scope, "/posts/"+id(row.Post)), row.Link}
	for i := range line {
		line[i] = harmless(line[i])
	}
	return line
}

func exportLabels(ids []model.LabelID, known []db.Label) (labels, campaign string) {
	var names []string
	for _, l := range known {
		switch {
		case !slices.Contains(ids, l.ID):
		case l.Kind == db.Campaign:
			campaign = l.Name
		default:
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", "), campaign
}

// localStamp is an instant on a zone's clocks, with its distance to UTC.
func localStamp(at time.Time, zone string) string {
	location, err := model.LoadZone(zone)
	if err != nil {
		location = time.UTC
	}
	return at.In(location).Format(time.RFC3339)
}

// harmless keeps a spreadsheet from taking what people wrote for a formula.
func harmless(cell string) string {
	if strings.IndexAny(strings.TrimLeft(cell, " \t\r\n\v\f\u00a0\ufeff"), "=+-@＝＋－＠|%") == 0 || strings.HasPrefix(cell, "\t") || strings.HasPrefix(cell, "\r") || strings.HasPrefix(cell, "\n") {
		return "'" + cell
	}
	return cell
}
