package desk_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
)

var inputs = regexp.MustCompile(`<(?:input|textarea)[^>]*>`)

// sent is what a browser would send of the form on a page: its fields as they are.
func sent(t *testing.T, page string) url.Values {
	t.Helper()
	_, form, ok := strings.Cut(page, `id="workflow"`)
	if !ok {
		t.Fatalf("no form on the page:\n%s", page)
	}
	form, _, _ = strings.Cut(form, "</form>")
	attr := func(tag, name string) string {
		_, rest, _ := strings.Cut(tag, " "+name+`="`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	v := url.Values{}
	for _, at := range inputs.FindAllStringIndex(form, -1) {
		tag := form[at[0]:at[1]]
		kind, name := attr(tag, "type"), attr(tag, "name")
		switch {
		case name == "" || (kind == "checkbox" || kind == "radio") && !strings.Contains(tag, " checked"):
		case strings.HasPrefix(tag, "<textarea"):
			text, _, _ := strings.Cut(form[at[1]:], "</textarea>")
			v.Add(name, strings.TrimPrefix(text, "\n"))
		default:
			v.Add(name, attr(tag, "value"))
		}
	}
	for _, s := range regexp.MustCompile(`(?s)<select[^>]* name="(\w+)".*?</select>`).FindAllStringSubmatch(form, -1) {
		if m := regexp.MustCompile(`value="(\d+)" selected`).FindStringSubmatch(s[0]); m != nil {
			v.Set(s[1], m[1])
		}
	}
	return v
}

func press(v url.Values, button string) url.Values {
	v.Set("do", button)
	return v
}

func TestAWorkflowIsEditedWithoutScript(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	owner := in.as(t, in.agency.Owner)
	path := fmt.Sprintf("/w/north/settings/workflows/%d", in.client)
	list := owner("GET", "/w/north/settings/workflows", nil)
	if list.Code != 200 || !strings.Contains(list.Body.String(), path) || !strings.Contains(list.Body.String(), "Sign-off") {
		t.Fatalf("the list: %d\n%s", list.Code, list.Body)
	}
	form := sent(t, owner("GET", path, nil).Body.String())
	if form.Get("name-0") != "Sign-off" || form.Get("rule-0") != "all" || form.Get("approver-0") == "" {
		t.Fatalf("the form is %v", form)
	}
	form = sent(t, owner("POST", path, press(form, "add")).Body.String())
	form.Set("name-1", "Board <b>")
	form.Set("new-1", "Lee Oak <lee@client.example>\nnonsense")
	form = sent(t, owner("POST", path, press(form, "up-1")).Body.String())
	if form.Get("name-0") != "Board &lt;b&gt;" || form.Get("name-1") != "Sign-off" || form.Get("approver-1") == "" {
		t.Fatalf("moved, the form is %v", form)
	}
	form.Set("name-0", "Board <b>")
	form.Set("new-0", "Lee Oak <lee@client.example>\nnonsense")
	form.Set("remind_after", "24")
	form.Set("auto_schedule", "on")
	bad := owner("POST", path, press(form, "save"))
	if bad.Code != 422 || !strings.Contains(bad.Body.String(), "&#34;nonsense&#34; is no e-mail address") || !strings.Contains(bad.Body.String(), "Lee Oak &lt;lee@client.example&gt;") {
		t.Fatalf("a wrong address: %d\n%s", bad.Code, bad.Body)
	}
	form.Set("new-0", "Lee Oak <lee@client.example>")
	if done := owner("POST", path, press(form, "save")); done.Code != 303 {
		t.Fatalf("saving: %d\n%s", done.Code, done.Body)
	}
	flow, err := in.agency.Owner.Workflow(t.Context(), in.client)
	if err != nil || len(flow.Rules.Stages) != 2 || flow.Rules.Stages[0].Name != "Board <b>" || len(flow.Approvers) != 2 || !flow.Rules.AutoSchedule || flow.Rules.RemindAfter.Hours() != 24 {
		t.Errorf("saved %+v, %v", flow, err)
	}
	if again := owner("POST", path, press(form, "save")); again.Code != 409 || !strings.Contains(again.Body.String(), "nothing was saved") {
		t.Errorf("an old form: %d", again.Code)
	}
}

func TestAWorkflowSaysWhatHappensBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	owner := in.as(t, in.agency.Owner)
	path := fmt.Sprintf("/w/north/settings/workflows/%d", in.client)
	in.asked(t, "One that waits")
	form := sent(t, owner("GET", path, nil).Body.String())
	for _, name := range []string{"user-0", "approver-0"} {
		form.Del(name)
	}
	form.Set("user-0", fmt.Sprint(in.agency.Owner.Actor.User))
	form.Set("gone", fmt.Sprint(dbtest.Look[int64](t, in.World, dbtest.SecondShard, `SELECT id FROM tenant.approvers`)))
	in.Super(t, dbtest.SecondShard, `UPDATE tenant.client_access SET permissions = '{posts.view}'`)
	asks := owner("POST", path, press(form, "save"))
	if asks.Code != 409 || !strings.Contains(asks.Body.String(), "One post waits for approval by this workflow") || !strings.Contains(asks.Body.String(), "One is asked about again by the new workflow") || !strings.Contains(asks.Body.String(), "Nothing is saved yet") {
		t.Fatalf("%d\n%s", asks.Code, asks.Body)
	}
	if flow, _ := in.agency.Owner.Workflow(t.Context(), in.client); len(flow.Approvers) != 1 {
		t.Fatal("it was saved without a yes")
	}
	if done := owner("POST", path, press(sent(t, asks.Body.String()), "confirm")); done.Code != 303 {
		t.Fatalf("%d\n%s", done.Code, done.Body)
	}
	if flow, _ := in.agency.Owner.Workflow(t.Context(), in.client); len(flow.Approvers) != 0 || flow.Open != 1 {
		t.Errorf("saved %+v", flow)
	}
	if box, err := in.agency.Owner.Approvals(t.Context(), db.BoxMine, 0); err != nil || box.Mine != 1 {
		t.Errorf("the owner is asked about %d, %v", box.Mine, err)
	}
}
