package desk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
)

// composition is what the composer's form holds: a post that is not saved yet.
type composition struct {
	id      model.PostID // zero for a new post
	key     string
	seen    int
	do, arg string // the intent, and what it is about
	way     string // the intent of the loud button, as the page was drawn

	content  model.Content                // of the shared parts; variants are apart until they are needed
	variants map[network.Name]variantForm // of every network that was customised, chosen now or not
	named    []model.ClientID
	notes    string
	labels   []model.LabelID // a campaign among them; sorted
	owner    model.ClientID  // whose library new files go to
	when     whenForm
	files    []*upload
	picks    []model.MediaID // files of the library to attach
	find     string          // what is looked for in it

	look, part string // which tabs stand open: of the previews, of the words by network

	addresses []string // of files to fetch

	began        int      // number of the version that the form began from; 0 if it does not say
	baseStanding string   // and where its approval and delivery stood
	baseNotes    string   // and the notes
	baseLabels   string   // and the labels, in words
	open         []string // what a clash left to be settled

	undo undoForm // of what was done to a thread

	template model.WordingID // which it began with
	into     string          // where words of the panel go, without script
	keepAs   string          // the name under which the form is kept as a template
	keepFor  model.ClientID  // and for whom

	copy string          // names what is kept of this form while it is written
	from *db.WorkingCopy // what it was filled from

	refused error // a field that holds more than it may; the rest is read all the same
}

// variantForm is the words for one network. own names the parts that are its own
// even where they equal the shared ones.
type variantForm struct {
	text, link, comment string
	own                 []string
	offered             []model.MediaID      // the files it could choose among
	taken               []model.MediaID      // those it gets
	extra               []model.ContentMedia // files that only this network has
	pieces              bool                 // the text was written as the posts of a thread
}

// The parts of a variant.
const (
	partText    = "text"
	partLink    = "link"
	partComment = "first_comment"
	partMedia   = "file"
	partOrder   = "order" // of its files
	partPiece   = "piece" // of the text: a post of a thread
)

// What a person types is bounded, so that nobody stores a library as a draft.
const (
	maxText  = 200_000 // characters
	maxNotes = 20_000
)

// readComposition reads the form. It refuses ids that are none. Texts beyond all
// bounds are read and kept as refused; whether a network takes what was written
// is for CheckPost to say.
func readComposition(p *parts) (c composition, err error) {
	c.do, c.arg, _ = strings.Cut(cmp.Or(p.Get("do"), "save"), ":")
	c.way, c.key, c.files, c.addresses = p.Get("way"), p.Get("key"), p.files, typedAddresses(p.Values["address"])
	c.seen, _ = web.Count(p.Get("seen"))
	post, err := optionalID(p.Get("post"))
	if err != nil {
		return c, err
	}
	c.id = model.PostID(post)
	c.readCopy(p)
	for _, read := range []func(*parts) error{c.readIDs, c.readLabels, c.readWordings, c.readMedia, c.readOptions, c.readVariants} {
		if err := read(p); err != nil {
			return c, err
		}
	}
	c.when = readWhen(p)
	c.look, c.part = p.Get("look"), p.Get("part")
	c.undo = undoForm{text: typed(p.Get("undo_text")), was: p.Get("undo_was")}
	c.readWords(p)
	c.refused = c.tooMuch()
	return c, nil
}

func (c *composition) readCopy(p *parts) {
	c.began, _ = web.Count(p.Get("began"))
	c.baseStanding = p.Get("began_standing")
	c.baseNotes, c.baseLabels, c.open = typed(p.Get("began_notes")), typed(p.Get("began_labels")), p.Values["open"]
	if c.copy = p.Get("copy"); !web.IsFormKey(c.copy) {
		c.copy = web.FormKey()
	}
	if from := p.Get("from"); web.IsFormKey(from) {
		c.from = &db.WorkingCopy{Key: from}
	}
}

func (c *composition) readWords(p *parts) {
	c.content.Text, c.content.FirstComment = typed(p.Get("text")), typed(p.Get("first_comment"))
	c.content.Link = strings.TrimSpace(typed(p.Get("link")))
	c.content.Plain = p.Get("plain") == "true"
	c.notes = typed(p.Get("notes"))
}

