package desk

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	view "herald/views/delivery"
	"herald/views/ui"
)

func (d *Desk) deliveryRoutes() []route {
	return []route{
		{"GET /w/{slug}/delivery", model.PostsView, d.showDelivery},
		{"GET /w/{slug}/delivery/figures.csv", model.PostsView, d.showDeliveryFigures},
		{"GET /w/{slug}/delivery/posts.csv", model.PostsView, d.showDeliveryPosts},
	}
}

// deliveryDays is how long a period is that nobody chose, and how long one may be.
const (
	deliveryDays    = 30
	deliveryDaysMax = 366
)

// period is some whole days, the last one with them.
type period struct {
	from, to model.Date
	zone     string
	client   model.ClientID
}

// readPeriod reads client and days; without any, the last thirty. A period that is
// none is refused, and the usual one comes with it.
func (d *Desk) readPeriod(scope *db.Scope, q url.Values) (p period, err error) {
	p = period{zone: scope.Workspace.Zone, client: model.ClientID(web.ID(q.Get("client")))}
	now, err := model.At(d.Now(), p.zone)
	if err != nil {
		return p, err
	}
	p.to = now.Local.Date
	p.from = dayAfter(p.to, 1-deliveryDays)
	if q.Get("from") == "" && q.Get("to") == "" {
		return p, nil
	}
	from, bad1 := model.ParseDate(cmp.Or(q.Get("from"), p.from.String()))
	to, bad2 := model.ParseDate(cmp.Or(q.Get("to"), p.to.String()))
	switch long := wallDay(to).Sub(wallDay(from)) / (24 * time.Hour); {
	case bad1 != nil || bad2 != nil:
		return p, model.RefuseField("from", "Give both days as year, month and day.")
	case long < 0:
		return p, model.RefuseField("from", "The period ends before it begins.")
	case long >= deliveryDaysMax:
		return p, model.RefuseField("from", "A report is about a year at most.")
	}
	p.from, p.to = from, to
	return p, nil
}

func dayAfter(day model.Date, n int) model.Date {
	return model.LocalOf(wallDay(day).AddDate(0, 0, n)).Date
}

// filter is the period in instants: from midnight to midnight.
func (p period) filter() (f db.DeliveryFilter, err error) {
	from, err := midnight(p.from, p.zone)
	if err != nil {
		return f, err
	}
	to, err := midnight(dayAfter(p.to, 1), p.zone)
	return db.DeliveryFilter{From: from, To: to, Zone: p.zone, Client: p.client}, err
}

func midnight(day model.Date, zone string) (time.Time, error) {
	location, err := model.LoadZone(zone)
	if err != nil {
		return time.Time{}, err
	}
	return time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, location), nil
}

func (p period) query(client model.ClientID) string {
	q := url.Values{"from": {p.from.String()}, "to": {p.to.String()}}
	if client != 0 {
		q.Set("client", id(client))
	}
	return "?" + q.Encode()
}

// showDelivery answers GET /delivery with how what was due in a period went out.
func (d *Desk) showDelivery(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	about, bad := d.readPeriod(scope, r.URL.Query())
	no, refused := model.Refused(bad)
	if bad != nil && !refused {
		return bad
	}
	f, err := about.filter()
	if err != nil {
		return err
	}
	report, err := scope.Delivery(r.Context(), f)
	if err != nil {
		return err
	}
	p := d.deliveryProps(scope, about, report)
	status := http.StatusOK
	if refused {
		p.From, p.To, p.Problem, status = r.URL.Query().Get("from"), r.URL.Query().Get("to"), no.Say, http.StatusUnprocessableEntity
	}
	return d.show(w, r, scope, status, page{title: "Delivery", nav: "activity", styles: []string{"css/delivery.css"}}, view.Page(p))
}

