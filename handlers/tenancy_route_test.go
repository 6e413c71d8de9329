package handlers_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/secret"
)

// try is one request. It names what own may reach and, in one position, what
// belongs to another.
type try struct {
	name string
	path string
	form url.Values
	file []byte   // sent along as an upload
	tus  []string // headers of the upload protocol, in pairs
	free bool     // nothing of another's is named
	odd  bool     // nobody at work sends it
}

// route builds the requests that an address is tried with. With own and of the
// same they are what a person at work sends.
type route func(g *grounds, own, of dbtest.Holding) []try

// withoutIDs are addresses that take no id of anybody's.
var withoutIDs = map[string]string{
	"GET /static/":  "files of the program itself",
	"GET /healthz":  "says that the process runs",
	"GET /readyz":   "says whether the databases answer",
	"GET /{$}":      "sends on to the sign-in page",
	"/":             "says that there is nothing",
	"GET /signin":   "a form",
	"POST /signin":  "takes an address and a password",
	"POST /signout": "ends the session of whoever asks",

	"GET /hosts":                     "says to a proxy whether a name is held",
	"GET /.well-known/herald-review": "says under a name that is held what stands in its DNS",

	"GET /forgotten":  "a form",
	"POST /forgotten": "takes an address, and answers the same for all",
}

