package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/holiday"
	"herald/db/model"
)

// DayNote is what a day of the calendar is about, for the agency's eyes.
type DayNote struct {
	ID       model.NoteID
	ClientID model.ClientID // zero: of the whole workspace
	Client   string
	Date     model.Date `db:"-"`
	Day      time.Time  // Date as it is stored: a midnight
	Words    string
	Name     string // of who wrote it
}

// dayNotesRoom is how many notes a page of days shows.
const dayNotesRoom = 300

const sqlDayNotes = `
	SELECT n.id, coalesce(n.client_id, 0) AS client_id, coalesce(c.name, '') AS client, n.day, n.words, n.name
	  FROM tenant.day_notes n LEFT JOIN tenant.clients c ON c.tenant_id = n.tenant_id AND c.id = n.client_id
	 WHERE n.tenant_id = $1 AND (n.client_id IS NULL OR $2 OR n.client_id = ANY ($3)) AND n.day >= $4::date AND n.day <= $5::date
	 ORDER BY n.day, n.id LIMIT $6`

// dayNotes reads the notes of days, both included, that clients or a filter let
// through; those of the workspace always.
func (sc *Scope) dayNotes(ctx context.Context, tx pgx.Tx, clients []any, from, to model.Date) ([]DayNote, error) {
	rows, err := tx.Query(ctx, sqlDayNotes, append(clients, from.String(), to.String(), dayNotesRoom)...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[DayNote])
	for i := range list {
		list[i].Date = model.LocalOf(list[i].Day).Date
	}
	return list, err
}

// DayNotes lists the notes of a month, and the clients that the actor may see.
func (sc *Scope) DayNotes(ctx context.Context, month model.Date) (notes []DayNote, clients []CalendarClient, err error) {
	defer wrap(&err, "list notes of days")
	if err := calendarYear(month); err != nil {
		return nil, nil, err
	}
	first := model.LocalTime{Date: model.Date{Year: month.Year, Month: month.Month, Day: 1}}.Wall()
	last := model.LocalOf(first.AddDate(0, 1, -1)).Date
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if clients, err = sc.calendarClients(ctx, tx); err != nil {
			return err
		}
		visible, all := sc.Actor.ClientsWith(model.PostsView)
		notes, err = sc.dayNotes(ctx, tx, []any{sc.Actor.Tenant, all, visible}, model.LocalOf(first).Date, last)
		return err
	})
	return notes, clients, err
}

const sqlDayNoteInsert = `
	INSERT INTO tenant.day_notes (tenant_id, client_id, day, words, name, created_at)
	SELECT $1, nullif($2::bigint, 0), $3::date, $4, $5, $6 WHERE (SELECT count(*) FROM tenant.day_notes WHERE tenant_id = $1 AND day = $3::date) < $7 RETURNING id`

// maxDayNotes is how many notes a day holds.
const maxDayNotes = 30

// AddDayNote writes a note on a day.
func (sc *Scope) AddDayNote(ctx context.Context, n DayNote) (id model.NoteID, err error) {
	defer wrap(&err, "add note of a day")
	if err := calendarYear(n.Date); err != nil {
		return 0, err
	}
	if err := sc.needKeep(n.ClientID); err != nil {
		return 0, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, n.ClientID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, sqlDayNoteInsert, sc.Actor.Tenant, n.ClientID, n.Date.String(), tidyName(n.Words), sc.Actor.Name, sc.now(), maxDayNotes).Scan(&id)
		if noRows(err) {
			return model.RefuseField("words", "This day has 30 notes. Remove one first.")
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "noted", subject: "day", id: int64(id), client: n.ClientID, detail: map[string]any{"day": n.Date.String()}})
	})
	return id, err
}

const sqlDayNoteGet = `SELECT coalesce(client_id, 0), to_char(day, 'YYYY-MM-DD') FROM tenant.day_notes WHERE tenant_id = $1 AND id = $2`

const sqlDayNoteDelete = `DELETE FROM tenant.day_notes WHERE tenant_id = $1 AND id = $2`

// RemoveDayNote takes a note away.
func (sc *Scope) RemoveDayNote(ctx context.Context, id model.NoteID) (err error) {
	defer wrap(&err, "remove note %d of a day", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		var client model.ClientID
		var day string
		err := tx.QueryRow(ctx, sqlDayNoteGet, sc.Actor.Tenant, id).Scan(&client, &day)
		if noRows(err) || err == nil && client != 0 && !sc.Actor.May(model.PostsView, client) {
			return model.Refuse(model.NotFound, "There is no such note.")
		}
		if err != nil {
			return err
		}
		if err := sc.needKeep(client); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlDayNoteDelete, sc.Actor.Tenant, id); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "note_removed", subject: "day", id: int64(id), client: client, detail: map[string]any{"day": day}})
	})
}

const sqlClientHolidays = `UPDATE tenant.clients SET holidays = $3 WHERE tenant_id = $1 AND id = $2`

// SetHolidays chooses whose holidays the calendar shows for a client: a region of
// db/holiday, or none.
func (sc *Scope) SetHolidays(ctx context.Context, client model.ClientID, region string) (err error) {
	defer wrap(&err, "set holidays of client %d", client)
	if err := sc.need(model.PostsWrite, client, "client"); err != nil {
		return err
	}
	if region != "" && !holiday.Known(region) {
		return model.RefuseField("holidays", "Herald does not know the holidays there. Choose a country from the list.")
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, client); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlClientHolidays, sc.Actor.Tenant, client, region); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "holidays_set", subject: "client", id: int64(client), client: client, detail: map[string]any{"region": region}})
	})
}

const sqlClientThere = `SELECT EXISTS (SELECT FROM tenant.clients WHERE tenant_id = $1 AND id = $2)`

// clientThere refuses a client of another workspace; zero, the workspace itself, is
// there.
func (sc *Scope) clientThere(ctx context.Context, tx pgx.Tx, client model.ClientID) error {
	there := client == 0
	if !there {
		if err := tx.QueryRow(ctx, sqlClientThere, sc.Actor.Tenant, client).Scan(&there); err != nil {
			return err
		}
	}
	if !there {
		return model.Refuse(model.NotFound, "There is no such client.")
	}
	return nil
}
