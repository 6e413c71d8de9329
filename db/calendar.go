package db

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// CalendarFilter narrows what calendar and lists show; an empty part lets
// everything through. States are words of Shown.
type CalendarFilter struct {
	Clients  []model.ClientID
	Accounts []model.AccountID
	Networks []network.Name
	States   []string
	Labels   []model.LabelID // one of them, campaigns apart
	Authors  []model.UserID  // who wrote the post
	Posts    []model.PostID  // these alone; the list of posts asks for it, calendars do not
	Words    string          // in the first words of the post
}

// CalendarCard is one post at one time: the targets of a post that are planned
// for the same instant, as far as the actor may see them and the filter lets
// them through.
type CalendarCard struct {
	Post       model.PostID      `json:"post"`
	DueAt      time.Time         `json:"due_at"`
	Excerpt    string            `json:"excerpt"`
	Networks   []network.Name    `json:"networks"`
	Clients    []model.ClientID  `json:"clients"`
	Labels     []model.LabelID   `json:"labels"`   // campaigns among them; also those that the actor may not see
	Shown      []string          `json:"shown"`    // what each target shows
	Targets    []CardTarget      `json:"targets"`  // in lists only
	Accounts   []model.AccountID `json:"accounts"` // of those targets that are not over
	Collisions []Collision       `json:"-" db:"-"`
}

// CardTarget is one target of a card.
type CardTarget struct {
	ID      model.TargetID `json:"id"`
	Network network.Name   `json:"network"`
	Account string         `json:"account"`
	Shown   string         `json:"shown"`
}

// CalendarClient is a client that the actor may see, with its accounts.
type CalendarClient struct {
	ID       model.ClientID
	Name     string
	Zone     string
	Apart    int    // minutes by which posts of one account should be apart; 0 for any
	Holidays string // whose it has: a region of db/holiday; empty for nobody's
	Accounts []CalendarAccount
}

// CalendarAccount is one account to filter by.
type CalendarAccount struct {
	ID      model.AccountID `json:"id"`
	Network network.Name    `json:"network"`
	Handle  string          `json:"handle"`
}

// Span is how much of the calendar a page shows.
type Span string

// The spans of a page.
const (
	MonthSpan Span = "month" // whole weeks, Monday to Sunday
	WeekSpan  Span = "week"
	DaySpan   Span = "day"
)

// Calendar is a page of days.
type Calendar struct {
	Zone        string     // of its days: the chosen client's if there is one, else the workspace's
	First       model.Date // of the month, the week or the day that was asked for
	Days        []CalendarDay
	Counts      map[string]int // cards with a failed, unknown or disconnected target, before States narrows them
	Unscheduled int            // approved posts that nobody has scheduled yet
	Choices
	Notes     []DayNote  // on its days
	Blackouts []Blackout // that touch the days, in order of their start
}

const sqlCalendarClients = `
	SELECT c.id, c.name, c.zone, c.holidays, c.apart,
	       coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'network', a.network, 'handle', a.handle) ORDER BY a.network, a.handle, a.id) FILTER (WHERE a.id IS NOT NULL), '[]') AS accounts
	  FROM tenant.clients c
	  LEFT JOIN tenant.accounts a ON a.tenant_id = c.tenant_id AND a.client_id = c.id
	 WHERE c.tenant_id = $1 AND ($2 OR c.id = ANY ($3))
	 GROUP BY c.tenant_id, c.id ORDER BY c.name, c.id`

// calendarClients reads the clients whose posts the actor may see.
func (sc *Scope) calendarClients(ctx context.Context, tx pgx.Tx) ([]CalendarClient, error) {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	rows, err := tx.Query(ctx, sqlCalendarClients, sc.Actor.Tenant, all, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[CalendarClient])
}

// Choices are what a page can be filtered by, as far as the actor may see it.
type Choices struct {
	Clients []CalendarClient
	Labels  []Label  // campaigns among them
	Authors []Author // members of the workspace
}

