package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// trayRoom is how many posts the tray shows.
const trayRoom = 40

const sqlCalendarTray = `
	WITH hit AS (
		SELECT t.post_id, t.client_id, t.network, p.updated_at, ` + targetShows + ` AS shown, ` + targetWords + ` AS words` + calendarTables + calendarSieve + `
		   AND t.due_at IS NULL AND t.state IN ('draft', 'invalid', 'ready') AND p.archived_at IS NULL
	), card AS (
		SELECT post_id AS post, max(updated_at) AS updated_at, array_agg(DISTINCT network) AS networks, array_agg(DISTINCT client_id) AS clients, array_agg(shown) AS shown,
		       string_agg(DISTINCT words, ' / ') AS excerpt
		  FROM hit WHERE ` + calendarStates + ` GROUP BY post_id
	)
	SELECT coalesce((SELECT jsonb_agg(to_jsonb(c) ORDER BY c.updated_at DESC, c.post DESC) FROM (SELECT *, ` + labelsOf + `card.post) AS labels FROM card ORDER BY updated_at DESC, post DESC LIMIT $11) c), '[]'),
	       (SELECT count(*) FROM card)`

// CalendarTray reads the posts that have no time yet, last changed first, and how
// many more there are. It refuses as Calendar does.
func (sc *Scope) CalendarTray(ctx context.Context, f CalendarFilter) (cards []CalendarCard, more int, err error) {
	defer wrap(&err, "read calendar tray")
	authors, err := sc.authors(ctx)
	if err != nil {
		return nil, 0, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		_, s, err := sc.openSieve(ctx, tx, f, authors)
		if err != nil {
			return err
		}
		all := 0
		if err := tx.QueryRow(ctx, sqlCalendarTray, append(s.args, trayRoom)...).Scan(&cards, &all); err != nil {
			return err
		}
		more = all - len(cards)
		return nil
	})
	return cards, more, err
}
