package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// holdable are the states of targets that a hold stops. What is at the network already
// it does not.
const holdable = `('ready', 'scheduled', 'queued', 'retry_scheduled', 'needs_reconnect')`

var holdableStates = []model.State{model.Ready, model.Scheduled, model.Queued, model.RetryScheduled, model.NeedsReconnect}

// Holdable says whether a hold stops a target in the state.
func Holdable(s model.State) bool { return slices.Contains(holdableStates, s) }

const sqlHoldLock = `SELECT FROM tenant.posts WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`

const sqlHoldRoom = `
	SELECT count(*) FILTER (WHERE state IN ` + holdable + `), count(*) FILTER (WHERE state = 'publishing')
	  FROM tenant.targets WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3`

const sqlHoldInsert = `
	INSERT INTO tenant.post_holds (tenant_id, post_id, client_id, user_id, approver_id, name, why, at)
	VALUES ($1, $2, $3, nullif($4, 0), nullif($5, 0), $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`

const sqlHoldOpen = `
	SELECT id, post_id, client_id, name, coalesce(user_id, 0) AS user_id, coalesce(approver_id, 0) AS approver_id, why, at, ended_at, ended_name
	  FROM tenant.post_holds WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND ended_at IS NULL`

// The screens that show a target learn by this that it changed; its revision stays, so
// that a form of it still fits.
const sqlHoldTouch = `
	UPDATE tenant.targets SET updated_at = $4 WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND state IN ` + holdable

// hold stops what a client gets of a post. It takes the post's lock, as a claim does,
// so that whatever is not claimed by then does not go out. Asking twice is once; it
// refuses with Conflict what somebody else holds, and where nothing waits to go out.
func (sc *Scope) hold(ctx context.Context, tx pgx.Tx, team team, by model.AskedPerson, post model.PostID, client model.ClientID, why string) error {
	if _, err := tx.Exec(ctx, sqlHoldLock, sc.Actor.Tenant, post); err != nil {
		return err
	}
	if err := sc.holdRoom(ctx, tx, post, client); err != nil {
		return err
	}
	var id model.HoldID
	err := tx.QueryRow(ctx, sqlHoldInsert, sc.Actor.Tenant, post, client, by.User, by.Approver, by.Name, why, sc.now()).Scan(&id)
	if noRows(err) {
		return sc.heldAlready(ctx, tx, by, post, client)
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlHoldTouch, sc.Actor.Tenant, post, client, sc.now()); err != nil {
		return err
	}
	if err := sc.auditBy(ctx, tx, by, note{verb: "held", subject: "post", id: int64(post), client: client, detail: map[string]any{"hold": id}}); err != nil {
		return err
	}
	return newMailing(sc, team).held(ctx, tx, model.MailHeld, id, by, post, client, why)
}

func (sc *Scope) holdRoom(ctx context.Context, tx pgx.Tx, post model.PostID, client model.ClientID) error {
	var waiting, leaving int
	if err := tx.QueryRow(ctx, sqlHoldRoom, sc.Actor.Tenant, post, client).Scan(&waiting, &leaving); err != nil || waiting > 0 {
		return err
	}
	if leaving > 0 {
		return notHeld("It is being sent at this very moment, so it cannot be held any more.")
	}
	return notHeld("Nothing of this post waits to go out, so there is nothing to hold.")
}

func notHeld(say string) error {
	return &model.Refusal{Kind: model.Conflict, Field: "why", Say: say}
}

func (sc *Scope) heldAlready(ctx context.Context, tx pgx.Tx, by model.AskedPerson, post model.PostID, client model.ClientID) error {
	h, err := sc.openHold(ctx, tx, post, client)
	if err != nil || h.UserID == by.User && h.ApproverID == by.Approver {
		return err
	}
	return notHeld(h.Name + " holds this post already, so it does not go out.")
}

// openHold is the hold on what a client gets of a post; without an id if there is none.
func (sc *Scope) openHold(ctx context.Context, tx pgx.Tx, post model.PostID, client model.ClientID) (h model.Hold, err error) {
	list, err := readList[model.Hold](ctx, tx, sqlHoldOpen, sc.Actor.Tenant, post, client)
	if len(list) > 0 {
		h = list[0]
	}
	return h, err
}

// LetGo is what becomes of targets when a hold ends.
type LetGo struct {
	Now    int // their time passed meanwhile, and they go out at once
	Missed int // so long that they were given up
}

const sqlHoldEnd = `
	UPDATE tenant.post_holds SET ended_at = $4, ended_user = nullif($5, 0), ended_approver = nullif($6, 0), ended_name = $7
	 WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND ended_at IS NULL RETURNING id`

const sqlHoldRelease = `
	WITH gone AS (
		UPDATE tenant.targets SET next_at = $4, seq = seq + 1, revision = revision + 1, updated_at = $4
		 WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND state = 'retry_scheduled' AND reason = 'held'
		RETURNING tenant_id, id, version_id, seq, next_at
	), owed AS (
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT tenant_id, 'publish:' || id || ':' || seq, 'target.publish', id, version_id, seq, next_at, $4 FROM gone
	)
	SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM tenant.targets WHERE tenant_id = $1 AND post_id = $2 AND client_id = $3 AND state = 'failed' AND reason = 'held_too_long')`

