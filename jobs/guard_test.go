package jobs_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// held is one target in front of the guards.
type held struct {
	*rig
	agency  *dbtest.Agency
	client  model.ClientID
	account model.AccountID
	page    db.PostPage
	target  model.TargetID
}

// hold makes a target of a workspace of its own that is due now.
func (r *rig) hold(t *testing.T, slug string) *held {
	t.Helper()
	h := &held{rig: r, agency: r.Agency(t, slug, []string{db.MainShard, dbtest.SecondShard}[len(slug)%2])}
	h.client = h.agency.Client(t, "bakery")
	h.account = h.agency.Account(t, h.client, network.Mastodon)
	h.page = h.agency.Due(t, "Fresh bread", 0, h.account)
	h.target = h.page.Targets[0].ID
	return h
}

func (h *held) sql(t *testing.T, sql string, args ...any) {
	t.Helper()
	h.Super(t, h.agency.Shard, sql, append([]any{h.agency.ID}, args...)...)
}

func (h *held) media(t *testing.T, state string) {
	t.Helper()
	h.sql(t, `WITH m AS (INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, created_at)
		VALUES ($1, $2, $4, 'image', 'image/jpeg', 'loaf', 'loaf', sha256($4::text::bytea), 1, $5) RETURNING id)
		UPDATE tenant.targets SET needs_media = true, media_ids = ARRAY(SELECT id FROM m) WHERE tenant_id = $1 AND id = $3`, h.client, h.target, state, h.Clock.Now())
}

// guard is one condition that keeps a target from its network.
type guard struct {
	state  model.State
	reason string
	set    func(t *testing.T, h *held)
	lift   func(t *testing.T, h *held) // of what postpones
}

