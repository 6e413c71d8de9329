package handlers_test

import (
	"net/url"
	"strings"

	"herald/db/dbtest"
)

// connectRoutes are those of connections that end.
var connectRoutes = map[string]route{
	"GET /w/{slug}/accounts/{account}/disconnection":  get(func(of dbtest.Holding) string { return "/accounts/" + id(of.Account) + "/disconnection" }),
	"POST /w/{slug}/accounts/{account}/disconnection": onAccount("/disconnection"),

	"GET /w/{slug}/clients/{client}/connect-links": func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{
			{name: "client", path: at(own, "/clients/"+id(of.Client)+"/connect-links")},
			{name: "again", path: at(own, "/clients/"+id(own.Client)+"/connect-links?again="+id(of.Door))},
		}
	},
	"POST /w/{slug}/clients/{client}/connect-links":  post(func(of dbtest.Holding) string { return "/clients/" + id(of.Client) + "/connect-links" }, "name", "Jo", "email", "jo@example.com", "network", "x"),
	"POST /w/{slug}/connect-links/{link}/revocation": post(func(of dbtest.Holding) string { return "/connect-links/" + id(of.Door) + "/revocation" }),
	"GET /connect/{token}":                           doored("", nil),
	"GET /connect/{token}/networks/{network}":        doored("/networks/webhook?account=", func(of dbtest.Holding) url.Values { return nil }),
	"POST /connect/{token}/accounts": doored("/accounts", func(of dbtest.Holding) url.Values {
		return fields("network", "webhook", "account", id(of.Account), "seen", "1", "make", "false", "token", "a-secret-of-its-own")
	}),
	"GET /connect/{token}/consents/{consent}":  doored("/consents/", nil),
	"POST /connect/{token}/consents/{consent}": doored("/consents/", func(of dbtest.Holding) url.Values { return fields("chosen", of.Mark) }),
	"POST /connect/{token}/end":                doored("/end", func(dbtest.Holding) url.Values { return url.Values{} }),
	"POST /connect/{token}/links":              doored("/links", func(dbtest.Holding) url.Values { return url.Values{} }),
}

// doored tries a link's addresses with what is another's, and a link that is put together
// of two. What a link's own page would post carries the page's token.
func doored(path string, form func(of dbtest.Holding) url.Values) route {
	return func(g *grounds, own, of dbtest.Holding) (list []try) {
		var f url.Values
		if form != nil {
			f = form(of)
		}
		if f != nil {
			f.Set("page", g.doorToken(own))
		}
		own1, rest := "/connect/"+own.DoorToken, path
		switch {
		case strings.HasSuffix(path, "account="):
			rest += id(of.Account)
			list = append(list, try{name: "account", path: own1 + rest, form: f})
		case path == "/accounts":
			list = append(list, try{name: "account", path: own1 + rest, form: f})
		case strings.HasSuffix(path, "/consents/"):
			rest += id(of.Consent)
			list = append(list, try{name: "consent", path: own1 + rest, form: f, odd: true})
		}
		if own.ID == of.ID && own.Client != of.Client {
			return list // the same workspace: put together they are the other's whole link
		}
		prefix, _, _ := strings.Cut(own.DoorToken, ".")
		_, random, _ := strings.Cut(of.DoorToken, ".")
		return append(list, try{name: "token", path: "/connect/" + prefix + "." + random + rest, form: f, odd: strings.HasSuffix(path, "/consents/")})
	}
}

// doorToken is of the page of one's own link.
func (g *grounds) doorToken(own dbtest.Holding) string {
	cs, err := g.Store.Connecting(g.t.Context(), own.DoorToken, [32]byte{})
	if cs == nil {
		g.t.Fatal(err)
	}
	return cs.PageToken()
}
