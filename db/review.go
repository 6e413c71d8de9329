package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// ReviewScope is the only door of a client's approver: one person, by one link,
// at one client. While it reads, row-level security hides every other client and
// every internal comment.
type ReviewScope struct {
	Agency string // as its look calls it
	Client string
	Look   ShownLook
	Zone   string // the person's own if they chose one, else the client's
	Person string

	ClientZone string

	sc      *Scope // of nobody: it grants nothing
	link    model.LinkID
	hash    [32]byte
	who     approver
	expires time.Time
	gone    error // why the link no longer works; nil if it does
	banned  bool  // the person is no approver any more
}

const sqlReviewWorkspace = `
	SELECT id, slug, name, zone, shard, state, paused_at IS NOT NULL AS paused FROM control.workspaces WHERE id = $1`

const sqlReviewLink = `
	SELECT l.id, l.expires_at, l.revoked_at IS NOT NULL, a.id, a.name, a.email, a.client_id, a.revoked_at IS NOT NULL, c.name, coalesce(a.zone, ''), coalesce(a.zone, c.zone), c.zone
	  FROM tenant.review_links l
	  JOIN tenant.approvers a ON a.tenant_id = l.tenant_id AND a.id = l.approver_id
	  JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE l.tenant_id = $1 AND l.token_hash = $2`

// Review opens a review link. It refuses with NotFound what is no link, and with
// Gone one that ran out or was taken back; the ReviewScope that comes along with a
// Gone reads and decides nothing, and can only ask for a fresh link.
func (s *Store) Review(ctx context.Context, token string) (_ *ReviewScope, err error) {
	defer wrap(&err, "open review link")
	w, err := s.reviewWorkspace(ctx, token)
	if err != nil {
		return nil, err
	}
	sc, err := s.nobody(w)
	if err != nil {
		return nil, err
	}
	rs := &ReviewScope{hash: secret.HashToken(token), sc: sc}
	var revoked bool
	err = rs.sc.read(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sqlReviewLink, sc.Actor.Tenant, rs.hash[:]).Scan(&rs.link, &rs.expires, &revoked,
			&rs.who.ID, &rs.who.Name, &rs.who.Email, &rs.who.ClientID, &rs.banned, &rs.Client, &rs.who.Zone, &rs.Zone, &rs.ClientZone); err != nil {
			return err
		}
		rs.Look, err = sc.shownLook(ctx, tx, rs.who.ClientID)
		return err
	})
	if noRows(err) {
		return nil, errNoLink
	}
	if err != nil {
		return nil, err
	}
	rs.Agency, rs.Person, rs.sc.Actor.Name = rs.Look.Name, rs.who.Name, rs.who.Name
	rs.gone = rs.whyGone(revoked)
	return rs, rs.gone
}

var errNoLink = model.Refuse(model.NotFound, "This is not a review link. Open the one in your e-mail again, whole.")

// reviewWorkspace finds the workspace that a token names in front of its dot.
func (s *Store) reviewWorkspace(ctx context.Context, token string) (w Workspace, err error) {
	prefix, random, ok := strings.Cut(token, ".")
	id, bad := strconv.ParseInt(prefix, 36, 64)
	if !ok || bad != nil || len(random) != 43 {
		return w, errNoLink
	}
	w, err = s.workspaceOf(ctx, model.TenantID(id))
	if noRows(err) {
		return w, errNoLink
	}
	return w, err
}

// workspaceOf reads a workspace by its id. Its error is pgx's for no rows where there is
// none.
func (s *Store) workspaceOf(ctx context.Context, id model.TenantID) (w Workspace, err error) {
	rows, err := s.control.Query(ctx, sqlReviewWorkspace, id)
	if err != nil {
		return w, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Workspace])
}

