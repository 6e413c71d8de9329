package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// ImportKey names an import that is handed out, and in whose name it runs.
type ImportKey struct {
	Tenant model.TenantID `json:"t"`
	ID     model.ImportID `json:"i"`
	User   model.UserID   `json:"u"`
	Slug   string         `json:"w"`
	At     int64          `json:"a"` // when it was handed out, so that each time has a name of its own
}

// importTries is how often an import is begun before it is given up.
const importTries = 5

// ImportLease is how long an import may lie in the queue, or stand still, before it
// is handed out again.
const ImportLease = 5 * time.Minute

// TakeImports takes up to limit imports of a shard that are due, leased, and hands
// them to enqueue; if that fails they stay due.
func (p *Pipeline) TakeImports(ctx context.Context, shard string, limit int, enqueue func([]ImportKey) error) (n int, err error) {
	defer wrap(&err, "take imports of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT tenant_id, id, user_id, slug FROM tenant.take_imports($1, $2, $3, $4)`, p.now(), p.now().Add(ImportLease), limit, importTries)
		if err != nil {
			return err
		}
		due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k ImportKey, err error) {
			k.At = p.now().UnixMicro()
			err = row.Scan(&k.Tenant, &k.ID, &k.User, &k.Slug)
			return k, err
		})
		if n = len(due); err != nil || n == 0 {
			return err
		}
		return enqueue(due)
	})
	return n, err
}

// FetchFile copies what is at an address into a client's library. What the person can
// do something about it refuses.
type FetchFile func(ctx context.Context, sc *Scope, client model.ClientID, address string) (model.MediaID, error)

// A task is there before what hands it out is committed: this waits for that.
const sqlImportHandedOver = `SELECT FROM tenant.imports WHERE tenant_id = $1 AND id = $2 FOR SHARE`

const sqlImportRowsDone = `SELECT row FROM tenant.import_rows WHERE tenant_id = $1 AND import_id = $2`

const sqlImportRowsAdd = `
	WITH new AS (
		INSERT INTO tenant.import_rows (tenant_id, import_id, row, post_id, say)
		SELECT $1, $2, r.row, nullif(r.post, 0), r.say FROM unnest($3::integer[], $4::bigint[], $5::text[]) AS r(row, post, say)
		ON CONFLICT (tenant_id, import_id, row) DO NOTHING RETURNING post_id)
	UPDATE tenant.imports SET done = done + (SELECT count(*) FROM new), made = made + (SELECT count(post_id) FROM new), next_at = $6, tries = 1
	 WHERE tenant_id = $1 AND id = $2 AND state = 'running'`

const sqlImportEnd = `
	UPDATE tenant.imports SET state = 'done', next_at = NULL, finished_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'running'`

// importStep is after how many rows it is written down how far an import is.
const importStep = 10

// importedRow is what became of a row.
type importedRow struct {
	row  int
	post model.PostID
	say  string
}

// RunImport makes drafts of an import's rows, and says how far it is as it goes. It
// may run again after it broke off, and twice at once: each row makes one post.
func (sc *Scope) RunImport(ctx context.Context, id model.ImportID, fetch FetchFile) (err error) {
	defer wrap(&err, "run import %d", id)
	var i Import
	var in importing
	var cells [][]string
	var done []int
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlImportHandedOver, sc.Actor.Tenant, id); err != nil {
			return err
		}
		if i, err = sc.importOf(ctx, tx, id); err != nil {
			return err
		}
		if in, cells, _, err = sc.openImport(ctx, tx, i); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlImportRowsDone, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		done, err = pgx.CollectRows(rows, pgx.RowTo[int])
		return err
	})
	if err != nil || i.State != ImportRunning {
		return err
	}
	var step []importedRow
	for n, row := range cells {
		if slices.Contains(done, n) {
			continue
		}
		one, err := sc.importRow(ctx, i, in, n, row, fetch)
		if err != nil {
			return err
		}
		if step = append(step, one); len(step) == importStep {
			if err := sc.keepRows(ctx, id, step); err != nil {
				return err
			}
			step = nil
		}
	}
	if err := sc.keepRows(ctx, id, step); err != nil {
		return err
	}
	return sc.endImport(ctx, i)
}

func (sc *Scope) keepRows(ctx context.Context, id model.ImportID, step []importedRow) error {
	var rows []int
	var posts []model.PostID
	var says []string
	for _, one := range step {
		rows, posts, says = append(rows, one.row), append(posts, one.post), append(says, one.say)
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlImportRowsAdd, sc.Actor.Tenant, id, rows, posts, says, sc.now().Add(ImportLease))
		return err
	})
}

func (sc *Scope) endImport(ctx context.Context, i Import) error {
	return sc.write(ctx, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, sqlImportEnd, sc.Actor.Tenant, i.ID, sc.now())
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "imported", subject: "client", id: int64(i.ClientID), client: i.ClientID, detail: map[string]any{"rows": i.Rows, "import": i.ID}})
	})
}

// importRow makes a draft of a row, or says why not. An error is not the row's fault.
func (sc *Scope) importRow(ctx context.Context, i Import, in importing, n int, row []string, fetch FetchFile) (one importedRow, err error) {
	one = importedRow{row: n}
	r := in.read(row)
	in, _ = in.of(row) // a row of nobody's is refused by read
	fetched := map[string]model.MediaID{}
	for _, address := range r.Addresses {
		if len(r.Problems) > 0 {
			break // nothing is fetched for a post that is not made
		}
		id, err := fetch(ctx, sc, in.client.ID, address)
		if no, refused := model.Refused(err); refused {
			r.no("%s: %s", model.Excerpt(address, 80), no.Say)
		} else if err != nil {
			return one, err
		}
		fetched[address] = id
	}
	if len(r.Problems) > 0 {
		one.say = strings.Join(r.Problems, " ")
		return one, nil
	}
	in.attach(row, &r, fetched)
	page, _, err := sc.CreatePost(ctx, fmt.Sprintf("import-%09d-%05d", i.ID, n), r.Form)
	if no, refused := model.Refused(err); refused {
		one.say = no.Say
		return one, nil
	}
	if err != nil {
		return one, err
	}
	one.post = page.Post.ID
	return one, sc.planRow(ctx, page, r.When, &one)
}

// planRow gives a draft its time, and says what its networks would refuse.
func (sc *Scope) planRow(ctx context.Context, page PostPage, when model.When, one *importedRow) error {
	var say []string
	if !when.At.IsZero() {
		_, err := sc.PlanPost(ctx, page.Post.ID, page.Post.Revision, when)
		if no, refused := model.Refused(err); refused {
			say = append(say, "It has no time: "+no.Say)
		} else if err != nil {
			return err
		}
	}
	for _, t := range page.Targets {
		for _, p := range t.Problems {
			if !p.Warn {
				say = append(say, network.Label(t.Network)+" "+t.Account+": "+p.Say)
			}
		}
	}
	one.say = strings.Join(say, " ")
	return nil
}
