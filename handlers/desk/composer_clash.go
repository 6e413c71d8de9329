package desk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/composer"
)

// clash asks about what two people changed to different things. The form keeps its
// own; each thing can be settled by itself.
func (e *editing) clash(ctx context.Context, say string) error {
	versions, err := e.scope.Versions(ctx, e.page.Post.ID)
	if err != nil {
		return err
	}
	if len(versions) > 0 {
		v := versions[0]
		say += fmt.Sprintf(" Version %d is by %s.", v.Number, v.By)
	}
	say += e.mergedWords()
	e.conflict = &composer.Conflict{Say: say, Rows: e.clashRows()}
	e.form.named = slices.DeleteFunc(e.form.named, func(id model.ClientID) bool { return !slices.Contains(e.chosenClients(), id) })
	return nil
}

// mergedWords says what others changed meanwhile that is in the form by now.
func (e *editing) mergedWords() string {
	if len(e.merged) == 0 {
		return ""
	}
	return " What others changed meanwhile is in it: " + strings.ToLower(listed(e.merged)) + "."
}

// field is one thing that a form and a stored post say, in words.
type field struct {
	key, what          string
	stored, mine, base string
	both               bool // the two can stand together
}

// contested are the things that the form and the stored post say differently: those
// that were left open, or else those that are not as the form began from them.
func (e *editing) contested() (list []field) {
	for _, f := range e.fieldsOf() {
		open := slices.Contains(e.form.open, f.key) || len(e.form.open) == 0 && (e.base == nil || f.stored != f.base)
		if f.stored != f.mine && open {
			list = append(list, f)
		}
	}
	return list
}

// fieldsOf are all the things that are compared. What has no base is as stored
// there, unless the form says what it began from.
func (e *editing) fieldsOf() []field {
	stored, mine, base := e.page.Version.Content, e.checked.Content, model.Content{}
	if e.base != nil {
		base = *e.base
	}
	list := []field{
		{"text", "Text", stored.Text, mine.Text, base.Text, true},
		{"link", "Link", stored.Link, mine.Link, base.Link, false},
		{"first_comment", "First comment", stored.FirstComment, mine.FirstComment, base.FirstComment, true},
	}
	for _, n := range network.All() {
		list = append(list, e.variantFields(n, stored, mine, base)...)
	}
	return append(list,
		field{"files", "Files", e.fileNames(stored.Media), e.fileNames(mine.Media), e.fileNames(base.Media), false},
		field{"accounts", "Accounts", e.accountNames(stored.Accounts), e.accountNames(mine.Accounts), e.accountNames(base.Accounts), false},
		field{"options", "Options", optionNames(stored), optionNames(mine), optionNames(base), false},
		field{"plain", "Link tags", tagsWord(stored), tagsWord(mine), tagsWord(base), false},
		field{"notes", "Notes", e.page.Post.Notes, strings.TrimSpace(e.form.notes), e.form.baseNotes, true},
		field{"labels", "Labels", e.labelNames(e.page.Post.Labels), e.labelNames(e.form.labels), e.form.baseLabels, false},
	)
}

// variantFields are what one network gets of its own.
func (e *editing) variantFields(n *network.Network, stored, mine, base model.Content) []field {
	name := string(n.Name)
	if stored.Variants[name] == (model.Variant{}) && mine.Variants[name] == (model.Variant{}) {
		return nil
	}
	words := func(c model.Content) string {
		if c.Variants[name] == (model.Variant{}) {
			return ""
		}
		part := c.For(name, 0)
		return strings.Join(slices.DeleteFunc([]string{part.Text, part.Link, part.FirstComment, e.fileNames(part.Media)}, func(s string) bool { return s == "" }), "\n")
	}
	return []field{{"variant." + name, n.Label + " of its own", words(stored), words(mine), words(base), false}}
}

func (e *editing) clashRows() (rows []composer.ConflictRow) {
	for _, f := range e.contested() {
		rows = append(rows, composer.ConflictRow{Key: f.key, What: f.what, Stored: orNothing(f.stored), Mine: model.Difference(f.stored, f.mine), Both: f.both})
	}
	return rows
}

func tagsWord(c model.Content) string {
	if c.Plain {
		return "Left out"
	}
	return "As the client’s rule says"
}

