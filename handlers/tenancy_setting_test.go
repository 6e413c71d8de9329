package handlers_test

import (
	"context"
	"strings"

	"herald/db/dbtest"
)

// settingRoutes has a case for each address of the settings and of invitations.
var settingRoutes = map[string]route{
	"GET /w/{slug}/settings/general":                                        free("/settings/general"),
	"POST /w/{slug}/settings/general":                                       workspaceEdits,
	"GET /w/{slug}/settings/members":                                        free("/settings/members"),
	"GET /w/{slug}/settings/members/new":                                    free("/settings/members/new"),
	"GET /w/{slug}/settings/members/{member}":                               get(memberPath("")),
	"POST /w/{slug}/settings/members/{member}":                              memberEdits,
	"POST /w/{slug}/settings/members/{member}/removal":                      memberRemovals,
	"POST /w/{slug}/settings/invitations":                                   invitations,
	"POST /w/{slug}/settings/invitations/{invitation}/successor":            post(invitationPath("/successor")),
	"POST /w/{slug}/settings/invitations/{invitation}/revocation":           post(invitationPath("/revocation")),
	"GET /w/{slug}/settings/clients":                                        free("/settings/clients"),
	"GET /w/{slug}/settings/clients/new":                                    free("/settings/clients/new"),
	"POST /w/{slug}/settings/clients":                                       freePost("/settings/clients", "name", "A new client", "zone", "Europe/Paris"),
	"GET /w/{slug}/settings/clients/{client}":                               get(clientPath("")),
	"POST /w/{slug}/settings/clients/{client}":                              clientEdits,
	"POST /w/{slug}/settings/clients/{client}/archive":                      post(clientPath("/archive"), "archived", "true"),
	"POST /w/{slug}/settings/clients/{client}/blackouts":                    post(clientPath("/blackouts"), "from", "2027-05-01T00:00", "to", "2027-05-02T00:00", "reason", "Works outing"),
	"POST /w/{slug}/settings/clients/{client}/blackouts/{blackout}/removal": blackoutRemovals,
	"GET /w/{slug}/settings/profile":                                        free("/settings/profile"),
	"POST /w/{slug}/settings/profile":                                       profileEdits,
	"POST /w/{slug}/settings/password":                                      freePost("/settings/password", "password", dbtest.Password, "secret", "another horse battery"),
	"POST /w/{slug}/settings/sessions":                                      freePost("/settings/sessions", "session", "others"),
	"GET /w/{slug}/delivery":                                                reports("/delivery"),
	"GET /w/{slug}/delivery/figures.csv":                                    reports("/delivery/figures.csv"),
	"GET /w/{slug}/delivery/posts.csv":                                      reports("/delivery/posts.csv"),
	"GET /invitations/{token}":                                              invited,
	"POST /invitations/{token}":                                             invited,
}

func reports(path string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "nothing", path: at(own, path), free: true}, {name: "client", path: at(own, path+"?client="+id(of.Client))}}
	}
}

func memberPath(rest string) func(dbtest.Holding) string {
	return func(of dbtest.Holding) string { return "/settings/members/" + id(of.Viewer) + rest }
}

func clientPath(rest string) func(dbtest.Holding) string {
	return func(of dbtest.Holding) string { return "/settings/clients/" + id(of.Client) + rest }
}

func invitationPath(rest string) func(dbtest.Holding) string {
	return func(of dbtest.Holding) string { return "/settings/invitations/" + id(of.Invitation) + rest }
}

func memberSeen(of dbtest.Holding) string {
	m, _, _ := of.Owner.Member(context.Background(), of.Viewer)
	return m.Seen()
}

func workspaceEdits(_ *grounds, own, _ dbtest.Holding) []try {
	set, _ := own.Owner.WorkspaceSetting(context.Background())
	return []try{{name: "nothing", path: at(own, "/settings/general"), form: fields("name", "Another name", "zone", "Europe/Paris", "seen", set.Seen()), free: true}}
}

func memberEdits(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "member", path: at(own, memberPath("")(of)), form: fields("role", "editor", "reach."+id(own.Client), "all", "seen", memberSeen(of))},
		{name: "client", path: at(own, memberPath("")(own)), form: fields("role", "viewer", "reach."+id(of.Client), "all", "seen", memberSeen(own))},
	}
}

func memberRemovals(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "member", path: at(own, memberPath("/removal")(of)), form: fields("seen", memberSeen(of))}}
}

func invitations(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/settings/invitations"), form: fields("email", "new@invited.example", "role", "editor", "reach."+id(of.Client), "some", "may."+id(of.Client), "posts.write")}}
}

func clientEdits(_ *grounds, own, of dbtest.Holding) []try {
	c, _, _ := of.Owner.ClientSetting(context.Background(), of.Client)
	return []try{{name: "client", path: at(own, clientPath("")(of)), form: fields("name", "Another name", "zone", "Europe/Paris", "late_cutoff", "12", "seen", c.Seen())}}
}

func blackoutRemovals(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "client", path: at(own, clientPath("/blackouts/"+id(of.Blackout)+"/removal")(of)), form: fields()},
		{name: "blackout", path: at(own, clientPath("/blackouts/"+id(of.Blackout)+"/removal")(own)), form: fields()},
	}
}

func profileEdits(g *grounds, own, of dbtest.Holding) []try {
	who := own.Owner
	if own.ID == of.ID && own.Client != of.Client {
		who = g.north.Half
	}
	p, _ := who.Profile(context.Background())
	return []try{{name: "nothing", path: at(own, "/settings/profile"), form: fields("name", "Another name", "zone", "Europe/Paris", "seen", p.Seen()), free: true}}
}

// invited tries the link of an invitation that is put together of two.
func invited(_ *grounds, own, of dbtest.Holding) []try {
	if own.ID == of.ID && own.Client != of.Client {
		return nil // the same workspace: put together they are the other's whole link
	}
	prefix, _, _ := strings.Cut(own.Invited, ".")
	_, random, _ := strings.Cut(of.Invited, ".")
	return []try{{name: "token", path: "/invitations/" + prefix + "." + random, form: fields("name", "Somebody New", "secret", "another horse battery")}}
}
