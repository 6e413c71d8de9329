package db

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Result is how one attempt ended and where its target goes.
type Result struct {
	Key
	Owner      uuid.UUID
	Attempt    int
	State      model.State // where the target goes
	Outcome    string      // of the attempt: published, or the fault's class
	Reason     string
	Say        string
	Next       *time.Time // when the next attempt or look-up is due
	Used       bool       // it uses up one of the attempts
	Code       string
	Status     int
	RequestID  string
	ExternalID string
	Permalink  string
	Follow     bool       // there is something to do after the commit
	CloseUntil *time.Time // the account takes nothing more until then
	Calls      any        // evidence, as JSON
	Handles    map[string]string
}

// ErrLostClaim says that the caller no longer holds the claim it acts on: it
// must stop and change nothing.
var ErrLostClaim = errors.New("the claim is held by another")

// sqlFinish writes results, and then takes old errors off the accounts through
// which something was published: in this order, since targets are locked first.
const sqlFinish = `
	WITH finished AS MATERIALIZED (
		SELECT * FROM tenant.finish_targets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
	), mended AS MATERIALIZED (
		SELECT tenant.mend_accounts(array_agg(tenant_id), array_agg(target_id)) FROM finished)
	SELECT finished.* FROM finished, mended`

// sqlFinishTogether marks the dispatches done in the same statement, where both
// planes share a database.
const sqlFinishTogether = `
	WITH done AS (
		UPDATE control.publish_dispatch_index d SET status = 'done', updated_at = $21
		  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $22::bigint[]) AS k(tenant_id, target_id, version_id, seq)
		 WHERE d.tenant_id = k.tenant_id AND d.target_id = k.target_id AND d.version_id = k.version_id AND d.task = 'publish' AND d.seq = k.seq AND d.status <> 'done'
	), finished AS MATERIALIZED (
		SELECT * FROM tenant.finish_targets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
	), mended AS MATERIALIZED (
		SELECT tenant.mend_accounts(array_agg(tenant_id), array_agg(target_id)) FROM finished)
	SELECT finished.* FROM finished, mended`

// resultColumns are results as the arrays of finish_targets.
type resultColumns struct {
	keyColumns
	attempts, used, statuses                                        []int
	owners                                                          []uuid.UUID
	states                                                          []model.State
	outcomes, reasons, says, codes, requests, externals, permalinks []string
	nexts, closes                                                   []*time.Time
	follows                                                         []bool
	calls, handles                                                  []json.RawMessage
}

func (c *resultColumns) add(r Result) error {
	calls, err := json.Marshal(r.Calls)
	if err != nil {
		return err
	}
	if r.Calls == nil {
		calls = []byte("[]")
	}
	if r.Handles == nil {
		r.Handles = map[string]string{}
	}
	handles, err := json.Marshal(r.Handles)
	if err != nil {
		return err
	}
	c.tenants, c.targets, c.versions, c.seqs = append(c.tenants, r.Tenant), append(c.targets, r.Target), append(c.versions, r.Version), append(c.seqs, r.Seq)
	c.attempts, c.owners, c.states = append(c.attempts, r.Attempt), append(c.owners, r.Owner), append(c.states, r.State)
	c.outcomes, c.reasons, c.says = append(c.outcomes, r.Outcome), append(c.reasons, r.Reason), append(c.says, r.Say)
	c.nexts, c.used, c.codes = append(c.nexts, r.Next), append(c.used, one(r.Used)), append(c.codes, r.Code)
	c.statuses, c.requests = append(c.statuses, r.Status), append(c.requests, r.RequestID)
	c.externals, c.permalinks = append(c.externals, r.ExternalID), append(c.permalinks, r.Permalink)
	c.follows, c.closes = append(c.follows, r.Follow), append(c.closes, r.CloseUntil)
	c.calls, c.handles = append(c.calls, calls), append(c.handles, handles)
	return nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// queueResults adds the results of one group to a batch; held gets whether each
// was still the holder's to write.
func (p *Pipeline) queueResults(b *pgx.Batch, results []Result, together bool, held []bool) error {
	var c resultColumns
	place := make(map[[2]int64]int, len(results))
	for i, r := range results {
		if err := c.add(r); err != nil {
			return err
		}
		place[[2]int64{int64(r.Tenant), int64(r.Target)}] = i
	}
	sql, args := sqlFinish, []any{c.tenants, c.targets, c.versions, c.attempts, c.owners, c.states, c.outcomes, c.reasons, c.says, c.nexts, c.used,
		c.codes, c.statuses, c.requests, c.externals, c.permalinks, c.follows, c.closes, c.calls, c.handles, p.now()}
	if together {
		sql, args = sqlFinishTogether, append(args, c.seqs)
	}
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var tenant, target, version, seq int64
		_, err := pgx.ForEachRow(rows, []any{&tenant, &target, &version, &seq}, func() error {
			held[place[[2]int64{tenant, target}]] = true
			return nil
		})
		return err
	})
	return nil
}

