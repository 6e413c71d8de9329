package desk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/ui"
)

// showWordingChoices answers GET /wordings/choices?account=1&account=2 for the
// composer with what can be put into a post for these accounts.
func (d *Desk) showWordingChoices(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	accounts, err := ids[model.AccountID](r.URL.Query()["account"])
	if err != nil {
		return err
	}
	e := &editing{desk: d, scope: scope, form: composition{content: model.Content{Accounts: accounts}}}
	if e.clients, err = scope.ComposerClients(r.Context(), accounts); err != nil {
		return err
	}
	if e.keepAccounts(); e.lost != nil {
		return e.lost
	}
	choices, err := e.wordingChoices(r.Context())
	if err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, composer.WordingChoices(choices))
}

// wordingChoices are those of the workspace, and of the clients that the post goes
// to. A post that goes nowhere yet can start from any template.
func (e *editing) wordingChoices(ctx context.Context) (c composer.Choices, err error) {
	c.Keep, c.Form = at(e.scope, "/wordings"), at(e.scope, "/posts/form")
	list, err := e.scope.Wordings(ctx)
	if err != nil {
		return c, err
	}
	for _, words := range wordingKinds {
		group := composer.ChoiceGroup{Title: words.title, Starts: words.kind == db.Template}
		for _, w := range list {
			if w.Kind == words.kind && e.mayUse(w) == nil {
				group.Rows = append(group.Rows, composer.Choice{ID: id(w.ID), Name: w.Name, Client: w.Client, Text: w.Content.Text, Words: model.Excerpt(w.Content.Text, 120)})
			}
		}
		if len(group.Rows) > 0 {
			c.Groups = append(c.Groups, group)
		}
	}
	c.Nowhere = len(e.form.content.Accounts) == 0
	return c, nil
}

// mayUse refuses what is kept for a client that the post does not go to.
func (e *editing) mayUse(w db.Wording) error {
	chosen := e.chosenClients()
	if w.ClientID == 0 || slices.Contains(chosen, w.ClientID) || w.Kind == db.Template && len(chosen) == 0 {
		return nil
	}
	return model.Refuse(model.Unprocessable, "“"+w.Name+"” is kept for "+w.Client+", and this post does not go to an account of it.")
}

// askedWording is the one that a button named, if the post may use it.
func (e *editing) askedWording(ctx context.Context) (w db.Wording, err error) {
	list, err := ids[model.WordingID]([]string{e.form.arg})
	if err != nil {
		return w, errNoWordingKind
	}
	if w, err = e.scope.Wording(ctx, list[0]); err != nil {
		return w, err
	}
	return w, e.mayUse(w)
}

// changeWords carries out what was asked for in the panel of wordings. Refusals are
// shown with the form.
func (e *editing) changeWords(ctx context.Context) (err error) {
	switch e.form.do {
	case "words":
		e.wordings.Open = true
		e.wordings.Choices, err = e.wordingChoices(ctx)
		return err
	case "insert":
		err = e.insert(ctx)
	case "template":
		err = e.start(ctx)
	}
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		e.explain(no, "")
		return nil
	}
	return err
}

// insert appends a hashtag group or snippet to the field that was chosen.
func (e *editing) insert(ctx context.Context) error {
	w, err := e.askedWording(ctx)
	if err != nil {
		return err
	}
	part, place, own := strings.Cut(e.form.into, ".")
	name, box, _ := strings.Cut(place, ".")
	v, there := e.form.variants[network.Name(name)]
	switch {
	case own && !there:
		return model.RefuseField("text", network.Label(network.Name(name))+" has no words of its own any more. Choose another field.")
	case part == partPiece && own:
		if err := v.appendTo(box, w.Content.Text); err != nil {
			return err
		}
	case part == partText && own:
		v.text = appended(v.text, w.Content.Text)
	case part == partComment && own:
		v.comment = appended(v.comment, w.Content.Text)
	case part == partComment:
		e.form.content.FirstComment = appended(e.form.content.FirstComment, w.Content.Text)
	default:
		e.form.content.Text = appended(e.form.content.Text, w.Content.Text)
	}
	if own {
		e.form.variants[network.Name(name)] = v
	}
	return nil
}

// appendTo puts words behind one post of a thread.
func (v *variantForm) appendTo(box, words string) error {
	pieces := network.Pieces(v.text)
	i, err := web.Count(box)
	if err != nil || i < 0 || i >= len(pieces) {
		return model.RefuseField("text", "The thread has no such post any more. Choose another field.")
	}
	pieces[i] = appended(pieces[i], words)
	v.text = network.Together(pieces)
	return nil
}

