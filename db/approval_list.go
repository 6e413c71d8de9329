package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Box is one pile of the approval inbox.
type Box string

// The boxes.
const (
	BoxMine    Box = "mine"    // waits for the actor
	BoxOthers  Box = "others"  // waits for somebody else
	BoxChanges Box = "changes" // came back: changes requested, or rejected
	BoxOverdue Box = "overdue" // waits for anybody, and its planned time, or the time to tell others, has passed
)

// Inbox is one box with the sizes of all: what came back newest first, the others by
// the time they are planned for.
type Inbox struct {
	Requests []InboxRequest
	More     bool
	Mine     int
	Others   int
	Changes  int
	Overdue  int
}

// InboxRequest is a request with what the actor may do about it.
type InboxRequest struct {
	model.ApprovalRequest
	MayDecide bool // among the people of the current stage
	Override  bool // may decide without being among them
	MayLink   bool // may revoke and resend links
	Links     []ReviewLink
}

// inboxSize is how many requests a page of the inbox has.
const inboxSize = 20

// waitsForMe says whether an open request r still waits for the decision of the
// actor, $4, at its current stage.
const waitsForMe = `r.stages @> jsonb_build_array(jsonb_build_object('position', r.stage, 'people', jsonb_build_array(jsonb_build_object('user', $4::bigint))))
	             AND NOT EXISTS (SELECT FROM tenant.decisions d WHERE d.tenant_id = r.tenant_id AND d.request_id = r.id AND d.stage = r.stage AND d.user_id = $4)`

// whatWaits sorts requests into boxes. due is the first time that the client's targets
// are planned for now; $5 is now.
const whatWaits = `
	SELECT r.tenant_id, r.id, t.due,
	       r.state = 'open' AND (t.due <= $5 OR coalesce(r.stage_since, r.asked_at) + c.escalate_after <= $5) IS TRUE AS late,
	       CASE WHEN r.state <> 'open' THEN 'changes'
	            WHEN ` + waitsForMe + `
	            THEN 'mine' ELSE 'others' END AS box
	  FROM tenant.approval_requests r
	  JOIN tenant.posts p ON p.tenant_id = r.tenant_id AND p.id = r.post_id
	  JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id
	 CROSS JOIN LATERAL (SELECT min(x.due_at) AS due FROM tenant.targets x
	                      WHERE x.tenant_id = r.tenant_id AND x.post_id = r.post_id AND x.version_id = r.version_id AND x.client_id = r.client_id AND x.state <> 'cancelled') t
	 WHERE r.tenant_id = $1 AND ($2 OR r.client_id = ANY ($3))
	   AND (r.state = 'open' OR r.state IN ('changes_requested', 'rejected') AND p.review = 'changes_requested' AND p.archived_at IS NULL
	        AND r.version_id = p.current_version_id
	        AND NOT EXISTS (SELECT FROM tenant.approval_requests n WHERE n.tenant_id = r.tenant_id AND n.post_id = r.post_id AND n.client_id = r.client_id AND n.id > r.id))`

const sqlInboxCount = `
	SELECT count(*) FILTER (WHERE box = 'mine'), count(*) FILTER (WHERE box = 'others'), count(*) FILTER (WHERE box = 'changes'), count(*) FILTER (WHERE late)
	  FROM (` + whatWaits + `) w`

const sqlInboxList = `WITH w AS (` + whatWaits + `)` + requestColumns + `
	  JOIN w ON w.tenant_id = r.tenant_id AND w.id = r.id AND (w.box = $6 OR $6 = 'overdue' AND w.late)
	 ORDER BY CASE WHEN r.state = 'open' THEN w.due END, r.closed_at DESC, r.asked_at, r.id LIMIT $7 OFFSET $8`

