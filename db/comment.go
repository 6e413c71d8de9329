package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// CommentForm is a remark to be made. Client names whose approvers read it, and
// is zero for an internal one.
type CommentForm struct {
	Post       model.PostID
	Visibility model.Visibility
	Client     model.ClientID
	Body       string
}

const sqlCommentInsert = `
	INSERT INTO tenant.comments (tenant_id, post_id, version_id, client_id, visibility, user_id, approver_id, name, body, at)
	VALUES ($1, $2, (SELECT current_version_id FROM tenant.posts WHERE tenant_id = $1 AND id = $2), nullif($3, 0), $4, nullif($5, 0), nullif($6, 0), $7, $8, $9) RETURNING id`

// Comment adds a remark to a post. An internal one takes posts.write or
// posts.approve at one of the post's clients, one that a client reads takes it
// at that client, which has to be among the post's.
func (sc *Scope) Comment(ctx context.Context, f CommentForm) (c model.Comment, err error) {
	defer wrap(&err, "comment on post %d", f.Post)
	if f.Body, err = remark(f.Body); err != nil {
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
		c, err = sc.addComment(ctx, tx, f, model.AskedPerson{User: sc.Actor.User, Name: sc.Actor.Name})
		return err
	})
	return c, err
}

func remark(body string) (string, error) {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if body == "" {
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

func (sc *Scope) addComment(ctx context.Context, tx pgx.Tx, f CommentForm, by model.AskedPerson) (c model.Comment, err error) {
	c = model.Comment{PostID: f.Post, Visibility: f.Visibility, ClientID: f.Client, Name: by.Name, ByApprover: by.Approver != 0, Body: f.Body, At: sc.now()}
	err = tx.QueryRow(ctx, sqlCommentInsert, sc.Actor.Tenant, f.Post, f.Client, f.Visibility, by.User, by.Approver, by.Name, f.Body, c.At).Scan(&c.ID)
	if err != nil {
		return c, err
	}
	return c, sc.auditBy(ctx, tx, by, note{verb: "commented", subject: "post", id: int64(f.Post), client: f.Client, detail: map[string]any{"visibility": f.Visibility}})
}

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
