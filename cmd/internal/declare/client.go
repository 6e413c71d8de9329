package declare

import (
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
)

func (t *table) client(workspace string) (c db.DeclaredClient, ok bool) {
	name, ok := t.need("slug", slug)
	c = db.DeclaredClient{
		At: t.at(t.node), Slug: name, Name: t.text("name", words), Zone: t.text("zone", zone), LateCutoff: t.cutoff(),
		TimeIsMaterial: t.flag("time_is_material"), Paused: t.flag("paused"), Archived: t.flag("archived"), AutoSchedule: t.flag("auto_schedule"),
		RemindAfter: t.wait("remind_after"), RemindEvery: t.wait("remind_every"), EscalateAfter: t.wait("escalate_after"), EscalateTo: t.texts("escalate_to", email),
	}
	id := workspace + "/" + name
	c.Apart, c.Holidays, c.Labels, c.Notes = t.apart(), t.text("holidays", maybe(plain)), t.labels(id), t.notes(id)
	approvers, _ := t.tables("approvers", "approver")
	for _, a := range approvers {
		address, known := a.need("email", email)
		one := db.DeclaredApprover{At: a.at(a.node), Email: address, Name: a.text("name", words), Remove: isTrue(a.flag("remove"))}
		if known && a.once("approver "+address+" of "+id) {
			c.Approvers = append(c.Approvers, one)
		}
	}
	if stages, given := t.tables("stages", "stage"); given {
		c.Stages = []db.DeclaredStage{}
		for _, s := range stages {
			c.Stages = append(c.Stages, s.stage())
		}
	}
	if blackouts, given := t.tables("blackouts", "blackout"); given {
		c.Blackouts = []db.DeclaredBlackout{}
		for _, b := range blackouts {
			c.Blackouts = append(c.Blackouts, b.blackout())
		}
	}
	accounts, _ := t.tables("accounts", "account")
	for _, a := range accounts {
		if one, ok := a.account(id); ok {
			c.Accounts = append(c.Accounts, one)
		}
	}
	return c, ok && t.once("client "+id)
}

// cutoff reads how late a post may still go out.
func (t *table) cutoff() *time.Duration {
	n, ok := t.scalar("late_cutoff")
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Value == "default":
		return new(time.Duration(0))
	case err != nil || d < time.Minute || d > 366*24*time.Hour:
		t.refuse(n, "late_cutoff is a time from 1m to a year, as 24h, or default for the operator's setting")
		return nil
	}
	return new(d.Truncate(time.Second))
}

// wait reads after how long somebody who waits for a decision does something.
func (t *table) wait(key string) *time.Duration {
	n, ok := t.scalar(key)
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Value == "never":
		return new(time.Duration(0))
	case err != nil || d < time.Hour || d > 90*24*time.Hour:
		t.refuse(n, "%s is a time from 1h to 2160h, as 24h, or never", key)
		return nil
	}
	return new(d.Truncate(time.Minute))
}

func (t *table) stage() db.DeclaredStage {
	name, _ := t.need("name", words)
	s := db.DeclaredStage{At: t.at(t.node), Name: name, Rule: "any", People: t.texts("people", email)}
	if rule := t.text("rule", oneOf("any", "all")); rule != nil {
		s.Rule = *rule
	}
	if len(s.People) == 0 {
		t.refuse(t.node, "a stage needs people, or a post would wait for ever")
	}
	return s
}

func (t *table) blackout() db.DeclaredBlackout {
	b := db.DeclaredBlackout{At: t.at(t.node), From: t.local("from"), To: t.local("to")}
	b.Reason, _ = t.need("reason", words)
	return b
}

// local reads a time as the client's clocks show it.
func (t *table) local(key string) (l model.LocalTime) {
	_, _ = t.need(key, func(s string) (string, string) {
		var err error
		if l, err = model.ParseLocal(strings.Replace(s, " ", "T", 1)); err != nil {
			return "", "write day and time on the client's clocks, as 2026-12-24T18:00"
		}
		return s, ""
	})
	return l
}
