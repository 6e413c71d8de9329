package desk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// TestATargetIsShownInTheWordsThatItCarries publishes one account with the first
// version and the other with the second.
func TestATargetIsShownInTheWordsThatItCarries(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	other := s.agency.Account(t, s.client, network.Mastodon)
	page := s.agency.Due(t, "Coffee on Monday", time.Hour, s.account, other)
	first := page.Targets[0]
	s.agency.Push(t, first.ID, "", model.Queued, model.Publishing, model.Published)
	content := page.Version.Content
	content.Text = "Tea on Tuesday"
	page, err := s.agency.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	page, err = s.agency.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}

	drafted := s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", page.Post.ID)).body
	if !strings.Contains(between(t, drafted, fmt.Sprintf(`id="target-%d"`, first.ID), "</tr>"), "Coffee on Monday") {
		t.Error("beside the form, the published target has the words of the draft")
	}
	evidence := s.get(t, s.owner, fmt.Sprintf("/w/north/targets/%d", first.ID)).body
	if !strings.Contains(evidence, "Coffee on Monday") || strings.Contains(evidence, "Tea on Tuesday") {
		t.Error("the evidence shows words that were never sent")
	}
	day := s.get(t, s.owner, "/w/north/calendar?view=list").body
	if !strings.Contains(day, "Coffee on Monday") {
		t.Error("the calendar does not show what was sent")
	}
	if found := s.get(t, s.owner, "/w/north/calendar?view=list&q=coffee").body; !strings.Contains(found, "Coffee on Monday") {
		t.Error("what was sent is not found by its words")
	}
	month := s.get(t, s.owner, "/w/north/calendar?view=month").body
	if !strings.Contains(month, "Coffee on Monday") {
		t.Error("the month does not show what was sent")
	}
	pipe, err := db.OpenPipeline(t.Context(), s.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	facts, ok, err := pipe.NoticeFacts(t.Context(), s.agency.Shard, db.Event{Tenant: s.agency.ID, Target: &first.ID})
	if err != nil || !ok || facts.Excerpt != "Coffee on Monday" {
		t.Errorf("a notice says %q, %v, %v", facts.Excerpt, ok, err)
	}

	reader := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: {model.PostsView}}))
	shown := s.get(t, reader, fmt.Sprintf("/w/north/posts/%d", page.Post.ID)).body
	for handle, words := range map[string]string{first.Account: "Coffee on Monday", page.Targets[1].Account: "Tea on Tuesday"} {
		part := between(t, shown[strings.Index(shown, `class="parts"`):], handle+"<", "</article>")
		if !strings.Contains(part, words) {
			t.Errorf("%s is not shown with %q: %s", handle, words, part)
		}
	}
}

func between(t *testing.T, body, from, to string) string {
	t.Helper()
	i := strings.Index(body, from)
	if i < 0 {
		t.Fatalf("no %q in the page", from)
	}
	rest := body[i:]
	if j := strings.Index(rest, to); j >= 0 {
		return rest[:j]
	}
	return rest
}
