package desk

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/imports"
	"herald/views/ui"
)

// The form that brings a table along may hold importBytes; importOver is how much
// more is passed over, so that a browser has sent it all and reads why it was refused.
const (
	importBytes = 6 << 20
	importOver  = 3 << 20
)

func (d *Desk) importRoutes() []route {
	return []route{
		{"GET /w/{slug}/imports", model.PostsWrite, d.showImports},
		{"POST /w/{slug}/imports", model.PostsWrite, d.createImport},
		{"GET /w/{slug}/imports/{import}", model.PostsWrite, d.showImport},
		{"POST /w/{slug}/imports/{import}", model.PostsWrite, d.startImport},
		{"POST /w/{slug}/imports/{import}/removal", model.PostsWrite, d.removeImport},
		{"GET /w/{slug}/imports/{import}/refused.csv", model.PostsWrite, d.exportRefused},
	}
}

func importID(r *http.Request) model.ImportID { return model.ImportID(web.ID(r.PathValue("import"))) }

// showImports answers GET /imports.
func (d *Desk) showImports(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawImports(w, r, scope, http.StatusOK, r.URL.Query().Get("client"), nil)
}

func (d *Desk) drawImports(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, client string, problem map[string]string) error {
	list, err := scope.Imports(r.Context())
	if err != nil {
		return err
	}
	clients, err := scope.ComposerClients(r.Context(), nil)
	if err != nil {
		return err
	}
	used, err := scope.UsedClient(r.Context())
	if err != nil {
		return err
	}
	p := imports.ListProps{Back: at(scope, "/posts"), Action: at(scope, "/imports"), Problem: problem}
	for _, c := range clients {
		p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: id(c.ID) == client || client == "" && c.ID == used})
	}
	for _, i := range list {
		p.Lines = append(p.Lines, imports.Line{Href: at(scope, "/imports/"+id(i.ID)), Name: fileOr(i.Name), Client: i.Client, State: importWords(i), At: clientTime(i.CreatedAt, scope.Workspace.Zone)})
	}
	return d.show(w, r, scope, status, page{title: "Import posts", nav: "posts", styles: importStyles}, imports.List(p))
}

var importStyles = []string{"css/imports.css"}

func fileOr(name string) string {
	if name == "" {
		return "A table"
	}
	return name
}

func importWords(i db.Import) string {
	switch i.State {
	case db.ImportOpen:
		return "Not begun"
	case db.ImportQueued, db.ImportRunning:
		return fmt.Sprintf("%d of %d rows done", i.Done, i.Rows)
	case db.ImportFailed:
		return "Given up"
	}
	return fmt.Sprintf("%d of %d rows are posts", i.Made, i.Rows)
}

// createImport answers POST /imports with the import of a file, the same one if the
// client has had it.
func (d *Desk) createImport(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	name, data, err := readTable(w, r)
	if err == nil {
		var client int64
		if client, err = optionalID(r.PostFormValue("client")); err == nil {
			return d.keepTable(w, r, scope, model.ClientID(client), name, data)
		}
	}
	return d.refuseTable(w, r, scope, err)
}

func (d *Desk) keepTable(w http.ResponseWriter, r *http.Request, scope *db.Scope, client model.ClientID, name string, data []byte) error {
	made, again, err := scope.AddImport(r.Context(), client, name, data)
	if err != nil {
		return d.refuseTable(w, r, scope, err)
	}
	there := at(scope, "/imports/"+id(made))
	if again {
		return d.say(w, r, there, "This file was brought along before: here is what became of it. Nothing was made anew.")
	}
	return web.See(w, r, there)
}

func (d *Desk) refuseTable(w http.ResponseWriter, r *http.Request, scope *db.Scope, err error) error {
	no, refused := model.Refused(err)
	if !refused || no.Field == "" {
		return err
	}
	return d.drawImports(w, r, scope, web.Status(err), r.PostFormValue("client"), map[string]string{no.Field: no.Say})
}