// routes has a case for every other address. TestEveryAddressHasACase fails for
// one that is in neither list.
var routes = all(settingRoutes, connectRoutes, map[string]route{
	"GET /w/{slug}/calendar":                        lists("/calendar"),
	"POST /w/{slug}/calendar/moves":                 cardMoves,
	"GET /w/{slug}/posts":                           lists("/posts"),
	"GET /w/{slug}/activity":                        activities,
	"GET /w/{slug}/approvals":                       free("/approvals"),
	"GET /w/{slug}/live":                            free("/live"),
	"GET /w/{slug}/find":                            free("/find?q=a"),
	"GET /w/{slug}/accounts":                        free("/accounts"),
	"POST /w/{slug}/posts/submissions":              bulk("/posts/submissions", func(h dbtest.Holding) model.PostID { return h.Draft }),
	"POST /w/{slug}/posts/retries":                  bulk("/posts/retries", func(h dbtest.Holding) model.PostID { return h.Failed }),
	"POST /w/{slug}/posts/schedules":                bulk("/posts/schedules", func(h dbtest.Holding) model.PostID { return h.Planned }),
	"POST /w/{slug}/posts/cancellations":            bulk("/posts/cancellations", func(h dbtest.Holding) model.PostID { return h.Planned }),
	"POST /w/{slug}/posts/moves":                    bulk("/posts/moves", func(h dbtest.Holding) model.PostID { return h.Planned }, "do", "by", "by", "1"),
	"GET /passwords/{token}":                        ofNobody,
	"POST /passwords/{token}":                       ofNobody,
	"GET /w/{slug}/imports":                         free("/imports"),
	"POST /w/{slug}/imports":                        newImports,
	"GET /w/{slug}/imports/{import}":                get(func(of dbtest.Holding) string { return "/imports/" + id(of.Import) }),
	"POST /w/{slug}/imports/{import}":               post(func(of dbtest.Holding) string { return "/imports/" + id(of.Import) }, "column", "text", "column", "accounts", "do", "start"),
	"POST /w/{slug}/imports/{import}/removal":       post(func(of dbtest.Holding) string { return "/imports/" + id(of.SpareImport) + "/removal" }),
	"GET /w/{slug}/imports/{import}/refused.csv":    get(func(of dbtest.Holding) string { return "/imports/" + id(of.Import) + "/refused.csv" }),
	"POST /w/{slug}/posts/labels":                   labellings,
	"GET /w/{slug}/days":                            free("/days"),
	"POST /w/{slug}/days":                           newDayNotes,
	"POST /w/{slug}/days/{note}/removal":            post(func(of dbtest.Holding) string { return "/days/" + id(of.Note) + "/removal" }),
	"POST /w/{slug}/clients/{client}/holidays":      post(func(of dbtest.Holding) string { return "/clients/" + id(of.Client) + "/holidays" }, "holidays", "DE-BY"),
	"POST /w/{slug}/clients/{client}/apart":         post(func(of dbtest.Holding) string { return "/clients/" + id(of.Client) + "/apart" }, "apart", "20"),
	"GET /w/{slug}/clients":                         free("/clients?q=a"),
	"POST /w/{slug}/client":                         clientUses,
	"GET /w/{slug}/calendar.csv":                    lists("/calendar.csv"),
	"GET /w/{slug}/labels":                          free("/labels"),
	"POST /w/{slug}/labels":                         newLabels,
	"POST /w/{slug}/labels/{label}":                 post(func(of dbtest.Holding) string { return "/labels/" + id(of.Label) }, "name", "Another name", "tint", "2"),
	"POST /w/{slug}/labels/{label}/removal":         post(func(of dbtest.Holding) string { return "/labels/" + id(of.Spare) + "/removal" }),
	"GET /w/{slug}/wordings":                        free("/wordings"),
	"POST /w/{slug}/wordings":                       newWordings,
	"GET /w/{slug}/wordings/new":                    free("/wordings/new?kind=snippet"),
	"GET /w/{slug}/wordings/choices":                get(func(of dbtest.Holding) string { return "/wordings/choices?account=" + id(of.Account) }),
	"POST /w/{slug}/wordings/templates":             newTemplates,
	"GET /w/{slug}/wordings/{wording}":              get(func(of dbtest.Holding) string { return "/wordings/" + id(of.Wording) }),
	"POST /w/{slug}/wordings/{wording}":             post(func(of dbtest.Holding) string { return "/wordings/" + id(of.Wording) }, "name", "Another name", "text", "Other words", "seen", "1"),
	"POST /w/{slug}/wordings/{wording}/removal":     post(func(of dbtest.Holding) string { return "/wordings/" + id(of.SpareWording) + "/removal" }),
	"GET /w/{slug}/posts/new":                       newPosts,
	"GET /w/{slug}/posts/{id}":                      get(func(of dbtest.Holding) string { return "/posts/" + id(of.Draft) }),
	"GET /w/{slug}/posts/{id}/versions":             get(func(of dbtest.Holding) string { return "/posts/" + id(of.Draft) + "/versions?number=1&against=1" }),
	"GET /w/{slug}/posts/{id}/versions/{number}":    get(func(of dbtest.Holding) string { return "/posts/" + id(of.Draft) + "/versions/1?against=1" }),
	"GET /w/{slug}/posts/{id}/presence":             get(func(of dbtest.Holding) string { return "/posts/" + id(of.Draft) + "/presence" }),
	"POST /w/{slug}/posts":                          composed(""),
	"POST /w/{slug}/posts/{id}":                     saves,
	"POST /w/{slug}/posts/form":                     composed("/form"),
	"POST /w/{slug}/posts/check":                    composed("/check"),
	"POST /w/{slug}/media":                          uploads,
	"POST /w/{slug}/uploads":                        newUploads,
	"HEAD /w/{slug}/uploads/{upload}":               onUpload(func(h dbtest.Holding) model.UploadID { return h.Dropped }),
	"PATCH /w/{slug}/uploads/{upload}":              onUpload(func(h dbtest.Holding) model.UploadID { return h.Arriving }, "Upload-Offset", "1", "Content-Type", "application/offset+octet-stream"),
	"DELETE /w/{slug}/uploads/{upload}":             onUpload(func(h dbtest.Holding) model.UploadID { return h.Dropped }),
	"GET /w/{slug}/media":                           shelves,
	"GET /w/{slug}/media/new":                       newFiles,
	"POST /w/{slug}/media/files":                    files,
	"POST /w/{slug}/media/arrivals":                 arrivals,
	"GET /w/{slug}/media/attachments":               get(func(of dbtest.Holding) string { return "/media/attachments?media=" + id(of.Media) }),
	"GET /w/{slug}/media/picker":                    picks,
	"GET /w/{slug}/media/standings":                 get(func(of dbtest.Holding) string { return "/media/standings?media=" + id(of.Media) }),
	"GET /w/{slug}/media/{media}":                   get(func(of dbtest.Holding) string { return "/media/" + id(of.Media) }),
	"GET /w/{slug}/media/{media}/standing":          get(func(of dbtest.Holding) string { return "/media/" + id(of.Media) + "/standing" }),
	"POST /w/{slug}/media/{media}":                  describes,
	"GET /w/{slug}/media/{media}/crop":              get(func(of dbtest.Holding) string { return "/media/" + id(of.Media) + "/crop?preset=webhook/post" }),
	"POST /w/{slug}/media/{media}/crop":             cropped,
	"POST /w/{slug}/media/{media}/focus":            post(func(of dbtest.Holding) string { return "/media/" + id(of.Media) + "/focus" }, "x", "100", "y", "900"),
	"POST /w/{slug}/media/{media}/retries":          post(func(of dbtest.Holding) string { return "/media/" + id(of.Media) + "/retries" }),
	"POST /w/{slug}/media/tags":                     onFiles("/media/tags", "tags", "summer"),
	"POST /w/{slug}/media/moves":                    moves,
	"POST /w/{slug}/media/deletions":                deletions,
	"POST /w/{slug}/folders":                        newFolders,
	"POST /w/{slug}/folders/{folder}":               post(func(of dbtest.Holding) string { return "/folders/" + id(of.Folder) }, "name", "Another name"),
	"POST /w/{slug}/folders/{folder}/removal":       removals,
	"POST /w/{slug}/posts/{id}/retries":             onPost("/retries", func(h dbtest.Holding) model.PostID { return h.Failed }),
	"POST /w/{slug}/posts/{id}/archive":             onPost("/archive", func(h dbtest.Holding) model.PostID { return h.Stuck }),
	"GET /w/{slug}/targets/{id}":                    get(func(of dbtest.Holding) string { return "/targets/" + id(of.PlannedTarget) }),
	"GET /w/{slug}/targets/{id}/status":             get(func(of dbtest.Holding) string { return "/targets/" + id(of.PlannedTarget) + "/status" }),
	"POST /w/{slug}/targets/{id}/schedule":          onTarget("/schedule", planned, "local", "2026-03-20T10:00", "zone", "Europe/Berlin"),
	"POST /w/{slug}/targets/{id}/cancellation":      onTarget("/cancellation", planned),
	"POST /w/{slug}/targets/{id}/retries":           onTarget("/retries", func(h dbtest.Holding) model.TargetID { return h.FailedTarget }),
	"POST /w/{slug}/targets/{id}/findings":          findings,
	"GET /w/{slug}/approvals/{request}":             get(func(of dbtest.Holding) string { return "/approvals/" + id(of.Request) }),
	"POST /w/{slug}/approvals/{request}/decisions":  decisions,
	"GET /w/{slug}/approvals/{request}/names":       get(func(of dbtest.Holding) string { return "/approvals/" + id(of.Request) + "/names" }),
	"POST /w/{slug}/approvals/{request}/comments":   comments,
	"POST /w/{slug}/review-links/{link}/revocation": post(func(of dbtest.Holding) string { return "/review-links/" + id(of.Link) + "/revocation" }),
	"POST /w/{slug}/review-links/{link}/successor":  post(func(of dbtest.Holding) string { return "/review-links/" + id(of.Link) + "/successor" }),
	"GET /w/{slug}/consents/{consent}":              get(func(of dbtest.Holding) string { return "/consents/" + id(of.Consent) }),
	"POST /w/{slug}/consents/{consent}": func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "path", path: at(own, "/consents/"+id(of.Consent)), form: fields("chosen", "nothing of it")}}
	},
	"POST /oauth/{network}/start":                  signInStarts,
	"GET /oauth/{network}/callback":                signInReturns,
	"GET /w/{slug}/accounts/new":                   newAccounts,
	"POST /w/{slug}/accounts":                      addAccounts,
	"GET /w/{slug}/accounts/{account}":             get(func(of dbtest.Holding) string { return "/accounts/" + id(of.Account) }),
	"POST /w/{slug}/accounts/{account}":            onAccount("", "handle", "@changed", "address", "https://hooks.example/changed"),
	"POST /w/{slug}/accounts/{account}/connection": onAccount("/connection", "make", "false", "token", "a-secret-of-its-own"),
	"POST /w/{slug}/accounts/{account}/pause":      onAccount("/pause", "paused", "true"),
	"POST /w/{slug}/accounts/{account}/state":      onAccount("/state", "on", "false"),
	"POST /w/{slug}/accounts/{account}/retries":    onAccount("/retries"),
	"GET /w/{slug}/settings/workflows":             free("/settings/workflows"),
	"GET /w/{slug}/settings/workflows/{client}":    get(func(of dbtest.Holding) string { return "/settings/workflows/" + id(of.Client) }),
	"POST /w/{slug}/settings/workflows/{client}":   workflows,
	"POST /w/{slug}/clients/{client}/pause":        post(func(of dbtest.Holding) string { return "/clients/" + id(of.Client) + "/pause" }, "paused", "true"),
	"POST /w/{slug}/pause":                         freePost("/pause", "paused", "true"),
	"GET /review/{token}":                          reviewed("", func(*grounds, dbtest.Holding) url.Values { return nil }),
	"POST /review/{token}/decisions":               reviewed("/decisions", reviewDecision),
	"POST /review/{token}/approvals":               reviewed("/approvals", reviewApprovals),
	"POST /review/{token}/comments":                reviewed("/comments", reviewComment),
	"POST /review/{token}/links":                   reviewed("/links", func(*grounds, dbtest.Holding) url.Values { return url.Values{} }),
	"GET /m/{signed}":                              signed,
	"POST /w/{slug}/cards":                         freePost("/cards", "card", "no address"),
	"GET /w/{slug}/cards/{hash}":                   cardPictures,
	"GET /w/{slug}/feeds":                          free("/feeds"),
	"GET /w/{slug}/settings/networks":              free("/settings/networks"),
	"POST /w/{slug}/feeds":                         feeds,
	"POST /w/{slug}/feeds/{feed}/revocation":       post(func(of dbtest.Holding) string { return "/feeds/" + id(of.Feed) + "/revocation" }),
	"GET /feeds/{file}":                            subscribed,
	"GET /w/{slug}/settings":                       free("/settings"),
	"GET /w/{slug}/settings/style":                 free("/settings/style"),

	"POST /w/{slug}/suggestions/{suggestion}/adoption": post(func(of dbtest.Holding) string { return "/suggestions/" + id(of.Suggestion) + "/adoption" }),
	"POST /w/{slug}/suggestions/{suggestion}/refusal":  post(func(of dbtest.Holding) string { return "/suggestions/" + id(of.Suggestion) + "/refusal" }),
	"POST /review/{token}/suggestions":                 reviewed("/suggestions", reviewSuggestion),
	"POST /w/{slug}/targets/{id}/holds":                post(func(of dbtest.Holding) string { return "/targets/" + id(of.PlannedTarget) + "/holds" }, "why", "Wait"),
	"POST /w/{slug}/targets/{id}/releases":             post(func(of dbtest.Holding) string { return "/targets/" + id(of.HeldTarget) + "/releases" }),
	"GET /looks/{file}":                                unsigned("/looks/"),
	"GET /reminders/{signed}":                          unsigned("/reminders/"),
	"POST /reminders/{signed}":                         unsigned("/reminders/"),
	"GET /review/{token}/calendar":                     reviewed("/calendar", func(*grounds, dbtest.Holding) url.Values { return nil }),
	"GET /review/{token}/cards/{signed}":               reviewed("/cards/forged", func(*grounds, dbtest.Holding) url.Values { return nil }),
	"POST /review/{token}/zone":                        reviewed("/zone", func(*grounds, dbtest.Holding) url.Values { return url.Values{} }),
	"POST /review/{token}/holds":                       reviewed("/holds", reviewHold),
	"POST /review/{token}/releases":                    reviewed("/releases", reviewHold),

	"GET /w/{slug}/accounts/{account}/slots":           get(func(of dbtest.Holding) string { return "/accounts/" + id(of.Account) + "/slots" }),
	"POST /w/{slug}/accounts/{account}/slots":          onAccount("/slots", "day", "5", "clock", "10:30"),
	"POST /w/{slug}/accounts/{account}/slots/removals": slotRemovals,
	"POST /w/{slug}/accounts/{account}/slots/copies":   slotCopies,
	"POST /w/{slug}/posts/copies":                      keptCopies,
	"POST /w/{slug}/posts/copies/removals":             freePost("/posts/copies/removals", "drop", "key-of-a-form-0123456789"),
})

