package approvals

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"herald/db/model"
	"herald/db/network"
	"herald/views/preview"
	"herald/views/ui"
)

// Addresses makes the address of a stored file: "original" or "thumbnail".
type Addresses func(id model.MediaID, file string) string

// When is an instant as a zone's people read it. A zone that is not known shows
// UTC.
func When(at time.Time, zone string) ui.TimeProps {
	location, err := model.LoadZone(zone)
	if err != nil {
		location, zone = time.UTC, "UTC"
	}
	local := at.In(location)
	words := local.Format("Mon 2 Jan 2006, 15:04") + model.TwiceWords(at, zone)
	return ui.TimeProps{ISO: at.UTC().Format(time.RFC3339), Words: words, Zone: city(zone), IANA: zone}
}

// WhenShort leaves the zone out, for what is long past.
func WhenShort(at time.Time, zone string) ui.TimeProps {
	t := When(at, zone)
	t.Zone, t.IANA = "", ""
	return t
}

// city is how people call a zone: "Buenos Aires".
func city(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndex(zone, "/")+1:], "_", " ")
}

// Card is what several accounts of one network get alike.
type Card struct {
	Network  string
	Label    string
	Accounts []string
	model.Preview
}

// look is the card as its network shows it.
func (c Card) look(media Addresses) preview.Props {
	p := preview.Props{Network: network.Name(c.Network), Handles: c.Accounts, Format: network.Format(c.Format), Parts: c.Parts, Link: c.Link,
		Comment: c.FirstComment, Options: c.Chosen}
	for _, o := range c.Options {
		p.Says = append(p.Says, preview.Say{Label: o.Label, Value: o.Value})
		if o.Key == network.OptBoard {
			p.Board = o.Value
		}
	}
	for _, m := range c.Media {
		p.Media = append(p.Media, c.file(m, media(m.ID, m.File()), media(m.ID, "thumbnail")))
	}
	if c.DueAt != nil {
		p.When = WhenShort(*c.DueAt, c.Zone).Words
	}
	return p
}

// Links are the cards of what posts link to, by address.
type Links map[string]*preview.Card

func (c Card) linked(media Addresses, links Links) preview.Props {
	p := c.look(media)
	p.Card = links[p.Reads()]
	return p
}

