package db_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// mended makes a post invalid that is fine today.
func (h *house) mended(t *testing.T, page db.PostPage) db.PostPage {
	t.Helper()
	h.Super(t, h.Shard, `UPDATE tenant.targets SET state = 'invalid', problems = '[{"field":"text","code":"old","say":"It was too long."}]' WHERE post_id = $1`, page.Post.ID)
	now, err := h.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// asking has the client's posts approved by two people of its own and two members.
func (h *house) asking(t *testing.T, client model.ClientID) {
	t.Helper()
	h.stage(t, client, 1, model.AnyOne, h.approver(t, client, "Dana"), h.approver(t, client, "Lee"), person(h.manager(t, client)), person(h.manager(t, client)))
}

// TestAHundredPostsAreSubmittedInAHandfulOfStatements submits one post and a hundred:
// to be asked about, approved at once, scheduled at once, mended, and refused.
func TestAHundredPostsAreSubmittedInAHandfulOfStatements(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	asked := h.Client(t, "asked")
	h.asking(t, asked)
	account := h.Account(t, asked, network.Mastodon)
	h.Super(t, h.Shard, `UPDATE tenant.clients SET auto_schedule = true`)
	sc, rec := traced(t, h.World, h.Agency)
	for name, write := range map[string]func(i int) db.PostPage{
		"asked": func(i int) db.PostPage { return h.Post(t, fmt.Sprintf("asked %d", i), account) },
		"both":  func(i int) db.PostPage { return h.mended(t, h.Post(t, fmt.Sprintf("both %d", i), account, h.account)) },
		"scheduled": func(i int) db.PostPage {
			return h.plan(t, h.Post(t, fmt.Sprintf("scheduled %d", i), h.account), 48*time.Hour)
		},
		"passed": func(i int) db.PostPage {
			page := h.plan(t, h.Post(t, fmt.Sprintf("passed %d", i), h.account), 48*time.Hour)
			h.Super(t, h.Shard, `UPDATE tenant.targets SET due_at = '2020-01-01' WHERE post_id = $1`, page.Post.ID)
			return page
		},
		"refused": func(int) db.PostPage { return h.Post(t, strings.Repeat("x ", 400), h.account) },
	} {
		var list []db.Submission
		for i := range 101 {
			page := write(i)
			list = append(list, db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
		}
		count := map[int]int{}
		for _, span := range [][2]int{{0, 1}, {1, 101}} {
			rec.take()
			out, err := sc.SubmitPosts(t.Context(), rand.Text(), list[span[0]:span[1]])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			count[len(out.Done)] = len(rec.take())
			for _, one := range out.Done {
				if (one.No != nil) != (name == "refused") {
					t.Fatalf("%s: %v", name, one.No)
				}
			}
		}
		if count[100] > count[1] || count[100] > 34 {
			t.Errorf("%s: %d statements for one post, %d for a hundred", name, count[1], count[100])
		}
		t.Logf("%s: %d statements", name, count[100])
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.mails WHERE kind = 'review_request'`); n != 8 {
		t.Errorf("%d mails to two approvers of four batches", n)
	}
}

// outcome is all that a submission leaves behind of a post, without its numbers.
func (h *house) outcome(t *testing.T, id model.PostID, no error) string {
	t.Helper()
	return fmt.Sprint(no) + dbtest.Look[string](t, h.World, h.Shard, `
		SELECT concat_ws(' | ', p.state, p.review, p.approved_version_id IS NOT NULL, p.revision,
		       (SELECT string_agg(concat_ws(',', t.account_id, t.state, t.reason, t.due_at, t.next_at, t.revision, t.problems, t.format, t.needs_scopes, t.needs_media, t.media_ids, t.media_recipes, t.seq), ';' ORDER BY t.account_id) FROM tenant.targets t WHERE t.post_id = p.id),
		       (SELECT string_agg(concat_ws(',', r.client_id, r.state, r.stage, r.stages, r.due_at, r.asked_by), ';' ORDER BY r.id) FROM tenant.approval_requests r WHERE r.post_id = p.id),
		       (SELECT string_agg(concat_ws(',', a.verb, a.client_id, a.detail - 'version'), ';' ORDER BY a.id) FROM tenant.audit a WHERE a.subject = 'post' AND a.subject_id = p.id AND a.verb NOT IN ('wrote', 'planned')),
		       (SELECT string_agg(concat_ws(',', o.kind, o.seq), ';' ORDER BY o.id) FROM tenant.outbox o JOIN tenant.targets t ON t.id = o.target_id WHERE t.post_id = p.id),
		       (SELECT string_agg(concat_ws(',', m.kind, m.to_email, j - 'post' - 'request' - 'excerpt'), ';' ORDER BY m.kind, m.to_email) FROM tenant.mails m, jsonb_array_elements(m.content -> 'posts') j WHERE (j ->> 'post')::bigint = p.id))
		  FROM tenant.posts p WHERE p.id = $1`, id)
}

// TestABatchDoesToEachPostWhatASubmissionOfItsOwnDoes submits posts of every kind one by
// one, and others like them together.
func TestABatchDoesToEachPostWhatASubmissionOfItsOwnDoes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	asked, empty, foreign := h.Client(t, "asked"), h.Client(t, "empty"), h.Client(t, "foreign")
	h.asking(t, asked)
	h.stage(t, empty, 1, model.AnyOne)
	h.Super(t, h.Shard, `UPDATE tenant.clients SET auto_schedule = id = $1`, h.client)
	theirs, nobodys, strange := h.Account(t, asked, network.Mastodon), h.Account(t, empty, network.Mastodon), h.Account(t, foreign, network.Mastodon)
	second := h.Account(t, h.client, network.Webhook)
	limited := h.Member(t, model.Manager, map[model.ClientID][]model.Permission{h.client: model.Manager.Grants(), asked: model.Manager.Grants(), empty: model.Manager.Grants()})
	stale := func(p db.PostPage) db.PostPage { p.Post.Revision++; return p }
	kinds := []struct {
		name, say string
		write     func() db.PostPage
	}{
		{"asked", "", func() db.PostPage { return h.plan(t, h.Post(t, "asked", theirs), 24*time.Hour) }},
		{"approved at once", "", func() db.PostPage { return h.Post(t, "at once", h.account, second) }},
		{"scheduled at once", "", func() db.PostPage { return h.plan(t, h.Post(t, "scheduled", h.account, second), 48*time.Hour) }},
		{"asked of one of two clients", "", func() db.PostPage { return h.Post(t, "two clients", h.account, theirs) }},
		{"mended", "", func() db.PostPage { return h.mended(t, h.Post(t, "mended", theirs, h.account)) }},
		{"too long", "cannot be submitted yet", func() db.PostPage { return h.Post(t, strings.Repeat("x ", 400), theirs, second) }},
		{"stale", "changed while you had it open", func() db.PostPage { return stale(h.Post(t, "stale", theirs)) }},
		{"nobody asked", "nobody who could approve", func() db.PostPage { return h.Post(t, "nobody", nobodys) }},
		{"already asked", "already waiting", func() db.PostPage { return h.submit(t, h.Post(t, "again", theirs))[0] }},
		{"superseded", "", func() db.PostPage {
			page := h.submit(t, h.Post(t, "first words", theirs))[0]
			page, err := h.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: model.Content{Text: "second words", Accounts: []model.AccountID{theirs}}})
			if err != nil {
				t.Fatal(err)
			}
			return page
		}},
		{"another client's", "no such post", func() db.PostPage { return h.Post(t, "foreign", strange) }},
		{"another client's too", "clients that you do not work for", func() db.PostPage { return h.Post(t, "in part", h.account, strange) }},
	}
	var alone, together []db.Submission
	for _, k := range kinds {
		one, other := k.write(), k.write()
		alone = append(alone, db.Submission{Post: one.Post.ID, Seen: one.Post.Revision})
		together = append(together, db.Submission{Post: other.Post.ID, Seen: other.Post.Revision})
	}
	var want []string
	for i, s := range alone {
		_, err := limited.SubmitPost(t.Context(), s)
		if kinds[i].say == "" && err != nil || kinds[i].say != "" && (err == nil || !strings.Contains(err.Error(), kinds[i].say)) {
			t.Errorf("%s: %v", kinds[i].name, err)
		}
		want = append(want, h.outcome(t, s.Post, err))
	}
	shuffled := slices.Clone(together)
	slices.Reverse(shuffled)
	out, err := limited.SubmitPosts(t.Context(), rand.Text(), shuffled)
	if err != nil || len(out.Done) != len(kinds) {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, s := range together {
		at := slices.IndexFunc(out.Done, func(d db.Done) bool { return d.Post == s.Post })
		if got := h.outcome(t, s.Post, out.Done[at].No); got != want[i] {
			t.Errorf("%s: alone\n%s\ntogether\n%s", kinds[i].name, want[i], got)
		}
	}
}

// TestTwoBatchesAtOnceSubmitEachPostOnce sends the same form twice at once, and another
// one of the same posts beside it, in another order.
func TestTwoBatchesAtOnceSubmitEachPostOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	h.asking(t, h.client)
	var list []db.Submission
	for i := range 12 {
		p := h.Post(t, fmt.Sprint("post ", i), h.account)
		list = append(list, db.Submission{Post: p.Post.ID, Seen: p.Post.Revision})
	}
	other := slices.Clone(list)
	slices.Reverse(other)
	outs := make([]db.Acted, 3)
	var wg sync.WaitGroup
	one, two := rand.Text(), rand.Text()
	for i, form := range []string{one, one, two} {
		wg.Go(func() {
			var err error
			if outs[i], err = h.Owner.SubmitPosts(t.Context(), form, [][]db.Submission{list, list, other}[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a, b := toJSON(t, outs[0].Done), toJSON(t, outs[1].Done); a != b {
		t.Errorf("the same form answered\n%s\nand\n%s", a, b)
	}
	for i, one := range outs[0].Done {
		if two := outs[2].Done[i]; one.Post != two.Post || (one.No == nil) == (two.No == nil) {
			t.Errorf("post %d: %v by one form, %v by another", one.Post, one.No, two.No)
		}
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.approval_requests`); n != 12 {
		t.Errorf("%d requests for twelve posts", n)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.mails WHERE kind = 'review_request'`); n != 2 {
		t.Errorf("%d mails to two approvers", n)
	}
}