// all joins lists of cases.
func all(lists ...map[string]route) map[string]route {
	joined := map[string]route{}
	for _, list := range lists {
		maps.Copy(joined, list)
	}
	return joined
}

func id[T ~int64](n T) string { return fmt.Sprint(int64(n)) }

func planned(h dbtest.Holding) model.TargetID { return h.PlannedTarget }

// fields makes a form of pairs of name and value.
func fields(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

func at(own dbtest.Holding, path string) string { return "/w/" + own.Slug + path }

func get(path func(of dbtest.Holding) string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try { return []try{{name: "path", path: at(own, path(of))}} }
}

func post(path func(of dbtest.Holding) string, pairs ...string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "path", path: at(own, path(of)), form: fields(pairs...)}}
	}
}

func free(path string) route {
	return func(_ *grounds, own, _ dbtest.Holding) []try {
		return []try{{name: "nothing", path: at(own, path), free: true}}
	}
}

func freePost(path string, pairs ...string) route {
	return func(_ *grounds, own, _ dbtest.Holding) []try {
		return []try{{name: "nothing", path: at(own, path), form: fields(pairs...), free: true}}
	}
}

func lists(path string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{
			{name: "nothing", path: at(own, path), free: true},
			{name: "client", path: at(own, path+"?client="+id(of.Client))},
			{name: "account", path: at(own, path+"?account="+id(of.Account))},
			{name: "label", path: at(own, path+"?label="+id(of.Label))},
			{name: "campaign", path: at(own, path+"?campaign="+id(of.Campaign))},
			{name: "one of two clients", path: at(own, path+"?client="+id(own.Client)+"&client="+id(of.Client))},
		}
	}
}