func (d *Desk) deliveryProps(scope *db.Scope, about period, report db.Delivery) view.PageProps {
	path := at(scope, "/delivery")
	p := view.PageProps{
		Path: path, Place: placeName(about.zone), From: about.from.String(), To: about.to.String(), Empty: len(report.Days) == 0,
		Clients: []ui.Option{{Value: "", Label: "All clients"}}, Spans: d.deliverySpans(path, about),
		Posts: path + "/posts.csv" + about.query(about.client), Table: path + "/figures.csv" + about.query(about.client),
	}
	for _, c := range report.Clients {
		p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == about.client})
	}
	if p.Empty {
		return p
	}
	sums := deliverySums(report)
	p.Figures = deliveryFigures(sums[0])
	p.Bars, p.Each = deliveryBars(about, report.Days)
	for _, b := range p.Bars {
		p.Most = max(p.Most, b.OnTime+b.Late+b.Failed+b.Waiting)
	}
	for _, c := range report.Clients {
		s, ok := sums[c.ID]
		if !ok {
			continue
		}
		p.Rows = append(p.Rows, view.Row{
			Client: c.Name, Href: path + about.query(c.ID), Due: s.due, OnTime: s.share(), Late: s.late, Failed: s.failed, Waiting: s.waiting,
			P50: p50Words(s.lateness), P95: p95Words(s.lateness), Approve: approveWords(s.approvals),
		})
	}
	p.Reasons, p.Failed = deliveryReasons(report.Reasons), sums[0].failed
	return p
}

// deliverySpans are links to periods that end today.
func (d *Desk) deliverySpans(path string, about period) (tabs []ui.Tab) {
	now, err := model.At(d.Now(), about.zone)
	if err != nil {
		return nil
	}
	today := now.Local.Date
	for _, n := range []int{7, 30, 90, 365} {
		span := period{from: dayAfter(today, 1-n), to: today}
		tabs = append(tabs, ui.Tab{Label: "Last " + strconv.Itoa(n) + " days", Href: path + span.query(about.client), Current: about.from == span.from && about.to == today})
	}
	return tabs
}

// sum is what was due for one client or, under zero, for all.
type sum struct {
	due, onTime, late, byHand, failed, waiting, held int
	lateness                                         *db.Lateness
	approvals                                        *db.ApprovalTime
}

// share says how much of what has ended was on time. What is still on its way counts
// neither way.
func (s sum) share() string {
	ended := s.due - s.waiting
	if ended == 0 {
		return "–"
	}
	share := float64(s.onTime) * 100 / float64(ended)
	if share > 99.9 && s.onTime < ended {
		share = 99.9 // only all is all
	}
	return strings.TrimSuffix(strconv.FormatFloat(share, 'f', 1, 64), ".0") + " %"
}

func deliverySums(report db.Delivery) map[model.ClientID]*sum {
	sums := map[model.ClientID]*sum{0: {}}
	for _, day := range report.Days {
		if sums[day.Client] == nil {
			sums[day.Client] = &sum{}
		}
		for _, s := range []*sum{sums[0], sums[day.Client]} {
			s.due, s.onTime, s.late, s.byHand, s.failed, s.waiting, s.held = s.due+day.Due, s.onTime+day.OnTime, s.late+day.Late, s.byHand+day.ByHand, s.failed+day.Failed, s.waiting+day.Waiting, s.held+day.Held
		}
	}
	for _, l := range report.Lateness {
		if s := sums[l.Client]; s != nil {
			s.lateness = &l
		}
	}
	for _, a := range report.Approvals {
		if s := sums[a.Client]; s != nil && a.Count > 0 {
			s.approvals = &a
		}
	}
	return sums
}

