package db

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/sheet"
)

// ImportState is where an import stands.
type ImportState string

// The states.
const (
	ImportOpen    ImportState = "open" // its columns are still to be confirmed
	ImportQueued  ImportState = "queued"
	ImportRunning ImportState = "running"
	ImportDone    ImportState = "done"
	ImportFailed  ImportState = "failed" // given up: it came back too often
)

// Import is a table of posts of one client.
type Import struct {
	ID         model.ImportID
	ClientID   model.ClientID
	Client     string
	Zone       string // the client's
	UserID     model.UserID
	Name       string // of the file
	Head       []string
	Columns    []ImportColumn
	DayFirst   bool // with slashes, the day goes first
	State      ImportState
	Rows       int
	Done       int // rows that were worked on
	Made       int // posts
	CreatedAt  time.Time
	FinishedAt *time.Time
}

const importColumns = `
	SELECT i.id, i.client_id, c.name AS client, c.zone, i.user_id, i.name, i.head, i.columns, i.day_first, i.state, jsonb_array_length(i.cells) AS rows, i.done, i.made, i.created_at, i.finished_at
	  FROM tenant.imports i JOIN tenant.clients c ON c.tenant_id = i.tenant_id AND c.id = i.client_id
	 WHERE i.tenant_id = $1`

const sqlImportSame = `SELECT id FROM tenant.imports WHERE tenant_id = $1 AND client_id = $2 AND hash = $3 AND state <> 'failed' ORDER BY id DESC LIMIT 1`

const sqlImportAdd = `
	INSERT INTO tenant.imports (tenant_id, client_id, user_id, name, hash, head, cells, lines, columns, day_first, state, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'open', $11) RETURNING id`

// One client's imports take turns, so that a file that comes twice at once is kept once.
const sqlImportTurn = `SELECT pg_advisory_xact_lock(hashtextextended('import ' || $1::bigint || ' ' || $2::bigint, 0))`

// AddImport keeps a table, with what its columns meant the last time or seem to mean.
// A file that the client has already had comes back as that import, with again set.
func (sc *Scope) AddImport(ctx context.Context, client model.ClientID, name string, file []byte) (id model.ImportID, again bool, err error) {
	defer wrap(&err, "add import")
	if client == 0 {
		return 0, false, model.RefuseField("client", "Choose the client whose posts these are.")
	}
	if err := sc.need(model.PostsWrite, client, "client"); err != nil {
		return 0, false, err
	}
	table, err := sheet.Read(file)
	if err != nil {
		return 0, false, err
	}
	hash := sha256.Sum256(file)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, client); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlImportTurn, sc.Actor.Tenant, client); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, sqlImportSame, sc.Actor.Tenant, client, hash[:]).Scan(&id)
		if again = err == nil; again || !noRows(err) {
			return err
		}
		columns, dayFirst, err := sc.columnsOf(ctx, tx, table.Head)
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx, sqlImportAdd, sc.Actor.Tenant, client, sc.Actor.User, model.Excerpt(name, 150), hash[:], table.Head, table.Rows, table.Line, columns, dayFirst, sc.now()).Scan(&id)
	})
	return id, again, err
}

const sqlColumnsGet = `SELECT columns, day_first FROM tenant.import_columns WHERE tenant_id = $1 AND head = $2`

func headHash(head []string) []byte {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(head, "\x00"))))
	return sum[:]
}

// columnsOf is what columns of this head meant the last time, or what they seem to mean.
func (sc *Scope) columnsOf(ctx context.Context, tx pgx.Tx, head []string) (columns []ImportColumn, dayFirst bool, err error) {
	err = tx.QueryRow(ctx, sqlColumnsGet, sc.Actor.Tenant, headHash(head)).Scan(&columns, &dayFirst)
	if noRows(err) {
		return GuessColumns(head), !strings.HasPrefix(sc.Workspace.Zone, "America/"), nil
	}
	return columns, dayFirst, err
}

const sqlImportList = importColumns + `
	   AND ($2 OR i.client_id = ANY ($3) AND (i.user_id = $4 OR NOT 'client' = ANY (i.columns))) ORDER BY i.created_at DESC, i.id DESC LIMIT 50`

