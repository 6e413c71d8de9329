package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// FreeSlot is a slot of an account that comes up and that nothing is planned for.
type FreeSlot struct {
	Account model.AccountID
	Client  model.ClientID
	Network network.Name
	Handle  string
	When    model.When // on the clocks of the client
}

// queue is the slots of one account.
type queue struct {
	Account  model.AccountID
	ClientID model.ClientID
	Network  network.Name
	Handle   string
	Zone     string
	Minutes  []int // of the week, from Sunday
}

func (q queue) times() (list []model.SlotTime) {
	for _, m := range q.Minutes {
		list = append(list, model.SlotTime{Weekday: time.Weekday(m / (24 * 60)), Minute: m % (24 * 60)})
	}
	return list
}

const queueColumns = `
	SELECT a.id AS account, a.client_id, a.network, a.handle, c.zone, array_agg(s.weekday::int * 1440 + s.minute) AS minutes
	  FROM tenant.slots s
	  JOIN tenant.accounts a ON a.tenant_id = s.tenant_id AND a.id = s.account_id
	  JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE s.tenant_id = $1 AND a.state <> 'disabled'`

const sqlQueues = queueColumns + ` AND c.archived_at IS NULL AND ($2 OR a.client_id = ANY ($3))
	   AND (cardinality($4::bigint[]) = 0 OR a.id = ANY ($4)) AND (cardinality($5::text[]) = 0 OR a.network = ANY ($5))
	 GROUP BY a.tenant_id, a.id, c.zone ORDER BY a.id`

// longestFree is how far a question for free slots may reach.
const longestFree = 62 * 24 * time.Hour

// FreeSlots lists the slots that come up from from up to, not including, to and
// that are still to be had, in order of their time: of the clients, accounts and
// networks of a filter. What has passed, what lies in a blackout, and times that
// anything is planned for on that account are not among them.
func (sc *Scope) FreeSlots(ctx context.Context, from, to time.Time, f CalendarFilter) (free []FreeSlot, err error) {
	defer wrap(&err, "list free slots")
	if now := sc.now(); from.Before(now) {
		from = now
	}
	if !to.After(from) || to.Sub(from) > longestFree {
		return nil, nil
	}
	authors, err := sc.authors(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		_, s, err := sc.openSieve(ctx, tx, f, authors)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlQueues, s.args[:5]...)
		if err != nil {
			return err
		}
		queues, err := pgx.CollectRows(rows, pgx.RowToStructByName[queue])
		if err != nil || len(queues) == 0 {
			return err
		}
		free, err = sc.freeOf(ctx, tx, queues, from, to)
		return err
	})
	return free, err
}

func (sc *Scope) freeOf(ctx context.Context, tx pgx.Tx, queues []queue, from, to time.Time) (free []FreeSlot, err error) {
	quiet, err := sc.silences(ctx, tx, clientsOfQueues(queues), from)
	if err != nil {
		return nil, err
	}
	taken, err := sc.takenTimes(ctx, tx, queues, 0, from, to)
	if err != nil {
		return nil, err
	}
	for _, q := range queues {
		for when := range model.SlotsAhead(q.times(), q.Zone, from.Add(-time.Nanosecond)) {
			if !when.At.Before(to) {
				break
			}
			if !taken[q.Account][when.At.Unix()] && !quiet.holds(q.ClientID, when.At) {
				free = append(free, FreeSlot{Account: q.Account, Client: q.ClientID, Network: q.Network, Handle: q.Handle, When: when})
			}
		}
	}
	slices.SortStableFunc(free, func(a, b FreeSlot) int { return a.When.At.Compare(b.When.At) })
	return free, nil
}

func clientsOfQueues(queues []queue) (list []model.ClientID) {
	for _, q := range queues {
		list = append(list, q.ClientID)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const sqlTimesTaken = `
	SELECT account_id, due_at FROM tenant.targets
	 WHERE tenant_id = $1 AND account_id = ANY ($2) AND due_at >= $3 AND due_at < $4 AND state NOT IN ('cancelled', 'failed') AND post_id <> $5`

// takenTimes are the instants, in seconds, for which something is planned, other
// than of one post.
func (sc *Scope) takenTimes(ctx context.Context, tx pgx.Tx, queues []queue, but model.PostID, from, to time.Time) (map[model.AccountID]map[int64]bool, error) {
	taken := map[model.AccountID]map[int64]bool{}
	var accounts []model.AccountID
	for _, q := range queues {
		accounts, taken[q.Account] = append(accounts, q.Account), map[int64]bool{}
	}
	rows, err := tx.Query(ctx, sqlTimesTaken, sc.Actor.Tenant, accounts, from, to, but)
	if err != nil {
		return nil, err
	}
	var account model.AccountID
	var due time.Time
	_, err = pgx.ForEachRow(rows, []any{&account, &due}, func() error {
		taken[account][due.Unix()] = true
		return nil
	})
	return taken, err
}