// nobody is a Scope that grants nothing, for what a link opens in a workspace.
func (s *Store) nobody(w Workspace) (*Scope, error) {
	pool, err := s.shard(w.Shard)
	if err != nil {
		return nil, err
	}
	return &Scope{Workspace: w, Actor: model.Actor{Tenant: w.ID}, pool: pool, control: s.control, ring: s.ring, now: s.now, changed: s.changed}, nil
}

func (rs *ReviewScope) whyGone(revoked bool) error {
	switch {
	case rs.banned:
		return model.Refuse(model.Gone, fmt.Sprintf("%s no longer asks you for approvals. If that surprises you, get in touch with them.", rs.Agency))
	case revoked:
		return model.Refuse(model.Gone, fmt.Sprintf("%s took this link back.", rs.Agency))
	case !rs.sc.now().Before(rs.expires):
		return model.Refuse(model.Gone, fmt.Sprintf("This link ran out on %s.", inZone(rs.expires, rs.Zone)))
	}
	return nil
}

// MayAskFresh says whether this person can be sent a fresh link.
func (rs *ReviewScope) MayAskFresh() bool { return !rs.banned }

// Workspace is whose link it is.
func (rs *ReviewScope) Workspace() model.TenantID { return rs.sc.Actor.Tenant }

const sqlReviewerSet = `SELECT set_config('herald.reviewer', $1, true)`

// read runs f in a read-only transaction that sees the reviewer's client only.
func (rs *ReviewScope) read(ctx context.Context, f func(pgx.Tx) error) error {
	if rs.gone != nil {
		return rs.gone
	}
	return rs.sc.read(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlReviewerSet, strconv.FormatInt(int64(rs.who.ClientID), 10)); err != nil {
			return err
		}
		return f(tx)
	})
}

// pageLife is how long a page may stay open before its buttons are refused.
const pageLife = 24 * time.Hour

const pagePurpose = "review page"

// PageToken is what a page's forms send back: it proves that the page was drawn
// by us for this link.
func (rs *ReviewScope) PageToken() string {
	return rs.sc.pageToken(rs.hash)
}

// pageToken is of a link's page, by the hash of the link's own token.
func (sc *Scope) pageToken(hash [32]byte) string {
	return sc.ring.Sign(pagePurpose, hash[:], sc.now().Add(pageLife))
}

// Confirm refuses a form without a token of this link's page: whatever opens
// links by itself, mail scanners above all, decides nothing.
func (rs *ReviewScope) Confirm(pageToken string) error { return rs.sc.confirm(rs.hash, pageToken) }

func (sc *Scope) confirm(hash [32]byte, pageToken string) error {
	payload, err := sc.ring.Verify(pagePurpose, pageToken, sc.now())
	if err != nil || string(payload) != string(hash[:]) {
		return model.Refuse(model.Forbidden, "This page was open for too long, or was not opened by the link, so nothing was recorded. Look at it as it is now, then press the button once more.")
	}
	return nil
}

// ReviewPage is what a link shows.
type ReviewPage struct {
	Items   []ReviewItem
	Expires time.Time
}

// Waiting counts the items that still wait for the person.
func (p ReviewPage) Waiting() (n int) {
	for _, i := range p.Items {
		if i.MayDecide {
			n++
		}
	}
	return n
}

// ReviewItem is one request as its approver sees it.
type ReviewItem struct {
	model.ApprovalRequest
	MayDecide bool
	Mine      model.ApprovalDecision // the person's own, at the latest stage; without a verdict if there is none
	Newer     bool                   // it took the place of the version that the link was sent for
	Replaces  []model.RequestID      // superseded ones about the same post, which it is shown instead of
}