func deliveryFigures(s *sum) []view.Figure {
	list := []view.Figure{
		{Name: "On time", Value: s.share(), Say: fmt.Sprintf("%d of %d, within a minute of their time", s.onTime, s.due-s.waiting)},
		{Name: "Half went out within", Value: p50Words(s.lateness), Say: "95 % within " + p95Words(s.lateness)},
		{Name: "Failed", Value: strconv.Itoa(s.failed), Say: "were not published"},
		{Name: "Time to approve", Value: approveWords(s.approvals), Say: "from asking to the last word, half of them"},
	}
	if s.failed > 0 {
		list[2].Hue = "failed"
	}
	if s.late > 0 {
		list = append(list, view.Figure{Name: "Late", Value: strconv.Itoa(s.late), Say: "published more than a minute late"})
	}
	if s.byHand > 0 {
		list = append(list, view.Figure{Name: "Seen by a person", Value: strconv.Itoa(s.byHand), Say: "are live; when they appeared is not known"})
	}
	if s.held > 0 {
		list = append(list, view.Figure{Name: "On hold", Value: strconv.Itoa(s.held), Say: "past their time, because somebody holds them"})
	}
	if s.waiting > 0 {
		list = append(list, view.Figure{Name: "Not known yet", Value: strconv.Itoa(s.waiting), Say: "on their way, or waiting for a person"})
	}
	return list
}

func p50Words(l *db.Lateness) string {
	if l == nil {
		return "–"
	}
	return shortly(l.P50)
}

func p95Words(l *db.Lateness) string {
	if l == nil {
		return "–"
	}
	return shortly(l.P95)
}

func approveWords(a *db.ApprovalTime) string {
	if a == nil {
		return "–"
	}
	return shortly(a.P50)
}

// shortly is a length of time in two digits or so.
func shortly(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Hours()), ".0") + " h"
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// deliveryBars puts the days into bars, one each, or one a week where they are many.
func deliveryBars(about period, days []db.DeliveryDay) (bars []view.Bar, each string) {
	width, each := 1, "day"
	long := int(wallDay(about.to).Sub(wallDay(about.from))/(24*time.Hour)) + 1
	if long > 45 {
		width, each = 7, "week"
	}
	bars = make([]view.Bar, (long+width-1)/width)
	for i := range bars {
		bars[i].Label = wallDay(dayAfter(about.from, i*width)).Format("Mon 2 Jan")
	}
	for _, day := range days {
		i := int(day.Day.UTC().Sub(wallDay(about.from))/(24*time.Hour)) / width
		if i < 0 || i >= len(bars) {
			continue
		}
		b := &bars[i]
		b.OnTime, b.Late, b.Failed, b.Waiting = b.OnTime+day.OnTime, b.Late+day.Late, b.Failed+day.Failed, b.Waiting+day.Waiting+day.ByHand
	}
	return bars, each
}

// failures are the reasons for which targets fail, in few words.
var failures = map[string]string{
	"refused_by_network": "The network refused the content", "missing_permission": "The account may not do this at the network", "missed": "Too late by the client’s cut-off", "held_too_long": "Somebody held it past the client’s cut-off",
	"attempts_used_up": "Every attempt failed", "rate_limited_too_long": "The network kept limiting", "manual_check_required": "Nobody has looked yet whether it is live",
	"media_missing": "A picture or video was missing", "media_not_made": "A file could not be made into what the network takes", "media_gone": "A file no longer exists",
	"account_disabled": "The account was switched off", "missing_scope": "The account was connected without a permission", "monthly_limit": "The month’s posts were used up",
	"suspended_too_long": "The workspace was suspended", "sibling_published": "The same post was live there already",
}

func failureWords(reason string) string {
	return cmp.Or(failures[reason], ui.StatusWord(reason), "No reason was kept")
}

// deliveryReasons adds up the reasons of all clients.
func deliveryReasons(all []db.FailureReason) (list []view.Reason) {
	for _, r := range all {
		words := failureWords(r.Reason)
		i := slices.IndexFunc(list, func(one view.Reason) bool { return one.Words == words })
		if i < 0 {
			list, i = append(list, view.Reason{Words: words}), len(list)
		}
		list[i].Count += r.Count
	}
	slices.SortStableFunc(list, func(a, b view.Reason) int { return b.Count - a.Count })
	return list
}

