package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// retarget points a post's targets at its new version. What is on its way is
// taken back, what ended published stays as it is, and an account that had a
// target before gets none of its own accord: only a writer who adds the account
// again does that.
func (sc *Scope) retarget(ctx context.Context, tx pgx.Tx, old PostPage, version model.VersionID, p plan) error {
	if err := sc.dropTargets(ctx, tx, old, p); err != nil {
		return err
	}
	reusable := map[model.AccountID]Target{}
	known := map[model.AccountID]bool{}
	for _, t := range old.Targets {
		known[t.AccountID] = true
		if t.State.MayBecome(model.Draft) || t.State == model.Draft {
			reusable[t.AccountID] = t
		}
	}
	if err := sc.wantRenditions(ctx, tx, p.parts); err != nil {
		return err
	}
	var again []carried
	served := 0
	for _, part := range p.parts {
		t, ok := reusable[part.account.ID]
		added := !slices.Contains(old.Version.Content.Accounts, part.account.ID)
		switch {
		case ok:
			again = append(again, carried{t, version, part})
		case !known[part.account.ID] || added:
			if err := sc.addTarget(ctx, tx, old.Post.ID, version, part); err != nil {
				return err
			}
		default:
			continue
		}
		served++
	}
	if served == 0 && len(old.Targets) > 0 && len(p.parts) > 0 {
		return model.Refuse(model.Conflict, "Everything in this post has already been published or cancelled, so an edit would reach nobody. Duplicate the post to publish it again.")
	}
	return sc.repoint(ctx, tx, again)
}

// dropTargets cancels the targets of accounts the new version leaves out.
func (sc *Scope) dropTargets(ctx context.Context, tx pgx.Tx, old PostPage, p plan) error {
	var gone []Target
	for _, t := range old.Targets {
		if !slices.ContainsFunc(p.parts, func(part plannedTarget) bool { return part.account.ID == t.AccountID }) {
			gone = append(gone, t)
		}
	}
	return sc.cancelTargets(ctx, tx, gone, "account_removed")
}

// carried is a target with the version that it carries, and what that is for it.
type carried struct {
	target  Target
	version model.VersionID
	part    plannedTarget
}

const sqlTargetsRepoint = `
	UPDATE tenant.targets t
	   SET version_id = w.version, problems = w.problems, format = w.format, needs_scopes = w.scopes, needs_media = w.needs, media_ids = w.media, media_recipes = w.recipes,
	       next_at = NULL, attempts_used = 0, limited_since = NULL, reason = '', say = '', revision = t.revision + 1, updated_at = $3
	  FROM jsonb_to_recordset($2::jsonb) AS w(id bigint, version bigint, problems jsonb, format text, scopes text[], needs boolean, media bigint[], recipes text[])
	 WHERE t.tenant_id = $1 AND t.id = w.id`

// repoint gives targets new versions: by way of draft, and on to invalid if their
// networks would refuse them.
func (sc *Scope) repoint(ctx context.Context, tx pgx.Tx, list []carried) error {
	if len(list) == 0 {
		return nil
	}
	if err := sc.takeBack(ctx, tx, list); err != nil {
		return err
	}
	rows := make([]targetFacts, len(list))
	for i, c := range list {
		rows[i] = c.part.facts()
		rows[i].ID, rows[i].Version = c.target.ID, c.version
	}
	if _, err := tx.Exec(ctx, sqlTargetsRepoint, sc.Actor.Tenant, rows, sc.now()); err != nil {
		return err
	}
	var invalid []model.TargetID
	for _, c := range list {
		if blocking(c.part.problems) {
			invalid = append(invalid, c.target.ID)
		}
	}
	return sc.judge(ctx, tx, invalid)
}

// takeBack makes drafts of targets. It refuses if a worker has one of them by now.
func (sc *Scope) takeBack(ctx context.Context, tx pgx.Tx, list []carried) error {
	var going, all []model.TargetID
	for _, c := range list {
		if c.target.State.OnItsWay() {
			going = append(going, c.target.ID)
		}
		if c.target.State != model.Draft {
			all = append(all, c.target.ID)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := sc.askCancel(ctx, tx, going); err != nil {
		return err
	}
	moved, err := sc.moveTargets(ctx, tx, move{ids: all, to: model.Draft, reason: "edited"})
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.target.State != model.Draft && !slices.Contains(moved, c.target.ID) {
			return noneInFlight([]Target{{State: model.Publishing, Account: c.target.Account}})
		}
	}
	return nil
}

const sqlTargetInsert = `
	INSERT INTO tenant.targets (tenant_id, post_id, version_id, problems, format, needs_scopes, needs_media, media_ids, media_recipes, client_id, account_id, network, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13) RETURNING id`

func (sc *Scope) addTarget(ctx context.Context, tx pgx.Tx, post model.PostID, version model.VersionID, part plannedTarget) error {
	var id model.TargetID
	f := part.facts()
	err := tx.QueryRow(ctx, sqlTargetInsert, sc.Actor.Tenant, post, version, f.Problems, f.Format, f.Scopes, f.Needs, f.Media, f.Recipes,
		part.account.ClientID, part.account.ID, part.account.Network, sc.now()).Scan(&id)
	if err != nil || !blocking(part.problems) {
		return err
	}
	return sc.judge(ctx, tx, []model.TargetID{id})
}

// judge moves fresh drafts to invalid that their networks would refuse.
func (sc *Scope) judge(ctx context.Context, tx pgx.Tx, ids []model.TargetID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := sc.moveTargets(ctx, tx, move{ids: ids, to: model.Invalid, reason: "problems"})
	return err
}

// targetFacts are the columns that the guards read at run time: problems, format,
// needed scopes, whether media must be there, which, and how each is sent.
type targetFacts struct {
	ID       model.TargetID    `json:"id"`
	Version  model.VersionID   `json:"version"`
	Problems []network.Problem `json:"problems"`
	Format   network.Format    `json:"format"`
	Scopes   []string          `json:"scopes"`
	Needs    bool              `json:"needs"`
	Media    []model.MediaID   `json:"media"`
	Recipes  []string          `json:"recipes"`
}

func (t plannedTarget) facts() targetFacts {
	f := targetFacts{Problems: noProblems, Format: network.FormatText, Scopes: []string{}, Media: []model.MediaID{}, Recipes: []string{}}
	if t.problems != nil {
		f.Problems = t.problems
	}
	if t.media != nil {
		f.Media, f.Recipes = t.media, t.recipes
	}
	if t.net == nil {
		return f
	}
	if scopes := t.net.NeedsAny(t.draft); scopes != nil {
		f.Scopes = scopes
	}
	// Playbook 9: a format that carries media never goes out without it.
	f.Format, f.Needs = t.net.FormatOf(t.draft), t.net.Media || len(t.media) > 0
	return f
}
