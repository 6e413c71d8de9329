package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// PostForm is what a composer sends. Content's media need ids and alt texts
// only; their hashes are filled in from the stored assets.
type PostForm struct {
	Seen    int // the revision the writer saw; 0 for a new post
	Content model.Content
	Notes   string
	Labels  []model.LabelID  // those that the writer may see, a campaign among them; others stay
	Named   []model.ClientID // the clients the writer confirmed by name, where accounts span several
	Fit     bool             // shorten what is too long; the shortened text becomes the version

	written bool // Content is a version's: its files are framed as they were then
}

// SavePost writes a post as the next version, or makes one (id 0). Content that
// is the same as the current version's makes no new version and touches no
// approval. A new version takes back approval and delivery of what is not yet
// published. It refuses with Invalid when accounts of several clients were not
// confirmed by name or a file belongs to a client the post does not go to, and with
// Conflict when the form is stale or a target is in flight.
func (sc *Scope) SavePost(ctx context.Context, id model.PostID, form PostForm) (page PostPage, err error) {
	defer wrap(&err, "save post %d", id)
	if len(form.Content.Accounts) > maxTargets {
		return page, model.RefuseField("accounts", fmt.Sprintf("A post goes to at most %d accounts. Make a second post for the others.", maxTargets))
	}
	if id == 0 {
		err = sc.write(ctx, func(tx pgx.Tx) error {
			page, err = sc.createPost(ctx, tx, form)
			return err
		})
		return page, err
	}
	return sc.change(ctx, id, form.Seen, func(tx pgx.Tx, old PostPage) error {
		if err := sc.needAll(model.PostsWrite, old); err != nil {
			return err
		}
		return sc.revise(ctx, tx, old, form)
	})
}

// maxTargets is how many accounts one post may go to.
const maxTargets = 200

const sqlPostInsert = `
	INSERT INTO tenant.posts (tenant_id, created_by, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id`

func (sc *Scope) createPost(ctx context.Context, tx pgx.Tx, form PostForm) (page PostPage, err error) {
	if !sc.Actor.MayAnywhere(model.PostsWrite) {
		return page, model.Refuse(model.Forbidden, "Your role does not allow writing posts.")
	}
	var id model.PostID
	if err := tx.QueryRow(ctx, sqlPostInsert, sc.Actor.Tenant, sc.Actor.User, sc.now()).Scan(&id); err != nil {
		return page, err
	}
	if err := sc.revise(ctx, tx, PostPage{Post: Post{ID: id}}, form); err != nil {
		return page, err
	}
	if err := sc.recompute(ctx, tx, id); err != nil {
		return page, err
	}
	return sc.postPage(ctx, tx, id, sqlPostGet)
}

const sqlPostDescribe = `UPDATE tenant.posts SET notes = $3 WHERE tenant_id = $1 AND id = $2`

// revise writes what is not material, and a new version if something is.
func (sc *Scope) revise(ctx context.Context, tx pgx.Tx, old PostPage, form PostForm) error {
	plan, err := sc.plan(ctx, tx, old, form)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlPostDescribe, sc.Actor.Tenant, old.Post.ID, strings.TrimSpace(form.Notes)); err != nil {
		return err
	}
	if err := sc.relabel(ctx, tx, old.Post, form.Labels); err != nil {
		return err
	}
	canonical := plan.content.Canonical()
	if old.Version.ID != 0 && plan.content.Hash() == [32]byte(old.Version.Hash) {
		return nil
	}
	if err := noneInFlight(old.Targets); err != nil {
		return err
	}
	return sc.addVersion(ctx, tx, old, plan, canonical)
}

const sqlVersionInsert = `
	INSERT INTO tenant.post_versions (tenant_id, post_id, number, content, created_by, created_at)
	VALUES ($1, $2, (SELECT coalesce(max(number), 0) + 1 FROM tenant.post_versions WHERE tenant_id = $1 AND post_id = $2), $3, $4, $5) RETURNING id`

const sqlVersionMedia = `
	INSERT INTO tenant.version_media (tenant_id, version_id, media_id) SELECT $1, $2, unnest($3::bigint[])`

const sqlPostVersion = `
	UPDATE tenant.posts SET current_version_id = $3, approved_version_id = NULL, review = 'draft', excerpt = $4 WHERE tenant_id = $1 AND id = $2`

func (sc *Scope) addVersion(ctx context.Context, tx pgx.Tx, old PostPage, plan plan, canonical []byte) error {
	var version model.VersionID
	err := tx.QueryRow(ctx, sqlVersionInsert, sc.Actor.Tenant, old.Post.ID, canonical, sc.Actor.User, sc.now()).Scan(&version)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlVersionMedia, sc.Actor.Tenant, version, plan.content.AllMedia()); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlPostVersion, sc.Actor.Tenant, old.Post.ID, version, model.Excerpt(plan.content.Text, 140)); err != nil {
		return err
	}
	if err := sc.keepTexts(ctx, tx, old.Post.ID, version, plan); err != nil {
		return err
	}
	if err := sc.supersede(ctx, tx, old.Post.ID); err != nil {
		return err
	}
	if err := sc.retarget(ctx, tx, old, version, plan); err != nil {
		return err
	}
	return sc.audit(ctx, tx, note{verb: "wrote", subject: "post", id: int64(old.Post.ID), client: plan.onlyClient(),
		detail: map[string]any{"version": version, "accounts": len(plan.parts)}})
}
