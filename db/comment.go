package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// CommentForm is a remark to be made. Client names whose approvers read it, and
// is zero for an internal one. Key is of the form that it came by, if any.
type CommentForm struct {
	Key        string
	Post       model.PostID
	Visibility model.Visibility
	Client     model.ClientID
	Body       string
	Files      []model.MediaID // of the library of the client it is for, or of one of the post
}

const sqlCommentInsert = `
	INSERT INTO tenant.comments (tenant_id, post_id, version_id, client_id, visibility, user_id, approver_id, name, body, at, form_key)
	VALUES ($1, $2, (SELECT current_version_id FROM tenant.posts WHERE tenant_id = $1 AND id = $2), nullif($3, 0), $4, nullif($5, 0), nullif($6, 0), $7, $8, $9, nullif($10, ''))
	ON CONFLICT DO NOTHING RETURNING id`

// Comment adds a remark to a post. An internal one takes posts.write or
// posts.approve at one of the post's clients, one that a client reads takes it
// at that client, which has to be among the post's. The same form again adds
// nothing and brings back what it added; with other words it is a Conflict.
// Whom an internal one names after an @ gets a mail, if they may see the post.
func (sc *Scope) Comment(ctx context.Context, f CommentForm) (c model.Comment, err error) {
	defer wrap(&err, "comment on post %d", f.Post)
	if f.Body, err = remark(f.Body); err != nil {
		return c, err
	}
	team, err := sc.team(ctx)
	if err != nil {
		return c, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		page, err := sc.postPage(ctx, tx, f.Post, sqlPostGet)
		if err != nil {
			return err
		}
		if err := sc.mayComment(page, f); err != nil {
			return err
		}
		about := clientsOf(page.Targets)
		if f.Client != 0 {
			about = []model.ClientID{f.Client}
		}
		if err := sc.mayAttach(ctx, tx, f.Files, about); err != nil {
			return err
		}
		var again bool
		if c, again, err = sc.commentOnce(ctx, tx, f, sc.self(), free); again || err != nil {
			return err
		}
		if err := sc.attachFiles(ctx, tx, c.ID, f.Files); err != nil {
			return err
		}
		c.Untold, err = newMailing(sc, team).tellNamed(ctx, tx, c, page)
		return err
	})
	return c, err
}

func remark(body string) (string, error) {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if network.Blank(body) {
		return "", model.RefuseField("body", "Write something first.")
	}
	return body, tooLong("body", body)
}

func (sc *Scope) mayComment(page PostPage, f CommentForm) error {
	clients := clientsOf(page.Targets)
	switch {
	case f.Visibility == model.ClientVisible && !slices.Contains(clients, f.Client):
		return model.Refuse(model.NotFound, "This post does not go to that client.")
	case f.Visibility == model.ClientVisible:
		clients = []model.ClientID{f.Client}
	case f.Visibility != model.Internal || f.Client != 0:
		return model.RefuseField("visibility", "Choose who reads the comment: your team, or the client.")
	}
	if page.Post.CreatedBy == sc.Actor.User && len(clients) == 0 {
		return nil
	}
	for _, id := range clients {
		if sc.Actor.May(model.PostsWrite, id) || sc.Actor.May(model.PostsApprove, id) {
			return nil
		}
	}
	if len(clients) == 0 && sc.Actor.Role.EveryClient() {
		return nil
	}
	return model.Refuse(model.Forbidden, "Your role does not allow commenting on this post.")
}

func free() error { return nil }

// commentOnce adds a remark if its form has not added it before, which again
// tells, and if room lets it.
func (sc *Scope) commentOnce(ctx context.Context, tx pgx.Tx, f CommentForm, by model.AskedPerson, room func() error) (c model.Comment, again bool, err error) {
	if c, again, err = sc.commentOfForm(ctx, tx, f, by); again || err != nil {
		return c, again, err
	}
	if err := room(); err != nil {
		return c, false, err
	}
	c = model.Comment{PostID: f.Post, Visibility: f.Visibility, ClientID: f.Client, Name: by.Name, ByApprover: by.Approver != 0, Body: f.Body, At: sc.now()}
	err = tx.QueryRow(ctx, sqlCommentInsert, sc.Actor.Tenant, f.Post, f.Client, f.Visibility, by.User, by.Approver, by.Name, f.Body, c.At, f.Key).Scan(&c.ID)
	if noRows(err) { // the same form came twice at once, and the other was first
		return sc.commentOfForm(ctx, tx, f, by)
	}
	if err != nil {
		return c, false, err
	}
	return c, false, sc.auditBy(ctx, tx, by, note{verb: "commented", subject: "post", id: int64(f.Post), client: f.Client, detail: map[string]any{"visibility": f.Visibility}})
}

const sqlCommentOfForm = `
	SELECT id, post_id, visibility, coalesce(client_id, 0), name, approver_id IS NOT NULL, body, at FROM tenant.comments
	 WHERE tenant_id = $1 AND form_key = $4 AND ($2::bigint <> 0 AND user_id = $2 OR $3::bigint <> 0 AND approver_id = $3)`

// commentOfForm finds the remark that the person made by the same form before.
func (sc *Scope) commentOfForm(ctx context.Context, tx pgx.Tx, f CommentForm, by model.AskedPerson) (c model.Comment, found bool, err error) {
	if f.Key == "" {
		return c, false, nil
	}
	err = tx.QueryRow(ctx, sqlCommentOfForm, sc.Actor.Tenant, by.User, by.Approver, f.Key).Scan(&c.ID, &c.PostID, &c.Visibility, &c.ClientID, &c.Name, &c.ByApprover, &c.Body, &c.At)
	if noRows(err) {
		return c, false, nil
	}
	if err == nil && (c.PostID != f.Post || c.Visibility != f.Visibility || c.ClientID != f.Client || c.Body != f.Body) {
		err = errSaidBefore
	}
	return c, err == nil, err
}

// errSaidBefore keeps words that were changed in a form which was sent already.
var errSaidBefore = &model.Refusal{Kind: model.Conflict, Field: "body",
	Say: "This form was sent before, and that comment was added. If you mean these words as one more comment, send them again."}

// Comments lists the remarks on a post that the actor may read, oldest first.
func (sc *Scope) Comments(ctx context.Context, id model.PostID) (list []model.Comment, err error) {
	defer wrap(&err, "list comments of post %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err := sc.postPage(ctx, tx, id, sqlPostGet)
		if err != nil {
			return err
		}
		list, err = sc.commentList(ctx, tx, sqlCommentsAll, []model.PostID{id}, clientsOf(page.Targets))
		return err
	})
	return list, err
}

func (sc *Scope) commentList(ctx context.Context, tx pgx.Tx, sql string, posts []model.PostID, clients []model.ClientID) ([]model.Comment, error) {
	rows, err := tx.Query(ctx, sql, sc.Actor.Tenant, posts, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[model.Comment])
}
