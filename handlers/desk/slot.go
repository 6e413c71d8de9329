package desk

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

func (d *Desk) slotRoutes() []route {
	return []route{
		{"GET /w/{slug}/accounts/{account}/slots", model.AccountsView, d.showSlots},
		{"POST /w/{slug}/accounts/{account}/slots", model.PostsSchedule, d.createSlots},
		{"POST /w/{slug}/accounts/{account}/slots/removals", model.PostsSchedule, d.removeSlots},
		{"POST /w/{slug}/accounts/{account}/slots/copies", model.PostsSchedule, d.copySlots},
	}
}

// showSlots answers GET /accounts/{account}/slots: the account's queue.
func (d *Desk) showSlots(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawSlots(w, r, scope, nil)
}

// drawSlots shows the queue as it is; a refusal is shown at the form that adds to it.
func (d *Desk) drawSlots(w http.ResponseWriter, r *http.Request, scope *db.Scope, no *model.Refusal) error {
	queue, err := scope.Slots(r.Context(), pathID[model.AccountID](r, "account"))
	if err != nil {
		return err
	}
	a := queue.Account
	p := accounts.SlotsProps{
		Title: "Queue of " + a.Handle, Account: a.Handle, Zone: placeName(a.Zone), Days: slotDays(queue.Slots), Ahead: slotsAhead(scope, queue),
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}, {Label: a.Handle, Href: accountPath(scope, a, "")}},
	}
	if scope.Actor.May(model.PostsSchedule, a.ClientID) {
		p.Add, p.Others = slotForm(r, accountPath(scope, a, "/slots"), no), slotsBeside(queue.Others)
		p.Remove, p.Copy = p.Add.Action+"/removals", p.Add.Action+"/copies"
	}
	status := http.StatusOK
	if no != nil {
		status = web.Status(no)
	}
	return d.show(w, r, scope, status, page{title: p.Title, nav: "accounts", styles: []string{"css/slots.css"}}, accounts.Slots(p))
}

// week is the days of a week in the order in which people write them.
var week = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}

func slotDays(slots []db.Slot) (days []accounts.SlotDay) {
	for _, day := range week {
		one := accounts.SlotDay{Name: day.String(), Short: day.String()[:3]}
		for _, s := range slots {
			if s.Weekday == day {
				one.Slots = append(one.Slots, accounts.SlotTime{ID: id(s.ID), Clock: s.Time().Clock()})
			}
		}
		days = append(days, one)
	}
	return days
}

// slotForm offers the days of work, or those that were just sent.
func slotForm(r *http.Request, action string, no *model.Refusal) *accounts.SlotForm {
	f := &accounts.SlotForm{Action: action, Clock: "09:00", Problem: map[string]string{}}
	chosen := map[string]bool{"1": true, "2": true, "3": true, "4": true, "5": true}
	if no != nil {
		f.Clock, f.Problem[no.Field], chosen = r.PostFormValue("clock"), no.Say, map[string]bool{}
		for _, day := range r.PostForm["day"] {
			chosen[day] = true
		}
	}
	for _, day := range week {
		value := strconv.Itoa(int(day))
		f.Days = append(f.Days, ui.Option{Value: value, Label: day.String()[:3], Chosen: chosen[value]})
	}
	return f
}

func slotsBeside(others []db.SlotsOf) (list []ui.Option) {
	for _, o := range others {
		list = append(list, ui.Option{Value: id(o.ID), Label: fmt.Sprintf("%s on %s, %s", o.Handle, network.Label(o.Network), slotsWord(o.Slots))})
	}
	return list
}

func slotsWord(n int) string {
	if n == 1 {
		return "one time"
	}
	return fmt.Sprintf("%d times", n)
}

func slotsAhead(scope *db.Scope, queue db.SlotsPage) (list []accounts.SlotAhead) {
	a := queue.Account
	mayWrite := scope.Actor.May(model.PostsWrite, a.ClientID)
	for _, s := range queue.Ahead {
		one := accounts.SlotAhead{When: clientTime(s.When.At, a.Zone), State: s.Shown, Held: s.Held, Quiet: s.Quiet, Words: excerptOr(s.Words)}
		switch {
		case s.Post != 0:
			one.Post = postPath(scope, s.Post)
		case mayWrite:
			one.Write = at(scope, fmt.Sprintf("/posts/new?client=%d&day=%s&clock=%s", a.ClientID, s.When.Local.Date, s.When.Local.Clock()))
		}
		list = append(list, one)
	}
	return list
}

func excerptOr(words string) string {
	if words == "" {
		return "Post without text"
	}
	return words
}

// createSlots answers POST /accounts/{account}/slots: one time, on the chosen days.
func (d *Desk) createSlots(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	times, err := readSlots(r)
	added := 0
	if err == nil {
		added, err = scope.AddSlots(r.Context(), pathID[model.AccountID](r, "account"), times)
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawSlots(w, r, scope, no)
	}
	if err != nil {
		return err
	}
	return d.sayAdded(w, r, scope, added)
}

func (d *Desk) sayAdded(w http.ResponseWriter, r *http.Request, scope *db.Scope, added int) error {
	say := "Added " + slotsWord(added) + " to the queue."
	if added == 0 {
		say = "The queue had all of these times already."
	}
	return d.say(w, r, slotsPath(r, scope), say)
}

func slotsPath(r *http.Request, scope *db.Scope) string {
	return at(scope, "/accounts/"+id(pathID[model.AccountID](r, "account"))+"/slots")
}

func readSlots(r *http.Request) (times []model.SlotTime, err error) {
	clock, err := time.Parse("15:04", r.PostFormValue("clock"))
	if err != nil {
		return nil, model.RefuseField("clock", "Give a time of day, as 09:30.")
	}
	for _, value := range r.PostForm["day"] {
		day, err := strconv.Atoi(value)
		if err != nil || day < 0 || day > 6 || len(times) == 7 {
			return nil, model.RefuseField("day", "There is no such day.")
		}
		times = append(times, model.SlotTime{Weekday: time.Weekday(day), Minute: clock.Hour()*60 + clock.Minute()})
	}
	if len(times) == 0 {
		return nil, model.RefuseField("day", "Choose at least one day.")
	}
	return times, nil
}

// removeSlots answers POST /accounts/{account}/slots/removals.
func (d *Desk) removeSlots(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	list, err := ids[model.SlotID](r.PostForm["slot"])
	if err != nil {
		return err
	}
	if err := scope.RemoveSlots(r.Context(), pathID[model.AccountID](r, "account"), list); err != nil {
		return err
	}
	return d.say(w, r, slotsPath(r, scope), "Removed from the queue. Posts that are planned for that time keep it.")
}

// copySlots answers POST /accounts/{account}/slots/copies.
func (d *Desk) copySlots(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	from := model.AccountID(web.ID(r.PostFormValue("from")))
	added, err := scope.CopySlots(r.Context(), pathID[model.AccountID](r, "account"), from)
	if err != nil {
		return err
	}
	return d.sayAdded(w, r, scope, added)
}
