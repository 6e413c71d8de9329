package desk

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/library"
	"herald/views/ui"
)

// shelf is the address of the library, taken apart.
type shelf struct {
	lookup
	wants db.LibraryFilter
}

// shelfPage is how many files a page of the library shows.
const shelfPage = 60

// The fields of an address that filter the library. The folder is a place, not a
// filter.
var shelfFilters = []string{"client", "kind", "use", "shape", "standing", "tag", "from", "to", "noalt", "q"}

// readShelf reads an address of the library. It refuses ids that are none; words
// that it does not know filter nothing.
func readShelf(scope *db.Scope, values url.Values) (l shelf, err error) {
	l.lookup = readLookup(at(scope, "/media"), values)
	l.bare = allClients
	v := l.values
	f := db.LibraryFilter{Limit: shelfPage, After: v.Get("after"), Words: v.Get("q"), Tags: v["tag"], NoAlt: v.Get("noalt") == "yes"}
	f.Kind = network.MediaKind(known(v.Get("kind"), string(network.Image), string(network.Video), string(network.Document)))
	f.Use = db.MediaUse(known(v.Get("use"), string(db.Unused), string(db.Used), string(db.Scheduled)))
	f.Shape = db.Orientation(known(v.Get("shape"), string(db.Landscape), string(db.Portrait), string(db.Square)))
	f.Order = db.LibraryOrder(known(v.Get("order"), string(db.OldestFirst), string(db.ByName)))
	f.Standing = db.MediaStanding(known(v.Get("standing"), string(db.Unfinished), string(db.Stopped)))
	client, err := optionalID(v.Get("client"))
	if err != nil {
		return l, err
	}
	f.Client = model.ClientID(client)
	if f.Loose = v.Get("folder") == "none"; !f.Loose {
		folder, err := optionalID(v.Get("folder"))
		if err != nil {
			return l, err
		}
		f.Folder = model.FolderID(folder)
	}
	f.From, f.To, err = daysBetween(v.Get("from"), v.Get("to"), scope.Workspace.Zone)
	l.wants = f
	return l, err
}

func known(s string, words ...string) string {
	if slices.Contains(words, s) {
		return s
	}
	return ""
}

// daysBetween are the instants at which the first day begins and the last one
// ends, in a zone. What is no day is left out.
func daysBetween(from, to, zone string) (start, end time.Time, err error) {
	location, err := model.LoadZone(zone)
	if err != nil {
		return start, end, err
	}
	if d, err := model.ParseDate(from); err == nil {
		start = time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, location)
	}
	if d, err := model.ParseDate(to); err == nil {
		end = time.Date(d.Year, d.Month, d.Day+1, 0, 0, 0, 0, location)
	}
	return start, end, nil
}

func (l shelf) view() string { return cmp.Or(known(l.values.Get("view"), "list"), "grid") }

// clear is the address without any filter; empty if there is none to take away.
func (l shelf) clear() string {
	v := maps.Clone(l.values)
	for _, f := range shelfFilters {
		delete(v, f)
	}
	delete(v, "after")
	if l.address(v) == l.with() {
		return ""
	}
	return l.address(v)
}

// choices of the filter, in the order in which they are shown.
var (
	kindWords     = []ui.Option{{Value: "", Label: "Any"}, {Value: string(network.Image), Label: "Pictures"}, {Value: string(network.Video), Label: "Videos"}, {Value: string(network.Document), Label: "Documents"}}
	useWords      = []ui.Option{{Value: "", Label: "Any"}, {Value: string(db.Unused), Label: "Not used yet"}, {Value: string(db.Used), Label: "Used"}, {Value: string(db.Scheduled), Label: "In a scheduled post"}}
	shapeWords    = []ui.Option{{Value: "", Label: "Any"}, {Value: string(db.Landscape), Label: "Landscape"}, {Value: string(db.Portrait), Label: "Portrait"}, {Value: string(db.Square), Label: "Square"}}
	standingWords = []ui.Option{{Value: "", Label: "Any"}, {Value: string(db.Unfinished), Label: "Not ready yet"}, {Value: string(db.Stopped), Label: "Refused or quarantined"}}
)

