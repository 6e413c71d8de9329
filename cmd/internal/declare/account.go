package declare

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"herald/db"
	"herald/db/network"
	"herald/db/secret"
)

func (t *table) account(client string) (a db.DeclaredAccount, ok bool) {
	name, ok := t.need("slug", slug)
	a = db.DeclaredAccount{
		At: t.at(t.node), Slug: name, Handle: t.text("handle", words), RemoteID: t.text("remote_id", plain), Address: t.text("address", webAddress),
		Scopes: t.texts("scopes", words), Settings: t.settings(), Token: t.token("token"), RefreshToken: t.token("refresh_token"), TokenExpires: t.expires(),
		State: t.text("state", oneOf("active", "disabled")), Paused: t.flag("paused"), Slots: t.slots(),
	}
	if n := t.text("network", networkName); n != nil {
		a.Network = new(network.Name(*n))
	}
	if p := t.text("publisher", publisherName); p != nil {
		a.Publisher = new(network.Publisher(*p))
	}
	return a, ok && t.once("account "+client+"/"+name)
}

// publisherName takes a route by its name.
func publisherName(s string) (string, string) {
	names := []string{string(network.Direct)}
	for _, p := range network.Aggregators() {
		names = append(names, string(p))
	}
	return oneOf(names...)(s)
}

// networkName takes a network by any name that the catalogue knows it by.
func networkName(s string) (string, string) {
	if name, ok := network.Parse(s); ok {
		return string(name), ""
	}
	if say := network.Unreached(s); say != "" {
		return "", say
	}
	var all []string
	for _, n := range network.All() {
		all = append(all, string(n.Name))
	}
	_, problem := oneOf(all...)(s)
	return "", problem
}

func (t *table) token(key string) secret.Token {
	if value := t.text(key, credential); value != nil {
		return secret.NewToken(*value)
	}
	return secret.Token{}
}

// expires reads when a token runs out; never is the zero time.
func (t *table) expires() *time.Time {
	n, ok := t.scalar("token_expires")
	if !ok {
		return nil
	}
	at, err := time.Parse(time.RFC3339, n.Value)
	switch {
	case n.Value == "never":
		return new(time.Time{})
	case err != nil || at.Year() < 2000 || at.Year() > 9999:
		t.refuse(n, "token_expires is an instant, as 2026-12-24T18:00:00Z, or never")
		return nil
	}
	return new(at.UTC())
}

// settings reads a table of plain values; null takes a key away.
func (t *table) settings() map[string]string {
	n, ok := t.values["settings"]
	if !ok {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		t.refuse(n, "settings are written as keys and values")
		return nil
	}
	all := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], meant(n.Content[i+1])
		name, problem := words(key.Value)
		if problem == "" {
			_, problem = plain(value.Value)
		}
		if _, twice := all[name]; twice {
			problem = "it is given twice"
		}
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			problem = "a setting is one value, not a list or a table"
		}
		if problem != "" {
			t.refuse(key, "settings: %q: %s", short(key.Value), problem)
			continue
		}
		all[name] = value.Value
		if value.Tag == "!!null" {
			all[name] = ""
		}
	}
	return all
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// slots reads times of the week, as "monday 09:30".
func (t *table) slots() []db.DeclaredSlot {
	var list []db.DeclaredSlot
	read := t.texts("slots", func(s string) (string, string) {
		day, clock, _ := strings.Cut(s, " ")
		weekday := slices.Index(weekdays, strings.ToLower(day))
		at, err := time.Parse("15:04", clock)
		if weekday < 0 || err != nil {
			return "", "write a day of the week and a time, as monday 09:30"
		}
		list = append(list, db.DeclaredSlot{Weekday: time.Weekday(weekday), Minute: at.Hour()*60 + at.Minute()})
		return s, ""
	})
	if read != nil && list == nil {
		return []db.DeclaredSlot{}
	}
	return list
}
