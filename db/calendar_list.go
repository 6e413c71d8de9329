package db

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Place is a row's place in a list that is ordered by a time: where a page of
// the list ends and the next one begins. The zero Place is none.
type Place struct {
	At time.Time
	ID int64
}

// String writes what ParsePlace reads; nothing for the zero Place.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return strconv.FormatInt(p.At.UnixMicro(), 36) + "." + strconv.FormatInt(p.ID, 36)
}

// ParsePlace reads a place from an address. It refuses what is none.
func ParsePlace(s string) (Place, error) {
	if s == "" {
		return Place{}, nil
	}
	at, id, _ := strings.Cut(s, ".")
	micro, err1 := strconv.ParseInt(at, 36, 64)
	n, err2 := strconv.ParseInt(id, 36, 64)
	if err1 != nil || err2 != nil || micro < 0 || micro > 1<<53 || n < 0 {
		return Place{}, model.RefuseField("after", "This address is cut short. Go back to the list and try again.")
	}
	return Place{time.UnixMicro(micro).UTC(), n}, nil
}

// CalendarList is a page of the list: what is planned, in order of time.
type CalendarList struct {
	Zone    string
	Day     model.Date // where the list was opened
	Days    []CalendarDay
	Earlier Place // zero if there is nothing earlier
	Later   Place
	Notes   []DayNote // on its days
	Choices
}

// Page says which part of a list is asked for: what follows After, or what goes
// before Before, or, with neither, the beginning.
type Page struct{ After, Before Place }

const calendarCards = `
	SELECT t.post_id AS post, t.due_at, string_agg(DISTINCT ` + targetWords + `, ' / ') AS excerpt, array_agg(DISTINCT t.network) AS networks, array_agg(DISTINCT t.client_id) AS clients, array_agg(shown) AS shown,
	       ` + labelsOf + `t.post_id) AS labels, coalesce(array_agg(t.account_id) FILTER (WHERE t.` + aimed + `), '{}') AS accounts,
	       jsonb_agg(jsonb_build_object('id', t.id, 'network', t.network, 'account', a.handle, 'shown', shown) ORDER BY t.network, a.handle, t.id) AS targets` +
	calendarTables + `
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id
	  CROSS JOIN LATERAL (SELECT ` + targetShows + ` AS shown) s` +
	calendarSieve + ` AND ` + calendarStates + "\n"

const sqlCalendarLater = calendarCards + `
	   AND t.due_at >= $11 AND (t.due_at, t.post_id) > ($11, $12)
	 GROUP BY t.due_at, t.post_id ORDER BY t.due_at, t.post_id LIMIT $13`

const sqlCalendarEarlier = calendarCards + `
	   AND t.due_at <= $11 AND (t.due_at, t.post_id) < ($11, $12)
	 GROUP BY t.due_at, t.post_id ORDER BY t.due_at DESC, t.post_id DESC LIMIT $13`

// listCards is how many cards a page of the list has.
const listCards = 50

// CalendarList reads a page of what is planned from a day on; a zero day is
// today. It refuses as Calendar does.
func (sc *Scope) CalendarList(ctx context.Context, day model.Date, page Page, f CalendarFilter) (l CalendarList, err error) {
	defer wrap(&err, "read calendar list")
	authors, err := sc.authors(ctx)
	if err != nil {
		return l, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) (err error) {
		var s sieve
		if l.Choices, s, err = sc.openSieve(ctx, tx, f, authors); err != nil {
			return err
		}
		l.Zone = s.zone
		if l.Day, err = sc.dayOr(day, s.zone); err != nil {
			return err
		}
		if page == (Page{}) {
			if page.After.At, err = dayStart(l.Day, s.zone); err != nil {
				return err
			}
		}
		return sc.fillList(ctx, tx, &l, s, page)
	})
	return l, err
}

func (sc *Scope) fillList(ctx context.Context, tx pgx.Tx, l *CalendarList, s sieve, page Page) error {
	from, there, back := page.After, sqlCalendarLater, sqlCalendarEarlier
	if page.Before != (Place{}) {
		from, there, back = page.Before, sqlCalendarEarlier, sqlCalendarLater
	}
	cards, err := sc.cards(ctx, tx, there, s, from, listCards+1)
	if err != nil {
		return err
	}
	more := len(cards) > listCards
	cards = cards[:min(len(cards), listCards)]
	turn := from
	switch { // on an empty page the way back finds the row at the turn itself
	case len(cards) > 0:
		turn = cards[0].place()
	case page.Before != (Place{}):
		turn.ID--
	default:
		turn.ID++
	}
	behind, err := sc.cards(ctx, tx, back, s, turn, 1)
	if err != nil {
		return err
	}
	l.Earlier, l.Later = ends(cards, turn, len(behind) > 0, more)
	if page.Before != (Place{}) {
		l.Later, l.Earlier = l.Earlier, l.Later
		slices.Reverse(cards)
	}
	if l.Days, err = byDay(cards, s.zone); err != nil {
		return err
	}
	first, last := l.Day, l.Day
	if len(l.Days) > 0 {
		first, last = l.Days[0].Date, l.Days[len(l.Days)-1].Date
	}
	if err := sc.collide(ctx, tx, l.Days); err != nil {
		return err
	}
	l.Notes, err = sc.dayNotes(ctx, tx, s.args[:3:3], first, last)
	return err
}

// ends are the places at which a page's neighbours begin, zero where there is
// none: behind where it was opened, and ahead.
func ends(cards []CalendarCard, turn Place, behind, more bool) (back, on Place) {
	if behind {
		back = turn
	}
	if more {
		on = cards[len(cards)-1].place()
	}
	return back, on
}

func (c CalendarCard) place() Place { return Place{c.DueAt, int64(c.Post)} }

func (sc *Scope) cards(ctx context.Context, tx pgx.Tx, sql string, s sieve, from Place, limit int) ([]CalendarCard, error) {
	rows, err := tx.Query(ctx, sql, append(slices.Clone(s.args), from.At, from.ID, limit)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[CalendarCard])
}

// byDay groups cards that are in order of time by the day that clocks in the
// zone show.
func byDay(cards []CalendarCard, zone string) (days []CalendarDay, err error) {
	for _, c := range cards {
		when, err := model.At(c.DueAt, zone)
		if err != nil {
			return nil, err
		}
		if len(days) == 0 || days[len(days)-1].Date != when.Local.Date {
			days = append(days, CalendarDay{Date: when.Local.Date})
		}
		last := &days[len(days)-1]
		last.Cards = append(last.Cards, c)
	}
	return days, nil
}