// Approvals reads one box of the inbox, from its page-th page (0 is the first).
// People see requests of the clients whose posts they may see; of, if given, narrows
// that, and refuses with NotFound where the actor sees nothing of it.
func (sc *Scope) Approvals(ctx context.Context, box Box, page int, of ...model.ClientID) (in Inbox, err error) {
	defer wrap(&err, "read the approval inbox")
	page = min(max(page, 0), 10_000)
	team, err := sc.team(ctx)
	if err != nil {
		return in, err
	}
	clients, all, err := sc.narrowed(of)
	if err != nil {
		return in, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlInboxCount, sc.Actor.Tenant, all, clients, sc.Actor.User, sc.now()).Scan(&in.Mine, &in.Others, &in.Changes, &in.Overdue)
		if err != nil {
			return err
		}
		list, err := sc.requests(ctx, tx, team, sqlInboxList, sc.Actor.Tenant, all, clients, sc.Actor.User, sc.now(), box, inboxSize+1, page*inboxSize)
		if err != nil {
			return err
		}
		if in.More = len(list) > inboxSize; in.More {
			list = list[:inboxSize]
		}
		in.Requests, err = sc.withPowers(ctx, tx, list)
		return err
	})
	return in, err
}

// narrowed are the clients whose posts the actor may see, or those of them that are
// asked for.
func (sc *Scope) narrowed(of []model.ClientID) (clients []model.ClientID, all bool, err error) {
	if clients, all = sc.Actor.ClientsWith(model.PostsView); len(of) == 0 {
		return clients, all, nil
	}
	for _, id := range of {
		if err := sc.need(model.PostsView, id, "client"); err != nil {
			return nil, false, err
		}
	}
	return of, false, nil
}

const sqlRequestGet = requestColumns + ` WHERE r.tenant_id = $1 AND r.id = $2`

// Approval reads one request of a client that the actor may see.
func (sc *Scope) Approval(ctx context.Context, id model.RequestID) (one InboxRequest, err error) {
	defer wrap(&err, "read approval request %d", id)
	list, err := sc.readRequests(ctx, sqlRequestGet, id)
	if err != nil {
		return one, err
	}
	if len(list) == 0 {
		return one, errNoRequest
	}
	return list[0], nil
}

const sqlRequestsOfPost = requestColumns + ` WHERE r.tenant_id = $1 AND r.post_id = $2 ORDER BY r.id DESC`

// PostApprovals lists what was asked about a post, newest first, for the clients
// that the actor may see.
func (sc *Scope) PostApprovals(ctx context.Context, id model.PostID) (list []InboxRequest, err error) {
	defer wrap(&err, "list approvals of post %d", id)
	return sc.readRequests(ctx, sqlRequestsOfPost, id)
}

func (sc *Scope) readRequests(ctx context.Context, sql string, id any) (list []InboxRequest, err error) {
	team, err := sc.team(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		found, err := sc.requests(ctx, tx, team, sql, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		list, err = sc.withPowers(ctx, tx, found)
		return err
	})
	return list, err
}

// requests reads full requests with sql, and drops those of clients whose posts
// the actor may not see.
func (sc *Scope) requests(ctx context.Context, tx pgx.Tx, team team, sql string, args ...any) ([]model.ApprovalRequest, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	if err != nil {
		return nil, err
	}
	var seen []requestRow
	for _, row := range found {
		if sc.Actor.May(model.PostsView, row.ClientID) {
			seen = append(seen, row)
		}
	}
	return reader{sc, team, sqlCommentsAll}.fill(ctx, tx, seen)
}

// withPowers adds what the actor may do about each request.
func (sc *Scope) withPowers(ctx context.Context, tx pgx.Tx, list []model.ApprovalRequest) (out []InboxRequest, err error) {
	links, err := sc.linksOf(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	me := model.AskedPerson{User: sc.Actor.User}
	for _, r := range list {
		one := InboxRequest{ApprovalRequest: r, Links: links[r.ID]}
		may := sc.Actor.May(model.PostsApprove, r.ClientID)
		_, decided := r.DecisionOf(me, r.Stage)
		one.MayDecide = may && r.WaitsFor(me)
		one.Override = may && r.State == model.RequestOpen && sc.Actor.Role.EveryClient() && !r.Current().Has(me) && !decided
		one.MayLink = may
		out = append(out, one)
	}
	return out, nil
}
