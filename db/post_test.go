package db_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestAnApprovedPostIsScheduledWithItsOutboxEvent(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		w := dbtest.New(t)
		a := w.Agency(t, "north", shard)
		client := a.Client(t, "bakery")
		page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, client, network.Webhook), a.Account(t, client, network.Mastodon))
		if page.Post.State != model.PostScheduled {
			t.Errorf("%s: post is %s, want scheduled", shard, page.Post.State)
		}
		for _, target := range page.Targets {
			if target.State != model.Scheduled || target.DueAt == nil || !target.DueAt.Equal(dbtest.Noon.Add(time.Hour)) {
				t.Errorf("%s: target %+v, want scheduled for an hour from noon", shard, target)
			}
		}
		if n := dbtest.Look[int](t, w, shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'target.publish'`); n != 2 {
			t.Errorf("%s: %d events, want 2", shard, n)
		}
	}
}

// TestWhatNobodySeesIsNotKept: a first comment or an option of invisible characters
// would be refused by its network when the post is out.
func TestWhatNobodySeesIsNotKept(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Mastodon)
	unseen, accounts := "\u200b \ufeff", []model.AccountID{account}
	typed := model.Content{Text: "Fresh bread", FirstComment: unseen, Accounts: accounts,
		Variants: map[string]model.Variant{"mastodon": {FirstComment: &unseen}}, Options: map[model.AccountID]map[string]string{account: {network.OptSpoiler: unseen}}}
	page, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: typed})
	if err != nil {
		t.Fatal(err)
	}
	kept := page.Version.Content
	if kept.FirstComment != "" || *kept.Variants["mastodon"].FirstComment != "" || len(kept.Options[account]) != 0 || typed.FirstComment != unseen || typed.Options[account][network.OptSpoiler] != unseen {
		t.Errorf("kept %+v of %+v", kept, typed)
	}
	if again, err := a.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: typed}); err != nil || again.Version.Number != 1 {
		t.Errorf("the same once more is version %d, %v", again.Version.Number, err)
	}
	_, err = a.Owner.Comment(t.Context(), db.CommentForm{Post: page.Post.ID, Visibility: model.Internal, Body: unseen})
	wants(t, err, model.Unprocessable, "Write something first")
}
