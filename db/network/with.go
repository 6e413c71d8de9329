package network

import (
	"slices"
	"strconv"
	"strings"
)

// most bounds what a server may say about itself: a host that users choose
// could otherwise lift every limit or make sizes overflow.
const most = 1 << 40

// With returns the network as an account meets it: what its server said about
// its own limits, or a person entered, in the account's settings. Unknown keys
// and values that cannot be are passed over; n itself does not change.
func (n *Network) With(settings map[string]string) *Network {
	own := *n
	own.Formats, own.Options = slices.Clone(n.Formats), slices.Clone(n.Options)
	for i := range own.Options {
		own.Options[i].narrow(settings[own.Options[i].Learned])
	}
	for key, apply := range n.learn {
		v, err := strconv.ParseInt(settings[key], 10, 64)
		if err == nil && v > 0 && v <= n.bound(key) {
			apply(&own, v)
		}
	}
	return &own
}

// narrow leaves those choices that the account has. A list of none that is known
// says nothing.
func (o *Option) narrow(list string) {
	if o.Learned == "" || list == "" {
		return
	}
	switch o.Kind {
	case Write:
		o.offer(list)
		return
	case Many:
		o.Choices = named(list)
		return
	case Switch:
		if list == "false" {
			o.Default, o.Fixed = "false", true
		}
		return
	}
	has := strings.Split(list, ",")
	left := slices.DeleteFunc(slices.Clone(o.Choices), func(c Choice) bool { return !slices.Contains(has, c.Value) })
	if len(left) > 0 {
		o.Choices = left
	}
}

// offer makes a choice of what is written otherwise: list has what there is, as
// "7=Bread;9=Rolls". Where there is one alone, it is chosen.
func (o *Option) offer(list string) {
	var choices []Choice
	for pair := range strings.SplitSeq(list, ";") {
		value, label, ok := strings.Cut(pair, "=")
		if ok && (o.Pattern == nil || o.Pattern.MatchString(value)) {
			choices = append(choices, Choice{value, unescape.Replace(label)})
		}
	}
	if len(choices) == 0 {
		return
	}
	o.Kind, o.Choices = Choose, choices
	if len(choices) == 1 {
		o.Default = choices[0].Value
	}
}

// named are the choices of a list of names, which are sent as they are. A name with
// a comma could not be told from two.
func named(list string) (choices []Choice) {
	for pair := range strings.SplitSeq(list, ";") {
		if _, label, ok := strings.Cut(pair, "="); ok && !strings.Contains(label, ",") {
			label = unescape.Replace(label)
			choices = append(choices, Choice{label, label})
		}
	}
	return choices
}

// Offer writes what an Option of kind Write reads from a setting, as much of it as
// a setting holds.
func Offer(choices []Choice) string {
	var list strings.Builder
	for _, c := range choices {
		pair := c.Value + "=" + escape.Replace(Named(c.Label))
		if list.Len()+len(pair) > 3900 {
			break
		}
		if list.Len() > 0 {
			list.WriteByte(';')
		}
		list.WriteString(pair)
	}
	return list.String()
}

// What parts the choices of a setting stands in a name as %3B.
var (
	escape   = strings.NewReplacer("%", "%25", ";", "%3B")
	unescape = strings.NewReplacer("%25", "%", "%3B", ";")
)

// Named is a name as a choice has it: in one line.
func Named(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return control(r) || r == '\n' || r == '\r' || r == '\t' }), " ")
}

// bound is the largest value that is believed.
func (n *Network) bound(key string) int64 {
	switch key {
	case "max_characters", "description_limit":
		return 1_000_000
	case "video_seconds":
		return 86_400
	case "characters_reserved_per_url", "max_media_attachments", "max_hashtags":
		return 1000
	}
	return most
}

func (n *Network) each(change func(*FormatRule)) {
	for i := range n.Formats {
		change(&n.Formats[i])
	}
}