// Linked are the addresses whose cards the previews would show, once each.
func Linked(previews []model.Preview) (list []string) {
	for _, c := range Cards(previews) {
		if a := c.look(func(model.MediaID, string) string { return "" }).Reads(); a != "" && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

func (c Card) file(m model.PreviewMedia, address, thumbnail string) preview.Media {
	out := preview.Media{Video: m.Kind == string(network.Video), Document: m.Kind == string(network.Document), Pages: m.Pages, Href: address,
		Alt: m.Alt, TakesAlt: c.takesAlt(m), Width: m.Width, Height: m.Height}
	switch {
	case out.Video:
		out.Play = address
	case !out.Document:
		out.Source = address
	case m.Drawn:
		out.Source = thumbnail
	}
	if m.Waits {
		out.Waits = fmt.Sprintf("What will be sent is still being made: %d × %d. This is the file that it is made of.", m.Width, m.Height)
	}
	return out
}

// takesAlt says whether the network would show an alt text for the file.
func (c Card) takesAlt(m model.PreviewMedia) bool {
	n, ok := network.Get(network.Name(c.Network))
	return ok && n.TakesAlt(network.Format(c.Format), network.MediaKind(m.Kind))
}

// Cards groups previews: accounts of a network that get the same share a card.
func Cards(previews []model.Preview) (cards []Card) {
	for _, p := range previews {
		i := slices.IndexFunc(cards, func(c Card) bool { return c.Network == p.Network && alike(c.Preview, p) })
		if i < 0 {
			cards = append(cards, Card{Network: p.Network, Label: network.Label(network.Name(p.Network)), Preview: p})
			i = len(cards) - 1
		}
		cards[i].Accounts = append(cards[i].Accounts, p.Account)
	}
	return cards
}

func alike(a, b model.Preview) bool {
	return a.Text == b.Text && a.Format == b.Format && a.Link == b.Link && a.FirstComment == b.FirstComment && slices.Equal(a.Media, b.Media) &&
		slices.Equal(a.Options, b.Options) && a.Zone == b.Zone && sameTime(a.DueAt, b.DueAt)
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// Due is the earliest planned time of the previews, in the zone given.
func Due(previews []model.Preview, zone string) (t ui.TimeProps, ok bool) {
	var first *time.Time
	for _, p := range previews {
		if p.DueAt != nil && (first == nil || p.DueAt.Before(*first)) {
			first = p.DueAt
		}
	}
	if first == nil {
		return t, false
	}
	return When(*first, zone), true
}

// Difference is what changed for the accounts of one network.
type Difference struct {
	Network  string
	Label    string
	Accounts []string
	Gone     bool // these accounts no longer get the post
	New      bool // these get it now
	Lines    []Line
}

// Line is one part that changed.
type Line struct {
	Part   string
	Pieces []model.Piece
}

// Differences says what changed from before to after, account by account; those
// of a network that changed alike are told together.
func Differences(before, after []model.Preview) (all []Difference) {
	for _, now := range after {
		d := Difference{Network: now.Network, Label: network.Label(network.Name(now.Network)), Accounts: []string{now.Account}}
		if i := slices.IndexFunc(before, func(p model.Preview) bool { return p.AccountID == now.AccountID }); i >= 0 {
			d.Lines = lines(before[i], now)
		} else {
			d.New = true
		}
		all = together(all, d)
	}
	for _, was := range before {
		if !slices.ContainsFunc(after, func(p model.Preview) bool { return p.AccountID == was.AccountID }) {
			all = together(all, Difference{Network: was.Network, Label: network.Label(network.Name(was.Network)), Accounts: []string{was.Account}, Gone: true})
		}
	}
	return all
}

func together(all []Difference, d Difference) []Difference {
	if !d.New && !d.Gone && len(d.Lines) == 0 {
		return all
	}
	for i, o := range all {
		if o.Network == d.Network && o.New == d.New && o.Gone == d.Gone && slices.EqualFunc(o.Lines, d.Lines, func(a, b Line) bool {
			return a.Part == b.Part && slices.Equal(a.Pieces, b.Pieces)
		}) {
			all[i].Accounts = append(all[i].Accounts, d.Accounts...)
			return all
		}
	}
	return append(all, d)
}

func lines(was, now model.Preview) (out []Line) {
	for _, part := range []struct{ name, was, now string }{
		{"Text", was.Text, now.Text},
		{"Link", was.Link, now.Link},
		{"First comment", was.FirstComment, now.FirstComment},
		{"Options", optionWords(was.Options), optionWords(now.Options)},
	} {
		if part.was != part.now {
			out = append(out, Line{part.name, model.Difference(part.was, part.now)})
		}
	}
	return append(out, mediaLines(was.Media, now.Media)...)
}

func optionWords(options []model.PreviewOption) string {
	var words []string
	for _, o := range options {
		words = append(words, o.Label+": "+o.Value)
	}
	return strings.Join(words, "\n")
}

func mediaLines(was, now []model.PreviewMedia) (out []Line) {
	for i := range max(len(was), len(now)) {
		name := fmt.Sprintf("File %d", i+1)
		switch {
		case i >= len(now):
			out = append(out, Line{name, []model.Piece{{Change: model.Removed, Text: mediaWords(was[i])}}})
		case i >= len(was):
			out = append(out, Line{name, []model.Piece{{Change: model.Added, Text: mediaWords(now[i])}}})
		case was[i].SHA256 != now[i].SHA256:
			out = append(out, Line{name, []model.Piece{{Change: model.Removed, Text: "the old " + mediaWords(was[i])}, {Change: model.Added, Text: "another " + mediaWords(now[i])}}})
		case was[i].Alt != now[i].Alt:
			out = append(out, Line{name + ", alt text", model.Difference(was[i].Alt, now[i].Alt)})
		}
	}
	return out
}

func mediaWords(m model.PreviewMedia) string {
	word := network.MediaKind(m.Kind).Word()
	if m.Alt == "" {
		return word
	}
	return word + " (" + m.Alt + ")"
}

// verdictWord says what somebody decided, after the name.
func verdictWord(d model.ApprovalDecision) string {
	words := "approved"
	switch d.Verdict {
	case model.RequestChanges:
		words = "asked for changes"
	case model.Reject:
		words = "rejected it"
	}
	if d.Override {
		words += " without being asked, as an owner or admin"
	}
	return words
}

func verdictHue(v model.Verdict) string {
	switch v {
	case model.RequestChanges:
		return ui.StatusHue("changes_requested")
	case model.Reject:
		return ui.StatusHue("rejected")
	}
	return ui.StatusHue("approved")
}

func names(people []model.AskedPerson) string {
	var list []string
	for _, p := range people {
		list = append(list, p.Name)
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// NetworkNames are networks as people call them.
func NetworkNames(names []string) string {
	var list []string
	for _, n := range names {
		list = append(list, network.Label(network.Name(n)))
	}
	return strings.Join(list, ", ")
}

// named is what a comment says, with the members that it names marked. Its spaces and
// lines are the writer's.
func named(c model.Comment) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for rest := c.Body; rest != ""; {
			at, name := len(rest), ""
			for _, words := range c.Mentions {
				if i := strings.Index(rest, "@"+words); i >= 0 && (i < at || i == at && len(words) > len(name)) {
					at, name = i, words
				}
			}
			b.WriteString(templ.EscapeString(rest[:at]))
			if name == "" {
				break
			}
			b.WriteString(`<strong class="comment-named">` + templ.EscapeString("@"+name) + "</strong>")
			rest = rest[at+1+len(name):]
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}