// Imports lists those of the clients that the actor may write for, newest first. One whose
// rows say their client is its owner's, and of who may write for every client.
func (sc *Scope) Imports(ctx context.Context) (list []Import, err error) {
	defer wrap(&err, "list imports")
	clients, all := sc.Actor.ClientsWith(model.PostsWrite)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlImportList, sc.Actor.Tenant, all, clients, sc.Actor.User)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Import])
		return err
	})
	return list, err
}

const sqlImportGet = importColumns + ` AND i.id = $2`

var errNoImport = model.Refuse(model.NotFound, "There is no such import.")

func (sc *Scope) importOf(ctx context.Context, tx pgx.Tx, id model.ImportID) (i Import, err error) {
	rows, err := tx.Query(ctx, sqlImportGet, sc.Actor.Tenant, id)
	if err != nil {
		return i, err
	}
	i, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Import])
	if noRows(err) {
		return i, errNoImport
	}
	if err != nil {
		return i, err
	}
	if err := sc.need(model.PostsWrite, i.ClientID, "import"); err != nil {
		return Import{}, err
	}
	if _, all := sc.Actor.ClientsWith(model.PostsWrite); !all && i.UserID != sc.Actor.User && slices.Contains(i.Columns, ColumnClient) {
		return Import{}, errNoImport // it holds rows of clients that may not be theirs
	}
	return i, nil
}

// ImportPreview is an import as its rows would be read.
type ImportPreview struct {
	Import
	Samples  []string                   // of each column, the first cell that is not empty
	Accounts map[model.AccountID]string // what accounts of its clients are called
	Previews []PreviewedRow             // the first ones
	Wrong    []PreviewedRow             // those of which no post would be made, the first ones
	Bad      int                        // how many those are
	Missing  string                     // what no column means and every post needs; empty if nothing
}

// PreviewedRow is one row with its line in the file.
type PreviewedRow struct {
	ImportedRow
	Line int
}

// The rows of a preview.
const (
	previewRows  = 10
	previewWrong = 100
)

// PreviewImport reads an import that is open by what its columns are said to mean;
// nil means what was kept. It writes nothing.
func (sc *Scope) PreviewImport(ctx context.Context, id model.ImportID, columns []ImportColumn, dayFirst bool) (p ImportPreview, err error) {
	defer wrap(&err, "preview import %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if p.Import, err = sc.importOf(ctx, tx, id); err != nil {
			return err
		}
		if columns != nil {
			p.Columns, p.DayFirst = columns, dayFirst
		}
		if p.State != ImportOpen {
			return nil
		}
		if len(p.Columns) != len(p.Head) {
			return errOldImport
		}
		in, cells, lines, err := sc.openImport(ctx, tx, p.Import)
		if err != nil {
			return err
		}
		p.look(in, cells)
		if p.Missing = missing(p.Columns); p.Missing != "" {
			return nil
		}
		for i, row := range cells {
			one := PreviewedRow{in.read(row), lines[i]}
			if len(p.Previews) < previewRows {
				p.Previews = append(p.Previews, one)
			}
			if len(one.Problems) > 0 {
				if p.Bad++; len(p.Wrong) < previewWrong {
					p.Wrong = append(p.Wrong, one)
				}
			}
		}
		return nil
	})
	return p, err
}

// look reads samples of the columns, and what accounts are called.
func (p *ImportPreview) look(in importing, cells [][]string) {
	p.Samples, p.Accounts = make([]string, len(p.Head)), map[model.AccountID]string{}
	for n := range p.Head {
		for _, row := range cells {
			if p.Samples[n] == "" {
				p.Samples[n] = model.Excerpt(row[n], 60)
			}
		}
	}
	for _, a := range in.allAccounts() {
		p.Accounts[a.ID] = network.Label(a.Network) + " " + a.Handle
	}
}

var errOldImport = model.Refuse(model.Conflict, "This page is not that of the import any more. Open it again.")

// missing says what no column means and every post needs.
func missing(columns []ImportColumn) string {
	has := func(list ...ImportColumn) bool {
		return slices.ContainsFunc(columns, func(c ImportColumn) bool {
			_, own := c.ofNetwork()
			return slices.Contains(list, c) || own && slices.Contains(list, ColumnText)
		})
	}
	switch {
	case !has(ColumnText, ColumnMedia):
		return "Say which column holds the text."
	case !has(ColumnAccounts, ColumnNetworks):
		return "Say which column holds the accounts, or the networks."
	case has(ColumnClock) && !has(ColumnDay):
		return "Say which column holds the day beside the time."
	}
	return ""
}

