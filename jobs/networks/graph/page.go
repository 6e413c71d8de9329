package graph

import (
	"context"
	"maps"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks/httpx"
)

// Span is the time that a list, newest first, is read for.
type Span struct {
	Since, Until time.Time // Until may be zero
	older        int
}

// See says whether at lies in the span, and whether the list may hold more of
// it. One older item does not end it (posts can be pinned or dated back), a
// page of them does.
func (s *Span) See(at Time) (in, more bool) {
	switch {
	case at.Before(s.Since.Truncate(time.Second)):
		s.older++
		return false, s.older < 25
	case !s.Until.IsZero() && !at.Before(s.Until.Truncate(time.Second).Add(time.Second)):
		return false, true
	}
	s.older = 0
	return true, true
}

// Query narrows a list to the span, a second wider on both sides.
func (s *Span) Query(query url.Values) url.Values {
	query.Set("since", strconv.FormatInt(s.Since.Unix()-1, 10))
	if !s.Until.IsZero() {
		query.Set("until", strconv.FormatInt(s.Until.Unix()+1, 10))
	}
	return query
}

// mostPages bounds a look-up: a list that is longer was not read to its end.
const mostPages = 50

type page[T any] struct {
	Data   *[]T `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"`
	} `json:"paging"`
}

// after is the cursor of the next page; empty on the last one. The address in
// paging.next is never followed: it carries the token and may name another host.
func (p page[T]) after() string {
	if p.Paging.Next == "" {
		return ""
	}
	if p.Paging.Cursors.After != "" {
		return p.Paging.Cursors.After
	}
	next, err := url.Parse(p.Paging.Next)
	if err != nil {
		return ""
	}
	return next.Query().Get("after")
}

// Pages reads a list page by page and shows each item to see, until see says
// that it has seen enough. It says whether the list was read to its end or as
// far as see wanted; an empty page in the middle does not end it, and an answer
// without data is no page: it must not pass for an empty list.
func Pages[T any](ctx context.Context, d *Door, c Call, see func(T) (more bool)) (complete bool, err error) {
	query := url.Values{}
	maps.Copy(query, c.Query)
	for range mostPages {
		c.Query = query
		var p page[T]
		answer, err := d.Do(ctx, c, &p)
		switch {
		case err != nil:
			return false, err
		case p.Data == nil:
			return false, httpx.Unparsable(c.Step, answer)
		}
		for _, item := range *p.Data {
			if !see(item) {
				return true, nil
			}
		}
		after := p.after()
		if after == "" {
			return p.Paging.Next == "", nil
		}
		query = maps.Clone(query)
		query.Set("after", after)
	}
	return false, nil
}
