package desk

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/activity"
	"herald/views/ui"
)

// activityRoom is how many lines a page of the activity has.
const activityRoom = 50

// showActivity answers GET /activity, filtered and by page.
func (d *Desk) showActivity(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	q := r.URL.Query()
	f := readAuditFilter(q)
	found, err := scope.Activity(r.Context(), f)
	if err != nil {
		return err
	}
	clients, people, err := scope.ActivityFilters(r.Context())
	if err != nil {
		return err
	}
	p := activity.PageProps{
		Path: at(scope, "/activity"), Delivery: at(scope, "/delivery"), Place: placeName(scope.Workspace.Zone), Clients: activityClients(clients, f), People: activityPeople(people, f),
		Filtered: f.Client != 0 || f.User != 0 || f.Approver != 0, Days: d.activityDays(scope, found.Entries),
	}
	if n := len(found.Entries); n > 0 {
		if found.Newer {
			p.Newer = activityPath(p.Path, q, "after", found.Entries[0].ID)
		}
		if found.Older {
			p.Older = activityPath(p.Path, q, "before", found.Entries[n-1].ID)
		}
	}
	return d.show(w, r, scope, http.StatusOK, page{title: "Activity", nav: "activity"}, activity.Page(p))
}

// readAuditFilter reads the query. What is no number filters nothing.
func readAuditFilter(q url.Values) db.AuditFilter {
	f := db.AuditFilter{Client: model.ClientID(web.ID(q.Get("client"))), Limit: activityRoom, Before: web.ID(q.Get("before"))}
	if f.Before == 0 {
		f.After = web.ID(q.Get("after"))
	}
	if person := q.Get("person"); len(person) > 1 {
		switch n := web.ID(person[1:]); person[0] {
		case 'u':
			f.User = model.UserID(n)
		case 'a':
			f.Approver = model.ApproverID(n)
		}
	}
	return f
}

// activityPath keeps the filter and moves to another page.
func activityPath(path string, q url.Values, key string, line int64) string {
	to := url.Values{key: {strconv.FormatInt(line, 10)}}
	for _, keep := range []string{"client", "person"} {
		if v := q.Get(keep); v != "" {
			to.Set(keep, v)
		}
	}
	return path + "?" + to.Encode()
}

func activityClients(clients []db.ClientAccounts, f db.AuditFilter) []ui.Option {
	list := []ui.Option{{Value: "", Label: "All clients", Chosen: f.Client == 0}}
	for _, c := range clients {
		list = append(list, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == f.Client})
	}
	return list
}

func activityPeople(people []db.Doer, f db.AuditFilter) []ui.Option {
	list := []ui.Option{{Value: "", Label: "Everyone", Chosen: f.User == 0 && f.Approver == 0}}
	for _, p := range people {
		o := ui.Option{Value: "u" + id(p.User), Label: p.Name, Chosen: p.User != 0 && p.User == f.User}
		if p.Approver != 0 {
			o.Value, o.Chosen = "a"+id(p.Approver), p.Approver == f.Approver
		}
		list = append(list, o)
	}
	return list
}

// activityDays puts lines under the day they were done on, in the workspace's time.
func (d *Desk) activityDays(scope *db.Scope, entries []db.AuditEntry) (days []activity.Day) {
	zone := scope.Workspace.Zone
	today, last := localDay(d.Now(), zone), model.Date{}
	for _, e := range entries {
		day := localDay(e.At, zone)
		if len(days) == 0 || day != last {
			days = append(days, activity.Day{Title: dayWords(day, today)})
			last = day
		}
		line := activityLine(scope, e)
		line.When = ui.TimeProps{ISO: e.At.UTC().Format(time.RFC3339), Words: clock(e.At, zone), IANA: zone}
		here := &days[len(days)-1]
		here.Lines = append(here.Lines, line)
	}
	return days
}

func dayWords(day, today model.Date) string {
	words := wallDay(day).Format("Monday 2 January 2006")
	switch wallDay(today).Sub(wallDay(day)) {
	case 0:
		return "Today, " + words
	case 24 * time.Hour:
		return "Yesterday, " + words
	}
	return words
}
