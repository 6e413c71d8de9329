package db

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/db/model"
	"herald/db/network"
	"herald/db/sheet"
)

// ImportColumn is what a column of an imported table can mean. The text of one
// network alone is ColumnText with a colon and the network's name.
type ImportColumn string

// The columns.
const (
	ColumnNone     ImportColumn = ""
	ColumnText     ImportColumn = "text"
	ColumnDay      ImportColumn = "day" // or day and time in one
	ColumnClock    ImportColumn = "clock"
	ColumnAccounts ImportColumn = "accounts"
	ColumnNetworks ImportColumn = "networks"
	ColumnClient   ImportColumn = "client" // whose post the row is; empty: the table's client
	ColumnMedia    ImportColumn = "media"
	ColumnAlt      ImportColumn = "alt"
	ColumnLink     ImportColumn = "link"
	ColumnComment  ImportColumn = "comment"
	ColumnLabels   ImportColumn = "labels"
	ColumnCampaign ImportColumn = "campaign"
	ColumnNotes    ImportColumn = "notes"
)

// ImportColumns lists what a column can mean, in the order of a form.
func ImportColumns() []ImportColumn {
	return []ImportColumn{ColumnText, ColumnDay, ColumnClock, ColumnAccounts, ColumnNetworks, ColumnClient, ColumnMedia, ColumnAlt, ColumnLink, ColumnComment, ColumnLabels, ColumnCampaign, ColumnNotes}
}

// TextFor is the column of the text of one network.
func TextFor(n network.Name) ImportColumn { return ColumnText + ":" + ImportColumn(n) }

// ofNetwork is the network of such a column.
func (c ImportColumn) ofNetwork() (network.Name, bool) {
	name, found := strings.CutPrefix(string(c), string(ColumnText)+":")
	_, known := network.Get(network.Name(name))
	return network.Name(name), found && known
}

func (c ImportColumn) known() bool {
	_, own := c.ofNetwork()
	return own || c == ColumnNone || slices.Contains(ImportColumns(), c)
}

// guesses are words by which people name columns; the longest that is found counts.
var guesses = []struct {
	column ImportColumn
	words  string
}{
	{ColumnText, "text caption copy message content post body beschreibung inhalt texte"},
	{ColumnDay, "date day when schedule scheduled datetime datum termin publish due posted"},
	{ColumnClock, "time clock hour uhrzeit zeit heure"},
	{ColumnAccounts, "account accounts handle profile profiles page konto konten profil destination"},
	{ColumnNetworks, "network networks channel channels platform platforms netzwerk kanal plattform"},
	{ColumnClient, "client clients brand brands customer kunde kunden marke mandant"},
	{ColumnMedia, "media image images picture pictures photo photos video videos file files bild bilder datei attachment"},
	{ColumnAlt, "alt alternative alttext accessibility"},
	{ColumnLink, "link url website"},
	{ColumnComment, "comment first-comment firstcomment kommentar"},
	{ColumnLabels, "label labels tag tags category categories topic thema"},
	{ColumnCampaign, "campaign kampagne"},
	{ColumnNotes, "note notes notiz notizen internal remark"},
}

// GuessColumns reads from a head what each column means. Nothing but a network's
// text is meant twice.
func GuessColumns(head []string) []ImportColumn {
	columns := make([]ImportColumn, len(head))
	for i, name := range head {
		if c := guessColumn(name); c != ColumnNone && !slices.Contains(columns[:i], c) {
			columns[i] = c
		}
	}
	return columns
}

func guessColumn(name string) ImportColumn {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" _-:/()[].#", r) })
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(strings.Fields(list), w) })
	}
	if slices.Contains(words, "problem") {
		return ColumnNone // of our own list of refused rows
	}
	for _, n := range network.All() {
		if slices.Contains(words, string(n.Name)) && !has("account accounts handle") {
			return TextFor(n.Name)
		}
	}
	for _, one := range []ImportColumn{ColumnAlt, ColumnComment, ColumnMedia, ColumnLink, ColumnCampaign, ColumnLabels, ColumnClient, ColumnAccounts, ColumnNetworks, ColumnDay, ColumnClock, ColumnNotes, ColumnText} {
		i := slices.IndexFunc(guesses, func(g struct {
			column ImportColumn
			words  string
		}) bool {
			return g.column == one
		})
		if has(guesses[i].words) {
			return one
		}
	}
	return ColumnNone
}

// importing is what rows of a table are read by: the client's own accounts, labels
// and files.
type importing struct {
	client   ComposerClient
	columns  []ImportColumn
	dayFirst bool
	labels   []Label
	files    map[string]model.MediaID // by name, in small letters
	may      func(model.When) error   // refuses a time

	named map[string]*importing // the same for clients that rows name, by name in small letters
}

