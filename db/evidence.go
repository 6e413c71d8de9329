package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Evidence is everything that is known of one target: what was meant, who said
// yes, what Herald did and what the network answered.
type Evidence struct {
	Target    Target
	Frame     EvidenceFrame
	Requests  []model.ApprovalRequest // about this version and client, newest first
	Holds     []model.Hold            // on its post, at this client; oldest first
	Reminders []Reminder
	Moves     []TargetMove
	Attempts  []Attempt
	Findings  []Finding
}

// Hold is what holds the target now; without an id if nothing does.
func (e Evidence) Hold() model.Hold {
	if n := len(e.Holds); n > 0 && e.Holds[n-1].Open() {
		return e.Holds[n-1]
	}
	return model.Hold{}
}

// EvidenceFrame is what stands around a target.
type EvidenceFrame struct {
	Excerpt       string // first words of what the account gets, or got
	Review        string
	Number        int // of the version
	Hash          string
	WrittenBy     model.UserID
	Writer        string
	WrittenAt     time.Time
	Approved      bool // the version is the post's approved one
	Current       bool // the version is the post's newest one
	AccountState  string
	AccountError  string
	AccountPaused bool
	ClientPaused  bool
}

// Reminder is a row of the control plane's index: one reminder of something due.
type Reminder struct {
	Task       string // publish, reconcile, follow_up
	DueAt      time.Time
	Status     string // pending, enqueued, done, cancelled
	EnqueuedAt *time.Time
	UpdatedAt  time.Time
}

// TargetMove is one step of a target's state.
type TargetMove struct {
	From   model.State
	To     model.State
	Reason string
	UserID *model.UserID
	Name   string // of the person, if one did it
	At     time.Time
}

// Attempt is the evidence of one try.
type Attempt struct {
	AttemptNo int
	VersionID model.VersionID
	State     string
	Calls     []Call
	Code      string
	Status    int
	RequestID string
	Say       string
	BeganAt   time.Time
	FlownAt   *time.Time
	EndedAt   *time.Time
}

// Finding is what one look-up proved, or what a person found.
type Finding struct {
	AttemptNo  int
	Verdict    string
	Say        string
	ExternalID string
	Calls      []Call
	UserID     *model.UserID
	Name       string
	At         time.Time
}

// Call is the evidence of one request to a network.
type Call struct {
	Step      string        `json:"step"`
	Method    string        `json:"method"`
	Host      string        `json:"host"`
	Path      string        `json:"path"`
	Status    int           `json:"status"`
	RequestID string        `json:"request_id"`
	Began     time.Time     `json:"began"`
	Took      time.Duration `json:"took"`
	Error     string        `json:"error"`
}

// Evidence reads everything about a target. It refuses with NotFound unless the
// actor may see the target's client. What it shows of approvals is that client's
// alone.
func (sc *Scope) Evidence(ctx context.Context, id model.TargetID) (e Evidence, err error) {
	defer wrap(&err, "read evidence of target %d", id)
	team, err := sc.team(ctx)
	if err != nil {
		return e, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if e.Target, err = sc.target(ctx, tx, id); err != nil {
			return err
		}
		if err := sc.evidenceOf(ctx, tx, &e); err != nil {
			return err
		}
		if e.Holds, err = sc.holds(ctx, tx, []model.PostID{e.Target.PostID}); err != nil {
			return err
		}
		e.Holds = slices.DeleteFunc(e.Holds, func(h model.Hold) bool { return h.ClientID != e.Target.ClientID })
		e.Requests, err = sc.requests(ctx, tx, team, sqlEvidenceRequests, sc.Actor.Tenant, e.Target.PostID, e.Target.VersionID, e.Target.ClientID)
		return err
	})
	if err != nil {
		return e, err
	}
	if e.Reminders, err = readList[Reminder](ctx, sc.control, sqlEvidenceReminders, sc.Actor.Tenant, id); err != nil {
		return e, err
	}
	return e, sc.nameEvidence(ctx, &e)
}

