package handlers_test

import (
	"context"
	"fmt"
	"strings"

	"herald/db/dbtest"
	"herald/db/model"
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
	"POST /w/{slug}/settings/clients/{client}/link-tags":                    post(clientPath("/link-tags"), "seen", "1", "source", "elsewhere"),
	"GET /w/{slug}/settings/look":                                           free("/settings/look"),
	"POST /w/{slug}/settings/look":                                          houseLooks,
	"POST /w/{slug}/settings/look/host":                                     freePost("/settings/look/host", "host", "review.free.example"),
	"POST /w/{slug}/settings/look/host/checks":                              freePost("/settings/look/host/checks"),
	"POST /w/{slug}/settings/look/host/removal":                             freePost("/settings/look/host/removal"),
	"POST /w/{slug}/settings/clients/{client}/look/host":                    post(clientPath("/look/host"), "host", "review.other.example"),
	"POST /w/{slug}/settings/clients/{client}/look/host/checks":             post(clientPath("/look/host/checks")),
	"POST /w/{slug}/settings/clients/{client}/look/host/removal":            post(clientPath("/look/host/removal")),
	"GET /w/{slug}/settings/clients/{client}/look":                          get(clientPath("/look")),
	"POST /w/{slug}/settings/clients/{client}/look":                         looks,
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

func looks(g *grounds, own, of dbtest.Holding) []try {
	f := fields("name", "Another name", "accent", "#1f6feb", "seen", lookSeen(g, of, of.Client))
	return []try{{name: "path", path: at(own, clientPath("/look")(of)), form: f}}
}

// houseLooks sets the workspace's, and keeps a logo in a library of a stranger's.
func houseLooks(g *grounds, own, of dbtest.Holding) []try {
	f := fields("name", "Another name", "seen", lookSeen(g, own, 0))
	shelf := fields("name", "Another name", "shelf", id(of.Client), "seen", lookSeen(g, own, 0))
	return []try{{name: "nothing", path: at(own, "/settings/look"), form: f, free: true}, {name: "shelf", path: at(own, "/settings/look"), form: shelf, file: g.picture}}
}

func lookSeen(g *grounds, of dbtest.Holding, client model.ClientID) string {
	l, err := of.Owner.Look(g.t.Context(), client)
	if err != nil {
		g.t.Fatal(err)
	}
	return fmt.Sprint(l.Revision)
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

// noDNS is a net in which nothing has a record and nothing answers.
type noDNS struct{}

func (noDNS) Records(context.Context, string) ([]string, error) { return nil, nil }

func (noDNS) Reads(context.Context, string) (string, error) { return "", context.DeadlineExceeded }
