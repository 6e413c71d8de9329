package desk_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// crowd is who is said to have a post open, whoever may; its words end at once.
type crowd struct {
	there map[model.UserID]time.Time
	came  []model.UserID
}

func (c *crowd) Attend(_ context.Context, _ model.TenantID, _ model.PostID, user model.UserID, _ time.Time) map[model.UserID]time.Time {
	c.came = append(c.came, user)
	others := maps.Clone(c.there)
	delete(others, user)
	return others
}

func (*crowd) Attended(model.TenantID, model.PostID) (<-chan struct{}, func()) {
	over := make(chan struct{})
	close(over)
	return over, func() {}
}

// listen asks as a page's EventSource does.
func (s *studio) listen(t *testing.T, who *http.Client, path string) answer {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+path, nil)
	r.Header.Set("Accept", "text/event-stream")
	return s.do(t, who, r)
}

func TestOnlyWhoMayWriteAPostIsSaidToEditIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	page := s.write(t, db.PostPage{}, model.Content{Text: "Fresh bread from seven", Accounts: []model.AccountID{s.account}})
	path := fmt.Sprintf("/w/north/posts/%d/presence", page.Post.ID)
	granted := map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite}}
	writer := s.agency.Member(t, model.Manager, granted)
	viewer := s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()})
	rival := s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.agency.Client(t, "rival"): model.Manager.Grants()})
	south := s.Agency(t, "south", dbtest.SecondShard).Owner
	began := s.Clock.Now().Add(-time.Minute)
	c := &crowd{there: map[model.UserID]time.Time{s.agency.Owner.Actor.User: began, writer.Actor.User: began, viewer.Actor.User: began, rival.Actor.User: began, south.Actor.User: began}}
	s.desk.Presence = c

	a := s.listen(t, s.owner, path).want(t, 200)
	if want := "event: here\ndata: " + writer.Actor.Name + " (since 12:59, Berlin) is editing this post, too."; !strings.Contains(a.body, want) || a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("the owner hears %q", a.body)
	}
	if a := s.listen(t, s.signIn(t, writer), path); !strings.Contains(a.body, s.agency.Owner.Actor.Name) {
		t.Errorf("the writer hears %q", a.body)
	}
	came := len(c.came)
	for name, who := range map[string]*http.Client{"a viewer": s.signIn(t, viewer), "a rival's manager": s.signIn(t, rival), "another workspace's owner": s.signIn(t, south), "nobody": {CheckRedirect: s.owner.CheckRedirect}} {
		if a := s.listen(t, who, path); a.status != 204 || a.body != "" {
			t.Errorf("%s gets %d %q", name, a.status, a.body)
		}
	}
	if len(c.came) != came {
		t.Errorf("who may not write the post is said to be there: %v", c.came[came:])
	}
	s.Super(t, s.agency.Shard, `DELETE FROM tenant.client_access WHERE user_id = $1`, writer.Actor.User)
	if a := s.listen(t, s.owner, path).want(t, 200); strings.Contains(a.body, "event: here") {
		t.Errorf("who lost the right to write is still named: %q", a.body)
	}
}

func TestSeveralWritersAreNamedInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	page := s.write(t, db.PostPage{}, model.Content{Text: "Fresh bread from seven", Accounts: []model.AccountID{s.account}})
	granted := map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite}}
	late, early := s.agency.Member(t, model.Manager, granted), s.agency.Member(t, model.Manager, granted)
	s.desk.Presence = &crowd{there: map[model.UserID]time.Time{late.Actor.User: s.Clock.Now(), early.Actor.User: s.Clock.Now().Add(-time.Hour)}}
	a := s.listen(t, s.owner, fmt.Sprintf("/w/north/posts/%d/presence", page.Post.ID)).want(t, 200)
	if want := early.Actor.Name + " (since 12:00, Berlin) and " + late.Actor.Name + " (since 13:00, Berlin) are editing this post, too."; !strings.Contains(a.body, want) {
		t.Errorf("it says %q", a.body)
	}
	body := s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", page.Post.ID)).want(t, 200).body
	if !strings.Contains(body, "<post-presence") || strings.Contains(s.get(t, s.owner, "/w/north/posts/new").body, "<post-presence") {
		t.Error("a stored post listens for its readers, a new one does not")
	}
}
