package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// The labels among $3 that a post is to have, of those that the actor may see
// ($4, $5). What another client keeps stays as it is.
const sqlPostLabelsDrop = `
	DELETE FROM tenant.post_labels pl USING tenant.labels l
	 WHERE pl.tenant_id = $1 AND pl.post_id = $2 AND pl.label_id <> ALL ($3) AND l.tenant_id = pl.tenant_id AND l.id = pl.label_id
	   AND (l.client_id IS NULL OR $4 OR l.client_id = ANY ($5))`

const sqlPostLabelsAdd = `
	INSERT INTO tenant.post_labels (tenant_id, post_id, label_id, kind)
	SELECT l.tenant_id, p.id, l.id, l.kind FROM tenant.labels l, unnest($2::bigint[]) p(id) WHERE l.tenant_id = $1 AND l.id = ANY ($3)
	ON CONFLICT (tenant_id, post_id, label_id) DO NOTHING`

// relabel gives a post the labels of a form.
func (sc *Scope) relabel(ctx context.Context, tx pgx.Tx, post Post, want []model.LabelID) error {
	want = slices.Compact(slices.Sorted(slices.Values(want)))
	if slices.Equal(want, post.Labels) {
		return nil
	}
	if len(want) > maxPostLabels {
		return model.RefuseField("label", fmt.Sprintf("Keep to %d labels.", maxPostLabels))
	}
	if _, err := sc.labelsThere(ctx, tx, want); err != nil {
		return err
	}
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	if _, err := tx.Exec(ctx, sqlPostLabelsDrop, sc.Actor.Tenant, post.ID, some(want), all, clients); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlPostLabelsAdd, sc.Actor.Tenant, []model.PostID{post.ID}, want)
	return err
}

// Labelling is one change of the labels of several posts. A campaign that is added
// takes the place of the one that a post has.
type Labelling struct {
	Posts  []model.PostID
	Add    []model.LabelID
	Remove []model.LabelID
}

// Done is what became of one post of a batch.
type Done struct {
	Post model.PostID
	No   error // why it stayed as it was; nil if it did not
}

const sqlPostsLabelsDrop = `
	DELETE FROM tenant.post_labels WHERE tenant_id = $1 AND post_id = ANY ($2) AND (label_id = ANY ($3) OR $4 AND kind = 'campaign' AND label_id <> ALL ($5))`

// A form that is open on one of the posts must not take the labels back unseen.
const sqlPostsRevised = `UPDATE tenant.posts SET revision = revision + 1 WHERE tenant_id = $1 AND id = ANY ($2)`

// LabelPosts changes the labels of posts, each that the actor may write. Doing it
// twice changes nothing more.
func (sc *Scope) LabelPosts(ctx context.Context, c Labelling) (out []Done, err error) {
	defer wrap(&err, "label %d posts", len(c.Posts))
	err = sc.write(ctx, func(tx pgx.Tx) error {
		known, err := sc.labelsThere(ctx, tx, slices.Concat(c.Add, c.Remove))
		if err != nil {
			return err
		}
		pages, err := sc.postPages(ctx, tx, c.Posts, sqlPostLock)
		if err != nil {
			return err
		}
		var writes []model.PostID
		out, writes = sc.eachWritable(c.Posts, pages)
		if len(writes) == 0 {
			return nil
		}
		campaign := slices.ContainsFunc(known, func(l Label) bool { return l.Kind == Campaign && slices.Contains(c.Add, l.ID) })
		if _, err := tx.Exec(ctx, sqlPostsLabelsDrop, sc.Actor.Tenant, writes, some(c.Remove), campaign, some(c.Add)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPostLabelsAdd, sc.Actor.Tenant, writes, some(c.Add)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPostsRevised, sc.Actor.Tenant, writes); err != nil {
			return err
		}
		return sc.auditPosts(ctx, tx, "labelled", writes, pages)
	})
	return out, err
}

// eachWritable judges posts one by one: whether the actor may write each.
func (sc *Scope) eachWritable(ids []model.PostID, pages map[model.PostID]PostPage) (out []Done, may []model.PostID) {
	for _, id := range ids {
		one := Done{Post: id, No: errNoPost}
		if page, ok := pages[id]; ok {
			one.No = sc.needAll(model.PostsWrite, page)
		}
		if one.No == nil {
			may = append(may, id)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Done) int { return cmp.Compare(a.Post, b.Post) })
	return out, may
}

const sqlAuditPosts = `
	INSERT INTO tenant.audit (tenant_id, at, user_id, name, verb, subject, subject_id, client_id, detail)
	SELECT $1, $2, nullif($3, 0), $4, $5, 'post', p.id, nullif(p.client, 0), '{}' FROM unnest($6::bigint[], $7::bigint[]) p(id, client)`

// auditPosts writes one line for each of several posts.
func (sc *Scope) auditPosts(ctx context.Context, tx pgx.Tx, verb string, ids []model.PostID, pages map[model.PostID]PostPage) error {
	clients := make([]model.ClientID, len(ids))
	for i, id := range ids {
		clients[i] = onlyClient(pages[id].Targets)
	}
	_, err := tx.Exec(ctx, sqlAuditPosts, sc.Actor.Tenant, sc.now(), sc.Actor.User, sc.Actor.Name, verb, ids, clients)
	return err
}