func readTable(w http.ResponseWriter, r *http.Request) (name string, data []byte, err error) {
	rest := r.Body
	r.Body = http.MaxBytesReader(w, rest, importBytes)
	err = r.ParseMultipartForm(1 << 20)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		_, _ = io.CopyN(io.Discard, rest, importOver)
		return "", nil, model.Refuse(model.TooLarge, "That is more than this form may hold, which is 5 MB. Split the table into several.")
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", nil, model.RefuseField("file", "The form did not arrive whole. Choose the file again.")
	}
	web.Clean(r.PostForm)
	file, head, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return "", nil, model.RefuseField("file", "Choose a file.")
	}
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	data, err = io.ReadAll(io.LimitReader(file, importBytes))
	return fileLabel(head.Filename), data, err
}

// showImport answers GET /imports/{import}.
func (d *Desk) showImport(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawImport(w, r, scope, http.StatusOK, nil, false, "")
}

// startImport answers POST /imports/{import}: how its rows are read by other columns,
// or the beginning of the work.
func (d *Desk) startImport(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	columns := []db.ImportColumn{}
	for _, c := range r.PostForm["column"] {
		columns = append(columns, db.ImportColumn(c))
	}
	dayFirst := r.PostForm.Get("days") != "month"
	if r.PostForm.Get("do") != "start" {
		return d.drawImport(w, r, scope, http.StatusOK, columns, dayFirst, "")
	}
	err := scope.StartImport(r.Context(), importID(r), columns, dayFirst)
	if no, refused := model.Refused(err); refused && no.Field != "" {
		return d.drawImport(w, r, scope, web.Status(err), columns, dayFirst, no.Say)
	}
	if err != nil {
		return err
	}
	return web.See(w, r, at(scope, "/imports/"+id(importID(r))))
}

// removeImport answers POST /imports/{import}/removal.
func (d *Desk) removeImport(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.ForgetImport(r.Context(), importID(r)); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/imports"), "Taken out of the list. Its posts are where they were.")
}

// drawImport shows an import, its rows read by columns; nil are those that are kept.
func (d *Desk) drawImport(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, columns []db.ImportColumn, dayFirst bool, problem string) error {
	i, err := scope.PreviewImport(r.Context(), importID(r), columns, dayFirst)
	if err != nil {
		return err
	}
	here := at(scope, "/imports/"+id(i.ID))
	p := imports.Props{Back: at(scope, "/imports"), Name: fileOr(i.Name), Client: i.Client, Several: slices.Contains(i.Columns, db.ColumnClient), Zone: web.City(i.Zone), Action: here, State: string(i.State), Rows: i.Rows, Done: i.Done, Made: i.Made,
		Errors: here + "/refused.csv", Problem: problem}
	if i.State != db.ImportQueued && i.State != db.ImportRunning {
		p.Forget = here + "/removal"
	}
	if i.State == db.ImportOpen {
		d.openImport(scope, i, &p)
	} else if i.FinishedAt == nil {
		p.Posts = at(scope, "/posts")
	} else if err := d.importOutcome(r, scope, i.ID, &p); err != nil {
		return err
	}
	return d.show(w, r, scope, status, page{title: p.Name, nav: "posts", live: i.State != db.ImportOpen, here: here, styles: importStyles}, imports.Page(p))
}

func (d *Desk) openImport(scope *db.Scope, i db.ImportPreview, p *imports.Props) {
	p.Open = &imports.OpenProps{DayFirst: i.DayFirst, Missing: i.Missing, Good: i.Rows - i.Bad}
	for n, name := range i.Head {
		c := imports.Column{Name: name, Sample: i.Samples[n]}
		if name == "" {
			c.Name = "Column " + strconv.Itoa(n+1)
		}
		c.Options, c.Groups = columnOptions(i.Columns[n])
		p.Open.Columns = append(p.Open.Columns, c)
	}
	for _, one := range i.Wrong {
		p.Wrong = append(p.Wrong, imports.Row{Line: line(one.Line), Say: strings.Join(one.Problems, " ")})
	}
	p.More = i.Bad - len(i.Wrong)
	for _, one := range i.Previews {
		p.Open.Previews = append(p.Open.Previews, previewOf(i, one))
	}
}

func line(n int) string { return "Line " + strconv.Itoa(n) }

