package handlers_test

import "herald/db/dbtest"

// connectRoutes are those of connections that end.
var connectRoutes = map[string]route{
	"GET /w/{slug}/accounts/{account}/disconnection":  get(func(of dbtest.Holding) string { return "/accounts/" + id(of.Account) + "/disconnection" }),
	"POST /w/{slug}/accounts/{account}/disconnection": onAccount("/disconnection"),
}
