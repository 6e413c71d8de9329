package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
)

// TestATableOfPostsIsBroughtAlong imports a file as an Excel on Windows writes it:
// its columns are read, what is wrong is said row by row, and the page follows the
// work by itself.
func TestATableOfPostsIsBroughtAlong(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	next := time.Now().AddDate(0, 0, 9).Format("2.1.2006")
	text := "Beschreibung;Datum;Uhrzeit;Kanal\r\n\"Frische Brötchen – ab 7 Uhr\r\nim Laden\";" + next + ";09:30;mastodon\r\nOhne Zeit;;;webhook\r\nNirgends;" + next + ";10:00;myspace\r\n"
	file, err := charmap.Windows1252.NewEncoder().String(text)
	path := filepath.Join(t.TempDir(), "Redaktionsplan.csv")
	if err == nil {
		err = os.WriteFile(path, []byte(file), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts"))
	p.goes("link", "Import")
	p.set("For which client", fmt.Sprint(a.client(t, "bakery")))
	p.upload("[name=file]", path)
	p.goes("button", "Go on")
	p.sees("Redaktionsplan.csv", "One row makes no post", "There is no network “myspace”", "Frische Brötchen – ab 7 Uhr", "Import 2 posts")
	p.goes("button", "Import 2 posts")
	p.says(".callout", "2 posts made") // by itself
	p.sees("Line 5", "Refused rows as CSV")
	p.judge(axeSource(t))
	p.goes("link", "Show its posts")
	p.sees("Frische Brötchen", "Ohne Zeit", "2 chosen posts")

	phone := a.member(t, browser.Narrow, a.anna())
	phone.visit(a.path("/imports"))
	phone.set("For which client", fmt.Sprint(a.client(t, "bakery")))
	phone.upload("[name=file]", path)
	phone.goes("button", "Go on")
	phone.sees("brought along before", "2 posts made")
	phone.fits()
}

// imported is a table of the bakery's of which a post was made, and one row refused.
func (a *agency) imported(t *testing.T) model.ImportID {
	t.Helper()
	table := "Text,Networks\nA row of a table,mastodon\n" + strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", 4) + ",nowhere\n"
	id, _, err := a.owner.AddImport(t.Context(), a.client(t, "bakery"), "done.csv", []byte(table))
	if err == nil {
		err = a.owner.StartImport(t.Context(), id, []db.ImportColumn{db.ColumnText, db.ColumnNetworks}, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the import to end", func() bool {
		i, _, err := a.owner.ImportOutcomes(t.Context(), id)
		return err == nil && i.State == db.ImportDone
	})
	return id
}

// brought is a table of the bakery's that nobody has begun to import.
func (a *agency) brought(t *testing.T) model.ImportID {
	t.Helper()
	table := "Text,Date,Accounts,Where from and why this column has such a long name\n" +
		"A row that can be read,,mastodon,x\n" + strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", 4) + ",never,nowhere,https://example.com/" + strings.Repeat("a", 120) + "\n"
	id, _, err := a.owner.AddImport(t.Context(), a.client(t, "bakery"), strings.Repeat("a-long-name-of-a-file-", 5)+".csv", []byte(table))
	if err != nil {
		t.Fatal(err)
	}
	return id
}