// showDeliveryFigures answers GET /delivery/figures.csv: a line for each client.
func (d *Desk) showDeliveryFigures(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	about, f, err := d.deliveryAsked(r, scope)
	if err != nil {
		return err
	}
	report, err := scope.Delivery(r.Context(), f)
	if err != nil {
		return err
	}
	lines := [][]string{{"client", "from", "to", "due", "on_time", "late", "seen_by_a_person", "failed", "not_known_yet", "lateness_p50_seconds", "lateness_p95_seconds", "approvals", "time_to_approve_p50_seconds"}}
	sums := deliverySums(report)
	for _, c := range report.Clients {
		s := sums[c.ID]
		if s == nil {
			continue
		}
		line := []string{c.Name, about.from.String(), about.to.String(), strconv.Itoa(s.due), strconv.Itoa(s.onTime), strconv.Itoa(s.late), strconv.Itoa(s.byHand), strconv.Itoa(s.failed), strconv.Itoa(s.waiting), "", "", "0", ""}
		if s.lateness != nil {
			line[9], line[10] = inSeconds(s.lateness.P50), inSeconds(s.lateness.P95)
		}
		if s.approvals != nil {
			line[11], line[12] = strconv.Itoa(s.approvals.Count), inSeconds(s.approvals.P50)
		}
		lines = append(lines, line)
	}
	return sendCSV(w, scope, "figures", about, lines)
}

// showDeliveryPosts answers GET /delivery/posts.csv: a line for each post on each
// account.
func (d *Desk) showDeliveryPosts(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	about, f, err := d.deliveryAsked(r, scope)
	if err != nil {
		return err
	}
	posts, err := scope.DeliveryPosts(r.Context(), f)
	if err != nil {
		return err
	}
	lines := [][]string{{"client", "network", "account", "due", "published", "late_seconds", "state", "reason", "attempts", "address", "post"}}
	for _, p := range posts {
		line := []string{p.Client, network.Label(network.Name(p.Network)), p.Account, inISO(p.Due, p.Zone), "", "", ui.StatusWord(string(p.State)), "", strconv.Itoa(p.Attempts), p.Permalink, d.BaseURL + at(scope, "/posts/"+id(p.Post))}
		if p.PublishedAt != nil {
			line[4] = inISO(*p.PublishedAt, p.Zone)
			if p.Reason != "found_by_hand" {
				line[5] = inSeconds(max(p.PublishedAt.Sub(p.Due), 0))
			}
		}
		if p.State == model.Failed {
			line[7] = failureWords(p.Reason)
		}
		lines = append(lines, line)
	}
	return sendCSV(w, scope, "posts", about, lines)
}

func (d *Desk) deliveryAsked(r *http.Request, scope *db.Scope) (about period, f db.DeliveryFilter, err error) {
	if about, err = d.readPeriod(scope, r.URL.Query()); err != nil {
		return about, f, err
	}
	f, err = about.filter()
	return about, f, err
}

func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func inISO(at time.Time, zone string) string {
	location, err := model.LoadZone(zone)
	if err != nil {
		location = time.UTC
	}
	return at.In(location).Format(time.RFC3339)
}

// sendCSV answers with a table that spreadsheets open. What they would take for a
// formula is text there.
func sendCSV(w http.ResponseWriter, scope *db.Scope, name string, about period, lines [][]string) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s-%s-%s.csv"`, scope.Workspace.Slug, name, about.from, about.to))
	if _, err := w.Write([]byte("\ufeff")); err != nil { // by which Excel knows UTF-8
		return err
	}
	out := csv.NewWriter(w)
	for _, line := range lines {
		for i, cell := range line {
			if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
				line[i] = "'" + cell
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