// appended puts words behind a text, on a line of their own.
func appended(text, words string) string {
	if text == "" {
		return words
	}
	return strings.TrimRight(text, "\n") + "\n" + words
}

// start fills an empty form with a template.
func (e *editing) start(ctx context.Context) error {
	w, err := e.askedWording(ctx)
	if err != nil {
		return err
	}
	if w.Kind != db.Template {
		return errNoWordingKind
	}
	if !e.form.blank() {
		return model.RefuseField("text", "This post says something already, and a template would take its place. Empty it, or start a new post with the template.")
	}
	e.form.fill(w, e.labels)
	return e.takeTemplate(ctx)
}

// fillFrom fills a new form with a template.
func (d *Desk) fillFrom(ctx context.Context, scope *db.Scope, asked string, form *composition) error {
	e := &editing{desk: d, scope: scope, form: composition{arg: asked}}
	w, err := e.askedWording(ctx)
	if err != nil {
		return err
	}
	if w.Kind != db.Template {
		return errNoWordingKind
	}
	labels, err := scope.Labels(ctx)
	if err == nil {
		form.fill(w, labels)
	}
	return err
}

// blank says whether the form has no words yet.
func (c *composition) blank() bool {
	all := c.content.Text + c.content.FirstComment + c.content.Link
	for _, v := range c.variants {
		all += v.text + v.comment + v.link
	}
	return network.Blank(all)
}

// fill takes over what a template says, and those of its labels that are in sight.
func (c *composition) fill(w db.Wording, labels []db.Label) {
	c.template, c.owner = w.ID, cmp.Or(c.owner, w.ClientID)
	c.content.Text, c.content.Link, c.content.FirstComment = w.Content.Text, w.Content.Link, w.Content.FirstComment
	for name, v := range w.Content.Variants {
		if _, known := network.Get(network.Name(name)); known {
			c.variants[network.Name(name)] = variantOf(c.content, v)
		}
	}
	for _, id := range w.Content.Labels {
		i := slices.IndexFunc(labels, func(l db.Label) bool { return l.ID == id })
		taken := i >= 0 && labels[i].Kind == db.Campaign && slices.ContainsFunc(labels, func(l db.Label) bool { return l.Kind == db.Campaign && slices.Contains(c.labels, l.ID) })
		if i >= 0 && !taken && !slices.Contains(c.labels, id) {
			c.labels = append(c.labels, id)
		}
	}
	slices.Sort(c.labels)
}

// takeTemplate gives the options of the form's template to those chosen accounts
// whose options nobody has seen yet.
func (e *editing) takeTemplate(ctx context.Context) error {
	if e.form.template == 0 {
		return nil
	}
	w, err := e.scope.Wording(ctx, e.form.template)
	if no, ok := model.Refused(err); ok && no.Kind == model.NotFound {
		e.form.template = 0 // it was removed since; what it said stands in the form
		return nil
	}
	if err != nil {
		return err
	}
	for account, name := range e.networks() {
		if options := w.Content.Options[string(name)]; len(options) > 0 && e.form.content.Options[account] == nil {
			e.form.setOptions(account, maps.Clone(options))
		}
	}
	return nil
}

func (c *composition) setOptions(account model.AccountID, options map[string]string) {
	if c.content.Options == nil {
		c.content.Options = map[model.AccountID]map[string]string{}
	}
	c.content.Options[account] = options
}

// createTemplate answers POST /wordings/templates: what the composer's form says is
// kept as a template. The post itself is not saved.
func (d *Desk) createTemplate(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	e, done, err := d.readEditing(w, r, scope)
	if err != nil {
		return err
	}
	defer done()
	if e.lost == nil {
		err = e.keepTemplate(r.Context())
	}
	no, refused := model.Refused(err)
	if err != nil && (!refused || no.Kind != model.Unprocessable) {
		return err
	}
	if refused {
		e.keeping.Problem = problems(no, "name")
	}
	if web.FromHTMX(r) && e.lost == nil {
		status := http.StatusOK
		if refused {
			status = web.Status(err)
		}
		return web.Render(w, r, status, composer.TemplatePart(e.templatePart()))
	}
	status := e.status()
	if refused {
		status = web.Status(err)
	}
	return e.draw(w, r, status)
}

