package sim

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

var listFlags = []string{"exclude_reblogs", "exclude_replies", "only_media", "pinned"}

// span is the part of a list that ids bound; zero for no bound.
type span struct{ above, from, below int64 }

func (m *mastodon) listStatuses(c *call) *reply {
	a, no := m.open(c, []string{"read:statuses"})
	if no != nil {
		return no
	}
	if no := m.only(c, append([]string{"limit", "since_id", "min_id", "max_id", "tagged"}, listFlags...)...); no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		whose := m.whose(c, a)
		if whose == nil {
			return tootError(http.StatusNotFound, tootMissing)
		}
		limit, bounds, no := m.bounds(c)
		if no != nil {
			return no
		}
		return m.page(c, a, whose, limit, bounds)
	})
}

// whose finds the account of the path. An id that nobody has becomes another
// name of an account that nobody declared.
func (m *mastodon) whose(c *call, a *account) *account {
	id, sh := c.r.PathValue("id"), c.st.at(c.place.name)
	if found := sh.find(id); found != nil {
		return found
	}
	if !c.sim.opts.Closed && !a.isLocked() && sh.alias(a, id) {
		return a
	}
	return nil
}

func (m *mastodon) bounds(c *call) (limit int, s span, no *reply) {
	limit = 20
	if text := c.params.get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 40 {
			return 0, s, tootInvalid("limit is 1 to 40")
		}
		limit = n
	}
	for name, into := range map[string]*int64{"since_id": &s.above, "min_id": &s.from, "max_id": &s.below} {
		if text := c.params.get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, s, tootInvalid("%s is an id", name)
			}
			*into = n
		}
	}
	return limit, s, nil
}

// page answers one page of statuses, newest first, with links to its neighbours.
func (m *mastodon) page(c *call, a, whose *account, limit int, s span) *reply {
	lag := c.lag()
	out := []any{}
	var ids []string
	more := false
	whose.newest(func(e *entry) bool {
		n, _ := strconv.ParseInt(e.ID, 10, 64)
		if s.below > 0 && n >= s.below || !m.wanted(c, a, e) || lag > 0 && c.now.Sub(e.born) < lag {
			return true
		}
		if s.above > 0 && n <= s.above || s.from > 0 && n <= s.from {
			return false
		}
		// min_id asks for the ones right above it: all are read, the last ones stay.
		if len(ids) == limit && s.from == 0 {
			more = true
			return false
		}
		out, ids = append(out, m.item(c, e)), append(ids, e.ID)
		return true
	})
	if s.from > 0 && len(ids) > limit {
		out, ids = out[len(out)-limit:], ids[len(ids)-limit:]
	}
	rep := answer(http.StatusOK, out)
	if len(ids) > 0 {
		rep.with("Link", m.links(c, ids, more || s.from > 0))
	}
	return rep
}

// wanted applies the flags of the list. The owner's lock is held.
func (m *mastodon) wanted(c *call, a *account, e *entry) bool {
	flag := func(name string) bool { return c.params.get(name) == "true" || c.params.get(name) == "1" }
	switch {
	case e.removed(c.now), e.Time.After(c.now), e.hidden && e.owner != a:
		return false
	case flag("exclude_replies") && e.parent != "":
		return false
	case flag("only_media") && len(e.Media) == 0, flag("pinned"):
		return false
	}
	tag := c.params.get("tagged")
	return tag == "" || slices.ContainsFunc(tagShape.FindAllString(e.Text, -1), func(t string) bool { return strings.EqualFold(t, "#"+tag) })
}

func (m *mastodon) links(c *call, ids []string, more bool) string {
	link := func(name, id, rel string) string {
		q := maps.Clone(c.params.values)
		for _, bound := range []string{"since_id", "min_id", "max_id"} {
			q.Del(bound)
		}
		q.Set(name, id)
		return fmt.Sprintf(`<%s/mastodon%s?%s>; rel="%s"`, c.base(), c.r.URL.Path, url.Values(q).Encode(), rel)
	}
	prev := link("min_id", ids[0], "prev")
	if !more {
		return prev
	}
	return link("max_id", ids[len(ids)-1], "next") + ", " + prev
}
