package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// made is how far the rendition of an asset by a recipe is.
type made struct {
	MediaID model.MediaID
	Recipe  string
	State   string
	Reason  string
}

// recipePairs are the renditions that targets need, each once.
func recipePairs(parts []plannedTarget) (ids []model.MediaID, recipes []string) {
	type pair struct {
		id     model.MediaID
		recipe string
	}
	known := map[pair]bool{}
	for _, t := range parts {
		for i, r := range t.recipes {
			if one := (pair{t.media[i], r}); r != "" && !known[one] {
				known[one] = true
				ids, recipes = append(ids, one.id), append(recipes, r)
			}
		}
	}
	return ids, recipes
}

const sqlRenditionsOf = `
	SELECT r.media_id, r.recipe, r.state, r.reason FROM unnest($2::bigint[], $3::text[]) AS w(media_id, recipe)
	  JOIN tenant.media_renditions r ON r.tenant_id = $1 AND r.media_id = w.media_id AND r.recipe = w.recipe`

// renditionsOf reads how far what targets need is.
func (sc *Scope) renditionsOf(ctx context.Context, tx pgx.Tx, parts []plannedTarget) ([]made, error) {
	ids, recipes := recipePairs(parts)
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, sqlRenditionsOf, sc.Actor.Tenant, ids, recipes)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[made])
}

// judgeRenditions adds to a plan's targets what is wrong with the renditions they need.
func (p plan) judgeRenditions(list []made) {
	for n := range p.parts {
		t := &p.parts[n]
		for i, r := range t.recipes {
			at := slices.IndexFunc(list, func(m made) bool { return m.MediaID == t.media[i] && m.Recipe == r })
			if at >= 0 && list[at].State == "failed" {
				t.problems = append(t.problems, network.Problem{Field: fmt.Sprintf("media.%d", i), Code: network.MediaNotMade, Say: list[at].Reason})
			}
		}
	}
}

const sqlRenditionsWant = `
	WITH wanted AS (
		INSERT INTO tenant.media_renditions (tenant_id, media_id, recipe, wanted_at)
		SELECT $1, w.media_id, w.recipe, $4 FROM unnest($2::bigint[], $3::text[]) AS w(media_id, recipe) ORDER BY 2, 3
		ON CONFLICT (tenant_id, media_id, recipe) DO NOTHING RETURNING tenant_id, id, media_id)
	INSERT INTO tenant.media_tasks (tenant_id, media_id, rendition_id, next_at, made_at) SELECT tenant_id, media_id, id, $4, $4 FROM wanted`

// wantRenditions has what the targets need made, unless it is or was asked for.
func (sc *Scope) wantRenditions(ctx context.Context, tx pgx.Tx, parts []plannedTarget) error {
	ids, recipes := recipePairs(parts)
	if len(ids) == 0 {
		return nil
	}
	tag, err := tx.Exec(ctx, sqlRenditionsWant, sc.Actor.Tenant, ids, recipes, sc.now())
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return wakeRelay(ctx, tx)
}

// filesReady refuses a plan with files that are still on their way.
func (p plan) filesReady() error {
	for _, id := range p.content.AllMedia() {
		if f := p.files[id]; f.State.OnItsWay() {
			return model.Refuse(model.Conflict, "This post cannot be submitted yet: “"+f.Name+"” is still being "+stateOfFile(f.State)+". Try again in a moment.")
		}
	}
	return nil
}

const sqlTargetsRecipes = `
	UPDATE tenant.targets t SET media_recipes = ARRAY(SELECT jsonb_array_elements_text(w.recipes))
	  FROM (SELECT id, list::jsonb AS recipes FROM unnest($2::bigint[], $3::text[]) AS a(id, list)) w
	 WHERE t.tenant_id = $1 AND t.id = w.id AND t.media_recipes <> ARRAY(SELECT jsonb_array_elements_text(w.recipes))`

// settleRecipes writes to targets how their files are sent, now that all is known
// of them. From then on that does not change.
func (sc *Scope) settleRecipes(ctx context.Context, tx pgx.Tx, live []carried) error {
	var ids []model.TargetID
	var recipes []string
	var parts []plannedTarget
	for _, c := range live {
		if len(c.part.recipes) == 0 {
			continue
		}
		list, err := json.Marshal(c.part.recipes)
		if err != nil {
			return err
		}
		ids, recipes, parts = append(ids, c.target.ID), append(recipes, string(list)), append(parts, c.part)
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlTargetsRecipes, sc.Actor.Tenant, ids, recipes); err != nil {
		return err
	}
	return sc.wantRenditions(ctx, tx, parts)
}
