package desk

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

// lookup is the address of a calendar or list, taken apart: what it shows and
// what it leaves out. Every link of such a page is a changed copy of it.
type lookup struct {
	path   string
	bare   string // follows the path where nothing else does
	values url.Values
	filter db.CalendarFilter
}

// The fields of an address that filter.
var filterFields = []string{"client", "account", "network", "state", "label", "campaign", "author", "q", "post"}

// readLookup reads an address. An id that is no number is that of nothing.
func readLookup(path string, values url.Values) lookup {
	l := lookup{path: path, values: url.Values{}}
	for name, all := range values {
		all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.TrimSpace(v) == "" })
		if len(all) > 0 {
			slices.Sort(all)
			l.values[name] = slices.Compact(all)
		}
	}
	for _, v := range l.values["client"] {
		l.filter.Clients = append(l.filter.Clients, model.ClientID(web.ID(v)))
	}
	for _, v := range l.values["account"] {
		l.filter.Accounts = append(l.filter.Accounts, model.AccountID(web.ID(v)))
	}
	for _, v := range l.values["network"] {
		l.filter.Networks = append(l.filter.Networks, network.Name(v))
	}
	l.filter.States = l.values["state"]
	for _, v := range slices.Concat(l.values["label"], l.values["campaign"]) {
		l.filter.Labels = append(l.filter.Labels, model.LabelID(web.ID(v)))
	}
	for _, v := range l.values["author"] {
		l.filter.Authors = append(l.filter.Authors, model.UserID(web.ID(v)))
	}
	for _, v := range l.values["post"] {
		l.filter.Posts = append(l.filter.Posts, model.PostID(web.ID(v)))
	}
	l.filter.Words = l.values.Get("q")
	return l
}

