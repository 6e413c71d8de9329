package db

import (
	"context"

	"herald/db/model"
)

// MailPicture is what a mail shows of a post: the thumbnail of its first file.
type MailPicture struct {
	Path string // of the thumbnail, in the store of media
	Alt  string // as the post has it; empty if it has none
}

// MailPictures are those of approval requests, as far as they have one.
func (p *Pipeline) MailPictures(ctx context.Context, shard string, tenant model.TenantID, requests []model.RequestID) (all map[model.RequestID]MailPicture, err error) {
	defer wrap(&err, "read pictures of a mail")
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	type row struct {
		RequestID model.RequestID
		Path      string
		Content   []byte
		Network   string
		AccountID model.AccountID
	}
	list, err := readList[row](ctx, pool, `SELECT * FROM tenant.mail_pictures($1, $2)`, tenant, requests)
	if err != nil {
		return nil, err
	}
	all = map[model.RequestID]MailPicture{}
	for _, r := range list {
		content, err := model.ReadContent(r.Content)
		if err != nil {
			return nil, err
		}
		picture := MailPicture{Path: r.Path}
		if media := content.For(r.Network, r.AccountID).Media; len(media) > 0 {
			picture.Alt = media[0].Alt
		}
		all[r.RequestID] = picture
	}
	return all, nil
}
