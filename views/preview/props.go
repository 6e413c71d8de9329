package preview

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herald/db/model"
	"herald/db/network"
)

// Props are one post as accounts of one network get it.
type Props struct {
	Network network.Name
	Handles []string // of the accounts that get it alike; the first one stands as its author
	Format  network.Format
	Parts   []string // the text as it is sent; a thread has several
	Link    string   // beside the text; empty where it stands in the text
	Comment string   // the first comment
	Options map[string]string
	Board   string // the name of the board a pin goes onto
	Says    []Say  // the choices in words
	Media   []Media
	Card    *Card  // of the link; nil if nothing is known of it
	When    string // as readers see the time; empty for now
}

// Say is one choice in words.
type Say struct{ Label, Value string }

// Media is one file as it is sent.
type Media struct {
	Video    bool
	Document bool   // readers leaf through its pages
	Pages    int    // of a document; zero if nobody knows
	Source   string // address of a picture of it; empty while there is none
	Play     string // address that plays a video; empty: a picture stands for it
	Href     string // the file in full size; empty for none
	Alt      string
	TakesAlt bool // the network has a place for Alt in such a post
	Width    int  // of what is sent, in pixels
	Height   int
	Whole    model.Crop // what Source shows of the file, in the file's pixels; needed for Part alone
	Part     model.Crop // the part of it that is sent; zero: all
	Facts    string     // "1080 × 1350, JPEG"
	Waits    string     // why it is not what is sent yet
	Crop     string     // where the part is chosen; empty for nowhere
}

// Card is what a link is shown as.
type Card struct {
	Title   string
	Words   string
	Picture string // address of our copy; empty for none
	Say     string // why there is no more; empty if this is the card
	Waits   bool   // the page was not read yet
}

// Of is a draft as a network gets it, without its files, which the caller has the
// addresses of. A network that is not known (nil) shows the words as they are.
func Of(n *network.Network, d network.Draft) Props {
	if n == nil {
		return Props{Parts: []string{d.Text}, Link: d.Link, Comment: d.FirstComment, Options: d.Options}
	}
	p := Props{Network: n.Name, Format: n.FormatOf(d), Parts: n.Parts(d), Comment: d.FirstComment, Options: d.Options}
	if n.LinkOf(d) == network.LinkBeside {
		p.Link = d.Link
	}
	if o, has := n.Option(network.OptBoard); has {
		p.Board = worded(o, d.Options[o.Key])
	}
	return p
}

func worded(o network.Option, value string) string {
	for _, c := range o.Choices {
		if c.Value == value {
			return c.Label
		}
	}
	return value
}

// Choices are the options that were chosen, in the network's order.
func (p Props) Choices() (list []network.Option) {
	n, ok := network.Get(p.Network)
	if !ok {
		return nil
	}
	for _, o := range n.Options {
		if p.Options[o.Key] != "" {
			list = append(list, o)
		}
	}
	return list
}

// Same says whether two accounts of a network get the same.
func (p Props) Same(o Props) bool {
	return p.Network == o.Network && p.Format == o.Format && slices.Equal(p.Parts, o.Parts) && p.Link == o.Link && p.Comment == o.Comment &&
		p.When == o.When && maps.Equal(p.Options, o.Options) && slices.Equal(p.Media, o.Media)
}

func (p Props) look() network.Look {
	n, ok := network.Get(p.Network)
	if !ok {
		return network.Look{}
	}
	return n.Look
}

func (p Props) label() string { return network.Label(p.Network) }

// name is the author as the network writes it, without the @ before it.
func (p Props) name() string {
	if len(p.Handles) == 0 {
		return "The account"
	}
	return p.Handles[0]
}

func (p Props) bare() string {
	name := strings.TrimPrefix(p.name(), "@")
	if p.Network != network.Mastodon {
		return name
	}
	short, _, _ := strings.Cut(name, "@")
	return short
}

func (p Props) handle() string {
	if strings.Contains(p.name(), " ") {
		return p.name()
	}
	return "@" + strings.TrimPrefix(p.name(), "@")
}

