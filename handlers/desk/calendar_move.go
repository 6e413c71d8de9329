package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/ui"
)

// movesAddress is where cards of a calendar are moved; the answer is the same
// calendar. Empty for those who may move nothing.
func movesAddress(scope *db.Scope, l lookup) string {
	if !scope.Actor.MayAnywhere(model.PostsSchedule) && !scope.Actor.MayAnywhere(model.PostsWrite) {
		return ""
	}
	return lookup{path: at(scope, "/calendar/moves")}.address(l.values)
}

// createMoves answers POST /calendar/moves: cards go to another day or hour. The
// first card is the one that was dropped at day and clock, as the calendar's
// clocks show them; the others go as far as it. Without a clock each keeps its
// time of day, as its own client has it; without a day they lose their time. back, one per card, takes cards to where
// they were.
func (d *Desk) createMoves(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l := calendarLookup(scope, r.URL.Query())
	cards, err := readCards(r)
	if err != nil {
		return err
	}
	zone, err := scope.CalendarZone(r.Context(), l.filter) // it refuses what the answer could not show
	if err != nil {
		return err
	}
	moves, err := wantedMoves(r, cards, zone)
	if err != nil {
		return err
	}
	moved, err := scope.MoveCards(r.Context(), moves)
	if err != nil {
		return err
	}
	return d.drawCalendar(w, r, scope, l, movedNotice(scope, l, moved, r.PostForm.Has("back")))
}

// maxMoved is how many cards may be moved together.
const maxMoved = 50

var errNoCard = model.RefuseField("card", "Choose at least one post to move.")

// readCards reads the field card: keys of cards, apart by spaces.
func readCards(r *http.Request) (list []db.CardMove, err error) {
	if err := r.ParseForm(); err != nil {
		return nil, errNoCard
	}
	for _, key := range strings.Fields(r.PostForm.Get("card")) {
		m, err := readKey(key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(c db.CardMove) bool { return c.Post == m.Post && c.From.Equal(m.From) }) {
			list = append(list, m)
		}
	}
	switch {
	case len(list) == 0:
		return nil, errNoCard
	case len(list) > maxMoved:
		return nil, model.RefuseField("card", fmt.Sprintf("Move at most %d posts at a time.", maxMoved))
	}
	return list, nil
}

// cardKey names a card in pages and forms: a place, or, for a post without a
// time, a dot and the post.
func cardKey(post model.PostID, at time.Time) string {
	if at.IsZero() {
		return timeless + id(post)
	}
	return db.Place{At: at, ID: int64(post)}.String()
}

const timeless = "."

func readKey(key string) (m db.CardMove, err error) {
	if post, found := strings.CutPrefix(key, timeless); found {
		return db.CardMove{Post: model.PostID(web.ID(post))}, nil
	}
	at, err := db.ParsePlace(key)
	return db.CardMove{Post: model.PostID(at.ID), From: at.At}, err
}

func wantedMoves(r *http.Request, cards []db.CardMove, zone string) ([]db.CardMove, error) {
	if r.PostForm.Has("back") {
		return movesBack(r, cards)
	}
	if r.PostForm.Get("day") == "" { // the tray
		for i := range cards {
			cards[i].To = noTime
		}
		return cards, nil
	}
	day, err := model.ParseDate(r.PostForm.Get("day"))
	if err != nil {
		return nil, err
	}
	return shifted(cards, day, r.PostForm.Get("clock"), zone)
}

// movesBack takes each card to where the key in back says it was.
func movesBack(r *http.Request, cards []db.CardMove) ([]db.CardMove, error) {
	back := strings.Fields(r.PostForm.Get("back"))
	if len(back) != len(cards) {
		return nil, errNoCard
	}
	for i := range cards {
		was, err := readKey(back[i])
		if err != nil {
			return nil, err
		}
		cards[i].To = func(now model.When) (model.When, error) { return model.At(was.From, now.Zone) }
		if was.From.IsZero() {
			cards[i].To = noTime
		}
	}
	return cards, nil
}

// noTime takes a planned time away.
func noTime(model.When) (model.When, error) { return model.When{}, nil }

// firstHour is when a post without a time goes out on the day it is dropped on.
const firstHour = 9

