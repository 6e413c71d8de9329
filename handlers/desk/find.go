package desk

import (
	"net/http"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/views/find"
	"herald/views/ui"
)

func (d *Desk) findRoutes() []route {
	return []route{{"GET /w/{slug}/find", model.PostsView, d.showFind}}
}

// showFind answers GET /find?q= with the places, days, clients and posts that
// answer to q; without q, with every place and the keys there are.
func (d *Desk) showFind(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	words := strings.Join(strings.Fields(r.FormValue("q")), " ")
	p := find.Props{Path: at(scope, "/find"), Words: words}
	found(&p, "Go to", places(scope, words))
	if words == "" {
		p.Keys = keys
	} else if err := d.findMore(r, scope, words, &p); err != nil {
		return err
	}
	return d.show(w, r, scope, http.StatusOK, page{title: "Find"}, find.Page(p))
}

// found adds a group, if anything is in it.
func found(p *find.Props, title string, items []find.Item) {
	if len(items) > 0 {
		p.Groups = append(p.Groups, find.Group{Title: title, Items: items})
	}
}

// findMost is how many of one kind are shown.
const findMost = 8

// findMore looks for days, clients and posts.
func (d *Desk) findMore(r *http.Request, scope *db.Scope, words string, p *find.Props) error {
	found(p, "Days", days(scope, words, d.Now()))
	list, err := scope.Posts(r.Context(), db.Page{}, db.CalendarFilter{Words: words})
	if err != nil {
		return err
	}
	byID := map[model.ClientID]db.CalendarClient{}
	var clients, posts []find.Item
	for _, c := range list.Clients {
		byID[c.ID] = c
		if answers(c.Name, words) && len(clients) < findMost {
			clients = append(clients, find.Item{Label: c.Name, Note: "Calendar", Href: at(scope, "/calendar?client="+id(c.ID)), Icon: "building-2"})
		}
	}
	for _, row := range list.Posts[:min(len(list.Posts), findMost)] {
		one := d.postRow(scope, row, list.Zone, byID)
		posts = append(posts, find.Item{Label: one.Words, Note: one.Clients + ", " + strings.ToLower(ui.StatusWord(one.State)), Href: one.Href, Icon: "file-text"})
	}
	found(p, "Clients", clients)
	found(p, "Posts", posts)
	return nil
}

// answers says whether every word of what is looked for begins a word of name.
func answers(name, words string) bool {
	have := strings.Fields(strings.ToLower(name))
	for _, word := range strings.Fields(strings.ToLower(words)) {
		begins := false
		for _, h := range have {
			begins = begins || strings.HasPrefix(h, word)
		}
		if !begins {
			return false
		}
	}
	return true
}

// places are the pages that the actor may open.
func places(scope *db.Scope, words string) (items []find.Item) {
	var all []find.Item
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		all = append(all, find.Item{Label: "Create post", Href: at(scope, "/posts/new"), Icon: "plus"})
	}
	for _, n := range nav(scope, db.Frame{}, "") {
		all = append(all, find.Item{Label: n.Label, Href: n.Href, Icon: n.Icon})
		if n.Label == "Calendar" {
			all = append(all, find.Item{Label: "Calendar by week", Href: n.Href + "?view=week", Icon: "calendar-range"}, find.Item{Label: "Calendar by day", Href: n.Href + "?view=day", Icon: "calendar"},
				find.Item{Label: "Calendar as a list", Href: n.Href + "?view=list", Icon: "list"}, find.Item{Label: "Posts without a time", Href: n.Href + "?tray=open", Icon: "inbox"})
		}
	}
	for _, i := range all {
		if answers(i.Label, words) {
			items = append(items, i)
		}
	}
	return items
}

// dayLayouts are how people write a day; those without a year mean the next such day.
var dayLayouts = []string{"2006-1-2", "2 January 2006", "2 Jan 2006", "January 2 2006", "Jan 2 2006", "2.1.2006", "2 January", "2 Jan", "January 2", "Jan 2", "2.1."}

// monthLayouts are how people write a month.
var monthLayouts = []string{"January 2006", "Jan 2006", "2006-1", "January", "Jan"}

// days reads words as a day or a month of the calendar.
func days(scope *db.Scope, words string, now time.Time) []find.Item {
	today := wallDay(localDay(now, scope.Workspace.Zone))
	switch strings.ToLower(words) {
	case "today":
		return []find.Item{dayItem(scope, today)}
	case "tomorrow":
		return []find.Item{dayItem(scope, today.AddDate(0, 0, 1))}
	}
	words = strings.ReplaceAll(words, ",", "")
	if day, ok := readDay(words, dayLayouts, today); ok {
		return []find.Item{dayItem(scope, day)}
	}
	if month, ok := readDay(words, monthLayouts, today.AddDate(0, 0, 1-today.Day())); ok {
		return []find.Item{{Label: month.Format("January 2006"), Href: at(scope, "/calendar?date="+month.Format("2006-01")), Icon: "calendar-days"}}
	}
	return nil
}

func readDay(words string, layouts []string, from time.Time) (time.Time, bool) {
	for _, layout := range layouts {
		day, err := time.Parse(layout, words)
		if err != nil {
			continue
		}
		if day.Year() == 0 {
			if day = day.AddDate(from.Year(), 0, 0); day.Before(from) {
				day = day.AddDate(1, 0, 0)
			}
		}
		return day, day.Year() >= 2000 && day.Year() < 2200
	}
	return time.Time{}, false
}

func dayItem(scope *db.Scope, day time.Time) find.Item {
	return find.Item{Label: day.Format("Monday 2 January 2006"), Href: at(scope, "/calendar?view=day&date="+day.Format(time.DateOnly)), Icon: "calendar"}
}

// keys are those that pages answer to. What they press carries aria-keyshortcuts;
// the library's files answer by themselves.
var keys = []find.Key{
	{Keys: []string{"Ctrl", "K"}, Does: "find, from anywhere"},
	{Keys: []string{"?"}, Does: "this list"},
	{Keys: []string{"N"}, Does: "create a post"},
	{Keys: []string{"M"}, Does: "calendar by month"},
	{Keys: []string{"W"}, Does: "by week"},
	{Keys: []string{"D"}, Does: "by day"},
	{Keys: []string{"L"}, Does: "as a list"},
	{Keys: []string{"T"}, Does: "today"},
	{Keys: []string{"/"}, Does: "look for posts or files on this page"},
	{Keys: []string{"Ctrl", "S"}, Does: "save the post"},
	{Keys: []string{"Ctrl", "Enter"}, Does: "submit the post"},
	{Keys: []string{"Ctrl", "Z"}, Does: "undo a move"},
	{Keys: []string{"J"}, Does: "the next request of the approvals"},
	{Keys: []string{"K"}, Does: "the one before"},
	{Keys: []string{"A"}, Does: "approve it"},
	{Keys: []string{"R"}, Does: "write what should change; Ctrl Enter asks for it"},
	{Keys: []string{"X"}, Does: "reject it"},
	{Keys: []string{"C"}, Does: "comment on it"},
	{Keys: []string{"Space"}, Does: "choose a file of the library"},
	{Keys: []string{"Shift", "→"}, Does: "choose the next one, too"},
	{Keys: []string{"Ctrl", "A"}, Does: "choose all files that show"},
	{Keys: []string{"Del"}, Does: "delete the chosen files"},
}
