package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/composer"
)

// clash shows what is stored beside what the form holds. The form keeps its own;
// saving it from here overwrites, knowingly.
func (e *editing) clash(ctx context.Context, say string) error {
	versions, err := e.scope.Versions(ctx, e.page.Post.ID)
	if err != nil {
		return err
	}
	if len(versions) > 0 {
		v := versions[0]
		say += fmt.Sprintf(" Version %d is by %s.", v.Number, v.By)
	}
	e.conflict = &composer.Conflict{Say: say, Rows: e.clashRows()}
	e.form.named = slices.DeleteFunc(e.form.named, func(id model.ClientID) bool { return !slices.Contains(e.chosenClients(), id) })
	return nil
}

func (e *editing) clashRows() (rows []composer.ConflictRow) {
	stored, mine := e.page.Version.Content, e.checked.Content
	row := func(what, a, b string) {
		if a != b {
			rows = append(rows, composer.ConflictRow{What: what, Stored: orNothing(a), Mine: orNothing(b)})
		}
	}
	row("Text", stored.Text, mine.Text)
	row("Link", stored.Link, mine.Link)
	row("First comment", stored.FirstComment, mine.FirstComment)
	for _, n := range network.All() {
		a, b := stored.For(string(n.Name), 0), mine.For(string(n.Name), 0)
		if _, own := stored.Variants[string(n.Name)]; !own && mine.Variants[string(n.Name)] == (model.Variant{}) {
			continue
		}
		row("Text for "+n.Label, a.Text, b.Text)
	}
	row("Files", e.fileNames(stored.Media), e.fileNames(mine.Media))
	row("Accounts", e.accountNames(stored.Accounts), e.accountNames(mine.Accounts))
	row("Notes", e.page.Post.Notes, strings.TrimSpace(e.form.notes))
	row("Labels", e.labelNames(e.page.Post.Labels), e.labelNames(e.form.labels))
	return rows
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
