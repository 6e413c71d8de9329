package desk

import (
	"errors"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/ui"
)

// whenForm is the planned time as it stands in the form.
type whenForm struct {
	date, clock, zone string
	usual             string // the zone that was filled in by itself
	choice            model.Occurrence
	planned           string // the time as it was when the page was drawn
}

func readWhen(p *parts) whenForm {
	w := whenForm{date: strings.TrimSpace(p.Get("date")), clock: strings.TrimSpace(p.Get("clock")), zone: p.Get("zone"), usual: p.Get("zone_default"), planned: p.Get("planned")}
	if c := model.Occurrence(p.Get("occurrence")); c == model.Earlier || c == model.Later {
		w.choice = c
	}
	return w
}

func (w whenForm) empty() bool { return w.date == "" && w.clock == "" }

// String is the time in one word, to tell whether it was changed.
func (w whenForm) String() string {
	if w.empty() {
		return ""
	}
	return w.date + "T" + w.clock + " " + w.zone + " " + string(w.choice)
}

func (w whenForm) changed() bool { return w.String() != w.planned }

// resolve works the instant out; a zero When if no time was given. Refusals are
// about the field when.
func (w whenForm) resolve() (model.When, error) {
	switch {
	case w.empty():
		return model.When{}, nil
	case w.date == "":
		return model.When{}, model.RefuseField("when", "Choose a day as well.")
	case w.clock == "":
		return model.When{}, model.RefuseField("when", "Choose a time of day as well.")
	}
	local, err := model.ParseLocal(w.date + "T" + w.clock)
	if err != nil {
		return model.When{}, err
	}
	return model.Resolve(local, w.zone, w.choice)
}

// isAboutTime says whether a refusal belongs beside the time.
func isAboutTime(no *model.Refusal) bool {
	return slices.Contains([]string{"when", "local", "zone", "occurrence"}, no.Field)
}

// take puts a suggestion's time into the form.
func (w *whenForm) take(local string) error {
	l, err := model.ParseLocal(local)
	if err == nil {
		w.date, w.clock, w.choice = l.Date.String(), l.Clock(), model.Once
	}
	return err
}

// whenOf is the time that a post's targets have in mind, of the first that has
// one and is not over. differs says that they do not agree.
func whenOf(targets []db.Target) (w whenForm, differs bool) {
	for _, t := range targets {
		if t.LocalAt == nil || t.Zone == nil || t.State.Ended() {
			continue
		}
		one := whenForm{date: t.LocalAt.Format(time.DateOnly), clock: model.LocalOf(*t.LocalAt).Clock(), zone: *t.Zone}
		if t.Occurrence != nil {
			one.choice = model.Occurrence(*t.Occurrence)
		}
		if w.empty() {
			w = one
		}
		differs = differs || one.String() != w.String()
	}
	w.planned = w.String()
	return w, differs
}

// usualZone is the zone of the clients a post goes to, or the workspace's.
func usualZone(scope *db.Scope, clients []db.ComposerClient, chosen []model.ClientID) string {
	for _, c := range clients {
		if slices.Contains(chosen, c.ID) {
			return c.Zone
		}
	}
	return scope.Workspace.Zone
}

func (e *editing) when() composer.When {
	w := e.form.when
	usual := usualZone(e.scope, e.clients, e.chosenClients())
	if w.zone == "" || w.empty() && w.zone == w.usual {
		w.zone = usual
	}
	p := composer.When{Paths: e.paths, Date: w.date, Clock: w.clock, Zone: w.zone, Default: usual, Planned: w.planned, Slack: e.today(w.zone)}
	p.Zones, p.More = e.zones(w.zone)
	p.Said = e.whenSays(w)
	return p
}

// today is the first day that can be chosen.
func (e *editing) today(zone string) string {
	location, err := model.LoadZone(zone)
	if err != nil {
		location = time.UTC
	}
	return model.LocalOf(e.desk.Now().In(location)).Date.String()
}

// whenSays is what the time in the form means. Half a time is a problem only
// once it was sent.
func (e *editing) whenSays(w whenForm) composer.WhenSaid {
	s := composer.WhenSaid{Paths: e.paths, Differs: e.differs}
	when, err := w.resolve()
	no := e.timeRefused
	if mine, ok := model.Refused(err); ok && w.date != "" && w.clock != "" {
		no = mine
	}
	if no != nil {
		s.Problem = no.Say
	}
	if gap, ok := errors.AsType[*model.Gap](err); ok {
		for _, near := range []model.When{gap.Before, gap.After} {
			s.Suggest = append(s.Suggest, composer.Suggestion{Value: near.Local.String(), Label: near.Local.Clock() + " on " + near.Local.Date.Say()})
		}
	}
	if err != nil || when.At.IsZero() {
		return s
	}
	s.Time = timeIn(when.At, when.Zone)
	if when.Repeated() {
		s.Repeated, s.Choice = true, when.Occurrence
		s.Earlier, s.Later = occurrences(when)
	}
	return s
}

// occurrences names the two times that a clock shows alike.
func occurrences(when model.When) (earlier, later string) {
	location, err := model.LoadZone(when.Zone)
	if err != nil {
		return "The earlier", "The later"
	}
	one, _ := model.Resolve(when.Local, when.Zone, model.Earlier)
	two, _ := model.Resolve(when.Local, when.Zone, model.Later)
	return "The earlier, " + one.At.In(location).Format("15:04 MST"), "The later, " + two.At.In(location).Format("15:04 MST")
}

// timeIn is an instant as people in a zone read it.
func timeIn(at time.Time, zone string) *ui.TimeProps {
	location, err := model.LoadZone(zone)
	if err != nil {
		location, zone = time.UTC, "UTC"
	}
	return &ui.TimeProps{ISO: at.UTC().Format(time.RFC3339), Words: at.In(location).Format("Mon 2 Jan 2006, 15:04") + model.TwiceWords(at, zone), Zone: web.City(zone), IANA: zone}
}
