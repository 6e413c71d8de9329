package desk

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/target"
	"herald/views/ui"
)

// manualCheck is the reason of a target whose outcome only a person can find out.
const manualCheck = "manual_check_required"

// targetForms are what the person may do with a target as it stands. The Scope
// judges again when the form comes.
func (d *Desk) targetForms(scope *db.Scope, t db.Target, hold model.Hold) target.Forms {
	f := target.Forms{Seen: strconv.Itoa(t.Revision)}
	form := func(noun, title, say, button string) target.Form {
		return target.Form{Action: at(scope, "/targets/"+id(t.ID)+"/"+noun), Title: title, Say: say, Button: button}
	}
	name := network.Label(t.Network)
	if scope.Actor.May(model.PostsSchedule, t.ClientID) {
		if t.State == model.Ready || t.State == model.Scheduled || t.State == model.RetryScheduled {
			f.Schedule = d.scheduleForm(scope, t, form)
		}
		if t.State == model.NeedsReconnect || t.State == model.Failed && t.Reason != manualCheck {
			f.Retry = ref(form("retries", "Retry", "Sends the approved version to "+t.Account+" now.", "Retry now"))
		}
		if db.Holdable(t.State) && !hold.Open() {
			f.Hold = &target.HoldForm{Form: form("holds", "Hold", "Stops what "+t.Client+" gets of this post, on every account, until somebody lets it go. Its time stays.", "Hold this post")}
		}
		// What may be live is not cancelled before somebody has looked.
		if t.State.MayBecome(model.Cancelled) && t.Reason != manualCheck {
			f.Cancel = ref(form("cancellation", "Cancel", "Takes "+t.Account+" out of this post for good. The other accounts are not touched.", "Cancel this target"))
		}
	}
	if hold.Open() && scope.Actor.May(hold.Permission(), t.ClientID) {
		f.LetGo = ref(form("releases", "Let it go", hold.Name+" holds it. Afterwards it goes out at its time, or at once where that has passed.", "Let it go"))
	}
	if scope.Actor.May(model.PostsResolve, t.ClientID) {
		if t.State == model.UnknownOutcome || t.State == model.Failed || t.State == model.NeedsReconnect {
			f.Live = &target.LiveForm{Form: form("findings", "It is live", "You see the post on "+name+". Herald counts it as published and does not send it again.", "It is live")}
		}
		if t.State == model.Failed && t.Reason == manualCheck {
			f.Absent = &target.AbsentForm{Form: form("findings", "It is not there", "Herald sends the post again, now.", "It is not there, send it again"),
				Confirm: "I looked at " + t.Account + " on " + name + ", and the post is not there."}
		}
	}
	return f
}

func ref[T any](v T) *T { return &v }

func (d *Desk) scheduleForm(scope *db.Scope, t db.Target, form func(noun, title, say, button string) target.Form) *target.ScheduleForm {
	f := target.ScheduleForm{Form: form("schedule", "Move", "Only "+t.Account+" moves; the other accounts of the post keep their time.", "Move")}
	if t.State == model.Ready {
		f.Form = form("schedule", "Schedule", "Only "+t.Account+" is scheduled; the post's page schedules all of its accounts.", "Schedule")
	}
	zone := targetZone(t)
	if t.LocalAt != nil {
		f.Local = t.LocalAt.Format("2006-01-02T15:04")
	}
	f.Zones = zoneOptions(zone, t.ClientZone, scope.Workspace.Zone)
	if t.Occurrence != nil && *t.Occurrence != "" {
		f.Repeats = repeatOptions(model.Occurrence(*t.Occurrence))
	}
	return &f
}

// zoneOptions are the zones to plan in, the first chosen.
func zoneOptions(zones ...string) []ui.Option {
	var list []ui.Option
	for i, z := range zones {
		if !slices.ContainsFunc(list, func(o ui.Option) bool { return o.Value == z }) {
			list = append(list, ui.Option{Value: z, Label: strings.ReplaceAll(z, "_", " "), Chosen: i == 0})
		}
	}
	return list
}

func repeatOptions(chosen model.Occurrence) []ui.Option {
	return []ui.Option{
		{Value: string(model.Earlier), Label: "The first time", Chosen: chosen != model.Later},
		{Value: string(model.Later), Label: "The second time, after the clocks went back", Chosen: chosen == model.Later},
	}
}

// seenRevision is the revision of the page that the form stood on. Without one
// the form is stale by definition.
func seenRevision(r *http.Request) int {
	n, err := web.Count(r.PostFormValue("seen"))
	if err != nil {
		return 0
	}
	return n
}

// answerTarget says what was done on the target's page, or shows the page as it
// now is with the refusal, where refuse puts it into its form.
func (d *Desk) answerTarget(w http.ResponseWriter, r *http.Request, scope *db.Scope, err error, done string, refuse func(*target.Props, *model.Refusal) bool) error {
	if err == nil {
		return d.say(w, r, at(scope, "/targets/"+id(pathTarget(r))), done)
	}
	no, refused := model.Refused(err)
	if !refused || no.Kind == model.NotFound {
		return err
	}
	return d.drawTarget(w, r, scope, web.Status(err), func(p *target.Props) {
		if !refuse(p, no) {
			p.Problem = no.Say
		}
	})
}