func activities(g *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/activity"), free: true},
		{name: "client", path: at(own, "/activity?client="+id(of.Client))},
		{name: "approver", path: at(own, "/activity?person=a"+id(of.Approver))},
	}
}

func bulk(path string, of1 func(dbtest.Holding) model.PostID, pairs ...string) route {
	return func(g *grounds, own, of dbtest.Holding) []try {
		form := fields(append([]string{"post", id(of1(of)) + ":" + g.seen(of, of1(of))}, pairs...)...)
		return []try{
			{name: "post", path: at(own, path), form: form},
			{name: "filter", path: at(own, path+"?client="+id(of.Client)), form: form},
		}
	}
}

func labellings(_ *grounds, own, of dbtest.Holding) []try {
	form := func(post model.PostID, label model.LabelID) url.Values {
		return fields("post", id(post)+":1", "label", id(label), "do", "add")
	}
	return []try{
		{name: "post", path: at(own, "/posts/labels"), form: form(of.Draft, own.Label)},
		{name: "label", path: at(own, "/posts/labels"), form: form(own.Draft, of.Label)},
	}
}

func clientUses(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/client"), form: fields("client", id(of.Client), "to", at(own, "/posts"))}}
}

func newImports(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/imports"), form: fields("client", id(of.Client)), file: []byte("Text,Accounts\nA new post,@somebody\n")}}
}

