package desk

import (
	"cmp"
	"fmt"
	"net/http"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/ui"
	"herald/views/workflow"
)

func (d *Desk) workflowRoutes() []route {
	return []route{
		{"GET /w/{slug}/settings/workflows", model.ClientsManage, d.showWorkflows},
		{"GET /w/{slug}/settings/workflows/{client}", model.ClientsManage, d.showWorkflow},
		{"POST /w/{slug}/settings/workflows/{client}", model.ClientsManage, d.saveWorkflow},
	}
}

// showWorkflows answers GET /settings/workflows with the clients.
func (d *Desk) showWorkflows(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := scope.Workflows(r.Context())
	if err != nil {
		return err
	}
	var p workflow.ListProps
	for _, c := range list {
		p.Clients = append(p.Clients, workflow.Client{Name: c.Name, Href: workflowAt(scope, c.ID), Stages: c.Stages, Open: c.Open})
	}
	return d.showSettings(w, r, scope, http.StatusOK, workflowPage(), workflow.List(p))
}

func workflowPage() page {
	return page{title: "Approval workflows", styles: []string{"css/workflow.css"}}
}

func workflowAt(scope *db.Scope, client model.ClientID) string {
	return at(scope, "/settings/workflows/"+id(client))
}

// showWorkflow answers GET /settings/workflows/{client}.
func (d *Desk) showWorkflow(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	flow, err := scope.Workflow(r.Context(), pathClient(r))
	if err != nil {
		return err
	}
	return d.drawWorkflow(w, r, scope, http.StatusOK, flow, workflowDraft{seen: flow.Seen, rules: flow.Rules})
}

func pathClient(r *http.Request) model.ClientID { return model.ClientID(web.ID(r.PathValue("client"))) }

// saveWorkflow answers POST /settings/workflows/{client}: a button that changes the
// form answers with the form, and the one that saves it keeps it.
func (d *Desk) saveWorkflow(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	flow, err := scope.Workflow(r.Context(), pathClient(r))
	if err != nil {
		return err
	}
	draft := readWorkflow(r)
	do := r.PostFormValue("do")
	if do != "save" && do != "confirm" {
		draft.change(do)
		return d.drawWorkflow(w, r, scope, http.StatusOK, flow, draft)
	}
	form, err := draft.form(do == "confirm")
	if err == nil {
		var effect db.WorkflowEffect
		if effect, err = scope.SaveWorkflow(r.Context(), flow.ID, form); err == nil {
			return d.say(w, r, at(scope, "/settings/workflows"), strings.TrimSpace("The workflow of "+flow.Name+" is saved. "+effectSaid(effect)))
		}
	}
	no, ok := model.Refused(err)
	if !ok || no.Kind == model.NotFound || no.Kind == model.Forbidden {
		return err
	}
	if effect, asks := db.Confirm(err); asks {
		draft.effect = effectWords(effect, flow.Name)
	} else {
		draft.field, draft.bad = no.Field, no.Say
	}
	if no.Kind == model.Conflict && draft.effect == nil {
		draft.seen = flow.Seen // read once more, it may be sent again
	}
	return d.drawWorkflow(w, r, scope, web.Status(err), flow, draft)
}

// effectWords says what a change does to the requests that are open.
func effectWords(e db.WorkflowEffect, client string) (say []string) {
	for _, one := range []struct {
		n         int
		one, many string
	}{
		{e.Stay, "One stays with the people who were asked: they still decide, by the workflow it was sent with.", "%d stay with the people who were asked: they still decide, by the workflow they were sent with."},
		{e.AskedAgain, "One is asked about again by the new workflow, from its first stage, since nobody who was asked can decide any more.", "%d are asked about again by the new workflow, from its first stage, since nobody who was asked can decide any more."},
		{e.MovedOn, "One moves on, since all who are left have approved it.", "%d move on, since all who are left have approved them."},
		{e.GivenBack, "One goes back to whoever submitted it as a draft, since " + client + " would have nobody to ask.", "%d go back to whoever submitted them as drafts, since " + client + " would have nobody to ask."},
	} {
		switch {
		case one.n == 1:
			say = append(say, one.one)
		case one.n > 1:
			say = append(say, fmt.Sprintf(one.many, one.n))
		}
	}
	return say
}

func effectSaid(e db.WorkflowEffect) string {
	var say []string
	for _, one := range []struct {
		n    int
		word string
	}{{e.AskedAgain, "asked about again"}, {e.MovedOn, "moved on"}, {e.GivenBack, "given back"}} {
		if one.n > 0 {
			say = append(say, fmt.Sprintf("%d %s", one.n, one.word))
		}
	}
	if len(say) == 0 {
		return ""
	}
	return "Of what waited: " + strings.Join(say, ", ") + "."
}