const sqlEvidenceFrame = `
	SELECT tenant.words_of(v.content, t.network) AS excerpt, p.review, v.number, encode(v.content_hash, 'hex') AS hash, v.created_by AS written_by, '' AS writer, v.created_at AS written_at,
	       p.approved_version_id IS NOT DISTINCT FROM v.id AS approved, p.current_version_id = v.id AS current,
	       a.state AS account_state, coalesce(a.last_error, '') AS account_error, a.paused_at IS NOT NULL AS account_paused, c.paused_at IS NOT NULL AS client_paused
	  FROM tenant.targets t
	  JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id
	  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
	 WHERE t.tenant_id = $1 AND t.id = $2`

const sqlEvidenceRequests = requestColumns + `
	 WHERE r.tenant_id = $1 AND r.post_id = $2 AND r.version_id = $3 AND r.client_id = $4 ORDER BY r.id DESC`

const sqlEvidenceMoves = `
	SELECT from_state AS "from", to_state AS "to", reason, user_id, '' AS name, at
	  FROM tenant.target_changes WHERE tenant_id = $1 AND target_id = $2 ORDER BY id`

const sqlEvidenceAttempts = `
	SELECT attempt_no, version_id, state, calls, code, status, request_id, say, began_at, flown_at, ended_at
	  FROM tenant.attempts WHERE tenant_id = $1 AND target_id = $2 ORDER BY began_at, attempt_no`

const sqlEvidenceFindings = `
	SELECT attempt_no, verdict, say, external_id, calls, user_id, '' AS name, at
	  FROM tenant.findings WHERE tenant_id = $1 AND target_id = $2 ORDER BY id`

const sqlEvidenceReminders = `
	SELECT task, due_at, status, enqueued_at, updated_at
	  FROM control.publish_dispatch_index WHERE tenant_id = $1 AND target_id = $2 ORDER BY version_id, due_at, task`

func (sc *Scope) evidenceOf(ctx context.Context, tx pgx.Tx, e *Evidence) error {
	frames, err := readList[EvidenceFrame](ctx, tx, sqlEvidenceFrame, sc.Actor.Tenant, e.Target.ID)
	if err != nil {
		return err
	}
	for _, f := range frames {
		e.Frame = f
	}
	if e.Moves, err = readList[TargetMove](ctx, tx, sqlEvidenceMoves, sc.Actor.Tenant, e.Target.ID); err != nil {
		return err
	}
	if e.Attempts, err = readList[Attempt](ctx, tx, sqlEvidenceAttempts, sc.Actor.Tenant, e.Target.ID); err != nil {
		return err
	}
	e.Findings, err = readList[Finding](ctx, tx, sqlEvidenceFindings, sc.Actor.Tenant, e.Target.ID)
	return err
}

const sqlEvidenceNames = `SELECT id, name FROM control.users WHERE id = ANY ($1)`

// nameEvidence puts names to the people who did something. They may have left
// the workspace since, so they are not looked up among its members.
func (sc *Scope) nameEvidence(ctx context.Context, e *Evidence) error {
	ids := []model.UserID{e.Frame.WrittenBy}
	for _, m := range e.Moves {
		if m.UserID != nil {
			ids = append(ids, *m.UserID)
		}
	}
	for _, f := range e.Findings {
		if f.UserID != nil {
			ids = append(ids, *f.UserID)
		}
	}
	names := map[model.UserID]string{}
	rows, err := sc.control.Query(ctx, sqlEvidenceNames, ids)
	if err != nil {
		return err
	}
	var id model.UserID
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil }); err != nil {
		return err
	}
	e.Frame.Writer = names[e.Frame.WrittenBy]
	for i, m := range e.Moves {
		if m.UserID != nil {
			e.Moves[i].Name = names[*m.UserID]
		}
	}
	for i, f := range e.Findings {
		if f.UserID != nil {
			e.Findings[i].Name = names[*f.UserID]
		}
	}
	return nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func readList[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}