// with is the address with some fields changed: pairs of name and value, where
// an empty value takes the field away. A page of a list is never kept.
func (l lookup) with(pairs ...string) string {
	v := maps.Clone(l.values)
	delete(v, "after")
	delete(v, "before")
	for i := 0; i < len(pairs); i += 2 {
		v.Del(pairs[i])
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return l.address(v)
}

func (l lookup) address(v url.Values) string {
	if len(v) == 0 {
		return l.path + l.bare
	}
	return l.path + "?" + v.Encode()
}

// toggled is the address with one value of a field added or, if it is there,
// taken away.
func (l lookup) toggled(field, value string) string {
	v := maps.Clone(l.values)
	delete(v, "after")
	delete(v, "before")
	if slices.Contains(v[field], value) {
		v[field] = slices.DeleteFunc(slices.Clone(v[field]), func(have string) bool { return have == value })
		if len(v[field]) == 0 {
			delete(v, field)
		}
	} else {
		v[field] = append(slices.Clone(v[field]), value)
	}
	return l.address(v)
}

// clear is the address without any filter; empty if there is none to take away.
func (l lookup) clear() string {
	if !slices.ContainsFunc(filterFields, func(f string) bool { return len(l.values[f]) > 0 }) {
		return ""
	}
	var pairs []string
	for _, f := range filterFields {
		pairs = append(pairs, f, "")
	}
	return l.with(pairs...)
}

// attention are the states that are always at hand: where somebody has to act.
var attention = []string{"failed", "unknown_outcome", "needs_reconnect"}

// filterProps draws the filter. counts may be nil where nobody counted.
func (l lookup) filterProps(c db.Choices, counts map[string]int) calendar.Filter {
	f := calendar.Filter{Path: l.path, Words: l.values.Get("q"), Clear: l.clear()}
	for _, keep := range []string{"view", "date", "tray"} {
		if v := l.values.Get(keep); v != "" {
			f.Keeps = append(f.Keeps, ui.HiddenField{Name: keep, Value: v})
		}
	}
	f.Groups = l.groups(c)
	for _, state := range attention {
		if !slices.Contains(l.values["state"], state) {
			f.Quick = append(f.Quick, calendar.Chip{Label: ui.StatusWord(state), State: state, Href: l.toggled("state", state), Count: counts[state]})
		}
	}
	for _, g := range f.Groups {
		for _, o := range g.Options {
			if o.Chosen {
				f.Chips = append(f.Chips, l.chip(g.Name, o))
			}
		}
	}
	if n := len(l.filter.Posts); n > 0 {
		f.Chips = append(f.Chips, calendar.Chip{Label: chosenWords(n), Href: l.with("post", ""), On: true})
	}
	if f.Words != "" {
		f.Chips = append(f.Chips, calendar.Chip{Label: "“" + f.Words + "”", Href: l.with("q", ""), On: true})
	}
	return f
}

func chosenWords(n int) string {
	if n == 1 {
		return "One chosen post"
	}
	return strconv.Itoa(n) + " chosen posts"
}

func (l lookup) chip(field string, o ui.Option) calendar.Chip {
	c := calendar.Chip{Label: o.Label, Href: l.toggled(field, o.Value), On: true}
	switch field {
	case "state":
		c.State = o.Value
	case "label", "campaign":
		c.Tint = o.Tint
	case "author":
		c.Label = "By " + o.Label
	}
	return c
}

// groups are the boxes to tick.
func (l lookup) groups(c db.Choices) []calendar.FilterGroup {
	all := append(l.reachGroups(c.Clients), l.postGroups(c)...)
	return slices.DeleteFunc(all, func(g calendar.FilterGroup) bool { return len(g.Options) == 0 })
}

// postGroups are what a post can be found by.
func (l lookup) postGroups(c db.Choices) []calendar.FilterGroup {
	byLabel := calendar.FilterGroup{Name: "label", Legend: "Label"}
	byCampaign := calendar.FilterGroup{Name: "campaign", Legend: "Campaign"}
	byAuthor := calendar.FilterGroup{Name: "author", Legend: "Written by"}
	for _, one := range c.Labels {
		g := &byLabel
		if one.Kind == db.Campaign {
			g = &byCampaign
		}
		o := l.option(g.Name, id(one.ID), one.Name)
		o.Tint, o.Help = strconv.Itoa(one.Tint), one.Client
		g.Options = append(g.Options, o)
	}
	if len(c.Authors) > 1 || len(l.filter.Authors) > 0 {
		for _, a := range c.Authors {
			byAuthor.Options = append(byAuthor.Options, l.option("author", id(a.ID), a.Name))
		}
	}
	return []calendar.FilterGroup{byLabel, byCampaign, byAuthor}
}

// reachGroups are states, and where posts go: clients, networks and accounts.
func (l lookup) reachGroups(clients []db.CalendarClient) []calendar.FilterGroup {
	byClient := calendar.FilterGroup{Name: "client", Legend: "Client"}
	byAccount := calendar.FilterGroup{Name: "account", Legend: "Account"}
	byNetwork := calendar.FilterGroup{Name: "network", Legend: "Network"}
	byState := calendar.FilterGroup{Name: "state", Legend: "Status"}
	used := map[network.Name]bool{}
	for _, c := range clients {
		byClient.Options = append(byClient.Options, l.option("client", id(c.ID), c.Name))
		for _, a := range c.Accounts {
			used[a.Network] = true
			o := l.option("account", id(a.ID), network.Label(a.Network)+" "+a.Handle)
			if len(clients) > 1 {
				o.Help = c.Name
			}
			byAccount.Options = append(byAccount.Options, o)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		byNetwork.Options = append(byNetwork.Options, l.option("network", string(name), network.Label(name)))
	}
	for _, state := range db.Shown() {
		byState.Options = append(byState.Options, l.option("state", state, ui.StatusWord(state)))
	}
	return []calendar.FilterGroup{byState, byClient, byNetwork, byAccount}
}

func (l lookup) option(field, value, label string) ui.Option {
	return ui.Option{Value: value, Label: label, Chosen: slices.Contains(l.values[field], value)}
}

func id[T ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }
