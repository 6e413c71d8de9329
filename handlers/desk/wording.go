package desk

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/ui"
	"herald/views/wordings"
)

func (d *Desk) wordingRoutes() []route {
	return []route{
		{"GET /w/{slug}/wordings", model.PostsWrite, d.showWordings},
		{"POST /w/{slug}/wordings", model.PostsWrite, d.createWording},
		{"GET /w/{slug}/wordings/new", model.PostsWrite, d.showNewWording},
		{"GET /w/{slug}/wordings/choices", model.PostsWrite, d.showWordingChoices},
		{"POST /w/{slug}/wordings/templates", model.PostsWrite, d.createTemplate},
		{"GET /w/{slug}/wordings/{wording}", model.PostsWrite, d.showWording},
		{"POST /w/{slug}/wordings/{wording}", model.PostsWrite, d.changeWording},
		{"POST /w/{slug}/wordings/{wording}/removal", model.PostsWrite, d.removeWording},
	}
}

// wordingWords is how a kind of wordings is spoken of.
type wordingWords struct {
	kind                                                     db.WordingKind
	noun, title, say, none, add, made, label, help, newTitle string
}

var wordingKinds = []wordingWords{
	{kind: db.Hashtags, noun: "hashtag group", title: "Hashtag groups", say: "Hashtags that belong together, put into a text in one go.", none: "There are none yet.",
		add: "Add hashtag group", made: "Hashtag group", newTitle: "Add a hashtag group", label: "Hashtags", help: "Parted by blanks or commas. The # comes by itself."},
	{kind: db.Snippet, noun: "snippet", title: "Snippets", say: "A piece of text: opening hours, a disclaimer, how to get there.", none: "There are none yet.",
		add: "Add snippet", made: "Snippet", newTitle: "Add a snippet", label: "Text"},
	{kind: db.Template, noun: "template", title: "Templates", say: "What a post starts from: its text, what single networks get, options and labels. Accounts, files and the time are chosen for each post.", none: "There are none yet. Write a post and choose “Keep as template” below it, or add one here.",
		add: "Add template", made: "Template", newTitle: "Add a template", label: "Text"},
}

func wordingWordsOf(kind db.WordingKind) (wordingWords, bool) {
	i := slices.IndexFunc(wordingKinds, func(w wordingWords) bool { return w.kind == kind })
	if i < 0 {
		return wordingWords{}, false
	}
	return wordingKinds[i], true
}

const wordingsTitle = "Snippets and templates"

// showWordings answers GET /wordings.
func (d *Desk) showWordings(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := scope.Wordings(r.Context())
	if err != nil {
		return err
	}
	var p wordings.Props
	for _, words := range wordingKinds {
		k := wordings.Kind{ID: string(words.kind), Title: words.title, Say: words.say, None: words.none, Label: words.add, Add: at(scope, "/wordings/new?kind="+string(words.kind))}
		for _, one := range list {
			if one.Kind == words.kind {
				k.Rows = append(k.Rows, wordingRow(scope, one))
			}
		}
		p.Kinds = append(p.Kinds, k)
	}
	return d.showSettings(w, r, scope, http.StatusOK, page{title: wordingsTitle}, wordings.List(p))
}

func wordingRow(scope *db.Scope, w db.Wording) wordings.Row {
	row := wordings.Row{Name: w.Name, Words: model.Excerpt(w.Content.Text, 160), Client: w.Client}
	if scope.MayKeep(w.ClientID) {
		row.Change = wordingPath(scope, w.ID)
	}
	if w.Kind == db.Template {
		row.Use, row.Further = at(scope, "/posts/new?template="+id(w.ID)), furtherOf(w.Content)
	}
	return row
}

func wordingPath(scope *db.Scope, w model.WordingID) string { return at(scope, "/wordings/"+id(w)) }

// furtherOf says in words what a template holds beyond the shared text.
func furtherOf(c db.WordingContent) string {
	var said []string
	if names := labelsOfNetworks(c.Variants); len(names) > 0 {
		said = append(said, "own words for "+listed(names))
	}
	if names := labelsOfNetworks(c.Options); len(names) > 0 {
		said = append(said, "options for "+listed(names))
	}
	if len(c.Labels) > 0 {
		said = append(said, counted(len(c.Labels), "label", ""))
	}
	if len(said) == 0 {
		return ""
	}
	return "With " + listed(said) + "."
}

func labelsOfNetworks[T any](m map[string]T) (names []string) {
	for name := range m {
		names = append(names, network.Label(network.Name(name)))
	}
	slices.Sort(names)
	return names
}

// showNewWording answers GET /wordings/new?kind=snippet with an empty form.
func (d *Desk) showNewWording(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	kind := db.WordingKind(r.FormValue("kind"))
	if _, ok := wordingWordsOf(kind); !ok {
		return errNoWordingKind
	}
	return d.drawWording(w, r, scope, http.StatusOK, db.Wording{Kind: kind}, nil)
}

var errNoWordingKind = model.Refuse(model.NotFound, "Choose hashtags, a snippet or a template.")

// drawWording draws the form of one wording, as it is or as it was sent.
func (d *Desk) drawWording(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, one db.Wording, problem map[string]string) error {
	words, _ := wordingWordsOf(one.Kind)
	p := wordings.FormProps{Title: words.newTitle, Crumbs: []ui.Crumb{{Label: wordingsTitle, Href: at(scope, "/wordings")}}, Action: at(scope, "/wordings"), Kind: string(one.Kind), Noun: words.noun,
		Name: one.Name, Label: words.label, Help: words.help, Text: one.Content.Text, Link: one.Content.Link, Comment: one.Content.FirstComment, Parts: partsOf(one.Content), Further: furtherKept(one.Content), Problem: problem}
	if one.ID != 0 {
		p.Title, p.Action, p.Seen = one.Name, wordingPath(scope, one.ID), strconv.Itoa(one.Revision)
		p.Remove, p.Client = p.Action+"/removal", "For every client."
		if one.Client != "" {
			p.Client = "For " + one.Client + " only."
		}
	} else if err := d.wordingClients(r, scope, one.ClientID, &p.Clients); err != nil {
		return err
	}
	return d.showSettings(w, r, scope, status, page{title: wordingsTitle}, wordings.Form(p))
}

// furtherKept says what stays with a template and is not in its form.
func furtherKept(c db.WordingContent) string {
	c.Variants = nil
	if say := furtherOf(c); say != "" {
		return say + " They stay. To change them, start a post with the template and keep it as a new one."
	}
	return ""
}

// wordingClients lists whose a wording may be.
func (d *Desk) wordingClients(r *http.Request, scope *db.Scope, chosen model.ClientID, list *[]ui.Option) error {
	clients, err := scope.ComposerClients(r.Context(), nil)
	if err != nil {
		return err
	}
	if scope.MayKeep(0) {
		*list = append(*list, ui.Option{Label: "Every client"})
	}
	for _, c := range clients {
		*list = append(*list, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == chosen})
	}
	return nil
}

// partsOf are the texts of single networks, each in a field of its own.
func partsOf(c db.WordingContent) (list []wordings.Part) {
	for _, name := range slices.Sorted(maps.Keys(c.Variants)) {
		v, label := c.Variants[name], network.Label(network.Name(name))
		if v.Text != nil {
			list = append(list, wordings.Part{Name: "text." + name, Label: "Text for " + label, Text: *v.Text})
		}
		if v.Link != nil {
			list = append(list, wordings.Part{Name: "link." + name, Label: "Link for " + label, Text: *v.Link, Line: true})
		}
		if v.FirstComment != nil {
			list = append(list, wordings.Part{Name: "first_comment." + name, Label: "First comment for " + label, Text: *v.FirstComment})
		}
	}
	return list
}

// readWording reads the form over what is stored.
func readWording(r *http.Request, c db.WordingContent) db.WordingContent {
	c.Text, c.Link, c.FirstComment = typed(r.PostFormValue("text")), typed(r.PostFormValue("link")), typed(r.PostFormValue("first_comment"))
	variants := map[string]model.Variant{}
	for name, v := range c.Variants {
		for part, into := range map[string]**string{"text.": &v.Text, "link.": &v.Link, "first_comment.": &v.FirstComment} {
			if *into != nil {
				s := strings.TrimSpace(typed(r.PostFormValue(part + name)))
				*into = &s
			}
		}
		variants[name] = v
	}
	c.Variants = variants
	return c
}

// createWording answers POST /wordings.
func (d *Desk) createWording(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	words, ok := wordingWordsOf(db.WordingKind(r.PostFormValue("kind")))
	if !ok {
		return errNoWordingKind
	}
	client, err := optionalID(r.PostFormValue("client"))
	if err != nil {
		return err
	}
	one := db.Wording{ClientID: model.ClientID(client), Kind: words.kind, Name: typed(r.PostFormValue("name")), Content: readWording(r, db.WordingContent{})}
	_, err = scope.AddWording(r.Context(), one)
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		return d.drawWording(w, r, scope, web.Status(err), one, problems(no, "name"))
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/wordings"), words.made+" “"+one.Name+"” is there to be used.")
}

func wordingID(r *http.Request) model.WordingID { return pathID[model.WordingID](r, "wording") }

// showWording answers GET /wordings/{wording} with its form.
func (d *Desk) showWording(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	one, err := scope.Wording(r.Context(), wordingID(r))
	if err != nil {
		return err
	}
	if !scope.MayKeep(one.ClientID) {
		return model.Refuse(model.Forbidden, "What belongs to the whole workspace is changed by its owners and admins.")
	}
	return d.drawWording(w, r, scope, http.StatusOK, one, nil)
}

// changeWording answers POST /wordings/{wording}.
func (d *Desk) changeWording(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	one, err := scope.Wording(r.Context(), wordingID(r))
	if err != nil {
		return err
	}
	seen, err := web.Count(r.PostFormValue("seen"))
	if err != nil {
		return errForm
	}
	one.Name, one.Content, one.Revision = typed(r.PostFormValue("name")), readWording(r, one.Content), seen
	err = scope.ChangeWording(r.Context(), one.ID, seen, one.Name, one.Content)
	if no, ok := model.Refused(err); ok && (no.Kind == model.Unprocessable || no.Kind == model.Conflict) {
		return d.drawWording(w, r, scope, web.Status(err), one, problems(no, "name"))
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/wordings"), "Saved.")
}

// removeWording answers POST /wordings/{wording}/removal.
func (d *Desk) removeWording(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	one, err := scope.RemoveWording(r.Context(), wordingID(r))
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/wordings"), "“"+one.Name+"” is removed. Posts keep their words.")
}
