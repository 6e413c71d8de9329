package desk_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"herald/db/model"
)

// TestNothingIsRetriedInABlackout tries one target and all of a post.
func TestNothingIsRetriedInABlackout(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	page := s.agency.Due(t, "Fresh bread", time.Hour, s.account)
	failed := page.Targets[0].ID
	s.agency.Push(t, failed, "permanent", model.Queued, model.Failed)
	now := s.Clock.Now()
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, $3, $4, 'Stocktaking')`,
		s.agency.ID, s.client, now.Add(-time.Hour), now.Add(time.Hour))
	page, err := s.agency.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}

	for path, seen := range map[string]int{
		fmt.Sprintf("/w/north/posts/%d/retries", page.Post.ID): page.Post.Revision,
		fmt.Sprintf("/w/north/targets/%d/retries", failed):     page.Targets[0].Revision,
	} {
		s.post(t, s.owner, path, url.Values{"seen": {fmt.Sprint(seen)}}).want(t, 422, "has a blackout then (Stocktaking)")
	}
	after, err := s.agency.Owner.Target(t.Context(), failed)
	if err != nil || after.State != model.Failed {
		t.Errorf("the target is %s, %v", after.State, err)
	}
}