// letGo ends the hold on what a client gets of a post. What came due meanwhile is sent
// on its way at once, in the same transaction; the claim's guards judge it as ever.
// Twice is once.
func (sc *Scope) letGo(ctx context.Context, tx pgx.Tx, team team, by model.AskedPerson, post model.PostID, client model.ClientID) (out LetGo, err error) {
	if _, err := tx.Exec(ctx, sqlHoldLock, sc.Actor.Tenant, post); err != nil {
		return out, err
	}
	var id model.HoldID
	err = tx.QueryRow(ctx, sqlHoldEnd, sc.Actor.Tenant, post, client, sc.now(), by.User, by.Approver, by.Name).Scan(&id)
	if noRows(err) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if err := tx.QueryRow(ctx, sqlHoldRelease, sc.Actor.Tenant, post, client, sc.now()).Scan(&out.Now, &out.Missed); err != nil {
		return out, err
	}
	if _, err := tx.Exec(ctx, sqlHoldTouch, sc.Actor.Tenant, post, client, sc.now()); err != nil {
		return out, err
	}
	if err := sc.auditBy(ctx, tx, by, note{verb: "let_go", subject: "post", id: int64(post), client: client, detail: map[string]any{"hold": id}}); err != nil {
		return out, err
	}
	if err := newMailing(sc, team).held(ctx, tx, model.MailLetGo, id, by, post, client, ""); err != nil {
		return out, err
	}
	return out, wakeRelay(ctx, tx)
}

// HoldTarget holds the post of a target for the target's client: all that this client
// gets of it. The actor needs posts.schedule there. See hold for what it refuses.
func (sc *Scope) HoldTarget(ctx context.Context, id model.TargetID, why string) (err error) {
	defer wrap(&err, "hold target %d", id)
	if why, err = reason(why); err != nil {
		return err
	}
	_, err = sc.holding(ctx, id, func(tx pgx.Tx, team team, t Target) (LetGo, error) {
		if err := sc.need(model.PostsSchedule, t.ClientID, "target"); err != nil {
			return LetGo{}, err
		}
		return LetGo{}, sc.hold(ctx, tx, team, sc.self(), t.PostID, t.ClientID, why)
	})
	return err
}

// ReleaseTarget ends the hold on a target's post at the target's client. The actor needs
// posts.schedule there, and posts.approve for what the client itself holds.
func (sc *Scope) ReleaseTarget(ctx context.Context, id model.TargetID) (out LetGo, err error) {
	defer wrap(&err, "release target %d", id)
	return sc.holding(ctx, id, func(tx pgx.Tx, team team, t Target) (out LetGo, err error) {
		h, err := sc.openHold(ctx, tx, t.PostID, t.ClientID)
		if err != nil {
			return out, err
		}
		if err := sc.need(h.Permission(), t.ClientID, "target"); err != nil {
			return out, err
		}
		return sc.letGo(ctx, tx, team, sc.self(), t.PostID, t.ClientID)
	})
}

func (sc *Scope) self() model.AskedPerson {
	return model.AskedPerson{User: sc.Actor.User, Name: sc.Actor.Name}
}

func (sc *Scope) holding(ctx context.Context, id model.TargetID, f func(pgx.Tx, team, Target) (LetGo, error)) (out LetGo, err error) {
	team, err := sc.team(ctx)
	if err != nil {
		return out, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		t, err := sc.target(ctx, tx, id)
		if err != nil {
			return err
		}
		out, err = f(tx, team, t)
		return err
	})
	return out, err
}

// reason is why somebody does something; they may leave it out.
func reason(why string) (string, error) {
	why = strings.TrimSpace(strings.ReplaceAll(why, "\r\n", "\n"))
	return why, tooLong("why", why)
}

// Hold stops a post of the link for the person's client. See Scope.hold for what it
// refuses.
func (rs *ReviewScope) Hold(ctx context.Context, request model.RequestID, why string) (err error) {
	defer wrap(&err, "hold by link")
	if why, err = reason(why); err != nil {
		return err
	}
	return rs.holding(ctx, request, func(tx pgx.Tx, team team, about requestRow) error {
		return rs.sc.hold(ctx, tx, team, rs.self(), about.PostID, rs.who.ClientID, why)
	})
}

// LetGo ends a hold on a post of the link, whoever of the client or the agency began it.
func (rs *ReviewScope) LetGo(ctx context.Context, request model.RequestID) (out LetGo, err error) {
	defer wrap(&err, "let go by link")
	err = rs.holding(ctx, request, func(tx pgx.Tx, team team, about requestRow) error {
		out, err = rs.sc.letGo(ctx, tx, team, rs.self(), about.PostID, rs.who.ClientID)
		return err
	})
	return out, err
}

func (rs *ReviewScope) self() model.AskedPerson {
	return model.AskedPerson{Approver: rs.who.ID, Name: rs.who.Name}
}

func (rs *ReviewScope) holding(ctx context.Context, request model.RequestID, f func(pgx.Tx, team, requestRow) error) error {
	allowed, err := rs.allowed(ctx)
	if err != nil {
		return err
	}
	about, ok := allowed[request]
	if !ok {
		return errNoRequest
	}
	team, err := rs.sc.team(ctx)
	if err != nil {
		return err
	}
	return rs.sc.write(ctx, func(tx pgx.Tx) error { return f(tx, team, about) })
}

const sqlHoldList = `
	SELECT id, post_id, client_id, name, coalesce(user_id, 0) AS user_id, coalesce(approver_id, 0) AS approver_id, why, at, ended_at, ended_name
	  FROM tenant.post_holds WHERE tenant_id = $1 AND post_id = ANY ($2) ORDER BY id`

// holds are those on some posts, the ended ones too, oldest first.
func (sc *Scope) holds(ctx context.Context, tx pgx.Tx, posts []model.PostID) ([]model.Hold, error) {
	return readList[model.Hold](ctx, tx, sqlHoldList, sc.Actor.Tenant, posts)
}