const sqlImportStart = `
	UPDATE tenant.imports SET state = 'queued', columns = $3, day_first = $4, next_at = $5, user_id = $6 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

const sqlColumnsKeep = `
	INSERT INTO tenant.import_columns (tenant_id, head, columns, day_first) VALUES ($1, $2, $3, $4)
	ON CONFLICT (tenant_id, head) DO UPDATE SET columns = excluded.columns, day_first = excluded.day_first`

// StartImport has posts made of the rows, and remembers what the columns mean.
// Starting what is started already changes nothing. It refuses columns that are none,
// or twice the same, and a table without what every post needs.
func (sc *Scope) StartImport(ctx context.Context, id model.ImportID, columns []ImportColumn, dayFirst bool) (err error) {
	defer wrap(&err, "start import %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		i, err := sc.importOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := checkColumns(columns, i.Head); err != nil {
			return err
		}
		did, err := tx.Exec(ctx, sqlImportStart, sc.Actor.Tenant, id, columns, dayFirst, sc.now(), sc.Actor.User)
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, sqlColumnsKeep, sc.Actor.Tenant, headHash(i.Head), columns, dayFirst); err != nil {
			return err
		}
		if err := wakeRelay(ctx, tx); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "import_begun", subject: "client", id: int64(i.ClientID), client: i.ClientID, detail: map[string]any{"rows": i.Rows, "import": id}})
	})
}

func checkColumns(columns []ImportColumn, head []string) error {
	if len(columns) != len(head) {
		return errOldImport
	}
	for i, c := range columns {
		if !c.known() {
			return model.RefuseField("column", "A column means something that Herald does not know.")
		}
		if c != ColumnNone && slices.Contains(columns[:i], c) {
			return model.RefuseField("column", fmt.Sprintf("Two columns mean the same: “%s” and “%s”. Choose for one of them that it is left out.", head[slices.Index(columns, c)], head[i]))
		}
	}
	if say := missing(columns); say != "" {
		return model.RefuseField("column", say)
	}
	return nil
}

const sqlImportForget = `DELETE FROM tenant.imports WHERE tenant_id = $1 AND id = $2 AND state IN ('open', 'done', 'failed')`

// ForgetImport takes an import out of the list; its posts stay. The same file can then
// be imported anew. It refuses one that is at work.
func (sc *Scope) ForgetImport(ctx context.Context, id model.ImportID) (err error) {
	defer wrap(&err, "forget import %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		i, err := sc.importOf(ctx, tx, id)
		if err != nil {
			return err
		}
		did, err := tx.Exec(ctx, sqlImportForget, sc.Actor.Tenant, id)
		if err == nil && did.RowsAffected() == 0 {
			return model.Refuse(model.Conflict, "This import is at work. Wait until it is done.")
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "import_forgotten", subject: "client", id: int64(i.ClientID), client: i.ClientID, detail: map[string]any{"import": id}})
	})
}

// ImportOutcome is what became of one row.
type ImportOutcome struct {
	Line  int
	Cells []string
	Post  *model.PostID
	Say   string // why no post was made, or what is to be known of it
}

const sqlImportOutcomes = `
	SELECT i.lines[r.row + 1] AS line, ARRAY(SELECT jsonb_array_elements_text(i.cells -> r.row)) AS cells, r.post_id AS post, r.say
	  FROM tenant.import_rows r JOIN tenant.imports i ON i.tenant_id = r.tenant_id AND i.id = r.import_id
	 WHERE r.tenant_id = $1 AND r.import_id = $2 ORDER BY r.post_id IS NOT NULL, r.row`

// ImportOutcomes reads an import and what became of its rows: first those of which no
// post was made.
func (sc *Scope) ImportOutcomes(ctx context.Context, id model.ImportID) (i Import, list []ImportOutcome, err error) {
	defer wrap(&err, "read outcomes of import %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if i, err = sc.importOf(ctx, tx, id); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlImportOutcomes, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[ImportOutcome])
		return err
	})
	return i, list, err
}
