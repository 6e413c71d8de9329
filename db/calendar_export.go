package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// ExportRow is one target of an exported list.
type ExportRow struct {
	Post    model.PostID
	DueAt   time.Time
	Zone    string // the client's
	Client  string
	Network network.Name
	Handle  string
	Shown   string
	Text    string // what the account gets, whole
	Author  model.UserID
	Link    string // of what was published
	Labels  []model.LabelID
}

// ExportRoom is how many targets one export holds.
const ExportRoom = 5000

const sqlCalendarExport = `
	SELECT t.post_id, t.due_at, c.zone, c.name, t.network, t.account_id, a.handle, shown, v.content, p.created_by, t.permalink, ` + labelsOf + `t.post_id) AS labels` +
	calendarTables + `
	  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 CROSS JOIN LATERAL (SELECT ` + targetShows + ` AS shown) s` +
	calendarSieve + ` AND ` + calendarStates + `
	   AND t.due_at >= $11 AND t.due_at < $12
	 ORDER BY t.due_at, t.post_id, c.name, t.network, a.handle LIMIT $13`

// exportAhead is how far a list that has no end of its own is exported.
const exportAhead = 366 * 24 * time.Hour

// CalendarExport reads the targets of the span around a day, or, for an empty span,
// of the year from that day on, as a filter lets them through; a zero day is today.
// more says that there are more than ExportRoom. It refuses as Calendar does.
func (sc *Scope) CalendarExport(ctx context.Context, span Span, day model.Date, f CalendarFilter) (rows []ExportRow, c Choices, more bool, err error) {
	defer wrap(&err, "export calendar")
	authors, err := sc.authors(ctx)
	if err != nil {
		return nil, c, false, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) (err error) {
		var s sieve
		if c, s, err = sc.openSieve(ctx, tx, f, authors); err != nil {
			return err
		}
		if day, err = sc.dayOr(day, s.zone); err != nil {
			return err
		}
		from, to, err := exportSpan(span, day, s.zone)
		if err != nil {
			return err
		}
		rows, err = sc.exportRows(ctx, tx, append(s.args, from, to, ExportRoom+1))
		return err
	})
	if more = len(rows) > ExportRoom; more {
		rows = rows[:ExportRoom]
	}
	return rows, c, more, err
}

func exportSpan(span Span, day model.Date, zone string) (from, to time.Time, err error) {
	if span == "" {
		from, err = dayStart(day, zone)
		return from, from.Add(exportAhead), err
	}
	_, days, end, err := span.days(day, zone)
	if err != nil {
		return from, to, err
	}
	return days[0].Start, end, nil
}

func (sc *Scope) exportRows(ctx context.Context, tx pgx.Tx, args []any) ([]ExportRow, error) {
	rows, err := tx.Query(ctx, sqlCalendarExport, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r ExportRow, err error) {
		var canonical []byte
		var account model.AccountID
		if err := row.Scan(&r.Post, &r.DueAt, &r.Zone, &r.Client, &r.Network, &account, &r.Handle, &r.Shown, &canonical, &r.Author, &r.Link, &r.Labels); err != nil {
			return r, err
		}
		content, err := model.ReadContent(canonical)
		r.Text = content.For(string(r.Network), account).Text
		return r, err
	})
}