// all are the table's client and those that rows name.
func (in *importing) all() []*importing {
	list := []*importing{in}
	for _, name := range slices.Sorted(maps.Keys(in.named)) {
		list = append(list, in.named[name])
	}
	return list
}

func (in *importing) allAccounts() (list []ComposerAccount) {
	for _, one := range in.all() {
		list = append(list, one.client.Accounts...)
	}
	return list
}

// of is what a row is read by: its own client's, or the table's where it names none.
func (in importing) of(row []string) (_ importing, ok bool) {
	word := in.cell(row, ColumnClient)
	if word == "" {
		return in, true
	}
	if one := in.named[fold(word)]; one != nil {
		return *one, true
	}
	return in, false
}

// ImportedRow is what one row says.
type ImportedRow struct {
	Client    string // whose it is
	Form      PostForm
	When      model.When // zero: no time
	Addresses []string   // of files that are to be fetched, in their places among Order
	Order     []string   // of files, as the row names them
	Problems  []string   // why no post is made of it
}

// cell is what a row says in a column.
func (in importing) cell(row []string, c ImportColumn) string {
	if i := slices.Index(in.columns, c); i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

// read reads a row.
func (in importing) read(row []string) (r ImportedRow) {
	in, ok := in.of(row)
	if !ok {
		r.no("There is no client “%s” that you may write for.", model.Excerpt(in.cell(row, ColumnClient), 60))
		return r
	}
	r.Client = in.client.Name
	r.Form.Content = model.Content{Text: in.cell(row, ColumnText), Link: in.cell(row, ColumnLink), FirstComment: in.cell(row, ColumnComment), Variants: map[string]model.Variant{}}
	r.Form.Notes = in.cell(row, ColumnNotes)
	for i, c := range in.columns {
		if name, own := c.ofNetwork(); own && i < len(row) && row[i] != "" {
			r.Form.Content.Variants[string(name)] = model.Variant{Text: &row[i]}
		}
	}
	in.readAccounts(row, &r)
	in.readTime(row, &r)
	in.readLabels(row, &r)
	in.readFiles(row, &r)
	if r.Form.Content.Text == "" && len(r.Order) == 0 && len(r.Form.Content.Variants) == 0 {
		r.no("It has no text and no file.")
	}
	for _, long := range []string{r.Form.Content.Link, r.Form.Notes} {
		if len(long) > 4000 {
			r.no("Its link or its note is longer than 4,000 characters.")
		}
	}
	return r
}

func (r *ImportedRow) no(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// parted takes the words of a cell that holds several.
func parted(cell string) (list []string) {
	for _, one := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",;\n|", r) }) {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

func (in importing) readAccounts(row []string, r *ImportedRow) {
	networks := map[network.Name]bool{}
	for _, word := range parted(in.cell(row, ColumnNetworks)) {
		name, ok := networkCalled(word)
		if !ok {
			r.no("There is no network “%s”.", model.Excerpt(word, 40))
			continue
		}
		networks[name] = true
	}
	words := parted(in.cell(row, ColumnAccounts))
	var chosen []ComposerAccount
	for _, word := range words {
		found, say := in.account(word, networks)
		if say != "" {
			r.no("%s", say)
		}
		chosen = append(chosen, found...)
	}
	for _, a := range in.client.Accounts {
		if len(words) == 0 && networks[a.Network] {
			chosen = append(chosen, a)
		}
	}
	for _, a := range chosen {
		if !slices.Contains(r.Form.Content.Accounts, a.ID) {
			r.Form.Content.Accounts = append(r.Form.Content.Accounts, a.ID)
		}
	}
	switch {
	case in.cell(row, ColumnNetworks) == "" && len(words) == 0:
		r.no("It names no account and no network.")
	case len(chosen) == 0 && len(words) == 0 && len(networks) > 0:
		r.no("%s has no account there.", in.client.Name)
	}
}

// account finds what a word calls: a handle, a network, or a network and a handle.
func (in importing) account(word string, networks map[network.Name]bool) (found []ComposerAccount, say string) {
	handle, of := word, network.Name("")
	if first, rest, two := strings.Cut(strings.Replace(word, ":", " ", 1), " "); two {
		if name, ok := networkCalled(first); ok {
			handle, of = strings.TrimSpace(rest), name
		}
	}
	whole, isNetwork := networkCalled(word)
	for _, a := range in.client.Accounts {
		switch {
		case of != "" && a.Network != of || of == "" && len(networks) > 0 && !networks[a.Network]:
		case sameHandle(a.Handle, handle) || isNetwork && a.Network == whole:
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Sprintf("%s has no account “%s”.", in.client.Name, model.Excerpt(word, 60))
	case len(found) > 1 && !isNetwork:
		return nil, fmt.Sprintf("“%s” is an account on %s and on %s: write the network before it.", model.Excerpt(word, 60), network.Label(found[0].Network), network.Label(found[1].Network))
	}
	return found, ""
}

func sameHandle(a, b string) bool {
	return strings.EqualFold(strings.TrimPrefix(a, "@"), strings.TrimPrefix(b, "@"))
}

// networkCalled finds a network by its name or by what people call it.
func networkCalled(word string) (network.Name, bool) {
	for _, n := range network.All() {
		if strings.EqualFold(string(n.Name), word) || strings.EqualFold(n.Label, word) {
			return n.Name, true
		}
	}
	if strings.EqualFold(word, "twitter") {
		return network.X, true
	}
	return "", false
}

// readTime reads day and time on the client's clocks. An hour that comes twice has to
// say which.
func (in importing) readTime(row []string, r *ImportedRow) {
	day, clock := in.cell(row, ColumnDay), in.cell(row, ColumnClock)
	if day == "" && clock == "" {
		return
	}
	choice := model.Once
	for word, which := range map[string]model.Occurrence{"first": model.Earlier, "second": model.Later} {
		for _, cell := range []*string{&day, &clock} {
			if rest, said := strings.CutSuffix(strings.ToLower(*cell), " "+word); said {
				*cell, choice = rest, which
			}
		}
	}
	local, ok := sheet.ParseWhen(day, clock, in.dayFirst)
	if !ok {
		r.no("“%s” is no day with a time. Write both, as 2026-03-29 14:30.", model.Excerpt(strings.TrimSpace(day+" "+clock), 60))
		return
	}
	when, err := model.Resolve(local, in.client.Zone, choice)
	switch {
	case err != nil:
	case when.Repeated() && choice == model.Once:
		r.no("The clocks of %s show %s twice, because they go back. Write “first” or “second” behind the time.", in.client.Name, strings.Replace(local.String(), "T", " ", 1))
		return
	default:
		err = in.may(when)
	}
	if no, refused := model.Refused(err); refused {
		r.no("%s", no.Say)
		return
	}
	r.When = when
}

func (in importing) readLabels(row []string, r *ImportedRow) {
	for column, kind := range map[ImportColumn]LabelKind{ColumnLabels: PlainLabel, ColumnCampaign: Campaign} {
		words := parted(in.cell(row, column))
		if column == ColumnCampaign && len(words) > 1 {
			r.no("It names %d campaigns; a post belongs to at most one.", len(words))
			continue
		}
		for _, word := range words {
			i := slices.IndexFunc(in.labels, func(l Label) bool {
				return l.Kind == kind && strings.EqualFold(l.Name, word) && (l.ClientID == 0 || l.ClientID == in.client.ID)
			})
			if i < 0 {
				r.no("There is no %s “%s”. Make it on the page of labels first, or take it out.", string(kind), model.Excerpt(word, 60))
				continue
			}
			r.Form.Labels = append(r.Form.Labels, in.labels[i].ID)
		}
	}
	slices.Sort(r.Form.Labels)
}

// maxImportFiles is how many files one row may name.
const maxImportFiles = 20

// readFiles reads addresses, which are fetched later, and names of the client's library.
func (in importing) readFiles(row []string, r *ImportedRow) {
	r.Order = fileWords(in.cell(row, ColumnMedia))
	if len(r.Order) > maxImportFiles {
		r.no("It names %d files; a post has at most %d.", len(r.Order), maxImportFiles)
		return
	}
	for _, word := range r.Order {
		if isAddress(word) {
			r.Addresses = append(r.Addresses, word)
		} else if in.files[strings.ToLower(word)] == 0 {
			r.no("%s has no file “%s” in its library.", in.client.Name, model.Excerpt(word, 60))
		}
	}
}

func isAddress(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
}

// fileWords are addresses, which hold no blanks, and names, which may.
func fileWords(cell string) (list []string) {
	for _, one := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(";\n|", r) }) {
		if words := strings.FieldsFunc(one, func(r rune) bool { return r == ' ' || r == ',' }); len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !isAddress(w) }) {
			list = append(list, words...)
		} else if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// attach puts the files of a row into its form, each with its alt text. fetched are
// those of its addresses.
func (in importing) attach(row []string, r *ImportedRow, fetched map[string]model.MediaID) {
	alts := strings.FieldsFunc(in.cell(row, ColumnAlt), func(c rune) bool { return c == '\n' || c == '|' })
	for i, word := range r.Order {
		m := model.ContentMedia{ID: in.files[strings.ToLower(word)]}
		if isAddress(word) {
			m.ID = fetched[word]
		}
		if i < len(alts) {
			m.Alt = strings.TrimSpace(alts[i])
		}
		if !slices.ContainsFunc(r.Form.Content.Media, func(o model.ContentMedia) bool { return o.ID == m.ID }) {
			r.Form.Content.Media = append(r.Form.Content.Media, m)
		}
	}
}
