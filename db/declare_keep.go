package db

import (
	"context"
	"strings"

	"herald/db/holiday"
	"herald/db/model"
)

// DeclaredLabel is a label or campaign, of the workspace or of a client.
type DeclaredLabel struct {
	At     string
	Name   string
	Kind   LabelKind
	Tint   *int // which of Tints
	Remove bool // from every post too
}

// DeclaredNote is what a day of the calendar is about.
type DeclaredNote struct {
	At     string
	Day    model.Date
	Words  string
	Remove bool
}

// keeper is whose labels and notes are written: a client's, or the workspace's.
type keeper struct {
	client model.ClientID // zero: the workspace
	what   string         // as "nord/bakery"
	labels []DeclaredLabel
	notes  []DeclaredNote
}

// keeps writes labels and notes of the workspace and of its clients, and what else
// the calendar shows for a client.
func (h *hand) keeps(ctx context.Context) error {
	all := []keeper{{0, h.Slug, h.said.Labels, h.said.Notes}}
	for _, c := range h.said.Clients {
		row, ok := h.clients[c.Slug]
		if !ok {
			continue
		}
		if err := h.calendar(ctx, c, row); err != nil {
			return err
		}
		all = append(all, keeper{row.id, h.Slug + "/" + c.Slug, c.Labels, c.Notes})
	}
	for _, k := range all {
		for _, l := range k.labels {
			if err := h.label(ctx, k, l); err != nil {
				return err
			}
		}
		for _, n := range k.notes {
			if err := h.dayNote(ctx, k, n); err != nil {
				return err
			}
		}
	}
	return nil
}

const sqlDeclaredCalendar = `SELECT apart, holidays FROM tenant.clients WHERE tenant_id = $1 AND id = $2`

const sqlClientCalendar = `UPDATE tenant.clients SET apart = $3, holidays = $4 WHERE tenant_id = $1 AND id = $2`

// calendar writes how far apart a client's posts should be, and whose holidays show.
func (h *hand) calendar(ctx context.Context, c DeclaredClient, row clientRow) error {
	if c.Apart == nil && c.Holidays == nil {
		return nil
	}
	if c.Holidays != nil && *c.Holidays != "" && !holiday.Known(*c.Holidays) {
		h.refuse(c.At, "Herald does not know the holidays of %q; name a country, as DE, or a part of it, as DE-BY", *c.Holidays)
		return nil
	}
	var apart int
	var region string
	if err := h.tx.QueryRow(ctx, sqlDeclaredCalendar, h.ID, row.id).Scan(&apart, &region); err != nil {
		return err
	}
	var diff difference
	set(&diff, "minutes apart", &apart, c.Apart)
	set(&diff, "holidays", &region, c.Holidays)
	if diff.none() {
		return nil
	}
	if _, err := h.tx.Exec(ctx, sqlClientCalendar, h.ID, row.id, apart, region); err != nil {
		return err
	}
	return h.note(ctx, "calendar of "+h.Slug+"/"+c.Slug, diff, note{subject: "client", id: int64(row.id), client: row.id})
}

const sqlDeclaredLabel = `SELECT id, name, tint FROM tenant.labels WHERE tenant_id = $1 AND coalesce(client_id, 0) = $2 AND kind = $3 AND lower(name) = lower($4)`

// label writes one label or campaign. Its name is taken over as it is written now.
func (h *hand) label(ctx context.Context, k keeper, l DeclaredLabel) error {
	var id model.LabelID
	var name string
	var tint int
	var diff difference
	err := h.tx.QueryRow(ctx, sqlDeclaredLabel, h.ID, k.client, l.Kind, l.Name).Scan(&id, &name, &tint)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	if l.Remove {
		if diff.made {
			return nil
		}
		if _, err := h.tx.Exec(ctx, sqlLabelDelete, h.ID, id); err != nil {
			return err
		}
		return h.note(ctx, string(l.Kind)+" "+name+" of "+k.what, difference{words: []string{"removal"}}, note{subject: string(l.Kind), id: int64(id), client: k.client})
	}
	set(&diff, "name", &name, &l.Name)
	set(&diff, "colour", &tint, l.Tint)
	switch {
	case diff.none():
		return nil
	case diff.made:
		err = h.tx.QueryRow(ctx, sqlLabelInsert, h.ID, k.client, l.Kind, l.Name, tint, h.now, maxLabels).Scan(&id)
		if noRows(err) {
			h.refuse(l.At, "the workspace %s has %d labels and campaigns; take some away first", h.Slug, maxLabels)
			return nil
		}
	default:
		_, err = h.tx.Exec(ctx, sqlLabelChange, h.ID, id, name, tint)
	}
	if err != nil {
		return err
	}
	return h.note(ctx, string(l.Kind)+" "+l.Name+" of "+k.what, diff, note{subject: string(l.Kind), id: int64(id), client: k.client})
}

const sqlDeclaredNote = `SELECT id FROM tenant.day_notes WHERE tenant_id = $1 AND coalesce(client_id, 0) = $2 AND day = $3::date AND words = $4 ORDER BY id LIMIT 1`

// dayNote writes one note of a day, which is known by its words.
func (h *hand) dayNote(ctx context.Context, k keeper, n DeclaredNote) error {
	var id model.NoteID
	err := h.tx.QueryRow(ctx, sqlDeclaredNote, h.ID, k.client, n.Day.String(), n.Words).Scan(&id)
	there := err == nil
	if err != nil && !noRows(err) {
		return err
	}
	diff := difference{made: !n.Remove}
	switch {
	case there == !n.Remove:
		return nil
	case n.Remove:
		diff.words = []string{"removal"}
		_, err = h.tx.Exec(ctx, sqlDayNoteDelete, h.ID, id)
	default:
		err = h.tx.QueryRow(ctx, sqlDayNoteInsert, h.ID, k.client, n.Day.String(), n.Words, h.by.Name, h.now, maxDayNotes).Scan(&id)
		if noRows(err) {
			h.refuse(n.At, "%s has %d notes; take some away first", n.Day, maxDayNotes)
			return nil
		}
	}
	if err != nil {
		return err
	}
	return h.note(ctx, "note of "+n.Day.String()+" of "+strings.TrimSuffix(k.what, "/"), diff, note{subject: "day", id: int64(id), client: k.client})
}
