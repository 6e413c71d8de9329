package desk

import (
	"context"
	"fmt"
	"math"
	"time"

	"herald/db"
	"herald/db/model"
)

// perUploader is how many files one person sends: a whole season's pictures at
// once, and then as many as anybody can choose by hand.
var perUploader = db.Bucket{Kind: "upload person", Burst: 500, Drip: 2 * time.Second}

// uploadTurn refuses with TooMany a person who sends files faster than that.
func (d *Desk) uploadTurn(ctx context.Context, scope *db.Scope) error {
	who := fmt.Sprint(int64(scope.Actor.User))
	if scope.Actor.User == 0 { // clients' approvers of a workspace share one
		who = fmt.Sprintf("clients of %d", scope.Actor.Tenant)
	}
	wait, err := d.Store.Take(ctx, perUploader, who)
	if err != nil || wait == 0 {
		return err
	}
	return model.Refuse(model.TooMany, fmt.Sprintf("You have sent very many files in a short time. Wait %.0f seconds, then send the rest.", math.Ceil(wait.Seconds())))
}