func (l shelf) filterProps(a around) library.Filter {
	v := l.values
	f := library.Filter{Path: l.path, Words: v.Get("q"), From: v.Get("from"), To: v.Get("to"), NoAlt: l.wants.NoAlt, Clear: l.clear()}
	for _, keep := range []string{"view", "order", "folder"} {
		if value := v.Get(keep); value != "" {
			f.Keeps = append(f.Keeps, ui.HiddenField{Name: keep, Value: value})
		}
	}
	if len(a.clients) > 1 {
		f.Client = &ui.SelectProps{FieldProps: ui.FieldProps{Name: "client", Label: "Client"}, Options: clientOptions(a.clients, l.wants.Client, "All clients")}
	}
	for _, g := range []library.Group{
		{Name: "kind", Legend: "Kind", Options: kindWords}, {Name: "use", Legend: "Use", Options: useWords},
		{Name: "shape", Legend: "Orientation", Options: shapeWords}, {Name: "standing", Legend: "State", Options: standingWords},
		{Name: "tag", Legend: "Tags", Options: l.tagOptions(a.tags), Many: true},
	} {
		if len(g.Options) > 0 {
			g.Options = l.chosen(g)
			f.Groups = append(f.Groups, g)
		}
	}
	f.Chips = l.chips(f, a)
	f.Orders = []library.Choice{l.choice("order", "", "Newest first", ""), l.choice("order", string(db.OldestFirst), "Oldest first", ""), l.choice("order", string(db.ByName), "By name", "")}
	f.Views = []library.Choice{l.choice("view", "", "Grid", "layout-grid"), l.choice("view", "list", "List", "list")}
	return f
}

// choice is a link that sets a field.
func (l shelf) choice(field, value, label, icon string) library.Choice {
	return library.Choice{Label: label, Icon: icon, Href: l.with(field, value), Current: l.values.Get(field) == value}
}

func clientOptions(clients []db.LibraryClient, chosen model.ClientID, all string) []ui.Option {
	list := []ui.Option{{Value: "", Label: all}}
	for _, c := range clients {
		list = append(list, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == chosen})
	}
	return list
}

// tagOptions are the tags with most files, and those that are on.
func (l shelf) tagOptions(tags []db.Tag) (list []ui.Option) {
	most := slices.Clone(tags)
	slices.SortStableFunc(most, func(a, b db.Tag) int { return b.Count - a.Count })
	for i, t := range most {
		if i < 40 || slices.Contains(l.values["tag"], t.Name) {
			list = append(list, ui.Option{Value: t.Name, Label: t.Name})
		}
	}
	return list
}

// chosen marks what the address asks for.
func (l shelf) chosen(g library.Group) []ui.Option {
	list := slices.Clone(g.Options)
	for i := range list {
		list[i].Chosen = slices.Contains(l.values[g.Name], list[i].Value) || list[i].Value == "" && l.values.Get(g.Name) == ""
	}
	return list
}

// chips take one filter away each.
func (l shelf) chips(f library.Filter, a around) (list []library.Chip) {
	for _, c := range a.clients {
		if c.ID == l.wants.Client {
			list = append(list, library.Chip{Label: c.Name, Href: l.with("client", "", "folder", "")})
		}
	}
	for _, g := range f.Groups {
		for _, o := range g.Options {
			if o.Chosen && o.Value != "" {
				list = append(list, library.Chip{Label: o.Label, Href: l.toggled(g.Name, o.Value)})
			}
		}
	}
	for _, day := range []struct{ field, words string }{{"from", "Since "}, {"to", "Until "}} {
		if d, err := model.ParseDate(l.values.Get(day.field)); err == nil {
			list = append(list, library.Chip{Label: day.words + d.Say(), Href: l.with(day.field, "")})
		}
	}
	if l.wants.NoAlt {
		list = append(list, library.Chip{Label: "Without alt text", Href: l.with("noalt", "")})
	}
	if words := strings.TrimSpace(f.Words); words != "" {
		list = append(list, library.Chip{Label: "“" + words + "”", Href: l.with("q", "")})
	}
	return list
}