// workflowDraft is the form as it stands.
type workflowDraft struct {
	seen   string
	rules  db.WorkflowRules
	fresh  []string // addresses typed into each stage
	gone   []model.ApproverID
	field  string // what was refused, and about which field
	bad    string
	effect []string
}

// mostFormStages bounds what a form is read for; saving refuses fewer.
const mostFormStages = 20

func readWorkflow(r *http.Request) (f workflowDraft) {
	f.seen = r.PostFormValue("seen")
	n, _ := web.Count(r.PostFormValue("stages"))
	for i := range min(n, mostFormStages) {
		at := fmt.Sprintf("-%d", i)
		st := db.WorkflowStage{Name: r.PostFormValue("name" + at), Rule: model.Rule(cmp.Or(r.PostFormValue("rule"+at), string(model.AnyOne)))}
		for _, v := range r.PostForm["user"+at] {
			st.Users = append(st.Users, model.UserID(web.ID(v)))
		}
		for _, v := range r.PostForm["approver"+at] {
			st.Approvers = append(st.Approvers, model.ApproverID(web.ID(v)))
		}
		f.rules.Stages = append(f.rules.Stages, st)
		f.fresh = append(f.fresh, r.PostFormValue("new"+at))
	}
	for _, v := range r.PostForm["gone"] {
		f.gone = append(f.gone, model.ApproverID(web.ID(v)))
	}
	for _, v := range r.PostForm["escalate_to"] {
		f.rules.EscalateTo = append(f.rules.EscalateTo, model.UserID(web.ID(v)))
	}
	f.rules.AutoSchedule, f.rules.TimeIsMaterial = r.PostFormValue("auto_schedule") != "", r.PostFormValue("time_is_material") != ""
	f.rules.RemindAfter, f.rules.RemindEvery, f.rules.EscalateAfter = readHours(r, "remind_after"), readHours(r, "remind_every"), readHours(r, "escalate_after")
	return f
}

func readHours(r *http.Request, name string) time.Duration {
	n, _ := web.Count(r.PostFormValue(name))
	return time.Duration(min(n, 24*365)) * time.Hour
}

// change is what a button does to the form: a stage more, one less, one earlier.
func (f *workflowDraft) change(do string) {
	word, at, _ := strings.Cut(do, "-")
	i, err := web.Count(at)
	here := err == nil && i < len(f.rules.Stages)
	switch {
	case word == "add" && len(f.rules.Stages) < mostFormStages:
		f.rules.Stages, f.fresh = append(f.rules.Stages, db.WorkflowStage{Rule: model.AnyOne}), append(f.fresh, "")
	case word == "remove" && here:
		f.rules.Stages, f.fresh = slices.Delete(f.rules.Stages, i, i+1), slices.Delete(f.fresh, i, i+1)
	case word == "up" && here && i > 0:
		f.rules.Stages[i-1], f.rules.Stages[i] = f.rules.Stages[i], f.rules.Stages[i-1]
		f.fresh[i-1], f.fresh[i] = f.fresh[i], f.fresh[i-1]
	}
}

// form is the draft as it is to be saved.
func (f *workflowDraft) form(confirmed bool) (out db.WorkflowForm, err error) {
	out = db.WorkflowForm{Seen: f.seen, Rules: f.rules, Gone: f.gone, Confirmed: confirmed}
	out.Rules.Stages = slices.Clone(f.rules.Stages)
	for i, text := range f.fresh {
		people, err := readPeople(text, i)
		if err != nil {
			return out, err
		}
		out.New = append(out.New, people...)
	}
	return out, nil
}

// readPeople reads addresses, one a line or apart by commas, each with a name in
// front of it or without.
func readPeople(text string, stage int) (people []db.NewApprover, err error) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;\n\r", r) }) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := netmail.ParseAddress(line)
		if err != nil {
			a = &netmail.Address{Address: line} // the model says what is wrong with it
		}
		people = append(people, db.NewApprover{Stage: stage, Name: a.Name, Email: a.Address})
	}
	if len(people) > mostNewPeople {
		return nil, model.RefuseField(fmt.Sprintf("new-%d", stage), fmt.Sprintf("That are more than %d addresses at once.", mostNewPeople))
	}
	return people, nil
}

const mostNewPeople = 30