func whole(*target.Props, *model.Refusal) bool { return false }

// createTargetCancellation answers POST /targets/{id}/cancellation.
func (d *Desk) createTargetCancellation(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	_, err := scope.CancelTarget(r.Context(), pathTarget(r), seenRevision(r))
	return d.answerTarget(w, r, scope, err, "Cancelled.", whole)
}

// createTargetRetry answers POST /targets/{id}/retries.
func (d *Desk) createTargetRetry(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	_, err := scope.RetryTarget(r.Context(), pathTarget(r), seenRevision(r))
	return d.answerTarget(w, r, scope, err, "On its way again.", whole)
}

// createTargetFinding answers POST /targets/{id}/findings: a person looked, and
// saw the post live or did not.
func (d *Desk) createTargetFinding(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	switch r.PostFormValue("verdict") {
	case "live":
		address := r.PostFormValue("address")
		_, err := scope.ResolveLive(r.Context(), pathTarget(r), seenRevision(r), address)
		return d.answerTarget(w, r, scope, err, "Recorded as published.", func(p *target.Props, no *model.Refusal) bool {
			if p.Forms.Live == nil {
				return false
			}
			p.Forms.Live.Address = address
			if no.Field == "address" {
				p.Forms.Live.Problem = no.Say
			}
			return no.Field == "address"
		})
	case "not_live":
		return d.createAbsence(w, r, scope)
	}
	return model.RefuseField("verdict", "Say whether the post is live or is not there.")
}

func (d *Desk) createAbsence(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	var err error
	if r.PostFormValue("looked") == "" {
		err = model.RefuseField("looked", "Look first, then tick this. Sending again what is already live would publish it twice.")
	} else {
		_, err = scope.ResolveNotLive(r.Context(), pathTarget(r), seenRevision(r))
	}
	return d.answerTarget(w, r, scope, err, "Recorded. It is on its way again.", func(p *target.Props, no *model.Refusal) bool {
		if p.Forms.Absent == nil || no.Field != "looked" {
			return false
		}
		p.Forms.Absent.Problem = no.Say
		return true
	})
}

// createTargetSchedule answers POST /targets/{id}/schedule. A time that does not
// exist comes back with the nearest ones, a time that comes twice with the
// question which is meant.
func (d *Desk) createTargetSchedule(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	when, err := readTargetWhen(r)
	if err == nil && when.Repeated() && r.PostFormValue("occurrence") == "" {
		err = model.RefuseField("occurrence", when.Local.Clock()+" comes twice that day, because the clocks go back. Say which of the two you mean.")
	}
	if err == nil {
		_, err = scope.Reschedule(r.Context(), pathTarget(r), seenRevision(r), when)
	}
	done := "Planned for " + when.Local.Wall().Format("Mon 2 January, 15:04") + " (" + placeName(when.Zone) + ")."
	return d.answerTarget(w, r, scope, err, done, func(p *target.Props, no *model.Refusal) bool {
		if p.Forms.Schedule == nil {
			return false
		}
		return keepWhen(p.Forms.Schedule, r, err, no, when)
	})
}

// readTargetWhen reads the time of a form. A nearest time that was picked goes before
// the one that does not exist.
func readTargetWhen(r *http.Request) (model.When, error) {
	text := r.PostFormValue("local")
	if pick := r.PostFormValue("pick"); pick != "" {
		text = pick
	}
	local, err := model.ParseLocal(text)
	if err != nil {
		return model.When{}, err
	}
	return model.Resolve(local, r.PostFormValue("zone"), model.Occurrence(r.PostFormValue("occurrence")))
}

// keepWhen puts back what was typed, with the refusal where it belongs.
func keepWhen(f *target.ScheduleForm, r *http.Request, err error, no *model.Refusal, when model.When) bool {
	f.Local = r.PostFormValue("local")
	for i, o := range f.Zones {
		f.Zones[i].Chosen = o.Value == r.PostFormValue("zone")
	}
	if gap, ok := errors.AsType[*model.Gap](err); ok {
		f.Nearest = []target.Nearest{nearest(gap.Before), nearest(gap.After)}
	}
	switch no.Field {
	case "zone":
		f.ZoneSays = no.Say
	case "occurrence":
		f.Repeats, f.Problem = repeatOptions(when.Occurrence), no.Say
	case "when", "local", "day":
		f.Problem = no.Say
	default:
		return false
	}
	return true
}

func nearest(w model.When) target.Nearest {
	return target.Nearest{Local: w.Local.String(), Label: w.Local.Wall().Format("Mon 2 Jan, ") + w.Local.Clock()}
}