func previewOf(i db.ImportPreview, one db.PreviewedRow) imports.Preview {
	p := imports.Preview{Line: strconv.Itoa(one.Line), Client: one.Client, Text: model.Excerpt(one.Form.Content.Text, 140), Problems: one.Problems}
	var names, also []string
	for _, a := range one.Form.Content.Accounts {
		names = append(names, i.Accounts[a])
	}
	p.Accounts = strings.Join(names, ", ")
	if !one.When.At.IsZero() {
		p.When = ref(clientTime(one.When.At, one.When.Zone))
	}
	for name, n := range map[string]int{"files": len(one.Order), "labels": len(one.Form.Labels), "texts of single networks": len(one.Form.Content.Variants)} {
		if n > 0 {
			also = append(also, fmt.Sprintf("%s: %d", name, n))
		}
	}
	p.Also = strings.Join(slices.Sorted(slices.Values(also)), ", ")
	return p
}

// columnLabels are the columns as a form calls them.
var columnLabels = map[db.ImportColumn]string{
	db.ColumnNone: "Leave it out", db.ColumnText: "Text", db.ColumnDay: "Day, or day and time", db.ColumnClock: "Time of day", db.ColumnAccounts: "Accounts", db.ColumnNetworks: "Networks", db.ColumnClient: "Client", db.ColumnMedia: "Files: addresses, or names of the library",
	db.ColumnAlt: "Alt text of the files", db.ColumnLink: "Link", db.ColumnComment: "First comment", db.ColumnLabels: "Labels", db.ColumnCampaign: "Campaign", db.ColumnNotes: "Internal notes",
}

func columnOptions(chosen db.ImportColumn) (list []ui.Option, groups []ui.OptionGroup) {
	for _, c := range append([]db.ImportColumn{db.ColumnNone}, db.ImportColumns()...) {
		list = append(list, ui.Option{Value: string(c), Label: columnLabels[c], Chosen: c == chosen})
	}
	own := ui.OptionGroup{Label: "Text of one network alone"}
	for _, n := range network.All() {
		own.Options = append(own.Options, ui.Option{Value: string(db.TextFor(n.Name)), Label: "Text for " + n.Label, Chosen: db.TextFor(n.Name) == chosen})
	}
	return list, []ui.OptionGroup{own}
}

// importListed is how many rows a page lists of each kind.
const importListed = 100

func (d *Desk) importOutcome(r *http.Request, scope *db.Scope, of model.ImportID, p *imports.Props) error {
	_, list, err := scope.ImportOutcomes(r.Context(), of)
	if err != nil {
		return err
	}
	made := url.Values{}
	for _, one := range list {
		if one.Post != nil {
			made.Add("post", id(*one.Post))
		}
		row := imports.Row{Line: line(one.Line), Say: one.Say}
		switch {
		case one.Post != nil && (one.Say == "" || len(p.Worth) == importListed):
		case one.Post != nil:
			row.Href = at(scope, "/posts/"+id(*one.Post))
			p.Worth = append(p.Worth, row)
		case one.Post == nil && len(p.Wrong) < importListed:
			p.Wrong = append(p.Wrong, row)
		case one.Post == nil:
			p.More++
		}
	}
	if p.Posts = at(scope, "/posts?client="); len(made["post"]) <= maxChosen {
		p.Posts = at(scope, "/posts?"+made.Encode())
	}
	return nil
}

// exportRefused answers GET /imports/{import}/refused.csv: the refused rows as they
// came, with what is wrong with each.
func (d *Desk) exportRefused(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	i, list, err := scope.ImportOutcomes(r.Context(), importID(r))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(fileOr(i.Name), filepath.Ext(i.Name)) + " refused.csv"
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	if _, err := w.Write([]byte("\uFEFF")); err != nil {
		return nil // the browser has gone
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	lines := [][]string{append(append([]string{}, i.Head...), "Problem")}
	for _, one := range list {
		if one.Post == nil {
			lines = append(lines, append(one.Cells, one.Say))
		}
	}
	for _, line := range lines {
		for n := range line {
			line[n] = harmless(line[n])
		}
	}
	_ = out.WriteAll(lines)
	return nil
}