// tooMuch refuses what nobody would store.
func (c *composition) tooMuch() error {
	long := []string{c.content.Text, c.content.FirstComment, c.content.Link}
	for _, v := range c.variants {
		long = append(long, v.text, v.comment, v.link)
	}
	for _, s := range long {
		if utf8.RuneCountInString(s) > maxText {
			return model.RefuseField("text", fmt.Sprintf("That is more than %d characters: no network takes so much.", maxText))
		}
	}
	if utf8.RuneCountInString(c.notes) > maxNotes {
		return model.RefuseField("notes", fmt.Sprintf("Keep notes under %d characters.", maxNotes))
	}
	return nil
}

// typed makes of a submitted text the one that is kept, without what no database
// and no network stores.
func typed(s string) string {
	return network.Clean(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", ""))
}

func (c *composition) readIDs(p *parts) (err error) {
	if c.content.Accounts, err = ids[model.AccountID](p.Values["account"]); err != nil {
		return err
	}
	slices.Sort(c.content.Accounts)
	c.content.Accounts = slices.Compact(c.content.Accounts)
	if c.named, err = ids[model.ClientID](p.Values["named"]); err != nil {
		return err
	}
	if c.picks, err = ids[model.MediaID](p.Values[map[string]string{"attach": "pick", "arrive": "arrived"}[c.do]]); err != nil {
		return err
	}
	c.find = strings.TrimSpace(typed(p.Get("find")))
	owner, err := optionalID(p.Get("owner"))
	c.owner = model.ClientID(owner)
	return err
}

// ids reads a list of ids. What is no id is answered like an id that is not
// there.
func ids[T ~int64](list []string) (out []T, err error) {
	for _, s := range list {
		id := web.ID(s)
		if id == 0 {
			return nil, model.Refuse(model.NotFound, "There is no such thing.")
		}
		out = append(out, T(id))
	}
	return out, nil
}

func optionalID(s string) (int64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	list, err := ids[int64]([]string{s})
	if err != nil {
		return 0, err
	}
	return list[0], nil
}

func (c *composition) readMedia(p *parts) error {
	list, err := ids[model.MediaID](p.Values["media"])
	for _, id := range list {
		if !c.has(id) {
			alt := strings.TrimSpace(typed(p.Get(fmt.Sprintf("alt.%d", id))))
			c.content.Media = append(c.content.Media, model.ContentMedia{ID: id, Alt: alt})
		}
	}
	return err
}

func (c *composition) has(id model.MediaID) bool {
	return slices.ContainsFunc(c.content.Media, func(m model.ContentMedia) bool { return m.ID == id })
}

// readOptions reads option.ACCOUNT.KEY, moment.ACCOUNT.KEY and many.ACCOUNT.KEY. The last value counts, so that a box that
// is not ticked can be told from one that was not there.
func (c *composition) readOptions(p *parts) error {
	c.content.Options = map[model.AccountID]map[string]string{}
	for name, values := range p.Values {
		kind, rest, _ := strings.Cut(name, ".")
		join, ok := joins[kind]
		if !ok {
			continue
		}
		account, key, _ := strings.Cut(rest, ".")
		list, err := ids[model.AccountID]([]string{account})
		if err != nil {
			return err
		}
		if len(key) > 64 {
			return model.Refuse(model.NotFound, "There is no such option.")
		}
		if c.content.Options[list[0]] == nil {
			c.content.Options[list[0]] = map[string]string{}
		}
		c.content.Options[list[0]][key] = typed(join(values))
	}
	return nil
}

// joins put the values of one option together, by what kind of field they come from.
var joins = map[string]func([]string) string{
	"option": func(values []string) string { return values[len(values)-1] },
	"moment": func(values []string) string { return strings.TrimSpace(strings.Join(values, " ")) },
	"many": func(values []string) string {
		return strings.Join(slices.DeleteFunc(values, func(s string) bool { return s == "" }), ", ")
	},
}

func (c *composition) readVariants(p *parts) error {
	c.variants = map[network.Name]variantForm{}
	for _, s := range p.Values["variant"] {
		name := network.Name(s)
		if _, ok := network.Get(name); !ok {
			return model.Refuse(model.NotFound, "There is no such network.")
		}
		v := variantForm{own: p.Values["own."+s], text: typed(p.Get(partText + "." + s)), comment: typed(p.Get(partComment + "." + s))}
		v.link = strings.TrimSpace(typed(p.Get(partLink + "." + s)))
		v.readPieces(p.Values[partPiece+"."+s])
		var err error
		if v.offered, err = ids[model.MediaID](p.Values["of."+s]); err != nil {
			return err
		}
		if v.taken, err = ids[model.MediaID](p.Values[partMedia+"."+s]); err != nil {
			return err
		}
		extra, err := ids[model.MediaID](p.Values["extra."+s])
		if err != nil {
			return err
		}
		for _, id := range extra {
			v.extra = append(v.extra, model.ContentMedia{ID: id, Alt: strings.TrimSpace(typed(p.Get(fmt.Sprintf("alt.%d", id))))})
		}
		c.variants[name] = v
	}
	return nil
}

// whole is the content as it would be saved: with the variants of networks that
// the post goes to, and the options of its accounts that say something.
func (c *composition) whole(networks map[model.AccountID]network.Name) model.Content {
	out := c.content
	out.Options, out.Variants = map[model.AccountID]map[string]string{}, map[string]model.Variant{}
	for _, id := range out.Accounts {
		if options := c.optionsOf(id, networks[id]); len(options) > 0 {
			out.Options[id] = options
		}
		if v, ok := c.variants[networks[id]]; ok {
			out.Variants[string(networks[id])] = c.variant(v)
		}
	}
	return out
}

// optionsOf leaves out what is the default anyway, so that looking at an option
// is no change.
func (c *composition) optionsOf(id model.AccountID, name network.Name) map[string]string {
	n, ok := network.Get(name)
	kept := map[string]string{}
	for key, value := range c.content.Options[id] {
		if o, known := optionOf(n, ok, key); value != "" && !(known && value == o.Default) {
			kept[key] = value
		}
	}
	return kept
}

func optionOf(n *network.Network, ok bool, key string) (network.Option, bool) {
	if !ok {
		return network.Option{}, false
	}
	return n.Option(key)
}

// variant keeps what differs from the shared parts, or is marked as its own.
func (c *composition) variant(v variantForm) (out model.Variant) {
	mine := func(part, value, shared string) *string {
		if value != shared || slices.Contains(v.own, part) {
			return &value
		}
		return nil
	}
	out.Text = mine(partText, v.sent(), c.content.Text)
	out.Link = mine(partLink, v.link, c.content.Link)
	out.FirstComment = mine(partComment, v.comment, c.content.FirstComment)
	if media := c.variantMedia(v); !sameMedia(media, c.content.Media) || slices.Contains(v.own, partMedia) {
		out.Media = &media
	}
	return out
}

// variantMedia is the files a network gets, in the post's order or its own: those it
// took, and those that were added since it could choose.
func (c *composition) variantMedia(v variantForm) []model.ContentMedia {
	media := []model.ContentMedia{}
	for _, m := range v.inOrder(c.content.Media) {
		if v.takes(m.ID) {
			media = append(media, m)
		}
	}
	return media
}

func sameMedia(a, b []model.ContentMedia) bool {
	return slices.EqualFunc(a, b, func(x, y model.ContentMedia) bool { return x.ID == y.ID })
}

// composed is the form of a post as it is stored.
func composed(content model.Content) (c composition) {
	c.content, c.variants = content, map[network.Name]variantForm{}
	for name, v := range content.Variants {
		c.variants[network.Name(name)] = variantOf(content, v)
	}
	return c
}

func variantOf(content model.Content, v model.Variant) variantForm {
	f := variantForm{text: content.Text, link: content.Link, comment: content.FirstComment}
	read := func(part string, from *string, to *string) {
		if from != nil {
			*to = *from
			f.own = append(f.own, part)
		}
	}
	read(partText, v.Text, &f.text)
	read(partLink, v.Link, &f.link)
	read(partComment, v.FirstComment, &f.comment)
	if v.Media != nil {
		f.readFiles(content.Media, *v.Media)
	}
	return f
}
