package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlRequestsAdd = `
	INSERT INTO tenant.approval_requests (tenant_id, post_id, version_id, content_hash, client_id, stages, due_at, asked_by, asked_at)
	SELECT $1, w.post, w.version, w.hash, w.client, w.stages::jsonb, w.due, $8, $9
	  FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::text[], $7::timestamptz[]) WITH ORDINALITY AS w(post, version, hash, client, stages, due, n) ORDER BY w.n
	RETURNING post_id, client_id, id`

// requests are the columns that new approval requests become.
type requests struct {
	posts    []model.PostID
	versions []model.VersionID
	hashes   [][]byte
	clients  []model.ClientID
	stages   []string
	due      []*time.Time
}

func (r *requests) add(v Version, f workflow, a ask) error {
	stages, err := json.Marshal(f.Stages)
	r.posts, r.versions, r.hashes = append(r.posts, v.PostID), append(r.versions, v.ID), append(r.hashes, v.Hash)
	r.clients, r.stages, r.due = append(r.clients, f.Client), append(r.stages, string(stages)), append(r.due, a.post.DueAt)
	return err
}

// requestKey is what a post's requests of one version are told apart by.
type requestKey struct {
	post   model.PostID
	client model.ClientID
}

const sqlRequestsStanding = `
	SELECT r.post_id, r.client_id FROM unnest($2::bigint[], $3::bigint[]) AS w(post, version)
	  JOIN tenant.approval_requests r ON r.tenant_id = $1 AND r.post_id = w.post AND r.version_id = w.version AND r.state IN ('open', 'approved')`

const sqlPostsReview = `UPDATE tenant.posts SET review = $3 WHERE tenant_id = $1 AND id = ANY ($2)`

// openRequests asks every client that has a workflow and has not been asked
// about the version of a post, or has not said yes to it.
func (sc *Scope) openRequests(ctx context.Context, tx pgx.Tx, batch []*submitting) error {
	standing, err := sc.standingRequests(ctx, tx, batch)
	if err != nil {
		return err
	}
	var rows requests
	var ids []model.PostID
	var notes []note
	for _, s := range batch {
		live := s.targets()
		for _, f := range s.flows {
			if standing[requestKey{s.Post, f.Client}] {
				continue
			}
			a := askOf(s.Page.Version, f, 1, live)
			a.client, a.sender = f.Client, sc.Actor.Name
			if err := rows.add(s.Page.Version, f, a); err != nil {
				return err
			}
			s.asked = append(s.asked, a)
		}
		ids = append(ids, s.Post)
		notes = append(notes, note{verb: "submitted", subject: "post", id: int64(s.Post), client: onlyClient(live),
			detail: map[string]any{"version": s.Page.Version.ID, "requests": len(s.asked)}})
	}
	if err := sc.addRequests(ctx, tx, rows, batch); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlPostsReview, sc.Actor.Tenant, ids, "in_review"); err != nil {
		return err
	}
	return sc.auditMany(ctx, tx, notes)
}

func (sc *Scope) standingRequests(ctx context.Context, tx pgx.Tx, batch []*submitting) (map[requestKey]bool, error) {
	var posts []model.PostID
	var versions []model.VersionID
	for _, s := range batch {
		posts, versions = append(posts, s.Post), append(versions, s.Page.Version.ID)
	}
	rows, err := tx.Query(ctx, sqlRequestsStanding, sc.Actor.Tenant, posts, versions)
	if err != nil {
		return nil, err
	}
	standing := map[requestKey]bool{}
	var k requestKey
	_, err = pgx.ForEachRow(rows, []any{&k.post, &k.client}, func() error {
		standing[k] = true
		return nil
	})
	return standing, err
}

// addRequests writes them, and tells what is asked by which.
func (sc *Scope) addRequests(ctx context.Context, tx pgx.Tx, r requests, batch []*submitting) error {
	if len(r.posts) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, sqlRequestsAdd, sc.Actor.Tenant, r.posts, r.versions, r.hashes, r.clients, r.stages, r.due, sc.Actor.User, sc.now())
	if err != nil {
		return err
	}
	ids := map[requestKey]model.RequestID{}
	var k requestKey
	var id model.RequestID
	if _, err := pgx.ForEachRow(rows, []any{&k.post, &k.client, &id}, func() error {
		ids[k] = id
		return nil
	}); err != nil {
		return err
	}
	for _, s := range batch {
		for i := range s.asked {
			s.asked[i].request = ids[requestKey{s.Post, s.asked[i].client}]
		}
	}
	return nil
}

// approving is a post whose approvals are counted.
type approving struct {
	post    model.PostID
	version model.VersionID
	targets []Target
	auto    AutoPlan // what became of its plan, once it is approved
}