func (e *editing) keepTemplate(ctx context.Context) error {
	one := db.Wording{ClientID: e.form.keepFor, Kind: db.Template, Name: e.form.keepAs, Content: e.asTemplate()}
	if _, err := e.scope.AddWording(ctx, one); err != nil {
		return err
	}
	e.keeping.Said = "“" + one.Name + "” is kept. The post itself is not saved yet."
	e.form.keepAs = ""
	return nil
}

// asTemplate is what the form says, without accounts and files. Options that the
// accounts of one network do not agree on are left out, and what only one account
// has to choose from.
func (e *editing) asTemplate() db.WordingContent {
	f := e.form
	c := db.WordingContent{Text: f.content.Text, Link: f.content.Link, FirstComment: f.content.FirstComment, Variants: map[string]model.Variant{}, Options: map[string]map[string]string{}}
	for name, v := range f.variants {
		out := f.variant(v)
		out.Media = nil
		c.Variants[string(name)] = out
	}
	for account, name := range e.networks() {
		chosen := general(name, f.optionsOf(account, name))
		if before, there := c.Options[string(name)]; there {
			maps.DeleteFunc(before, func(key, value string) bool { return chosen[key] != value })
		} else {
			c.Options[string(name)] = chosen
		}
	}
	for _, l := range e.labels {
		if slices.Contains(f.labels, l.ID) && (l.ClientID == 0 || l.ClientID == f.keepFor) {
			c.Labels = append(c.Labels, l.ID)
		}
	}
	return c
}

// general leaves of an account's options those that mean the same for any account.
func general(name network.Name, options map[string]string) map[string]string {
	n, ok := network.Get(name)
	kept := map[string]string{}
	for key, value := range options {
		if o, known := optionOf(n, ok, key); known && o.Learned == "" {
			kept[key] = value
		}
	}
	return kept
}

// templatePart is where the form is kept as a template.
func (e *editing) templatePart() composer.KeepTemplate {
	p := e.keeping
	p.Path, p.Name = at(e.scope, "/wordings/templates"), e.form.keepAs
	chosen := e.chosenClients()
	if e.scope.MayKeep(0) {
		p.Clients = append(p.Clients, ui.Option{Label: "Every client"})
	}
	for _, c := range e.clients {
		mine := len(chosen) == 1 && chosen[0] == c.ID
		p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == e.form.keepFor || e.form.keepFor == 0 && e.form.keepAs == "" && mine})
	}
	return p
}

// wordingsPart is the panel, with the fields that words can be put into.
func (e *editing) wordingsPart() composer.Wordings {
	p := e.wordings
	p.Path = at(e.scope, "/wordings/choices")
	if e.form.template != 0 {
		p.Template = id(e.form.template)
	}
	p.Into = []ui.Option{{Value: partText, Label: "Text"}, {Value: partComment, Label: "First comment"}}
	for _, name := range network.All() {
		if v, own := e.form.variants[name.Name]; own && slices.Contains(mapValues(e.networks()), name.Name) {
			p.Into = append(p.Into, e.boxes(name, v)...)
			if name.Comment.Max > 0 {
				p.Into = append(p.Into, ui.Option{Value: partComment + "." + string(name.Name), Label: "First comment for " + name.Label})
			}
		}
	}
	for i := range p.Into {
		p.Into[i].Chosen = p.Into[i].Value == e.form.arg
	}
	return p
}

// boxes are the fields in which a network's own words stand: one, or one for each
// post of a thread.
func (e *editing) boxes(n *network.Network, v variantForm) (list []ui.Option) {
	if !e.writesThread(n.Name) {
		return []ui.Option{{Value: partText + "." + string(n.Name), Label: "Text for " + n.Label}}
	}
	for i := range network.Pieces(v.text) {
		list = append(list, ui.Option{Value: fmt.Sprintf("%s.%s.%d", partPiece, n.Name, i), Label: fmt.Sprintf("Post %d for %s", i+1, n.Label)})
	}
	return list
}

// readWordings reads what the form says of templates, and where words go.
func (c *composition) readWordings(p *parts) error {
	template, err := optionalID(p.Get("template"))
	if err != nil {
		return err
	}
	client, err := optionalID(p.Get("template_client"))
	c.template, c.into = model.WordingID(template), p.Get("into")
	c.keepAs, c.keepFor = strings.TrimSpace(typed(p.Get("template_name"))), model.ClientID(client)
	return err
}