// guards are all of them in the design's order. Guards 3 and 4 come before the
// first in time: an obsolete task may not even postpone a target that has moved
// on. What they do has tests of its own.
func guards() []guard {
	ago := func(h *held, d time.Duration) time.Time { return h.Clock.Now().Add(-d) }
	return []guard{
		{model.Failed, "suspended_too_long", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET state = 'suspended', suspended_at = $2 WHERE tenant_id = $1`, ago(h, 8*24*time.Hour))
		}, nil},
		{model.RetryScheduled, "workspace_suspended", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET state = 'suspended', suspended_at = coalesce(suspended_at, $2) WHERE tenant_id = $1`, ago(h, time.Hour))
		}, func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET state = 'active', suspended_at = NULL WHERE tenant_id = $1`)
		}},
		{model.RetryScheduled, "workspace_paused", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET paused_at = $2 WHERE tenant_id = $1`, ago(h, time.Hour))
		}, func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET paused_at = NULL WHERE tenant_id = $1`)
		}},
		{model.RetryScheduled, "client_paused", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.clients SET paused_at = $2 WHERE tenant_id = $1`, ago(h, time.Hour))
		}, func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.clients SET paused_at = NULL WHERE tenant_id = $1`)
		}},
		{model.RetryScheduled, "account_paused", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET paused_at = $2 WHERE tenant_id = $1`, ago(h, time.Hour))
		}, func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET paused_at = NULL WHERE tenant_id = $1`)
		}},
		{model.RetryScheduled, "blackout", func(t *testing.T, h *held) { // declared after it was planned
			h.sql(t, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, $3, $4, 'Stocktaking')`,
				h.client, ago(h, time.Hour), h.Clock.Now().Add(time.Hour))
		}, func(t *testing.T, h *held) { h.sql(t, `DELETE FROM tenant.blackouts WHERE tenant_id = $1`) }},
		{model.Failed, "monthly_limit", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.tenants SET posts_a_month = 1 WHERE tenant_id = $1`)
			h.sql(t, `INSERT INTO tenant.usage_months VALUES ($1, date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC')::date, 1)`, h.Clock.Now())
		}, nil},
		{model.Failed, "account_disabled", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET state = 'disabled' WHERE tenant_id = $1`)
		}, nil},
		{model.NeedsReconnect, "needs_reconnect", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET state = CASE state WHEN 'active' THEN 'needs_reconnect' ELSE state END WHERE tenant_id = $1`)
		}, nil},
		{model.NeedsReconnect, "needs_reconnect", func(t *testing.T, h *held) { // ran out, and cannot be renewed
			h.sql(t, `UPDATE tenant.accounts SET token_expires = $2 WHERE tenant_id = $1`, ago(h, time.Second))
		}, nil},
		{model.Failed, "missing_scope", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET scopes = '{read:statuses}' WHERE tenant_id = $1`)
		}, nil},
		{model.Failed, "media_missing", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.targets SET needs_media = true WHERE tenant_id = $1 AND id = $2`, h.target)
		}, nil},
		{model.Failed, "media_gone", func(t *testing.T, h *held) { h.media(t, "quarantined") }, nil},
		{model.RetryScheduled, "media_not_ready", func(t *testing.T, h *held) { h.media(t, "scanning") },
			func(t *testing.T, h *held) { h.sql(t, `UPDATE tenant.media SET state = 'ready' WHERE tenant_id = $1`) }},
		{model.RetryScheduled, "network_rate", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.accounts SET closed_until = $2 WHERE tenant_id = $1`, h.Clock.Now().Add(time.Minute))
		}, func(*testing.T, *held) {}},
		{model.RetryScheduled, "account_rate", func(t *testing.T, h *held) {
			h.sql(t, `INSERT INTO tenant.account_rates VALUES ($1, $2, $3)`, h.account, h.Clock.Now())
		}, func(*testing.T, *held) {}},
		{model.Failed, "missed", func(t *testing.T, h *held) {
			h.sql(t, `UPDATE tenant.targets SET due_at = $3 WHERE tenant_id = $1 AND id = $2`, h.target, ago(h, 25*time.Hour))
		}, nil},
	}
}

// want checks that a guard's word stands and that nothing else happened: no call
// to the network, no attempt, and for what is postponed a way back.
func (h *held) want(t *testing.T, g guard) {
	t.Helper()
	target := h.rig.target(t, h.agency, h.target)
	if target.State != g.state || target.Reason != g.reason {
		t.Errorf("target is %s (%s), want %s (%s)", target.State, target.Reason, g.state, g.reason)
	}
	attempts := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.attempts WHERE tenant_id = $1`, h.agency.ID)
	used := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT sum(attempts_used) FROM tenant.targets WHERE tenant_id = $1`, h.agency.ID)
	if attempts+used+h.net.prepares+h.net.commits != 0 {
		t.Errorf("%d attempts, %d used, %d prepares, %d commits; want none", attempts, used, h.net.prepares, h.net.commits)
	}
	if n := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.publish_guards WHERE tenant_id = $1`, h.agency.ID); n != 0 {
		t.Errorf("%d guards held", n)
	}
	back := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.outbox WHERE tenant_id = $1 AND kind = 'target.publish' AND relayed_at IS NULL`, h.agency.ID)
	if (back == 1) != (g.state == model.RetryScheduled) {
		t.Errorf("%d events bring it back, state %s", back, target.State)
	}
}

// workOne works on the dispatches of this target only.
func (h *held) workOne(t *testing.T) {
	t.Helper()
	for _, d := range h.due(t) {
		if d.Tenant == h.agency.ID {
			h.work(t, d)
		}
	}
}

func TestEveryGuardKeepsATargetFromItsNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i, g := range guards() {
		h := r.hold(t, "agency"+string(rune('a'+i)))
		t.Run(g.reason, func(t *testing.T) {
			g.set(t, h)
			h.workOne(t)
			h.want(t, g)
			if g.lift == nil {
				return
			}
			g.lift(t, h)
			r.Clock.Advance(time.Hour)
			h.workOne(t)
			if s := r.target(t, h.agency, h.target).State; s != model.Published || r.net.commits != 1 {
				t.Errorf("once the reason is gone it is %s after %d commits, want published after 1", s, r.net.commits)
			}
			r.net.prepares, r.net.commits = 0, 0
		})
	}
}

func TestOfTwoGuardsTheEarlierSpeaks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := guards()
	for i, first := range all {
		for j := i + 1; j < len(all); j++ {
			second := all[j]
			if first.reason[:5] == "media" && second.reason[:5] == "media" {
				continue // the same files cannot be in two states
			}
			h := r.hold(t, "pair"+string(rune('a'+i))+string(rune('a'+j)))
			first.set(t, h)
			second.set(t, h)
			h.workOne(t)
			h.want(t, first)
			if t.Failed() {
				t.Fatalf("with %s and %s", first.reason, second.reason)
			}
		}
	}
}

func TestAnObsoleteTaskDoesNothingWhateverElseHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i, g := range guards() {
		h := r.hold(t, "old"+string(rune('a'+i)))
		due := h.due(t)
		content := h.page.Version.Content
		content.Text = "Better bread"
		if _, err := h.agency.Owner.SavePost(t.Context(), h.page.Post.ID, db.PostForm{Seen: h.page.Post.Revision, Content: content}); err != nil {
			t.Fatal(err)
		}
		g.set(t, h)
		for _, d := range due {
			if d.Tenant == h.agency.ID {
				h.work(t, d)
			}
		}
		h.want(t, guard{state: model.Draft})
	}
}

func TestASuspensionHoldsBackForItsGraceAndThenEndsInFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *jobs.Settings) { s.RetryBase = 6 * time.Hour })
	h := r.hold(t, "north")
	h.sql(t, `UPDATE tenant.tenants SET state = 'suspended', suspended_at = $2 WHERE tenant_id = $1`, r.Clock.Now())
	h.workOne(t)
	h.want(t, guard{state: model.RetryScheduled, reason: "workspace_suspended"})
	for waited := time.Duration(0); waited <= 7*24*time.Hour; waited += 6 * time.Hour {
		if due := h.due(t); len(due) > 0 {
			t.Fatalf("asked about after %v", waited)
		}
		r.Clock.Advance(6 * time.Hour)
	}
	h.workOne(t)
	h.want(t, guard{state: model.Failed, reason: "suspended_too_long"})
	// What a person retries once the workspace is active again goes out.
	h.sql(t, `UPDATE tenant.tenants SET state = 'active', suspended_at = NULL WHERE tenant_id = $1`)
	target := r.target(t, h.agency, h.target)
	if _, err := h.agency.Owner.RetryTarget(t.Context(), h.target, target.Revision); err != nil {
		t.Fatal(err)
	}
	h.workOne(t)
	if s := r.target(t, h.agency, h.target).State; s != model.Published {
		t.Errorf("after the retry it is %s, want published", s)
	}
}

func TestAClientsOwnLateCutOffCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for hours, want := range map[int]model.State{1: model.Published, 3: model.Failed} {
		h := r.hold(t, []string{"", "strict", "", "strict-too"}[hours])
		h.sql(t, `UPDATE tenant.clients SET late_cutoff = '2 hours' WHERE tenant_id = $1`)
		r.Clock.Advance(time.Duration(hours) * time.Hour)
		h.workOne(t)
		if got := r.target(t, h.agency, h.target); got.State != want {
			t.Errorf("%d hours late with a cut-off of two: %s (%s), want %s", hours, got.State, got.Reason, want)
		}
	}
}