// ofNobody is for links that belong to a person and to no workspace.
func ofNobody(*grounds, dbtest.Holding, dbtest.Holding) []try { return nil }

func newDayNotes(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/days"), form: fields("day", "2026-03-12", "words", "One more", "client", id(of.Client))}}
}

func newWordings(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/wordings"), form: fields("kind", "snippet", "name", "One more", "text", "words", "client", id(of.Client))}}
}

func newTemplates(_ *grounds, own, of dbtest.Holding) []try {
	form := func(pairs ...string) url.Values {
		return fields(append([]string{"text", "words", "template_name", "One more"}, pairs...)...)
	}
	return []try{
		{name: "client", path: at(own, "/wordings/templates"), form: form("template_client", id(of.Client))},
		{name: "account", path: at(own, "/wordings/templates"), form: form("template_client", id(own.Client), "account", id(of.Account))},
		{name: "label", path: at(own, "/wordings/templates"), form: form("template_client", id(own.Client), "label", id(of.Label))},
	}
}

func newLabels(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/labels"), form: fields("kind", "label", "name", "One more", "tint", "3", "client", id(of.Client))}}
}

// cardMoves takes a card that has no time, and back to none.
func cardMoves(_ *grounds, own, of dbtest.Holding) []try {
	form := func(post model.PostID) url.Values { return fields("card", "."+id(post), "back", "."+id(post)) }
	return []try{
		{name: "post", path: at(own, "/calendar/moves"), form: form(of.Draft)},
		{name: "client", path: at(own, "/calendar/moves?client="+id(of.Client)), form: form(own.Draft)},
		{name: "account", path: at(own, "/calendar/moves?account="+id(of.Account)), form: form(own.Draft)},
	}
}

func newPosts(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/posts/new"), free: true},
		{name: "from", path: at(own, "/posts/new?from="+id(of.Draft))},
		{name: "template", path: at(own, "/posts/new?template="+id(of.Wording))},
		{name: "client", path: at(own, "/posts/new?client="+id(of.Client))},
		{name: "account", path: at(own, "/posts/new?account="+id(of.Account))},
	}
}

// composed tries every field of the composer's form that takes an id.
func composed(path string) route {
	return func(g *grounds, own, of dbtest.Holding) []try {
		to := at(own, "/posts"+path)
		with := func(name string, pairs ...string) try {
			f := fields("do", map[string]string{"": "save", "/form": "refresh", "/check": "check"}[path], "key", "key-of-a-form-0123456789", "seen", "0", "text", "A new post")
			for field, values := range fields(pairs...) {
				f[field] = values
			}
			return try{name: name, path: to, form: f}
		}
		mine := id(own.Account)
		list := []try{
			with("account", "account", id(of.Account)),
			with("one of two accounts", "account", mine, "account", id(of.Account), "named", id(own.Client), "named", id(of.Client)),
			with("file", "account", mine, "media", id(of.Media)),
			with("file of a variant", "account", mine, "variant", "webhook", "text.webhook", "x", "extra.webhook", id(of.Media)),
			with("library", "account", mine, "owner", id(of.Client)),
			with("label", "account", mine, "label", id(of.Label)),
			with("campaign", "account", mine, "campaign", id(of.Campaign)),
		}
		if path == "" {
			list = append(list, with("account, to publish", "account", id(of.Account), "do", "publish"))
			odd := with("post", "post", id(of.Draft), "account", mine)
			odd.odd = true
			return append(list, odd)
		}
		list = append(list, with("post", "post", id(of.Draft), "seen", g.seen(of, of.Draft), "account", mine))
		if path == "/form" {
			list = append(list, with("file of the library", "account", mine, "do", "attach", "pick", id(of.Media)))
			list = append(list, with("file that arrived", "account", mine, "do", "arrive", "arrived", id(of.Media)))
			list = append(list, with("all of a client", "account", mine, "do", "all:"+id(of.Client)))
		}
		return list
	}
}