// Author is a person who may have written posts.
type Author struct {
	ID   model.UserID
	Name string
}

// authors lists the members, by name. They are read from the control plane, so
// never inside a transaction of the workspace.
func (sc *Scope) authors(ctx context.Context) (list []Author, err error) {
	team, err := sc.team(ctx)
	for _, m := range team {
		list = append(list, Author{m.ID, m.Name})
	}
	slices.SortFunc(list, func(a, b Author) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list, err
}

// sieve is a filter checked against what the actor may see, in the order of
// calendarSieve's arguments.
type sieve struct {
	zone string
	args []any // $1 to $10
}

// calendarTables and calendarSieve keep the targets of a filter. calendarStates
// keeps those that show a word of $7; what was cancelled shows if asked for.
const calendarTables = `
	  FROM tenant.targets t
	  JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  LEFT JOIN tenant.post_versions ov ON ov.tenant_id = t.tenant_id AND ov.id = t.version_id AND NOT ($2 AND t.version_id = p.current_version_id)`

const calendarSieve = `
	 WHERE t.tenant_id = $1 AND ($2 OR t.client_id = ANY ($3))
	   AND (cardinality($4::bigint[]) = 0 OR t.account_id = ANY ($4)) AND (cardinality($5::text[]) = 0 OR t.network = ANY ($5))
	   AND ($6 = '' OR ` + targetWords + ` ILIKE $6)` + postSieve

// postSieve keeps the posts p that have a label of $8, a campaign of $9, an author
// of $10.
const postSieve = `
	   AND (cardinality($8::bigint[]) = 0 OR EXISTS (SELECT FROM tenant.post_labels fl WHERE fl.tenant_id = p.tenant_id AND fl.post_id = p.id AND fl.label_id = ANY ($8)))
	   AND (cardinality($9::bigint[]) = 0 OR EXISTS (SELECT FROM tenant.post_labels fl WHERE fl.tenant_id = p.tenant_id AND fl.post_id = p.id AND fl.label_id = ANY ($9)))
	   AND (cardinality($10::bigint[]) = 0 OR p.created_by = ANY ($10))`

// aimed are targets that are still to reach their account, and may be in another's way.
const aimed = `state NOT IN ('published', 'cancelled', 'failed', 'unknown_outcome')`

const calendarStates = `(shown = ANY ($7) OR cardinality($7::text[]) = 0 AND shown <> 'cancelled')`

// labelsOf are the labels of a post, as an array; it stands between the post's
// column and a closing bracket.
const labelsOf = `ARRAY(SELECT pl.label_id FROM tenant.post_labels pl WHERE pl.tenant_id = $1 AND pl.post_id = `

// openSieve reads what can be filtered by, and checks a filter against it.
func (sc *Scope) openSieve(ctx context.Context, tx pgx.Tx, f CalendarFilter, authors []Author) (c Choices, s sieve, err error) {
	c.Authors = authors
	if c.Clients, err = sc.calendarClients(ctx, tx); err != nil {
		return c, s, err
	}
	if c.Labels, err = sc.labels(ctx, tx); err != nil {
		return c, s, err
	}
	s, err = sc.newSieve(f, c)
	return c, s, err
}

// newSieve checks a filter. A client, account, label or author that the actor may
// not see does not exist; a network or state that is none is refused.
func (sc *Scope) newSieve(f CalendarFilter, c Choices) (s sieve, err error) {
	visible, all := sc.Actor.ClientsWith(model.PostsView)
	s.zone = c.zoneOf(f, sc.Workspace.Zone)
	if err := c.knows(f); err != nil {
		return s, err
	}
	if err := knownWords(f); err != nil {
		return s, err
	}
	if len(f.Clients) > 0 {
		visible, all = f.Clients, false
	}
	labels, campaigns := c.apart(f.Labels)
	s.args = []any{sc.Actor.Tenant, all, visible, some(f.Accounts), some(f.Networks), likeWords(f.Words), some(f.States), labels, campaigns, some(f.Authors)}
	return s, nil
}

// zoneOf is the zone of the one client that a filter leaves, else the workspace's.
func (c Choices) zoneOf(f CalendarFilter, zone string) string {
	for _, one := range c.Clients {
		if slices.Equal(f.Clients, []model.ClientID{one.ID}) {
			return one.Zone
		}
	}
	return zone
}

// knows refuses what is not among the choices.
func (c Choices) knows(f CalendarFilter) error {
	for _, id := range f.Clients {
		if !slices.ContainsFunc(c.Clients, func(c CalendarClient) bool { return c.ID == id }) {
			return model.Refuse(model.NotFound, "There is no such client.")
		}
	}
	for _, id := range f.Accounts {
		if !slices.ContainsFunc(c.Clients, func(c CalendarClient) bool {
			return slices.ContainsFunc(c.Accounts, func(a CalendarAccount) bool { return a.ID == id })
		}) {
			return model.Refuse(model.NotFound, "There is no such account.")
		}
	}
	for _, id := range f.Labels {
		if !slices.ContainsFunc(c.Labels, func(l Label) bool { return l.ID == id }) {
			return errNoLabel
		}
	}
	for _, id := range f.Authors {
		if !slices.ContainsFunc(c.Authors, func(a Author) bool { return a.ID == id }) {
			return model.Refuse(model.NotFound, "There is no such person in this workspace.")
		}
	}
	return nil
}

// apart parts labels from campaigns.
func (c Choices) apart(ids []model.LabelID) (labels, campaigns []model.LabelID) {
	labels, campaigns = []model.LabelID{}, []model.LabelID{}
	for _, l := range c.Labels {
		switch {
		case !slices.Contains(ids, l.ID):
		case l.Kind == Campaign:
			campaigns = append(campaigns, l.ID)
		default:
			labels = append(labels, l.ID)
		}
	}
	return labels, campaigns
}

func knownWords(f CalendarFilter) error {
	for _, n := range f.Networks {
		if _, ok := network.Get(n); !ok {
			return model.RefuseField("network", "There is no such network. Choose one from the list.")
		}
	}
	for _, s := range f.States {
		if !slices.Contains(Shown(), s) {
			return model.RefuseField("state", "There is no such status. Choose one from the list.")
		}
	}
	if len([]rune(f.Words)) > 200 {
		return model.RefuseField("q", "That is too long to look for. Use a few words.")
	}
	return nil
}

// some is the list, never null.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// likeWords is a pattern for ILIKE that takes every character of words as it is.
func likeWords(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	if words == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(words) + "%"
}

// room is how many cards a day of the span shows.
func (s Span) room() int {
	switch s {
	case WeekSpan:
		return 60
	case DaySpan:
		return 200
	}
	return 3
}

const sqlCalendarDays = `
	WITH hit AS (
		SELECT t.post_id, t.client_id, t.account_id, t.state, t.network, t.due_at, width_bucket(t.due_at, $11::timestamptz[]) AS day, ` + targetShows + ` AS shown, ` + targetWords + ` AS words` + calendarTables + calendarSieve + `
		   AND t.due_at >= $12 AND t.due_at < $13
	), card AS (
		SELECT day, due_at, post_id, array_agg(DISTINCT network) AS networks, array_agg(DISTINCT client_id) AS clients, array_agg(shown) AS shown,
		       coalesce(array_agg(account_id) FILTER (WHERE ` + aimed + `), '{}') AS accounts, string_agg(DISTINCT words, ' / ') AS words
		  FROM hit WHERE ` + calendarStates + ` GROUP BY day, due_at, post_id
	), placed AS (
		SELECT *, row_number() OVER (PARTITION BY day ORDER BY due_at, post_id) AS place, count(*) OVER (PARTITION BY day) AS of_day FROM card
	)
	SELECT coalesce((SELECT jsonb_agg(jsonb_build_object('day', c.day, 'of_day', c.of_day, 'post', c.post_id, 'due_at', c.due_at, 'excerpt', c.words,
	                         'networks', c.networks, 'clients', c.clients, 'shown', c.shown, 'accounts', c.accounts, 'labels', ` + labelsOf + `c.post_id)) ORDER BY c.day, c.place)
	                   FROM placed c WHERE c.place <= $14), '[]'),
	       coalesce((SELECT jsonb_object_agg(shown, n) FROM (SELECT shown, count(*) AS n FROM (SELECT DISTINCT shown, post_id, due_at FROM hit WHERE shown IN ('failed', 'unknown_outcome', 'needs_reconnect')) d GROUP BY shown) s), '{}'),
	       (SELECT count(*) FROM tenant.posts p WHERE p.tenant_id = $1 AND p.state = 'approved' AND p.archived_at IS NULL
	           AND EXISTS (SELECT FROM tenant.targets t WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id AND t.state = 'ready' AND ($2 OR t.client_id = ANY ($3))))`

// Calendar reads the month, week or day around a day: one statement, whatever it
// holds. It refuses with NotFound a client or account in the filter that the
// actor may not see. A zero day is today.
func (sc *Scope) Calendar(ctx context.Context, span Span, day model.Date, f CalendarFilter) (c Calendar, err error) {
	defer wrap(&err, "read calendar %s", span)
	authors, err := sc.authors(ctx)
	if err != nil {
		return c, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) (err error) {
		var s sieve
		if c.Choices, s, err = sc.openSieve(ctx, tx, f, authors); err != nil {
			return err
		}
		c.Zone = s.zone
		if day, err = sc.dayOr(day, s.zone); err != nil {
			return err
		}
		return sc.fillCalendar(ctx, tx, &c, span, day, s)
	})
	return c, err
}

