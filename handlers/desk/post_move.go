package desk

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

// createPostMoves answers POST /posts/moves: the chosen posts go by days or hours, or
// to a time of their client's clocks; back takes cards to where they were.
func (d *Desk) createPostMoves(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := r.ParseForm(); err != nil {
		return errNoCard
	}
	if r.PostForm.Has("back") {
		return d.moveBack(w, r, scope)
	}
	list, err := chosenPosts(r)
	if err != nil {
		return err
	}
	to, err := readShift(r)
	if no, refused := model.Refused(err); refused {
		return d.drawPosts(w, r, scope, postsLookup(scope, r.URL.Query()), web.Status(err), func(p *calendar.PostsProps, _ *page) { keepMove(p, r, list, no) })
	}
	out, err := scope.MovePosts(r.Context(), web.SentKey(r), list, to)
	if err != nil {
		return err
	}
	said := refusedOf(out.Done)
	notices := movedPosts(scope, postsLookup(scope, r.URL.Query()), out.Moved)
	if len(said) > 0 {
		return d.drawOutcome(w, r, scope, len(out.Done)-len(said), "moved", said, func(screen *page) { screen.notices = notices })
	}
	return d.drawMoved(w, r, scope, notices)
}

func (d *Desk) moveBack(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	cards, err := readCards(r)
	if err != nil {
		return err
	}
	if cards, err = movesBack(r, cards); err != nil {
		return err
	}
	moved, err := scope.MoveCards(r.Context(), cards)
	if err != nil {
		return err
	}
	return d.drawMoved(w, r, scope, []ui.NoticeProps{{Tone: ui.Good, Say: movedWords(moved, true)}})
}

func (d *Desk) drawMoved(w http.ResponseWriter, r *http.Request, scope *db.Scope, notices []ui.NoticeProps) error {
	return d.drawPosts(w, r, scope, postsLookup(scope, r.URL.Query()), http.StatusOK, func(_ *calendar.PostsProps, screen *page) { screen.notices = notices })
}

// movedPosts says how many were moved and offers the way back, as the calendar does.
func movedPosts(scope *db.Scope, l lookup, moved []db.MovedCard) []ui.NoticeProps {
	if len(moved) == 0 {
		return nil
	}
	n := ui.NoticeProps{Tone: ui.Good, Say: movedWords(moved, false)}
	if len(moved) == 1 {
		n.Time = ref(clientTime(moved[0].To.At, moved[0].To.Zone))
	}
	if fields, there := wayBack(moved); there && len(moved) <= maxMoved {
		n.Act = &ui.NoticeAct{Label: "Undo", Path: bulkAddress(scope, l, "/posts/moves"), Fields: fields}
	}
	return []ui.NoticeProps{n}
}

// The furthest a move by days or hours goes.
const (
	maxDays  = 366
	maxHours = 24 * 31
)

var (
	errNoShift = model.RefuseField("by", "Say how far: a number of days from 1 to 366, or of hours to 744. A minus goes back.")
	errNoTime  = model.RefuseField("to", "Choose a day and a time.")
)

// readShift reads where the chosen posts go.
func readShift(r *http.Request) (func(model.When) (model.When, error), error) {
	if by := strings.TrimSpace(r.PostForm.Get("by")); r.PostForm.Get("do") == "to" || by == "" && r.PostForm.Get("to") != "" {
		local, err := model.ParseLocal(r.PostForm.Get("to"))
		if err != nil {
			return nil, errNoTime
		}
		return func(now model.When) (model.When, error) { return model.Resolve(local, now.Zone, model.Earlier) }, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(r.PostForm.Get("by")))
	hours := r.PostForm.Get("unit") == "hours"
	if far := map[bool]int{false: maxDays, true: maxHours}[hours]; err != nil || n == 0 || n < -far || n > far {
		return nil, errNoShift
	}
	if hours {
		return planned(func(now model.When) (model.When, error) {
			return model.At(now.At.Add(time.Duration(n)*time.Hour), now.Zone)
		}), nil
	}
	return planned(daysOn(n)), nil
}

// planned moves only what has a time.
func planned(f func(model.When) (model.When, error)) func(model.When) (model.When, error) {
	return func(now model.When) (model.When, error) {
		if now.At.IsZero() {
			return now, nil
		}
		return f(now)
	}
}

// keepMove puts back what was typed, and what is wrong with it.
func keepMove(p *calendar.PostsProps, r *http.Request, list []db.PostAct, no *model.Refusal) {
	p.Move.By, p.Move.Hours, p.Move.To = r.PostForm.Get("by"), r.PostForm.Get("unit") == "hours", r.PostForm.Get("to")
	p.Move.Problem = map[string]string{no.Field: no.Say}
	for i, row := range p.Posts {
		p.Posts[i].Chosen = slices.ContainsFunc(list, func(c db.PostAct) bool { return strings.HasPrefix(row.Value, id(c.Post)+":") })
	}
}