func saves(g *grounds, own, of dbtest.Holding) []try {
	form := func(post model.PostID, of1 dbtest.Holding, pairs ...string) url.Values {
		f := fields(append(pairs, "do", "save", "seen", g.seen(of1, post), "post", id(post), "text", "Changed")...)
		return f
	}
	mine := id(own.Account)
	return []try{
		{name: "post", path: at(own, "/posts/"+id(of.Draft)), form: form(of.Draft, of, "account", mine)},
		{name: "post of the form", path: at(own, "/posts/"+id(own.Draft)), form: form(of.Draft, of, "account", mine)},
		{name: "account", path: at(own, "/posts/"+id(own.Draft)), form: form(own.Draft, own, "account", id(of.Account))},
		{name: "file", path: at(own, "/posts/"+id(own.Draft)), form: form(own.Draft, own, "account", mine, "media", id(of.Media))},
	}
}

func uploads(g *grounds, own, of dbtest.Holding) []try {
	to, base := at(own, "/media"), []string{"do", "refresh", "key", "key-of-a-form-0123456789", "seen", "0", "text", "A new post"}
	return []try{
		{name: "library", path: to, form: fields(append(base, "owner", id(of.Client))...), file: g.picture},
		{name: "library beside an account", path: to, form: fields(append(base, "owner", id(of.Client), "account", id(own.Account))...), file: g.picture},
		{name: "post", path: to, form: fields(append(base, "post", id(of.Draft), "account", id(own.Account))...), file: g.picture},
	}
}

func newUploads(_ *grounds, own, of dbtest.Holding) []try {
	meta := "filename YS5qcGc=,client " + base64.StdEncoding.EncodeToString([]byte(id(of.Client)))
	return []try{{name: "client", path: at(own, "/uploads"), tus: []string{"Tus-Resumable", "1.0.0", "Upload-Length", "10", "Upload-Metadata", meta}}}
}

func onUpload(of1 func(dbtest.Holding) model.UploadID, header ...string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "upload", path: at(own, "/uploads/"+id(of1(of))), tus: append([]string{"Tus-Resumable", "1.0.0"}, header...)}}
	}
}

func shelves(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/media"), free: true},
		{name: "client", path: at(own, "/media?client="+id(of.Client))},
		{name: "folder", path: at(own, "/media?folder="+id(of.Folder))},
		{name: "folder of one's own client", path: at(own, "/media?client="+id(of.Client)+"&folder="+id(of.Folder))},
	}
}

func newFiles(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/media/new"), free: true},
		{name: "client", path: at(own, "/media/new?client="+id(of.Client))},
		{name: "folder", path: at(own, "/media/new?folder="+id(of.Folder))},
	}
}

func files(g *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "client", path: at(own, "/media/files"), form: fields("client", id(of.Client)), file: g.picture},
		{name: "folder", path: at(own, "/media/files"), form: fields("client", id(own.Client), "folder", id(of.Folder)), file: g.picture},
	}
}

func picks(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/media/picker"), free: true},
		{name: "client", path: at(own, "/media/picker?owner="+id(of.Client))},
	}
}

func arrivals(_ *grounds, own, of dbtest.Holding) []try {
	to := at(own, "/media/arrivals")
	return []try{
		{name: "file", path: to, form: fields("arrived", id(of.Media))},
		{name: "one of two files", path: to, form: fields("arrived", id(own.Media), "arrived", id(of.Media))},
		{name: "folder", path: to, form: fields("arrived", id(own.Media), "folder", id(of.Folder))},
	}
}

func cropped(_ *grounds, own, of dbtest.Holding) []try {
	f := fields("preset", "webhook/post", "do", "save", "x", "0", "y", "0", "width", "50", "height", "40")
	return []try{{name: "file", path: at(own, "/media/"+id(of.Media)+"/crop"), form: f}}
}

func describes(g *grounds, own, of dbtest.Holding) []try {
	f := fields("seen", g.mediaSeen(of), "name", "new.jpg", "alt", "What it shows", "tags", "summer")
	return []try{{name: "file", path: at(own, "/media/"+id(of.Media)), form: f}}
}

// onFiles tries chosen files: another's alone, and beside one's own.
func onFiles(path string, pairs ...string) route {
	return func(_ *grounds, own, of dbtest.Holding) []try {
		return []try{
			{name: "file", path: at(own, path), form: fields(append(pairs, "media", id(of.Media))...)},
			{name: "one of two files", path: at(own, path), form: fields(append(pairs, "media", id(own.Media), "media", id(of.Media))...)},
		}
	}
}

