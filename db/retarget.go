package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
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
	served := 0
	for _, part := range p.parts {
		t, ok := reusable[part.account.ID]
		added := !slices.Contains(old.Version.Content.Accounts, part.account.ID)
		switch {
		case ok:
			if err := sc.repoint(ctx, tx, t, version, part); err != nil {
				return err
			}
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
	return nil
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

const sqlTargetRepoint = `
	UPDATE tenant.targets
	   SET version_id = $3, problems = $4, format = $5, needs_scopes = $6, needs_media = $7, media_ids = $8, media_recipes = $9,
	       next_at = NULL, attempts_used = 0, limited_since = NULL, reason = '', say = '', revision = revision + 1, updated_at = $10
	 WHERE tenant_id = $1 AND id = $2`

// repoint gives a target the new version: by way of draft, and on to invalid if
// its network would refuse it.
func (sc *Scope) repoint(ctx context.Context, tx pgx.Tx, t Target, version model.VersionID, part plannedTarget) error {
	one := []model.TargetID{t.ID}
	if t.State.OnItsWay() {
		if err := sc.askCancel(ctx, tx, one); err != nil {
			return err
		}
	}
	if t.State != model.Draft {
		moved, err := sc.moveTargets(ctx, tx, move{ids: one, to: model.Draft, reason: "edited"})
		if err != nil {
			return err
		}
		if len(moved) == 0 {
			return noneInFlight([]Target{{State: model.Publishing, Account: t.Account}})
		}
	}
	args := append([]any{sc.Actor.Tenant, t.ID, version}, part.facts()...)
	if _, err := tx.Exec(ctx, sqlTargetRepoint, append(args, sc.now())...); err != nil {
		return err
	}
	return sc.judge(ctx, tx, t.ID, part)
}

const sqlTargetInsert = `
	INSERT INTO tenant.targets (tenant_id, post_id, version_id, problems, format, needs_scopes, needs_media, media_ids, media_recipes, client_id, account_id, network, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13) RETURNING id`

func (sc *Scope) addTarget(ctx context.Context, tx pgx.Tx, post model.PostID, version model.VersionID, part plannedTarget) error {
	args := append([]any{sc.Actor.Tenant, post, version}, part.facts()...)
	args = append(args, part.account.ClientID, part.account.ID, part.account.Network, sc.now())
	var id model.TargetID
	if err := tx.QueryRow(ctx, sqlTargetInsert, args...).Scan(&id); err != nil {
		return err
	}
	return sc.judge(ctx, tx, id, part)
}

// judge moves a fresh draft to invalid if its network would refuse it.
func (sc *Scope) judge(ctx context.Context, tx pgx.Tx, id model.TargetID, part plannedTarget) error {
	if !blocking(part.problems) {
		return nil
	}
	_, err := sc.moveTargets(ctx, tx, move{ids: []model.TargetID{id}, to: model.Invalid, reason: "problems"})
	return err
}

// facts are the columns that the guards read at run time: problems, format,
// needed scopes, whether media must be there, which, and how each is sent.
func (t plannedTarget) facts() []any {
	problems := t.problems
	if problems == nil {
		problems = noProblems
	}
	media := t.media
	recipes := t.recipes
	if media == nil {
		media, recipes = []model.MediaID{}, []string{}
	}
	if t.net == nil {
		return []any{problems, "text", []string{}, false, media, recipes}
	}
	scopes := t.net.NeedsAny(t.draft)
	if scopes == nil {
		scopes = []string{}
	}
	// Playbook 9: a format that carries media never goes out without it.
	return []any{problems, t.net.FormatOf(t.draft), scopes, t.net.Media || len(media) > 0, media, recipes}
}