const sqlRequestsUnsettled = `
	SELECT DISTINCT last.post_id FROM (
		SELECT DISTINCT ON (r.post_id, r.client_id) r.post_id, r.state FROM unnest($2::bigint[], $3::bigint[]) AS w(post, version)
		  JOIN tenant.approval_requests r ON r.tenant_id = $1 AND r.post_id = w.post AND r.version_id = w.version ORDER BY r.post_id, r.client_id, r.id DESC) last
	 WHERE last.state NOT IN ('approved', 'superseded')`

const sqlPostsApprove = `
	UPDATE tenant.posts p SET approved_version_id = w.version, review = 'approved' FROM unnest($2::bigint[], $3::bigint[]) AS w(post, version)
	 WHERE p.tenant_id = $1 AND p.id = w.post AND p.current_version_id = w.version AND p.approved_version_id IS NULL RETURNING p.id`

// approveIfAll approves those posts of which the last request of every client that was
// asked about the version is approved, or was taken back because nobody there is asked
// any more. The caller holds the posts' locks, so this
// happens once. What the clients' workflows schedule by themselves is scheduled.
func (sc *Scope) approveIfAll(ctx context.Context, tx pgx.Tx, list ...*approving) error {
	list, err := sc.settledOf(ctx, tx, list)
	if err != nil || len(list) == 0 {
		return err
	}
	var ids []model.TargetID
	var notes []note
	for _, a := range list {
		for _, t := range a.targets {
			if t.VersionID == a.version && (t.State == model.Draft || t.State == model.Invalid) {
				ids = append(ids, t.ID)
			}
		}
		notes = append(notes, note{verb: "approval_complete", subject: "post", id: int64(a.post), client: onlyClient(a.targets), detail: map[string]any{"version": a.version}})
	}
	ready, err := sc.moveTargets(ctx, tx, move{ids: ids, to: model.Ready, reason: "approved"})
	if err != nil {
		return err
	}
	if err := sc.auditMany(ctx, tx, notes); err != nil {
		return err
	}
	return sc.autoSchedule(ctx, tx, list, ready)
}

// settledOf marks those as approved that are, and returns them.
func (sc *Scope) settledOf(ctx context.Context, tx pgx.Tx, list []*approving) (settled []*approving, err error) {
	var posts []model.PostID
	var versions []model.VersionID
	for _, a := range list {
		posts, versions = append(posts, a.post), append(versions, a.version)
	}
	rows, err := tx.Query(ctx, sqlRequestsUnsettled, sc.Actor.Tenant, posts, versions)
	if err != nil {
		return nil, err
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[model.PostID])
	if err != nil {
		return nil, err
	}
	posts, versions = nil, nil
	for _, a := range list {
		if !slices.Contains(open, a.post) {
			posts, versions = append(posts, a.post), append(versions, a.version)
		}
	}
	if len(posts) == 0 {
		return nil, nil
	}
	if rows, err = tx.Query(ctx, sqlPostsApprove, sc.Actor.Tenant, posts, versions); err != nil {
		return nil, err
	}
	done, err := pgx.CollectRows(rows, pgx.RowTo[model.PostID])
	for _, a := range list {
		if slices.Contains(done, a.post) {
			settled = append(settled, a)
		}
	}
	return settled, err
}

const sqlRequestsSupersede = `
	UPDATE tenant.approval_requests SET state = 'superseded', closed_at = $3
	 WHERE tenant_id = $1 AND post_id = $2 AND state = 'open'`

// supersede closes the open requests of a post whose content changed or that was
// put away: what was asked about is no longer what would be sent. Their links
// stay: they explain what happened, and show the newer request once there is one.
func (sc *Scope) supersede(ctx context.Context, tx pgx.Tx, post model.PostID) error {
	_, err := tx.Exec(ctx, sqlRequestsSupersede, sc.Actor.Tenant, post, sc.now())
	return err
}

// askOf is what the people of one stage of a client's workflow are asked.
func askOf(v Version, f workflow, stage int, live []Target) ask {
	a := ask{stage: f.Stages[stage-1], post: model.ApprovalMailPost{Post: v.PostID, Client: f.Name, Zone: f.Zone, Stage: f.Stages[stage-1].Name}}
	for _, t := range live {
		if t.ClientID != f.Client {
			continue
		}
		if a.post.Excerpt == "" {
			a.post.Excerpt = model.Excerpt(v.Content.For(string(t.Network), t.AccountID).Text, 140)
		}
		if !slices.Contains(a.post.Networks, string(t.Network)) {
			a.post.Networks = append(a.post.Networks, string(t.Network))
		}
		a.post.DueAt = earliest(a.post.DueAt, t.DueAt)
	}
	return a
}

func earliest(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

var errNoRequest = model.Refuse(model.NotFound, "There is no such approval request.")

func tooLong(field, body string) error {
	if len([]rune(body)) <= maxWords {
		return nil
	}
	return model.RefuseField(field, fmt.Sprintf("That is too long: keep it under %d characters.", maxWords))
}

// maxWords bounds comments and the words of a decision, in code points.
const maxWords = 4000
