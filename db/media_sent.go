package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// SentFiles says of each target of a post that the actor may see how its files are,
// or were, sent: those of the version that it carries or, where version is not zero,
// those of that one. They come in the order of the target's content. It refuses what
// Post refuses, and a version of another post with NotFound.
func (sc *Scope) SentFiles(ctx context.Context, post model.PostID, version model.VersionID) (sent map[model.TargetID][]model.PreviewMedia, err error) {
	defer wrap(&err, "read what is sent of post %d", post)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err := sc.postPage(ctx, tx, post, sqlPostGet)
		if err != nil {
			return err
		}
		of := page.Carries
		if version != 0 {
			v, err := sc.version(ctx, tx, version)
			if err != nil {
				return err
			}
			if v.PostID != post {
				return model.Refuse(model.NotFound, "This post has no such version.")
			}
			of = func(Target) model.Content { return v.Content }
		}
		sent, err = sc.sentFiles(ctx, tx, page, version, of)
		return err
	})
	return sent, err
}

func (sc *Scope) sentFiles(ctx context.Context, tx pgx.Tx, page PostPage, version model.VersionID, of func(Target) model.Content) (map[model.TargetID][]model.PreviewMedia, error) {
	var accounts []model.AccountID
	var media []model.MediaID
	for _, t := range page.Targets {
		accounts, media = append(accounts, t.AccountID), append(media, of(t).AllMedia()...)
	}
	s, err := sc.stock(ctx, tx, accounts, media, []model.PostID{page.Post.ID})
	if err != nil {
		return nil, err
	}
	sent := map[model.TargetID][]model.PreviewMedia{}
	for _, t := range page.Targets {
		carried := t.VersionID
		if version != 0 {
			carried = version
		}
		is, _ := s.target(page.Post.ID, carried, t.AccountID)
		sent[t.ID] = s.preview(of(t), s.accounts[t.AccountID], is).Media
	}
	return sent, nil
}

const sqlMediaVisible = assetColumns + ` WHERE m.tenant_id = $1 AND m.id = ANY ($2) AND m.state <> 'deleted' ORDER BY m.id`

// VisibleMedia reads those of the assets that are there and that the actor may see.
func (sc *Scope) VisibleMedia(ctx context.Context, ids []model.MediaID) (list []Asset, err error) {
	defer wrap(&err, "read media that can be seen")
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := sc.assets(ctx, sqlMediaVisible, ids)
	for _, a := range all {
		if sc.Actor.May(model.MediaView, a.ClientID) {
			list = append(list, a)
		}
	}
	return list, err
}