func moves(g *grounds, own, of dbtest.Holding) []try {
	return append(onFiles("/media/moves", "folder", "0")(g, own, of),
		try{name: "folder", path: at(own, "/media/moves"), form: fields("media", id(own.Media), "folder", id(of.Folder))})
}

// deletions only ask about one's own, which the cases after this one want.
func deletions(g *grounds, own, of dbtest.Holding) []try {
	list := onFiles("/media/deletions")(g, own, of)
	if own.Media != of.Media {
		list = append(list, onFiles("/media/deletions", "sure", "unused")(g, own, of)...)
	}
	return list
}

func newFolders(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "client", path: at(own, "/folders"), form: fields("client", id(of.Client), "name", "A new folder")},
		{name: "parent", path: at(own, "/folders"), form: fields("client", id(own.Client), "parent", id(of.Folder), "name", "A new folder")},
	}
}

// removals are of the folder that holds another, and so stays.
func removals(g *grounds, own, of dbtest.Holding) []try {
	top := dbtest.Look[model.FolderID](g.t, g.World, of.Shard, `SELECT parent_id FROM tenant.media_folders WHERE id = $1 AND tenant_id = $2`, of.Folder, of.ID)
	return []try{{name: "folder", path: at(own, "/folders/"+id(top)+"/removal"), form: fields("name", "")}}
}

func onPost(path string, of1 func(dbtest.Holding) model.PostID) route {
	return func(g *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "post", path: at(own, "/posts/"+id(of1(of))+path), form: fields("seen", g.seen(of, of1(of)))}}
	}
}

func onTarget(path string, of1 func(dbtest.Holding) model.TargetID, pairs ...string) route {
	return func(g *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "target", path: at(own, "/targets/"+id(of1(of))+path), form: fields(append(pairs, "seen", g.targetSeen(of, of1(of)))...)}}
	}
}

func findings(g *grounds, own, of dbtest.Holding) []try {
	to, seen := at(own, "/targets/"+id(of.UnsureTarget)+"/findings"), g.targetSeen(of, of.UnsureTarget)
	return []try{
		{name: "live", path: to, form: fields("verdict", "live", "address", "https://net.example/1", "seen", seen)},
		{name: "not live", path: to, form: fields("verdict", "not_live", "looked", "true", "seen", seen)},
		{name: "not looked", path: to, form: fields("verdict", "not_live", "seen", seen)},
	}
}

func decisions(g *grounds, own, of dbtest.Holding) []try {
	r := g.request(of)
	return []try{{name: "request", path: at(own, "/approvals/"+id(of.Request)+"/decisions"),
		form: fields("verdict", "approve", "hash", r.Hash, "stage", fmt.Sprint(r.Stage))}}
}

func comments(g *grounds, own, of dbtest.Holding) []try {
	to := at(own, "/approvals/"+id(of.Request)+"/comments")
	return []try{
		{name: "internal", path: to, form: fields("key", "key-of-a-form-0123456789", "visibility", "internal", "body", "A remark")},
		{name: "to the client", path: to, form: fields("key", "key-of-a-form-9876543210", "visibility", "client", "body", "A remark")},
	}
}

func newAccounts(_ *grounds, own, of dbtest.Holding) []try {
	return []try{
		{name: "nothing", path: at(own, "/accounts/new"), free: true},
		{name: "client", path: at(own, "/accounts/new?network=webhook&client="+id(of.Client))},
	}
}

func signInStarts(_ *grounds, own, of dbtest.Holding) []try {
	form := func(pairs ...string) url.Values {
		return fields(append([]string{"workspace", own.Slug, "way", ""}, pairs...)...)
	}
	return []try{
		{name: "client", path: "/oauth/facebook/start", form: form("client", id(of.Client))},
		{name: "account", path: "/oauth/facebook/start", form: form("client", id(own.Client), "account", id(of.Account)), odd: true},
	}
}

// signInReturns comes back with a state that nobody began.
func signInReturns(*grounds, dbtest.Holding, dbtest.Holding) []try {
	return []try{{name: "nothing", path: "/oauth/facebook/callback?code=c&state=1.2", odd: true}}
}

func addAccounts(_ *grounds, own, of dbtest.Holding) []try {
	f := fields("network", "webhook", "client", id(of.Client), "handle", "@new", "address", "https://hooks.example/new", "make", "false", "token", "a-secret-of-its-own")
	short := fields("network", "webhook", "client", id(of.Client), "handle", "@new", "address", "https://hooks.example/new", "make", "false", "token", "short")
	return []try{{name: "client", path: at(own, "/accounts"), form: f}, {name: "client, with a bad secret", path: at(own, "/accounts"), form: short}}
}