func (p Props) when() string {
	if p.When == "" {
		return "now"
	}
	return p.When
}

func (p Props) text() string {
	if len(p.Parts) == 0 {
		return ""
	}
	return p.Parts[0]
}

// option is what was chosen, or what that is by default.
func (p Props) option(key string) string {
	if v := p.Options[key]; v != "" {
		return v
	}
	if n, ok := network.Get(p.Network); ok {
		if o, has := n.Option(key); has {
			return o.Default
		}
	}
	return ""
}

// chosen is an option's value in words.
func (p Props) chosen(key string) string {
	value := p.option(key)
	if n, ok := network.Get(p.Network); ok {
		if o, has := n.Option(key); has {
			return worded(o, value)
		}
	}
	return value
}

// address is the link whose card is shown: that beside the text, else the first
// one in it where the network reads those.
func (p Props) address() string {
	if p.Link != "" || !p.look().Reads || p.option(network.OptPreview) == "false" {
		return p.Link
	}
	for _, part := range p.Parts {
		for _, l := range network.Links(part) {
			return part[l.Start:l.End]
		}
	}
	return ""
}

// Reads is the address whose page decides how the post looks; empty where none does.
func (p Props) Reads() string {
	if p.look().Reads && len(p.Media) == 0 {
		return p.address()
	}
	return ""
}

// card is the card of the link; a post with files shows none, nor does one whose
// family has no place for it.
func (p Props) card() *Card {
	if p.address() == "" || len(p.Media) > 0 {
		return nil
	}
	card := Card{}
	if p.Card != nil {
		card = *p.Card
	}
	if !p.look().Reads {
		card = Card{}
	}
	if t := p.option(network.OptLinkTitle); t != "" {
		card.Title, card.Say = t, ""
	}
	if w := p.option(network.OptLinkWords); w != "" {
		card.Words = w
	}
	switch {
	case card.Waits:
		card.Say = "The page has not been read yet."
	case p.Card == nil && card.Title == "" && p.look().Reads:
		card.Say = network.Label(p.Network) + " makes the card from the page itself when the post goes out. Herald has not read that page yet."
	}
	if card.Title == "" {
		card.Title = p.bareAddress()
	}
	return &card
}

// bareAddress is what stands for a title where a page has none that is known: the
// address, where the network goes by the page, and its host, where Herald says it.
func (p Props) bareAddress() string {
	if !p.look().Reads {
		return p.host()
	}
	_, bare, found := strings.Cut(p.address(), "://")
	if !found {
		bare = p.address()
	}
	return strings.TrimSuffix(strings.TrimPrefix(bare, "www."), "/")
}

func (p Props) host() string {
	address := p.address()
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return p.address()
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// shown are the files that stand in a grid at once.
func (p Props) shown() []Media {
	if n := p.look().Grid; n > 0 && len(p.Media) > n {
		return p.Media[:n]
	}
	return p.Media
}

func (p Props) beyond() int { return len(p.Media) - len(p.shown()) }

func (m Media) alt() string {
	switch {
	case m.Alt != "":
		return m.Alt
	case m.Video:
		return "Video without an alt text"
	case m.Document:
		return "The first page of the document"
	}
	return "Picture without an alt text"
}

// leaves says how many pages a document has.
func (m Media) leaves() string {
	switch m.Pages {
	case 0:
		return "PDF"
	case 1:
		return "1 page"
	}
	return number(m.Pages) + " pages"
}

// box is the part of the whole that is sent, for an SVG.
func (m Media) box() string {
	return strconv.Itoa(m.Part.X) + " " + strconv.Itoa(m.Part.Y) + " " + strconv.Itoa(m.Part.Width) + " " + strconv.Itoa(m.Part.Height)
}

// href is where an address in a text leads.
func href(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "https://" + address
}

func paragraphs(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
}

func tags(list string) []string { return network.Tags(list) }

func number(n int) string { return strconv.Itoa(n) }
