package desk

import (
	"fmt"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/views/activity"
)

// deed is how an audit line of a verb is told: "Anna [verb] [its subject] [rest]".
type deed struct{ icon, verb, rest string }

// deeds are all verbs of the audit log by subject; "any/" stands for every
// subject. A test holds this to the verbs that Scope writes.
var deeds = map[string]deed{
	"post/wrote":              {"pencil", "wrote a new version of", ""},
	"post/submitted":          {"stamp", "submitted", "for approval"},
	"post/approved":           {"circle-check", "approved", ""},
	"post/approval_complete":  {"circle-check", "completed the approval of", ""},
	"post/asked_again":        {"stamp", "asked again for the approval of", "since nobody who was asked can decide any more"},
	"post/stage_passed":       {"circle-check", "moved on", "since all who are left had approved it"},
	"post/approval_reset":     {"undo-2", "gave back", "to be submitted again, since nobody is asked any more"},
	"post/requested_changes":  {"undo-2", "asked for changes to", ""},
	"post/rejected":           {"circle-x", "rejected", ""},
	"post/commented":          {"message-square", "commented on", ""},
	"post/scheduled":          {"calendar-clock", "scheduled", ""},
	"post/planned":            {"calendar-clock", "planned", ""},
	"post/queued":             {"calendar-clock", "gave its next slot to", ""},
	"post/unplanned":          {"calendar-x", "took the planned time away from", ""},
	"post/rescheduled":        {"calendar-clock", "moved", ""},
	"post/published_now":      {"send", "sent out", "at once"},
	"post/retried":            {"rotate-cw", "retried what failed of", ""},
	"post/archived":           {"archive", "archived", ""},
	"target/cancelled":        {"circle-x", "cancelled", ""},
	"target/retried":          {"rotate-cw", "retried", ""},
	"target/found_live":       {"circle-check", "saw live", ""},
	"target/found_absent":     {"search", "looked and did not find", ""},
	"account/connected":       {"plug", "added the account", ""},
	"account/reconnected":     {"plug", "reconnected the account", ""},
	"account/disconnected":    {"unplug", "disconnected the account", ""},
	"account/edited":          {"pencil", "changed the details of", ""},
	"account/disabled":        {"power", "disabled the account", ""},
	"account/enabled":         {"power", "enabled the account", ""},
	"account/retried":         {"rotate-cw", "retried what waited for", ""},
	"account/slots_added":     {"calendar-plus", "added queue slots to", ""},
	"account/slots_removed":   {"calendar-minus", "removed queue slots of", ""},
	"client/look_set":         {"palette", "changed how review pages look for", ""},
	"workspace/look_set":      {"palette", "changed how review pages look in", ""},
	"client/host_set":         {"globe", "named a host for the review pages of", ""},
	"client/host_live":        {"globe", "put the host name into use for", ""},
	"client/host_lost":        {"globe-lock", "saw that the host name does not lead here any more for", ""},
	"client/host_removed":     {"globe", "removed the host name of the review pages of", ""},
	"workspace/host_set":      {"globe", "named a host for the review pages of", ""},
	"workspace/host_live":     {"globe", "put the host name into use for", ""},
	"workspace/host_lost":     {"globe-lock", "saw that the host name does not lead here any more for", ""},
	"workspace/host_removed":  {"globe", "removed the host name of the review pages of", ""},
	"any/paused":              {"pause", "paused", ""},
	"any/resumed":             {"play", "resumed", ""},
	"media/uploaded":          {"image-plus", "uploaded", ""},
	"media/described":         {"pencil", "described", ""},
	"media/tagged":            {"tag", "tagged", ""},
	"media/moved":             {"folder-input", "moved the file", ""},
	"media/cropped":           {"crop", "cropped", ""},
	"media/deleted":           {"trash-2", "deleted the file", ""},
	"media/retried":           {"rotate-cw", "had Herald look again at", ""},
	"folder/made":             {"folder-plus", "made the folder", ""},
	"folder/renamed":          {"folder-pen", "renamed the folder", ""},
	"folder/removed":          {"folder-minus", "removed a folder", ""},
	"client/link_sent":        {"mail", "had a review link mailed for", ""},
	"client/link_revoked":     {"link-2-off", "took back a review link of", ""},
	"post/held":               {"pause", "held", "back"},
	"post/let_go":             {"play", "let go", ""},
	"post/suggested":          {"pencil-line", "suggested another text for", ""},
	"post/suggestion_taken":   {"pencil-line", "took over a suggested text of", ""},
	"any/suggestion_declined": {"pencil-line", "left the text of", "as it was"},
	"any/reminders_stopped":   {"bell-off", "wants no more reminders for", ""},
	"any/reminders_resumed":   {"bell", "wants reminders again for", ""},
	"approver/zone_chosen":    {"clock", "chose the time zone of", ""},
	"client/workflow_set":     {"list-checks", "changed how posts are approved for", ""},
	"post/auto_scheduled":     {"calendar-check", "had the approval schedule", ""},
	"day/noted":               {"notebook-pen", "wrote a note on", ""},
	"day/note_removed":        {"notebook-pen", "removed a note of", ""},
	"client/apart_set":        {"calendar-clock", "chose how close posts may be for", ""},
	"client/link_tags_set":    {"link", "chose how links are tagged for", ""},
	"client/holidays_set":     {"calendar-days", "chose the holidays of", ""},
	"label/made":              {"tag", "made the label", ""},
	"label/renamed":           {"pencil", "changed the label", ""},
	"label/removed":           {"trash-2", "removed the label", ""},
	"campaign/made":           {"megaphone", "made the campaign", ""},
	"campaign/renamed":        {"pencil", "changed the campaign", ""},
	"campaign/removed":        {"trash-2", "removed the campaign", ""},
	"hashtags/made":           {"hash", "made the hashtag group", ""},
	"hashtags/changed":        {"hash", "changed the hashtag group", ""},
	"hashtags/removed":        {"trash-2", "removed the hashtag group", ""},
	"snippet/made":            {"text-quote", "made the snippet", ""},
	"snippet/changed":         {"text-quote", "changed the snippet", ""},
	"snippet/removed":         {"trash-2", "removed the snippet", ""},
	"template/made":           {"layout-template", "made the template", ""},
	"template/changed":        {"layout-template", "changed the template", ""},
	"template/removed":        {"trash-2", "removed the template", ""},
	"post/labelled":           {"tag", "labelled", ""},
	"any/feed_made":           {"calendar-plus", "made a calendar address of", ""},
	"any/feed_revoked":        {"calendar-x", "revoked a calendar address of", ""},
	"any/declared":            {"file-cog", "changed", ""},
	"client/blackout_added":   {"moon", "added a blackout of", ""},
	"client/blackout_removed": {"sun", "removed a blackout of", ""},
	"workspace/invited":       {"user-plus", "invited somebody to", ""},
	"workspace/uninvited":     {"user-minus", "took back an invitation to", ""},
	"user/joined":             {"user-plus", "joined the workspace", ""},
	"user/added":              {"user-plus", "added", "to the workspace"},
	"user/role_given":         {"user-cog", "gave another role to", ""},
	"user/removed":            {"user-minus", "took", "out of the workspace"},
	"user/profile_edited":     {"pencil", "changed", "profile"},
	"user/password_changed":   {"key-round", "changed", "password"},
	"client/import_begun":     {"download", "began an import of posts for", ""},
	"client/imported":         {"download", "had posts imported for", ""},
	"client/import_forgotten": {"trash-2", "took an import out of the list of", ""},
	"user/password_reset":     {"key-round", "chose by a mailed link", "password"},

	"client/connect_link_sent":    {"mail", "sent a link to connect accounts of", ""},
	"client/connect_link_revoked": {"link-2-off", "took back a link to connect accounts of", ""},
	"client/connect_link_ended":   {"circle-check", "said that all is connected for", ""},
	"client/connect_link_asked":   {"mail", "asked for a fresh link to connect accounts of", ""},
}