func onAccount(path string, pairs ...string) route {
	return func(g *grounds, own, of dbtest.Holding) []try {
		return []try{{name: "account", path: at(own, "/accounts/"+id(of.Account)+path), form: fields(append(pairs, "seen", g.accountSeen(of))...)}}
	}
}

// workflows saves one with an approver in it.
func workflows(g *grounds, own, of dbtest.Holding) []try {
	form := func(at, of dbtest.Holding) url.Values {
		flow, err := at.Owner.Workflow(g.t.Context(), at.Client)
		if err != nil {
			g.t.Fatal(err)
		}
		return fields("do", "confirm", "seen", flow.Seen, "stages", "1", "name-0", "Client", "rule-0", "any", "approver-0", id(of.Approver))
	}
	gone := form(own, own)
	gone.Set("gone", id(of.Approver))
	gone.Set("user-0", id(own.Owner.Actor.User))
	return []try{
		{name: "client", path: at(own, "/settings/workflows/"+id(of.Client)), form: form(of, of)},
		{name: "approver", path: at(own, "/settings/workflows/"+id(own.Client)), form: form(own, of)},
		{name: "gone", path: at(own, "/settings/workflows/"+id(own.Client)), form: gone},
	}
}

// reviewed tries a link's form with what another link is for, and a link that is
// put together of two.
func reviewed(path string, form func(g *grounds, of dbtest.Holding) url.Values) route {
	return func(g *grounds, own, of dbtest.Holding) (list []try) {
		f := form(g, of)
		if f != nil {
			f.Set("page", g.pageToken(own))
		}
		if f.Has("request") || f.Has("asked") {
			list = append(list, try{name: "request", path: "/review/" + own.Token + path, form: f})
		}
		prefix, _, _ := strings.Cut(own.Token, ".")
		_, random, _ := strings.Cut(of.Token, ".")
		if own.ID == of.ID && own.Client != of.Client {
			return list // the same workspace: put together they are the other's whole link
		}
		return append(list, try{name: "token", path: "/review/" + prefix + "." + random + path, form: f})
	}
}

// feeds asks for an address of a client.
func feeds(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "client", path: at(own, "/feeds"), form: fields("client", id(of.Client))}}
}

// subscribed tries a calendar's address that is put together of two.
func subscribed(_ *grounds, own, of dbtest.Holding) []try {
	if own.ID == of.ID && own.Client != of.Client {
		return nil // the same workspace: put together they are the other's whole address
	}
	prefix, _, _ := strings.Cut(own.Calendar, ".")
	_, random, _ := strings.Cut(of.Calendar, ".")
	return []try{{name: "token", path: "/feeds/" + prefix + "." + random + ".ics"}}
}

func reviewDecision(g *grounds, of dbtest.Holding) url.Values {
	r := g.request(of)
	return fields("request", id(of.Request), "stage", fmt.Sprint(r.Stage), "hash", r.Hash, "verdict", "approve")
}

func reviewApprovals(g *grounds, of dbtest.Holding) url.Values {
	r := g.request(of)
	return fields("asked", fmt.Sprintf("%d:%d:%s", of.Request, r.Stage, r.Hash))
}

func reviewComment(g *grounds, of dbtest.Holding) url.Values {
	return fields("request", id(of.Request), "key", "key-of-a-form-0123456789", "body", "A remark")
}

// unsigned tries an address that somebody made up.
func unsigned(path string) route {
	return func(*grounds, dbtest.Holding, dbtest.Holding) []try {
		return []try{{name: "made up", path: path + "AAAA", odd: true}}
	}
}

func reviewHold(_ *grounds, of dbtest.Holding) url.Values {
	return fields("request", id(of.Request))
}

func reviewSuggestion(g *grounds, of dbtest.Holding) url.Values {
	r, err := of.Owner.Approval(g.t.Context(), of.Request)
	if err != nil {
		g.t.Fatal(err)
	}
	return fields("request", id(of.Request), "hash", r.Hash, "key", "key-of-a-form-9876543210", "text", "Another text")
}

// signed tries another's own link, and one that was signed for one's own
// workspace. Neither is made by Herald for this person.
func signed(g *grounds, own, of dbtest.Holding) []try {
	link := func(tenant model.TenantID) string {
		return "/m/" + g.Ring.SignMedia(secret.ForMember, secret.MediaLink{Tenant: int64(tenant), Media: int64(of.Media), File: "original"}, g.Clock.Now().Add(g.life))
	}
	return []try{{name: "another's link", path: link(of.ID)}, {name: "own workspace", path: link(own.ID)}}
}

// cardPictures are a workspace's: a page's picture is of no client.
func cardPictures(_ *grounds, own, of dbtest.Holding) []try {
	return []try{{name: "path", path: at(own, "/cards/"+of.Card), free: own.ID == of.ID}}
}
