package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// actLife is how long a form that comes again is known.
const actLife = 24 * time.Hour

const sqlActsOver = `DELETE FROM tenant.acts WHERE tenant_id = $1 AND user_id = $2 AND at < $3`

const sqlActBegin = `INSERT INTO tenant.acts (tenant_id, user_id, form_key, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

const sqlActEnd = `UPDATE tenant.acts SET outcome = $4 WHERE tenant_id = $1 AND user_id = $2 AND form_key = $3`

const sqlActGet = `SELECT outcome FROM tenant.acts WHERE tenant_id = $1 AND user_id = $2 AND form_key = $3`

// once runs f in a transaction, unless the actor sent the form of this key before:
// then it answers what became of that. Of two that come at once, one waits for the
// other. A form without a key is always run.
func (sc *Scope) once(ctx context.Context, key string, f func(pgx.Tx) (Acted, error)) (out Acted, err error) {
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if key == "" {
			out, err = f(tx)
			return err
		}
		if _, err := tx.Exec(ctx, sqlActsOver, sc.Actor.Tenant, sc.Actor.User, sc.now().Add(-actLife)); err != nil {
			return err
		}
		did, err := tx.Exec(ctx, sqlActBegin, sc.Actor.Tenant, sc.Actor.User, key, sc.now())
		if err != nil {
			return err
		}
		if did.RowsAffected() == 0 {
			return tx.QueryRow(ctx, sqlActGet, sc.Actor.Tenant, sc.Actor.User, key).Scan(&out)
		}
		if out, err = f(tx); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlActEnd, sc.Actor.Tenant, sc.Actor.User, key, out)
		return err
	})
	return out, err
}

// storedDone is a Done as it is kept.
type storedDone struct {
	Post model.PostID   `json:"post"`
	No   *model.Refusal `json:"no,omitempty"`
}

// MarshalJSON keeps the refusal as what it says and of which kind it is.
func (d Done) MarshalJSON() ([]byte, error) {
	one := storedDone{Post: d.Post}
	one.No, _ = model.Refused(d.No)
	return json.Marshal(one)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Done) UnmarshalJSON(data []byte) error {
	var one storedDone
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*d = Done{Post: one.Post}
	if one.No != nil {
		d.No = one.No
	}
	return nil
}