// optionNames are the options of all accounts, in order.
func optionNames(c model.Content) string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(c.Options)) {
		for _, key := range slices.Sorted(maps.Keys(c.Options[id])) {
			words = append(words, fmt.Sprintf("%d %s: %s", id, key, c.Options[id][key]))
		}
	}
	return strings.Join(words, "\n")
}

// merge takes over what others changed and this form did not, seen from the version
// that the form began from. What is left is for its writer to settle.
func (e *editing) merge(ctx context.Context, began int) error {
	v, err := e.scope.PostVersion(ctx, e.page.Post.ID, began)
	if _, no := model.Refused(err); no {
		return nil
	}
	if err != nil {
		return err
	}
	e.base = &v.Content
	for _, f := range e.fieldsOf() {
		if f.mine == f.base && f.stored != f.base {
			e.takeStored(f.key)
			e.merged = append(e.merged, f.what)
		}
	}
	return e.reload(ctx)
}

// reload looks again at what the form names, after it changed.
func (e *editing) reload(ctx context.Context) error {
	e.keepAccounts()
	if err := e.loadAssets(ctx); err != nil {
		return err
	}
	return e.check(ctx)
}

// takeStored makes one thing of the form what is stored.
func (e *editing) takeStored(key string) {
	stored, f := composed(e.page.Version.Content), &e.form
	switch key {
	case "text":
		f.content.Text = stored.content.Text
	case "link":
		f.content.Link = stored.content.Link
	case "first_comment":
		f.content.FirstComment = stored.content.FirstComment
	case "files":
		f.content.Media = stored.content.Media
	case "accounts":
		f.content.Accounts = stored.content.Accounts
	case "plain":
		f.content.Plain = stored.content.Plain
	case "options":
		f.content.Options = stored.content.Options
	case "notes":
		f.notes = e.page.Post.Notes
	case "labels":
		f.labels = e.page.Post.Labels
	}
	if name, ok := strings.CutPrefix(key, "variant."); ok {
		delete(f.variants, network.Name(name))
		if v, own := stored.variants[network.Name(name)]; own {
			f.variants[network.Name(name)] = v
		}
	}
}

// settle carries out the answer to one question of a clash, and asks the rest again.
func (e *editing) settle(ctx context.Context) error {
	key := e.form.arg
	if e.form.id == 0 || !slices.Contains(e.form.open, key) {
		return model.Refuse(model.Conflict, "This was settled already. Save the post, or load the page again.")
	}
	if e.form.do == "theirs" {
		e.takeStored(key)
	} else if !e.takeBoth(key) {
		return model.Refuse(model.Unprocessable, "These two cannot stand together. Choose one of them.")
	}
	if err := e.reload(ctx); err != nil {
		return err
	}
	e.form.open = slices.DeleteFunc(e.form.open, func(k string) bool { return k == key })
	if len(e.form.open) > 0 {
		e.conflict = &composer.Conflict{Say: "Settle the rest, too, or save it with yours.", Rows: e.clashRows()}
	}
	return nil
}

// takeBoth puts what is stored behind the form's own words.
func (e *editing) takeBoth(key string) bool {
	both := func(mine *string, stored string) { *mine = strings.TrimSpace(*mine + "\n\n" + stored) }
	switch stored := e.page.Version.Content; key {
	case "text":
		both(&e.form.content.Text, stored.Text)
	case "first_comment":
		both(&e.form.content.FirstComment, stored.FirstComment)
	case "notes":
		both(&e.form.notes, e.page.Post.Notes)
	default:
		return false
	}
	return true
}

func orNothing(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(nothing)"
	}
	return s
}

func (e *editing) fileNames(media []model.ContentMedia) string {
	var names []string
	for _, m := range media {
		name := e.assets[m.ID].Name
		if name == "" {
			name = fmt.Sprintf("file %d", m.ID)
		}
		if m.Alt != "" {
			name += " (" + m.Alt + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, "\n")
}

func (e *editing) accountNames(list []model.AccountID) string {
	var names []string
	for _, id := range list {
		name := fmt.Sprintf("account %d", id)
		if a, c, ok := e.account(id); ok {
			name = c.Name + ", " + a.Handle
		} else if i := slices.IndexFunc(e.page.Targets, func(t db.Target) bool { return t.AccountID == id }); i >= 0 {
			name = e.page.Targets[i].Client + ", " + e.page.Targets[i].Account
		}
		names = append(names, name)
	}
	return strings.Join(names, "\n")
}