// reviewAllowed names the requests of a link: those it was sent for, and open
// ones about the same posts that now wait for the same person. $2 is the link, $3
// the client, $4 the approver.
const reviewAllowed = `
	 r.tenant_id = $1 AND r.client_id = $3 AND (
		EXISTS (SELECT FROM tenant.review_link_requests lr WHERE lr.tenant_id = r.tenant_id AND lr.link_id = $2 AND lr.request_id = r.id)
		OR r.state = 'open'
		   AND r.stages @> jsonb_build_array(jsonb_build_object('position', r.stage, 'people', jsonb_build_array(jsonb_build_object('approver', $4::bigint))))
		   AND r.post_id IN (SELECT q.post_id FROM tenant.review_link_requests lr
		                       JOIN tenant.approval_requests q ON q.tenant_id = lr.tenant_id AND q.id = lr.request_id
		                      WHERE lr.tenant_id = $1 AND lr.link_id = $2))`

const sqlReviewRequests = requestColumns + ` WHERE` + reviewAllowed + ` ORDER BY r.due_at NULLS LAST, r.id`

const sqlReviewLinked = `SELECT request_id FROM tenant.review_link_requests WHERE tenant_id = $1 AND link_id = $2`

const sqlCommentsClient = `
	SELECT m.id, m.post_id, m.visibility, m.client_id, c.name AS client, m.name, m.approver_id IS NOT NULL AS by_approver, m.body, m.at, '{}'::text[] AS mentions,` + commentFiles + `
	  FROM tenant.comments m JOIN tenant.clients c ON c.tenant_id = m.tenant_id AND c.id = m.client_id
	 WHERE m.tenant_id = $1 AND m.post_id = ANY ($2) AND m.client_id = ANY ($3) AND m.visibility = 'client' ORDER BY m.id`

// Page reads what the link shows. A request that was superseded gives way to the
// newer one if that waits for the person, else it stays and says so.
func (rs *ReviewScope) Page(ctx context.Context) (page ReviewPage, err error) {
	defer wrap(&err, "read review page")
	if rs.gone != nil {
		return page, rs.gone
	}
	team, err := rs.sc.team(ctx)
	if err != nil {
		return page, err
	}
	page.Expires = rs.expires
	err = rs.read(ctx, func(tx pgx.Tx) error {
		rows, err := rs.rows(ctx, tx)
		if err != nil {
			return err
		}
		list, err := reader{rs.sc, team, sqlCommentsClient}.fill(ctx, tx, rows)
		if err != nil {
			return err
		}
		linked, err := tx.Query(ctx, sqlReviewLinked, rs.sc.Actor.Tenant, rs.link)
		if err != nil {
			return err
		}
		sent, err := pgx.CollectRows(linked, pgx.RowTo[model.RequestID])
		page.Items = rs.items(list, sent)
		return err
	})
	return page, err
}

func (rs *ReviewScope) rows(ctx context.Context, tx pgx.Tx) ([]requestRow, error) {
	rows, err := tx.Query(ctx, sqlReviewRequests, rs.sc.Actor.Tenant, rs.link, rs.who.ClientID, rs.who.ID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
}

func (rs *ReviewScope) items(list []model.ApprovalRequest, sent []model.RequestID) (items []ReviewItem) {
	me := model.AskedPerson{Approver: rs.who.ID}
	replaced := map[model.PostID][]model.RequestID{}
	for _, r := range list {
		if givesWay(r, list) {
			replaced[r.PostID] = append(replaced[r.PostID], r.ID)
		}
	}
	for _, r := range list {
		if givesWay(r, list) {
			continue
		}
		i := ReviewItem{ApprovalRequest: rs.shown(r), MayDecide: r.WaitsFor(me), Newer: !slices.Contains(sent, r.ID), Replaces: replaced[r.PostID]}
		for _, d := range r.Decisions {
			if d.Person.Is(me) {
				i.Mine = d
			}
		}
		items = append(items, i)
	}
	return items
}

// givesWay says whether a newer request about the same post is shown instead.
func givesWay(r model.ApprovalRequest, list []model.ApprovalRequest) bool {
	return r.State == model.RequestSuperseded && slices.ContainsFunc(list, func(n model.ApprovalRequest) bool { return n.PostID == r.PostID && n.ID > r.ID })
}

// shown is a request as the person sees it: in their zone, and without what is the
// agency's own.
func (rs *ReviewScope) shown(r model.ApprovalRequest) model.ApprovalRequest {
	r.ClientZone = rs.Zone
	return forClient(r)
}

// forClient leaves out what is the agency's own: who there decides, and what
// they said when they did.
func forClient(r model.ApprovalRequest) model.ApprovalRequest {
	r.Decisions = slices.DeleteFunc(slices.Clone(r.Decisions), func(d model.ApprovalDecision) bool { return d.Person.Approver == 0 })
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		r.Stages[i].People = slices.DeleteFunc(slices.Clone(r.Stages[i].People), func(p model.AskedPerson) bool { return p.Approver == 0 })
	}
	return r
}

