package desk_test

import (
	"fmt"
	"testing"

	"herald/db/network"
)

// Days, times and several choices are put together from their fields, and come back
// into them.
func TestOptionsOfEveryKindComeBackAsTheyWereChosen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	google, blog := s.agency.Account(t, s.client, network.GoogleBusiness), s.agency.Account(t, s.client, network.WordPress)
	s.Super(t, s.agency.Shard, fmt.Sprintf(`UPDATE tenant.accounts SET settings = '{"categories": "1=News;2=Bread"}' WHERE id = %d`, blog))
	form := s.fresh(t)
	form["account"] = []string{fmt.Sprint(int64(google)), fmt.Sprint(int64(blog))}
	form.Set(fmt.Sprintf("option.%d.kind", google), "EVENT")
	form.Set("do", "refresh")
	form = s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "Starts", "Bread").form(t)
	form[fmt.Sprintf("moment.%d.starts", google)] = []string{"2026-05-01", ""}
	form[fmt.Sprintf("moment.%d.ends", google)] = []string{"2026-05-02", "18:30"}
	form[fmt.Sprintf("many.%d.categories", blog)] = []string{"", "News", "Bread"}
	id, again := s.saved(t, s.send(t, form, "save"), "Saved.")
	options := s.stored(t, id).Version.Content.Options
	if got := options[google]; got["starts"] != "2026-05-01" || got["ends"] != "2026-05-02 18:30" || got["kind"] != "EVENT" {
		t.Errorf("stored for Google %v", got)
	}
	if got := options[blog]["categories"]; got != "News, Bread" {
		t.Errorf("stored for the blog %q", got)
	}
	back := again.form(t)
	if got := fmt.Sprint(back[fmt.Sprintf("moment.%d.ends", google)], back[fmt.Sprintf("many.%d.categories", blog)]); got != "[2026-05-02 18:30] [ News Bread]" {
		t.Errorf("came back as %s", got)
	}
	form = back
	form[fmt.Sprintf("moment.%d.ends", google)] = []string{"2026-04-02", "18:30"}
	form.Set("do", "refresh")
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "has to come after")
}
