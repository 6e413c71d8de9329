package desk_test

import (
	"net/url"
	"strings"
	"testing"

	"herald/db/model"
)

func TestWordsFindPagesDaysClientsAndPosts(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	b.at(t, "Fresh rye on Friday", "2026-03-20T09:30", "Europe/Berlin", b.mastodon)
	b.at(t, "A show in New York", "2026-03-20T09:30", "America/New_York", b.abroad)
	owner, member := b.as(t, b.agency.Owner), b.as(t, b.member(t, model.Viewer, b.acme))
	for _, c := range []struct {
		who   browser
		words string
		has   []string
		lacks []string
	}{
		{owner, "", []string{"Create post", "/w/north/media", "Keys", "Ctrl"}, []string{"Fresh rye"}},
		{owner, "rye", []string{"Fresh rye on Friday", "scheduled"}, []string{"New York", "Keys"}},
		{owner, "york", []string{"Client york", "A show in New York", "client="}, []string{"Fresh rye"}},
		{member, "york", []string{"Nothing is called that."}, []string{"Client york", "A show"}},
		{member, "create", []string{"Nothing is called that."}, []string{"posts/new\" class"}},
		{owner, "12 march", []string{"Thursday 12 March 2026", "view=day&amp;date=2026-03-12"}, nil},
		{owner, "9 march", []string{"Tuesday 9 March 2027"}, nil},
		{owner, "tomorrow", []string{"Wednesday 11 March 2026"}, nil},
		{owner, "jan 2027", []string{"January 2027", "date=2027-01"}, nil},
		{owner, "march", []string{"March 2026"}, nil},
		{owner, "30 february", nil, []string{"view=day&amp;date"}},
		{owner, "cal we", []string{"Calendar by week"}, []string{"Calendar by day"}},
		{owner, "<b>%_", []string{"Nothing is called that.", "&lt;b&gt;%_"}, nil},
	} {
		page := c.who("GET", "/w/north/find?q="+url.QueryEscape(c.words), nil)
		wantPage(t, page, 200, c.has...)
		_, found, _ := strings.Cut(page.Body.String(), `<main`)
		for _, words := range c.lacks {
			if strings.Contains(found, words) {
				t.Errorf("%q finds %q", c.words, words)
			}
		}
	}
	wantPage(t, owner("GET", "/w/north/find?q="+strings.Repeat("x", 300), nil), 422, "too long")
}