// activityLine tells an audit line. A verb that is not known is told as it is.
func activityLine(scope *db.Scope, e db.AuditEntry) activity.Line {
	how, ok := deeds[e.Subject+"/"+e.Verb]
	if !ok {
		how, ok = deeds["any/"+e.Verb]
	}
	if !ok {
		how = deed{"circle-dot", strings.ReplaceAll(e.Verb, "_", " "), ""}
	}
	if e.Detail["made"] == true {
		how.verb = "added"
	}
	l := activity.Line{Name: e.Name, Icon: how.icon, Verb: how.verb, Link: activityLink(scope, e), Rest: how.rest}
	if e.Client != nil && e.Subject != "client" {
		l.Client = *e.Client
	}
	l.Rest = strings.TrimSpace(l.Rest + activityDetail(e))
	return l
}

// activityLink is what the line is about, by its present name.
func activityLink(scope *db.Scope, e db.AuditEntry) activity.Link {
	thing := said(e.Thing)
	switch e.Subject {
	case "post":
		return activity.Link{Label: excerptWords(e.Excerpt), Href: at(scope, "/posts/"+id(e.SubjectID))}
	case "target":
		return activity.Link{Label: excerptWords(e.Excerpt) + " on " + thing, Href: at(scope, "/targets/"+id(e.SubjectID))}
	case "account":
		return activity.Link{Label: thing, Href: at(scope, "/accounts/"+id(e.SubjectID))}
	case "client":
		return activity.Link{Label: thing, Href: at(scope, "/accounts#client-"+id(e.SubjectID))}
	case "label", "campaign":
		name, _ := e.Detail["name"].(string)
		return activity.Link{Label: "“" + name + "”", Href: at(scope, "/labels")}
	case "hashtags", "snippet", "template":
		name, _ := e.Detail["name"].(string)
		return activity.Link{Label: "“" + name + "”", Href: at(scope, "/wordings")}
	case "day":
		day, _ := e.Detail["day"].(string)
		return activity.Link{Label: day, Href: at(scope, "/calendar?view=day&date="+day)}
	case "workspace":
		return activity.Link{Label: "the workspace"}
	case "user":
		return activity.Link{Label: memberWords(e)}
	case "approver":
		return activity.Link{Label: "the approver " + thing}
	}
	return activity.Link{Label: thing}
}

