package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// pageLimit is how many posts one page shows.
const pageLimit = 60

const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages are the templates; the files are embedded, so they parse or nothing builds.
var pages = template.Must(template.ParseFS(pageFiles, "page/*.html"))

// view is what a page shows.
type view struct {
	Title    string
	Say      string
	Place    placeView   // the network it belongs to; empty on the first page
	Places   []placeView // all networks, for the bar
	Accounts []accountView
	Chosen   accountView // the account that the page is narrowed to
	Posts    []postView
	Total    int
	Single   bool // one post on a page of its own
	Consent  *consentView
}

type placeView struct {
	Name, Title string
	Posts       int
	Here        bool
}

type accountView struct {
	ID, Name, Handle, Initial string
	Hue                       int
	Posts                     int
	Link                      string
	Chosen                    bool
}

type postView struct {
	Post
	Who     accountView
	Place   string
	Stamp   string // for machines
	When    string // for people
	Host    string // of Link
	Raw     string // of a delivery
	Spoiler string
}

type consentView struct {
	App    string
	Scopes []string
	Allow  []accountView
	Deny   string
}

func (s *Sim) showIndex(w http.ResponseWriter, r *http.Request) {
	v := view{Title: "Simulated networks", Places: s.bar(nil)}
	v.Posts, v.Total = s.shown(s.posts("", "", ""))
	render(w, http.StatusOK, "index", v)
}

// showNetwork is what a network's public sees; accountID, or the query, narrows
// it to one account.
func (s *Sim) showNetwork(w http.ResponseWriter, r *http.Request, p *place, accountID string) {
	if accountID == "" {
		accountID = r.URL.Query().Get("account")
	}
	v := view{Title: p.title, Place: placeView{Name: string(p.name), Title: p.title}, Places: s.bar(p)}
	for _, a := range s.state.Load().at(p.name).all() {
		item := viewOf(a)
		item.Posts = len(a.public(s.opts.Now(), ""))
		item.Chosen = accountID != "" && a.answersTo(accountID)
		if item.Chosen {
			v.Chosen, v.Title = item, item.Name+" on "+p.title
		}
		v.Accounts = append(v.Accounts, item)
	}
	if accountID != "" && !v.Chosen.Chosen {
		s.showMissing(w, "There is no such account on "+p.title+".")
		return
	}
	v.Posts, v.Total = s.shown(s.posts(p.name, accountID, ""))
	render(w, http.StatusOK, "network", v)
}

// showPost is the page that a post's address leads to.
func (s *Sim) showPost(w http.ResponseWriter, r *http.Request, p *place) {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	e, ok := s.state.Load().at(p.name).page(path)
	if !ok {
		if handle, isName := strings.CutPrefix(path, "/"+string(p.name)+"/@"); isName && !strings.Contains(handle, "/") {
			s.showNetwork(w, r, p, handle)
			return
		}
		s.showMissing(w, "This post does not exist.")
		return
	}
	var post Post
	var shows bool
	e.read(func() { post, shows = e.copied(""), e.shows(s.opts.Now()) })
	if !shows {
		s.showMissing(w, "This post is not public, or was taken away.")
		return
	}
	v := view{Title: p.title, Place: placeView{Name: string(p.name), Title: p.title}, Places: s.bar(p), Single: true}
	v.Posts, v.Total = s.shown([]Post{post})
	v.Chosen = v.Posts[0].Who
	v.Title = v.Chosen.Name + " on " + p.title
	render(w, http.StatusOK, "network", v)
}

func (s *Sim) showMissing(w http.ResponseWriter, say string) {
	render(w, http.StatusNotFound, "missing", view{Title: "Not here", Say: say, Places: s.bar(nil)})
}

// bar lists the networks for the top of each page.
func (s *Sim) bar(here *place) []placeView {
	st, now := s.state.Load(), s.opts.Now()
	var out []placeView
	for _, name := range s.order {
		item := placeView{Name: string(name), Title: s.places[name].title, Here: here != nil && here.name == name}
		for _, a := range st.at(name).all() {
			item.Posts += len(a.public(now, ""))
		}
		out = append(out, item)
	}
	return out
}

// shown makes views of the newest posts, newest first, and counts all.
func (s *Sim) shown(posts []Post) ([]postView, int) {
	total := len(posts)
	slices.Reverse(posts)
	st, out := s.state.Load(), []postView{}
	for _, p := range posts[:min(total, pageLimit)] {
		v := postView{
			Post: p, Place: s.places[p.Network].title,
			Stamp: p.Time.UTC().Format(time.RFC3339), When: ago(s.opts.Now().Sub(p.Time), p.Time),
		}
		v.Address = p.path
		for i := range v.Media {
			v.Media[i].Address = v.Media[i].path
		}
		if u, err := url.Parse(p.Link); err == nil {
			v.Host = u.Hostname()
		}
		if a := st.at(p.Network).find(p.Account); a != nil {
			v.Who = viewOf(a)
		}
		if e, ok := st.at(p.Network).page(p.path); ok {
			e.read(func() { v.Raw, v.Spoiler = pretty(e.private["raw"]), e.private["spoiler"] })
		}
		out = append(out, v)
	}
	return out, total
}

func viewOf(a *account) accountView {
	v := accountView{ID: a.id, Name: a.Name(), Handle: a.Handle(), Initial: "?"}
	for _, r := range v.Name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			v.Initial = strings.ToUpper(string(r))
			break
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.id))
	v.Hue = int(h.Sum32() % 6)
	v.Link = "/" + string(a.network) + "?account=" + url.QueryEscape(a.id)
	return v
}

// ago is how long ago something was, as networks put it.
func ago(d time.Duration, t time.Time) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

func pretty(raw string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(raw), "", "  ") != nil {
		return raw
	}
	return out.String()
}

func render(w http.ResponseWriter, status int, name string, v view) {
	body, err := drawn(name, v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func drawn(name string, v view) ([]byte, error) {
	var out bytes.Buffer
	err := pages.ExecuteTemplate(&out, name, v)
	return out.Bytes(), err
}

func serveBytes(w http.ResponseWriter, r *http.Request, data []byte) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// consentPage asks a person whether an app may act for an account.
func (c *call) consentPage(scopes []string, choose bool) *reply {
	with := func(answer string) string {
		q := c.r.URL.Query()
		q.Set("sim_answer", answer)
		return "?" + q.Encode()
	}
	v := view{
		Title: "Allow access to " + c.place.title, Place: placeView{Name: string(c.place.name), Title: c.place.title},
		Places: c.sim.bar(c.place), Consent: &consentView{App: c.params.get("client_id"), Scopes: scopes, Deny: with("deny")},
	}
	if choose {
		for _, a := range c.st.at(c.place.name).all() {
			item := viewOf(a)
			item.Link = with("allow:" + a.id)
			v.Consent.Allow = append(v.Consent.Allow, item)
		}
	}
	if len(v.Consent.Allow) == 0 {
		v.Consent.Allow = []accountView{{Name: "Somebody", Initial: "S", Link: with("allow:")}}
	}
	body, err := drawn("consent", v)
	if err != nil {
		return &reply{status: http.StatusInternalServerError, kind: "text/plain", body: []byte(err.Error())}
	}
	return (&reply{status: http.StatusOK, kind: "text/html; charset=utf-8", body: body}).
		with("Content-Security-Policy", pagePolicy).with("Cache-Control", "no-store")
}
