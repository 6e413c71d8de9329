package composer

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"herald/db/network"
	"herald/views/ui"
)

func postID(p Props) string {
	i := strings.LastIndex(p.Paths.Back, "/")
	return p.Paths.Back[i+1:]
}

// slug makes an intent fit for an id.
func slug(do string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, do)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func hiddenWords(n int) string {
	return "It also goes to " + count(n, "account", "accounts") + " of clients that you do not work for."
}

func retryWords(n int) string { return "Retry " + count(n, "failure", "failures") }

func refusedWords(n int) string {
	if n == 1 {
		return "One file was not taken"
	}
	return fmt.Sprintf("%d files were not taken", n)
}

func chosenWords(chosen, all int) string {
	switch {
	case chosen == 0:
		return count(all, "account", "accounts")
	case chosen == all:
		return "all " + count(all, "account", "accounts") + " chosen"
	}
	return fmt.Sprintf("%d of %d chosen", chosen, all)
}

func accountState(a Account) string {
	switch {
	case a.Disabled:
		return "disabled"
	case a.Reconnect:
		return "needs_reconnect"
	}
	return "paused"
}

func orName(alt, name string) string {
	if alt != "" {
		return alt
	}
	return name
}

func (c Check) summary() string {
	switch n := len(c.blocks()); n {
	case 0:
		return "Every network would take this."
	case 1:
		return "One thing needs fixing."
	default:
		return fmt.Sprintf("%d things need fixing.", n)
	}
}

func (g CheckGroup) verdict() string {
	verdict := "fine"
	for _, p := range g.Problems {
		if !p.Warn {
			return "bad"
		}
		verdict = "warn"
	}
	return verdict
}

// cardKey is an address as part of an id.
func cardKey(address string) string {
	h := fnv.New64a()
	h.Write([]byte(address))
	return strconv.FormatUint(h.Sum64(), 16)
}

func cardVals(address string) string {
	b, _ := json.Marshal(map[string]string{"card": address})
	return string(b)
}

func verdictWord(verdict string) string {
	return map[string]string{"bad": ", needs fixing", "warn": ", has a hint", "own": ", has words of its own"}[verdict]
}

func (f OptionField) props() ui.FieldProps {
	p := ui.FieldProps{Name: f.Name, ID: f.ID, Label: f.Option.Label, Help: f.Option.Help, Value: f.Value, Problem: f.Problem}
	p.Optional = f.Option.Kind != network.Choose && !f.Option.Required
	if len(f.Option.Suggest) > 0 {
		p.Attrs = templ.Attributes{"list": f.ID + "-list"}
	}
	return p
}

// name is that of a field whose values are put together when they are read.
func (f OptionField) name(kind string) string { return kind + strings.TrimPrefix(f.Name, "option") }

func (f OptionField) day() ui.FieldProps {
	p := f.props()
	p.Name, p.Type = f.name("moment"), "date"
	p.Value, _, _ = strings.Cut(f.Value, " ")
	return p
}

func (f OptionField) clock() ui.FieldProps {
	_, clock, _ := strings.Cut(f.Value, " ")
	return ui.FieldProps{Name: f.name("moment"), ID: f.ID + "-time", Label: f.Option.Label + ", time", Type: "time", Optional: true, Value: clock}
}

func (f OptionField) several() (list []ui.Option) {
	chosen := network.Tags(f.Value)
	for _, c := range f.Option.Choices {
		list = append(list, ui.Option{Value: c.Value, Label: c.Label, Chosen: slices.Contains(chosen, c.Value)})
	}
	for _, c := range chosen { // that are not there any more: said by the check, taken out by hand
		if !slices.ContainsFunc(f.Option.Choices, func(o network.Choice) bool { return o.Value == c }) {
			list = append(list, ui.Option{Value: c, Label: c, Chosen: true})
		}
	}
	return list
}

func (f OptionField) help() string {
	if f.Option.Fixed {
		return "The account's own settings do not allow it."
	}
	return f.Option.Help
}

func (f OptionField) off() templ.Attributes {
	if f.Option.Fixed {
		return templ.Attributes{"disabled": true}
	}
	return nil
}

func (f OptionField) value() string {
	if f.Value == "" {
		return f.Option.Default
	}
	return f.Value
}

func (f OptionField) on() bool { return f.value() == "true" }

// choices begin with none where the network wants a person to choose: what
// stands first in a list would else be chosen by nobody.
func (f OptionField) choices() []ui.Option {
	var list []ui.Option
	if f.Option.Required && f.Option.Default == "" {
		list = append(list, ui.Option{Label: "Choose…", Chosen: f.value() == ""})
	}
	for _, c := range f.Option.Choices {
		list = append(list, ui.Option{Value: c.Value, Label: c.Label, Chosen: c.Value == f.value()})
	}
	return list
}

// optionsOpen unfolds options of which one was chosen or needs mending.
func optionsOpen(fields []OptionField) bool {
	for _, f := range fields {
		if f.Problem != "" || f.Option.Required || f.value() != f.Option.Default {
			return true
		}
	}
	return false
}

func chosenOptions(fields []OptionField) string {
	n := 0
	for _, f := range fields {
		if f.value() != f.Option.Default {
			n++
		}
	}
	if n == 0 {
		return "as usual"
	}
	return count(n, "changed", "changed")
}