// CalendarZone is the zone whose clocks a calendar with that filter shows.
func (sc *Scope) CalendarZone(ctx context.Context, f CalendarFilter) (zone string, err error) {
	defer wrap(&err, "read calendar zone")
	authors, err := sc.authors(ctx)
	if err != nil {
		return "", err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		_, s, err := sc.openSieve(ctx, tx, f, authors)
		zone = s.zone
		return err
	})
	return zone, err
}

// dayOr is the day, or today in the zone if it is zero.
func (sc *Scope) dayOr(day model.Date, zone string) (model.Date, error) {
	if day != (model.Date{}) {
		return day, calendarYear(day)
	}
	now, err := model.At(sc.now(), zone)
	return now.Local.Date, err
}

func (sc *Scope) fillCalendar(ctx context.Context, tx pgx.Tx, c *Calendar, span Span, day model.Date, s sieve) error {
	first, days, end, err := span.days(day, s.zone)
	if err != nil {
		return err
	}
	var starts []time.Time
	for _, d := range days {
		starts = append(starts, d.Start)
	}
	var cards []struct {
		CalendarCard
		Day   int `json:"day"`
		OfDay int `json:"of_day"`
	}
	args := append(slices.Clone(s.args), starts, starts[0], end, span.room())
	if err := tx.QueryRow(ctx, sqlCalendarDays, args...).Scan(&cards, &c.Counts, &c.Unscheduled); err != nil {
		return err
	}
	for _, card := range cards {
		day := &days[card.Day-1]
		day.Cards = append(day.Cards, card.CalendarCard)
		day.More = card.OfDay - len(day.Cards)
	}
	c.First, c.Days = first, days
	if err := sc.collide(ctx, tx, days); err != nil {
		return err
	}
	if c.Notes, err = sc.dayNotes(ctx, tx, s.args[:3:3], days[0].Date, days[len(days)-1].Date); err != nil {
		return err
	}
	c.Blackouts, err = sc.blackouts(ctx, tx, s, starts[0], end)
	return err
}
