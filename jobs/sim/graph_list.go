package sim

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// listing is the paging and the window that a Graph list was asked for.
type listing struct {
	limit        int
	after        string // id of the last item seen
	since, until time.Time
}

// listParams are the parameters of a list.
var listParams = []string{"limit", "after", "since", "until"}

func (c *call) graphListing() (l listing, no *reply) {
	l.limit = 25
	if s := c.params.get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 100 {
			return l, graphBad("limit is a number from 1 to 100.")
		}
		l.limit = n
	}
	if s := c.params.get("after"); s != "" {
		id, ok := uncursor(s)
		if !ok {
			return l, graphBad("Invalid cursor.")
		}
		l.after = id
	}
	for name, into := range map[string]*time.Time{"since": &l.since, "until": &l.until} {
		if s := c.params.get(name); s != "" {
			t, ok := graphMoment(s)
			if !ok {
				return l, graphBad("%s is a unix time or an ISO time.", name)
			}
			*into = t
		}
	}
	return l, nil
}

// graphMoment reads a unix or an ISO time.
func graphMoment(s string) (time.Time, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), true
	}
	for _, layout := range []string{time.RFC3339, graphTime, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// graphPage answers one page of an account's posts, newest first. want chooses
// them and show draws one; both run under the account's lock.
func (c *call) graphPage(l listing, a *account, tree fieldTree, want func(*entry) bool, show func(*entry) map[string]any) *reply {
	lag := c.lag()
	var shown []any
	var ids []string
	more, started := false, l.after == ""
	a.newest(func(e *entry) bool {
		if !started {
			started = e.ID == l.after
			return true
		}
		if !l.covers(e.Time) || lag > 0 && c.now.Sub(e.born) < lag || !want(e) {
			return true
		}
		if len(ids) == l.limit {
			more = true
			return false
		}
		shown, ids = append(shown, tree.pick(show(e))), append(ids, e.ID)
		return true
	})
	return answer(http.StatusOK, c.graphBook(shown, ids, more))
}

// covers compares in whole seconds, as the Graph API writes and reads them.
func (l listing) covers(t time.Time) bool {
	t = t.Truncate(time.Second)
	return (l.since.IsZero() || !t.Before(l.since.Truncate(time.Second))) && (l.until.IsZero() || !t.After(l.until))
}

// graphBook is a page with its cursors.
func (c *call) graphBook(shown []any, ids []string, more bool) map[string]any {
	if len(ids) == 0 {
		return map[string]any{"data": []any{}}
	}
	last := cursor(ids[len(ids)-1])
	paging := map[string]any{"cursors": map[string]string{"before": cursor(ids[0]), "after": last}}
	if more {
		q := maps.Clone(c.params.values)
		q.Set("after", last)
		paging["next"] = c.base() + "/" + string(c.place.name) + "/" + strings.TrimPrefix(c.r.URL.Path, "/") + "?" + url.Values(q).Encode()
	}
	return map[string]any{"data": shown, "paging": paging}
}