// shifted moves all cards as far as the first must go to be where it was dropped.
func shifted(cards []db.CardMove, day model.Date, clock, zone string) ([]db.CardMove, error) {
	to := model.LocalTime{Date: day, Hour: firstHour}
	if clock != "" {
		var err error
		if to, err = model.ParseLocal(day.String() + "T" + clock); err != nil {
			return nil, err
		}
	}
	from := to
	if !cards[0].From.IsZero() {
		when, err := model.At(cards[0].From, zone)
		if err != nil {
			return nil, err
		}
		from = when.Local
	}
	days := int(wallDay(to.Date).Sub(wallDay(from.Date)) / (24 * time.Hour))
	minutes := time.Duration(to.Hour-from.Hour)*time.Hour + time.Duration(to.Minute-from.Minute)*time.Minute
	for i := range cards {
		switch {
		case cards[i].From.IsZero():
			cards[i].To = placed(to, clock, zone)
		case clock == "" || minutes == 0:
			cards[i].To = daysOn(days)
		default:
			cards[i].To = wallOn(time.Duration(days)*24*time.Hour+minutes, zone)
		}
	}
	return cards, nil
}

// placed is a time for what has none: of the calendar's clocks, or, where only a
// day was chosen, of the client's own.
func placed(to model.LocalTime, clock, zone string) func(model.When) (model.When, error) {
	return func(now model.When) (model.When, error) {
		if clock == "" {
			return model.Resolve(to, now.Zone, model.Earlier)
		}
		when, err := model.Resolve(to, zone, model.Earlier)
		if err != nil {
			return when, err
		}
		return model.At(when.At, now.Zone)
	}
}

// daysOn keeps the time of day.
func daysOn(days int) func(model.When) (model.When, error) {
	return func(now model.When) (model.When, error) {
		return now.MoveToDay(model.LocalOf(wallDay(now.Local.Date).AddDate(0, 0, days)).Date)
	}
}

// wallOn moves by what a clock of the calendar's zone shows; the client's clock
// follows.
func wallOn(by time.Duration, zone string) func(model.When) (model.When, error) {
	return func(now model.When) (model.When, error) {
		here, err := model.At(now.At, zone)
		if err != nil {
			return here, err
		}
		there, err := model.Resolve(model.LocalOf(here.Local.Wall().Add(by)), zone, model.Earlier)
		if err != nil {
			return there, err
		}
		return model.At(there.At, now.Zone)
	}
}

// movedNotice says where cards went, and offers the way back where there is one.
func movedNotice(scope *db.Scope, l lookup, moved []db.MovedCard, back bool) ui.NoticeProps {
	n := ui.NoticeProps{Tone: ui.Good, Say: movedWords(moved, back)}
	if len(moved) == 1 && !back && !moved[0].To.At.IsZero() {
		to := clientTime(moved[0].To.At, moved[0].To.Zone)
		n.Time = &to
	}
	if fields, there := wayBack(moved); there && !back {
		n.Act = &ui.NoticeAct{Label: "Undo", Path: movesAddress(scope, l), Fields: fields}
	}
	return n
}

// wayBack is the form that takes moved cards to where they were, where it can be told
// which is which and moving scheduled nothing.
func wayBack(moved []db.MovedCard) (fields []ui.HiddenField, there bool) {
	var cards, places []string
	for _, m := range moved {
		key := cardKey(m.Post, m.To.At)
		if m.Scheduled || slices.Contains(cards, key) { // two cards became one
			return nil, false
		}
		cards, places = append(cards, key), append(places, cardKey(m.Post, m.From.At))
	}
	return []ui.HiddenField{{Name: "card", Value: strings.Join(cards, " ")}, {Name: "back", Value: strings.Join(places, " ")}}, true
}

func movedWords(moved []db.MovedCard, back bool) string {
	what := "One post"
	if len(moved) != 1 {
		what = strconv.Itoa(len(moved)) + " posts"
	}
	switch {
	case back:
		return what + " moved back."
	case moved[0].To.At.IsZero():
		return what + " without a time now."
	case len(moved) != 1:
		return what + " moved."
	case moved[0].Scheduled:
		return "Scheduled for"
	}
	return "Moved to"
}