const sqlBeginCommits = `SELECT * FROM tenant.begin_commits($1, $2, $3, $4, $5, $6, $7)`

const sqlSaveHandles = `SELECT * FROM tenant.save_handles($1, $2, $3, $4, $5, $6)`

// Step is a change of a running attempt: handles to keep, and, for Begin, the
// move to in flight after which the commit call may be made.
type Step struct {
	Key
	Owner   uuid.UUID // zero after the end, for follow-ups
	Attempt int
	Handles map[string]string
}

func (p *Pipeline) queueSteps(b *pgx.Batch, steps []Step, begin bool, held []bool) error {
	var c resultColumns
	owners := []*uuid.UUID{}
	place := make(map[[2]int64]int, len(steps))
	for i, s := range steps {
		if err := c.add(Result{Key: s.Key, Attempt: s.Attempt, Handles: s.Handles}); err != nil {
			return err
		}
		owner := &steps[i].Owner
		if *owner == uuid.Nil {
			owner = nil
		}
		owners = append(owners, owner)
		place[[2]int64{int64(s.Tenant), int64(s.Target)}] = i
	}
	mark := func(rows pgx.Rows) error {
		var tenant, target int64
		_, err := pgx.ForEachRow(rows, []any{&tenant, &target}, func() error {
			held[place[[2]int64{tenant, target}]] = true
			return nil
		})
		return err
	}
	if begin {
		b.Queue(sqlBeginCommits, c.tenants, c.targets, c.versions, c.attempts, owners, c.handles, p.now()).Query(mark)
	} else {
		b.Queue(sqlSaveHandles, c.tenants, c.targets, c.versions, c.attempts, owners, c.handles).Query(mark)
	}
	return nil
}

// Group is what workers want written at one moment on one shard. After Write,
// Works has a Work per claim, the Held slices say which of the others still held
// their claim, and Owed are dispatches that are worked off and not yet marked so.
type Group struct {
	Claims  []Claim
	Saves   []Step
	Begins  []Step
	Results []Result
	Dones   []Key // dispatches worked off without a result of their own

	Works       []Work
	SavesHeld   []bool
	BeginsHeld  []bool
	ResultsHeld []bool
	Owed        []Key
}

// Write writes the whole group in one transaction and one round trip: it is
// durable when Write returns without an error. Where the shard shares the
// control plane's database, dispatches are marked done in it too; elsewhere the
// caller owes that to Done. Nothing hangs on it: an enqueued dispatch whose
// target has moved on is found obsolete and marked then.
func (p *Pipeline) Write(ctx context.Context, shard string, g Guards, group *Group) (err error) {
	defer wrap(&err, "write group on shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	group.Works, group.ResultsHeld = make([]Work, len(group.Claims)), make([]bool, len(group.Results))
	group.SavesHeld, group.BeginsHeld = make([]bool, len(group.Saves)), make([]bool, len(group.Begins))
	b := &pgx.Batch{}
	together := p.together(shard)
	if err := p.queueAll(b, g, group, together); err != nil {
		return err
	}
	if together {
		p.queueDone(b, group.Dones)
	} else {
		group.owe()
	}
	if b.Len() == 0 {
		return nil
	}
	if err := pool.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	p.tell(group.tenants()...)
	return nil
}

// tenants are the workspaces that the group moved targets of.
func (g *Group) tenants() []model.TenantID {
	seen := map[model.TenantID]bool{}
	for _, c := range g.Claims {
		seen[c.Tenant] = true
	}
	for _, r := range g.Results {
		seen[r.Tenant] = true
	}
	return slices.Collect(maps.Keys(seen))
}

// owe lists the dispatches of the group that are worked off.
func (g *Group) owe() {
	g.Owed = g.Dones
	for _, r := range g.Results {
		g.Owed = append(g.Owed, r.Key)
	}
}

func (p *Pipeline) queueAll(b *pgx.Batch, g Guards, group *Group, together bool) error {
	if len(group.Results) > 0 {
		if err := p.queueResults(b, group.Results, together, group.ResultsHeld); err != nil {
			return err
		}
	}
	if len(group.Saves) > 0 {
		if err := p.queueSteps(b, group.Saves, false, group.SavesHeld); err != nil {
			return err
		}
	}
	if len(group.Begins) > 0 {
		if err := p.queueSteps(b, group.Begins, true, group.BeginsHeld); err != nil {
			return err
		}
	}
	if len(group.Claims) > 0 {
		p.queueClaims(b, group.Claims, g, group.Works)
	}
	return nil
}

func (p *Pipeline) queueDone(b *pgx.Batch, keys []Key) {
	if len(keys) == 0 {
		return
	}
	k := columns(keys)
	b.Queue(sqlDispatchDone, k.tenants, k.targets, k.versions, k.seqs, "publish", p.now())
}
