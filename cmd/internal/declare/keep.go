package declare

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herald/db"
	"herald/db/model"
)

// labels reads labels and campaigns of a workspace or a client.
func (t *table) labels(of string) (list []db.DeclaredLabel) {
	all, _ := t.tables("labels", "label")
	for _, l := range all {
		name, ok := l.need("name", bounded(60))
		one := db.DeclaredLabel{At: l.at(l.node), Name: name, Kind: db.PlainLabel, Remove: isTrue(l.flag("remove"))}
		if kind := l.text("kind", oneOf(string(db.PlainLabel), string(db.Campaign))); kind != nil {
			one.Kind = db.LabelKind(*kind)
		}
		if tint := l.text("colour", colour); tint != nil {
			one.Tint = new(slices.IndexFunc(db.Tints, func(name string) bool { return strings.EqualFold(name, *tint) }))
		}
		if ok && l.once(string(one.Kind)+" "+strings.ToLower(name)+" of "+of) {
			list = append(list, one)
		}
	}
	return list
}

func colour(s string) (string, string) {
	names := strings.ToLower(strings.Join(db.Tints, " "))
	return oneOf(strings.Fields(names)...)(strings.ToLower(s))
}

// notes reads what days are about.
func (t *table) notes(of string) (list []db.DeclaredNote) {
	all, _ := t.tables("notes", "note")
	for _, n := range all {
		var day model.Date
		_, dated := n.need("day", func(s string) (string, string) {
			var err error
			if day, err = model.ParseDate(s); err != nil || day.Year < 2000 || day.Year > 2199 {
				return "", "write a day, as 2026-12-24"
			}
			return s, ""
		})
		words, said := n.need("words", bounded(300))
		one := db.DeclaredNote{At: n.at(n.node), Day: day, Words: words, Remove: isTrue(n.flag("remove"))}
		if dated && said && n.once("note “"+words+"” of "+day.String()+" of "+of) {
			list = append(list, one)
		}
	}
	return list
}

// bounded is a text on one line.
func bounded(most int) func(string) (string, string) {
	return func(s string) (string, string) {
		s = strings.Join(strings.Fields(s), " ")
		if utf8.RuneCountInString(s) > most {
			return "", "it is longer than " + strconv.Itoa(most) + " characters"
		}
		return words(s)
	}
}

// apart reads by how many minutes posts of one account should be apart.
func (t *table) apart() *int {
	n, ok := t.scalar("apart")
	if !ok {
		return nil
	}
	minutes, err := strconv.Atoi(n.Value)
	if err != nil || minutes < 0 || minutes > 1440 {
		t.refuse(n, "apart is a number of minutes from 0 to 1440, which is a day")
		return nil
	}
	return &minutes
}