// memberWords name whom a line is about: nobody else where somebody did it alone.
func memberWords(e db.AuditEntry) string {
	who, ok := e.Detail["who"].(string)
	switch {
	case e.Verb == "joined":
		return ""
	case !ok:
		return "what a member may do"
	case who == e.Name:
		return "their own"
	}
	return who
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// excerptWords are the first words of a post, short enough for a sentence.
func excerptWords(excerpt *string) string {
	text := strings.Join(strings.Fields(said(excerpt)), " ")
	if text == "" {
		return "a post without text"
	}
	if r := []rune(text); len(r) > 60 {
		text = strings.TrimSpace(string(r[:60])) + "…"
	}
	return "“" + text + "”"
}

// activityDetail adds what the line's details say: for when, how many, which.
func activityDetail(e db.AuditEntry) string {
	words := ""
	if local, ok := e.Detail["local"].(string); ok {
		if at, err := model.ParseLocal(local); err == nil {
			words += " for " + at.Wall().Format("Mon 2 Jan 2006, 15:04")
			if zone, ok := e.Detail["zone"].(string); ok {
				words += " (" + placeName(zone) + ")"
			}
		}
	}
	if role, ok := e.Detail["role"].(string); ok {
		words += " as " + role
	}
	if n, ok := e.Detail["targets"].(float64); ok && n > 1 {
		words += fmt.Sprintf(" on %.0f accounts", n)
		if e.Subject == "account" {
			words = fmt.Sprintf(": %.0f posts", n)
		}
	}
	if to, ok := e.Detail["to"].(string); ok && strings.HasPrefix(e.Verb, "connect_link_") {
		words += " to " + to
	}
	if e.Subject == "account" && e.Detail["link"] != nil {
		words += " by a link"
	}
	if e.Detail["override"] == true {
		words += " without having been asked"
	}
	if what, ok := e.Detail["what"].([]any); ok && len(what) > 0 && e.Detail["made"] != true {
		var list []string
		for _, w := range what {
			list = append(list, fmt.Sprint(w))
		}
		words += ": " + strings.Join(list, ", ")
	}
	return words
}