// Decide records the person's decisions about requests of the link. Each is
// recorded or comes back with its refusal; a post that changed is a *Changed.
func (rs *ReviewScope) Decide(ctx context.Context, list []Decision) (out []Decided, err error) {
	allowed, err := rs.allowed(ctx)
	if err != nil {
		return nil, err
	}
	by := decider{
		person: model.AskedPerson{Approver: rs.who.ID, Name: rs.who.Name},
		may: func(r requestRow) error {
			if _, ok := allowed[r.ID]; !ok {
				return errNoRequest
			}
			return nil
		},
	}
	return rs.sc.decide(ctx, by, list)
}

// allowed are the requests that the link may be used for, with their posts.
func (rs *ReviewScope) allowed(ctx context.Context) (requests map[model.RequestID]requestRow, err error) {
	requests = map[model.RequestID]requestRow{}
	err = rs.read(ctx, func(tx pgx.Tx) error {
		rows, err := rs.rows(ctx, tx)
		for _, r := range rows {
			requests[r.ID] = r
		}
		return err
	})
	return requests, err
}

// Shelf is a Scope that may put files into the library of the person's client, and look
// how they stand; nothing else. It is for what they send along with a comment.
func (rs *ReviewScope) Shelf() *Scope {
	sc := *rs.sc
	sc.Actor.Clients = map[model.ClientID][]model.Permission{rs.who.ClientID: {model.MediaView, model.MediaWrite}}
	return &sc
}

// ClientID is whose approver the person is.
func (rs *ReviewScope) ClientID() model.ClientID { return rs.who.ClientID }

// Comment adds a remark that the agency and the client's other approvers read, once
// for each key of a form, as Scope.Comment does. Files are of the client's library.
func (rs *ReviewScope) Comment(ctx context.Context, request model.RequestID, key, body string, files ...model.MediaID) (c model.Comment, err error) {
	defer wrap(&err, "comment by link")
	allowed, err := rs.allowed(ctx)
	if err != nil {
		return c, err
	}
	about, ok := allowed[request]
	if !ok {
		return c, errNoRequest
	}
	if body, err = remark(body); err != nil {
		return c, err
	}
	team, err := rs.sc.team(ctx)
	if err != nil {
		return c, err
	}
	f := CommentForm{Key: key, Post: about.PostID, Visibility: model.ClientVisible, Client: rs.who.ClientID, Body: body}
	err = rs.sc.write(ctx, func(tx pgx.Tx) error {
		by, again := model.AskedPerson{Approver: rs.who.ID, Name: rs.who.Name}, false
		if c, again, err = rs.sc.commentOnce(ctx, tx, f, by, func() error { return rs.sc.mayWriteMore(ctx, tx, rs.who.ID) }); again || err != nil {
			return err
		}
		if err := rs.Shelf().mayAttach(ctx, tx, files, []model.ClientID{rs.who.ClientID}); err != nil {
			return err
		}
		if err := rs.sc.attachFiles(ctx, tx, c.ID, files); err != nil {
			return err
		}
		return newMailing(rs.sc, team).comment(ctx, tx, c, about)
	})
	return c, err
}