func (d *Desk) drawWorkflow(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, flow db.Workflow, f workflowDraft) error {
	p := workflow.Props{Client: flow.Name, Path: workflowAt(scope, flow.ID), List: at(scope, "/settings/workflows"), Seen: f.seen, Effect: f.effect,
		TimeSays: f.rules.TimeIsMaterial, Auto: f.rules.AutoSchedule, Open: flow.Open}
	if f.field == "" || f.field == "stages" {
		p.Bad = f.bad
	}
	p.After = f.wait("remind_after", "First reminder", f.rules.RemindAfter, "after")
	p.Every = f.wait("remind_every", "Then again", f.rules.RemindEvery, "every")
	p.Escalate = f.wait("escalate_after", "Tell somebody of your team", f.rules.EscalateAfter, "after")
	p.Told = ui.ChoicesProps{Name: "escalate_to", Legend: "Who is told", Problem: f.problem("escalate_to")}
	for _, m := range flow.Watchers {
		p.Told.Options = append(p.Told.Options, ui.Option{Value: id(m.User), Label: m.Name, Help: m.Email, Chosen: slices.Contains(f.rules.EscalateTo, m.User)})
	}
	for _, a := range flow.Approvers {
		p.Outside = append(p.Outside, ui.Option{Value: id(a.Approver), Label: a.Name, Help: a.Email, Chosen: slices.Contains(f.gone, a.Approver)})
	}
	for i := range f.rules.Stages {
		p.Stages = append(p.Stages, f.stage(flow, i))
	}
	return d.showSettings(w, r, scope, status, workflowPage(), workflow.Editor(p))
}

func (f *workflowDraft) problem(field string) string {
	if f.field == field {
		return f.bad
	}
	return ""
}

func (f *workflowDraft) stage(flow db.Workflow, i int) workflow.Stage {
	st, at := f.rules.Stages[i], fmt.Sprintf("-%d", i)
	s := workflow.Stage{N: i, Problem: f.problem("people" + at),
		Name:   ui.FieldProps{Name: "name" + at, Label: "Name", Value: st.Name, Placeholder: "Client", Problem: f.problem("name" + at), Required: true},
		Users:  ui.ChoicesProps{Name: "user" + at, Legend: "Of your team"},
		People: ui.ChoicesProps{Name: "approver" + at, Legend: "Of " + flow.Name},
		New: ui.TextAreaProps{Rows: 2, FieldProps: ui.FieldProps{Name: "new" + at, Label: "Somebody else by e-mail", Optional: true, Problem: f.problem("new" + at),
			Help: "One address a line: Dana Weber <dana@client.example>. They decide from a link, without an account."}},
		Rule: ui.ChoicesProps{Name: "rule" + at, Legend: "Who has to approve", Problem: f.problem("rule" + at), Inline: true, Options: []ui.Option{
			{Value: string(model.AnyOne), Label: "Any one of them", Chosen: st.Rule != model.Everyone},
			{Value: string(model.Everyone), Label: "Everyone", Chosen: st.Rule == model.Everyone},
		}},
	}
	if i < len(f.fresh) {
		s.New.Value = f.fresh[i]
	}
	for _, m := range flow.Members {
		s.Users.Options = append(s.Users.Options, ui.Option{Value: id(m.User), Label: m.Name, Help: m.Email, Chosen: slices.Contains(st.Users, m.User)})
	}
	for _, a := range flow.Approvers {
		s.People.Options = append(s.People.Options, ui.Option{Value: id(a.Approver), Label: a.Name, Help: a.Email, Chosen: slices.Contains(st.Approvers, a.Approver)})
	}
	return s
}

// waits are the times that are offered, in hours.
var waits = []int{4, 8, 24, 48, 72, 120, 168, 336}

func (f *workflowDraft) wait(name, label string, have time.Duration, word string) ui.SelectProps {
	p := ui.SelectProps{FieldProps: ui.FieldProps{Name: name, Label: label, Problem: f.problem(name)}, Options: []ui.Option{{Value: "0", Label: "Never", Chosen: have == 0}}}
	hours := int(have / time.Hour)
	offered := waits
	if hours != 0 && !slices.Contains(waits, hours) {
		offered = append(slices.Clone(waits), hours)
		slices.Sort(offered)
	}
	for _, n := range offered {
		p.Options = append(p.Options, ui.Option{Value: fmt.Sprint(n), Label: word + " " + hoursWords(n), Chosen: n == hours})
	}
	return p
}

func hoursWords(n int) string {
	switch {
	case n == 1:
		return "1 hour"
	case n == 24:
		return "a day"
	case n%24 == 0:
		return fmt.Sprintf("%d days", n/24)
	}
	return fmt.Sprintf("%d hours", n)
}
