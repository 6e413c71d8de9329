package review

import (
	"net/http"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/review"
	"herald/views/ui"
)

// showCalendar answers GET /review/{token}/calendar with a month of the client's posts
// that are approved or live. What is no month is this one.
func (h *handler) showCalendar(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if gone != nil {
		return h.showGone(w, r, rs, gone)
	}
	return h.drawCalendar(w, r, rs, http.StatusOK, "")
}

func (h *handler) drawCalendar(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, status int, bad string) error {
	day, _ := model.ParseDate(r.FormValue("month") + "-01") // a zero day is today
	month, err := rs.Month(r.Context(), day)
	if err != nil {
		return err
	}
	first := time.Date(month.First.Year, month.First.Month, 1, 0, 0, 0, 0, time.UTC)
	here := path(r) + "/calendar"
	p := review.CalendarProps{Agency: rs.Agency, Look: h.look(rs.Workspace(), rs.Look), Client: rs.Client, Person: rs.Person, Path: path(r), Title: first.Format("January 2006"),
		Previous: here + "?month=" + first.AddDate(0, -1, 0).Format("2006-01"), Next: here + "?month=" + first.AddDate(0, 1, 0).Format("2006-01"),
		Zone: h.zone(r, rs, here+"?month="+first.Format("2006-01")), Token: rs.PageToken(), More: month.More, Bad: bad, Done: doneWords[r.URL.Query().Get("done")]}
	location, err := model.LoadZone(rs.Zone)
	if err != nil {
		return err
	}
	today := h.Now().In(location).Format(time.DateOnly)
	for at := first; at.Month() == first.Month(); at = at.AddDate(0, 0, 1) {
		p.Days = append(p.Days, review.CalendarDay{Date: at.Format(time.DateOnly), Weekday: (int(at.Weekday())+6)%7 + 1, Number: at.Day(), Words: at.Format("Monday 2 January"), Today: at.Format(time.DateOnly) == today})
	}
	for _, post := range month.Posts {
		local := post.DueAt.In(location)
		d := &p.Days[local.Day()-1]
		d.Posts = append(d.Posts, calendarPost(post, local.Format("15:04")+model.TwiceWords(post.DueAt, rs.Zone)))
	}
	return web.Render(w, r, status, review.Calendar(p))
}

func calendarPost(post db.PlannedPost, clock string) review.CalendarPost {
	p := review.CalendarPost{Clock: clock, At: post.DueAt.UTC().Format(time.RFC3339), State: db.ShownTogether(post.Shown), Excerpt: post.Excerpt}
	for _, n := range post.Networks {
		p.Networks = append(p.Networks, review.Network{Name: string(n), Label: network.Label(n)})
	}
	for _, l := range post.Live {
		p.Live = append(p.Live, review.Live{Label: network.Label(l.Network), Href: l.Address})
	}
	return p
}

// zone is the choice of the zone in which the page tells times. back is where the page
// is shown again.
func (h *handler) zone(r *http.Request, rs *db.ReviewScope, back string) review.Zone {
	near, more := web.ZoneChoices(rs.Zone, slices.Compact([]string{rs.Zone, rs.ClientZone, "UTC"})...)
	z := review.Zone{City: web.City(rs.Zone), Near: near, More: more}
	if back != path(r) {
		z.Month = back[len(back)-len("2006-01"):]
	}
	for i, o := range z.Near {
		if o.Value == rs.ClientZone {
			z.Near[i] = ui.Option{Value: o.Value, Label: o.Label + ", as " + rs.Client, Chosen: o.Chosen}
		}
	}
	return z
}

// editZone answers POST /review/{token}/zone, on the page that it came from.
func (h *handler) editZone(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope) error {
	zone := r.PostForm.Get("zone")
	if zone == rs.ClientZone {
		zone = "" // and it follows the client's, should that change
	}
	month := r.PostForm.Get("month")
	err := rs.SetZone(r.Context(), zone)
	if no, ok := model.Refused(err); ok && no.Field == "zone" {
		if month != "" {
			return h.drawCalendar(w, r, rs, web.Status(err), no.Say)
		}
		return h.draw(w, r, rs, outcome{status: web.Status(err), bad: no.Say})
	}
	if err != nil {
		return err
	}
	if day, err := model.ParseDate(month + "-01"); err == nil {
		return web.See(w, r, path(r)+"/calendar?month="+day.String()[:len("2006-01")]+"&done=zone")
	}
	return web.See(w, r, path(r)+"?done=zone")
}
