package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// invitationLife is how long the link of an invitation works.
const invitationLife = 7 * 24 * time.Hour

// Invitation is somebody who was asked by mail to join a workspace.
type Invitation struct {
	ID        model.InvitationID
	Email     string
	Role      model.Role
	Inviter   string                        // by name
	Access    map[string][]model.Permission // by the short name of a client
	CreatedAt time.Time
	ExpiresAt time.Time
}

const sqlInvitation = `SELECT id, email, role, inviter, access, created_at, expires_at FROM tenant.invitations`

const sqlInvitationsOpen = sqlInvitation + `
	 WHERE tenant_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL ORDER BY created_at DESC, id DESC`

func (sc *Scope) openInvitations(ctx context.Context, tx pgx.Tx) ([]Invitation, error) {
	rows, err := tx.Query(ctx, sqlInvitationsOpen, sc.Actor.Tenant)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Invitation])
}

const sqlMemberByEmail = `SELECT EXISTS (SELECT FROM control.memberships m JOIN control.users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND u.email = $2)`

const sqlInvitationReplace = `
	UPDATE tenant.invitations SET revoked_at = $3 WHERE tenant_id = $1 AND email = $2 AND accepted_at IS NULL AND revoked_at IS NULL`

const sqlInvitationInsert = `
	INSERT INTO tenant.invitations (tenant_id, email, role, access, token_hash, invited_by, inviter, created_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`

// Invite mails somebody a link by which to join the workspace. The link works once
// and for a week; one that was sent to the same address before ends.
func (sc *Scope) Invite(ctx context.Context, email string, f MemberForm) (err error) {
	defer wrap(&err, "invite")
	if err := sc.manages(); err != nil {
		return err
	}
	if email, err = cleanEmail(email); err != nil {
		return err
	}
	if f.Role == "" {
		return model.RefuseField("role", "Choose a role.")
	}
	if err := sc.mayGive("", f.Role); err != nil {
		return err
	}
	var member bool
	if err := sc.control.QueryRow(ctx, sqlMemberByEmail, sc.Actor.Tenant, email).Scan(&member); err != nil {
		return err
	}
	if member {
		return model.RefuseField("email", "This person is a member already. Change what they may do on their own page.")
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		clients, err := sc.memberClients(ctx, tx)
		if err != nil {
			return err
		}
		access, err := f.bySlug(clients)
		if err != nil {
			return err
		}
		return sc.invite(ctx, tx, Invitation{Email: email, Role: f.Role, Access: access})
	})
}

// An address's invitations take turns, so that one ends before the next begins.
const sqlInvitationTurn = `SELECT pg_advisory_xact_lock(hashtextextended('invitation ' || $1::bigint || ' ' || $2::text, 0))`

func (sc *Scope) invite(ctx context.Context, tx pgx.Tx, i Invitation) error {
	if _, err := tx.Exec(ctx, sqlInvitationTurn, sc.Actor.Tenant, i.Email); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlInvitationReplace, sc.Actor.Tenant, i.Email, sc.now()); err != nil {
		return err
	}
	token, hash := newReviewToken(sc.Actor.Tenant)
	until := sc.now().Add(invitationLife)
	err := tx.QueryRow(ctx, sqlInvitationInsert, sc.Actor.Tenant, i.Email, i.Role, i.Access, hash[:], sc.Actor.User, sc.Actor.Name, sc.now(), until).Scan(&i.ID)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("%s:%d", model.MailInvitation, i.ID)
	content := model.InvitationMail{Agency: sc.Workspace.Name, Sender: sc.Actor.Name, Until: until, Zone: sc.Workspace.Zone}
	sealed := sc.ring.Seal(token, MailAAD(sc.Actor.Tenant, key))
	if _, err := tx.Exec(ctx, sqlMailInsert, sc.Actor.Tenant, key, model.MailInvitation, i.Email, "", content, sealed, sc.now(), sc.now()); err != nil {
		return err
	}
	return sc.audit(ctx, tx, note{verb: "invited", subject: "workspace", id: int64(sc.Actor.Tenant), detail: map[string]any{"role": i.Role}})
}

const sqlInvitationGet = sqlInvitation + ` WHERE tenant_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL`

// InviteAgain mails a fresh link for an open invitation; the one before it ends.
func (sc *Scope) InviteAgain(ctx context.Context, id model.InvitationID) (email string, err error) {
	defer wrap(&err, "invite again %d", id)
	return sc.onInvitation(ctx, id, sc.invite)
}

const sqlInvitationRevoke = `
	UPDATE tenant.invitations SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL`

// RevokeInvitation ends an open invitation.
func (sc *Scope) RevokeInvitation(ctx context.Context, id model.InvitationID) (email string, err error) {
	defer wrap(&err, "revoke invitation %d", id)
	return sc.onInvitation(ctx, id, func(ctx context.Context, tx pgx.Tx, i Invitation) error {
		did, err := tx.Exec(ctx, sqlInvitationRevoke, sc.Actor.Tenant, id, sc.now())
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "uninvited", subject: "workspace", id: int64(sc.Actor.Tenant), detail: map[string]any{"role": i.Role}})
	})
}

// onInvitation runs f on an open invitation to a role that the actor may give.
func (sc *Scope) onInvitation(ctx context.Context, id model.InvitationID, f func(context.Context, pgx.Tx, Invitation) error) (email string, err error) {
	if err := sc.manages(); err != nil {
		return "", err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlInvitationGet, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		i, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Invitation])
		if noRows(err) {
			return model.Refuse(model.NotFound, "There is no such invitation. It was accepted, or somebody took it back.")
		}
		if err != nil {
			return err
		}
		if err := sc.mayGive("", i.Role); err != nil {
			return err
		}
		email = i.Email
		return f(ctx, tx, i)
	})
	return email, err
}

// Joining is an invitation as its link opens it.
type Joining struct {
	Invitation
	Workspace Workspace
	User      model.UserID // who has the address already; zero for nobody
	Known     bool         // and can sign in
	sc        *Scope       // of nobody: it grants nothing
	hash      [32]byte
}

const sqlInvitationByToken = sqlInvitation + ` WHERE tenant_id = $1 AND token_hash = $2`

const sqlInvitationEnded = `SELECT accepted_at IS NOT NULL OR revoked_at IS NOT NULL FROM tenant.invitations WHERE tenant_id = $1 AND id = $2`

const sqlUserKnown = `SELECT id, password_hash IS NOT NULL, disabled_at IS NOT NULL FROM control.users WHERE email = $1`

var errNotInvited = model.Refuse(model.NotFound, "This is not the link of an invitation. Open the one in your e-mail again, whole.")

var errNoInvitation = model.Refuse(model.Gone, "This invitation does not work any more: it was used, or taken back, or a newer one was sent. If you joined already, sign in; else ask whoever invited you for another.")

// Joining opens the link of an invitation. It refuses with NotFound what is none, and
// with Gone one that was used, taken back or ran out.
func (s *Store) Joining(ctx context.Context, token string) (j Joining, err error) {
	defer wrap(&err, "open invitation")
	if j.Workspace, err = s.reviewWorkspace(ctx, token); err != nil {
		if _, no := model.Refused(err); no {
			err = errNotInvited
		}
		return j, err
	}
	pool, err := s.shard(j.Workspace.Shard)
	if err != nil {
		return j, err
	}
	j.hash = secret.HashToken(token)
	j.sc = &Scope{Workspace: j.Workspace, Actor: model.Actor{Tenant: j.Workspace.ID}, pool: pool, control: s.control, ring: s.ring, now: s.now, changed: s.changed}
	ended := false
	err = j.sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlInvitationByToken, j.Workspace.ID, j.hash[:])
		if err != nil {
			return err
		}
		if j.Invitation, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Invitation]); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sqlInvitationEnded, j.Workspace.ID, j.ID).Scan(&ended)
	})
	switch {
	case noRows(err):
		return j, errNotInvited
	case err == nil && ended:
		return j, errNoInvitation
	case err == nil && !s.now().Before(j.ExpiresAt):
		return j, model.Refuse(model.Gone, fmt.Sprintf("This invitation ran out on %s. Ask %s for another.", inZone(j.ExpiresAt, j.Workspace.Zone), j.Inviter))
	case err != nil:
		return j, err
	}
	var disabled bool
	err = s.control.QueryRow(ctx, sqlUserKnown, j.Email).Scan(&j.User, &j.Known, &disabled)
	switch {
	case noRows(err):
		return j, nil
	case err == nil && disabled:
		return j, model.Refuse(model.Forbidden, "The operator of this Herald has switched this address off. Ask them, or whoever invited you.")
	}
	return j, err
}

const sqlUserJoin = `
	INSERT INTO control.users AS u (email, name, password_hash) VALUES ($1, $2, $3)
	ON CONFLICT (email) DO UPDATE SET name = excluded.name, password_hash = excluded.password_hash WHERE u.password_hash IS NULL
	RETURNING id`

const sqlInvitationAccept = `
	UPDATE tenant.invitations SET accepted_at = $3 WHERE tenant_id = $1 AND token_hash = $2 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $3`

// Join makes a member of whoever was invited: somebody new, by name and the hash of
// a password, or, with both empty, the person who has the address already. The
// caller has made sure that it is they who ask. The link is used up in the same
// transaction as what it grants.
func (j Joining) Join(ctx context.Context, name, hash string) (user model.UserID, err error) {
	defer wrap(&err, "join")
	if user = j.User; !j.Known {
		if name, err = calledBy(name); err != nil {
			return 0, err
		}
	}
	said := DeclaredMember{User: j.Email, Role: &j.Role}
	for slug, granted := range j.Access {
		said.Access = append(said.Access, DeclaredAccess{Client: slug, Permissions: granted})
	}
	run := &declaring{doc: Declaration{Workspaces: []DeclaredWorkspace{{Slug: j.Workspace.Slug, Members: []DeclaredMember{said}}}}, screen: true, by: model.Actor{Name: name}}
	run.first = func(ctx context.Context, control pgx.Tx) error {
		if j.Known {
			if err := control.QueryRow(ctx, `SELECT name FROM control.users WHERE id = $1`, user).Scan(&run.by.Name); err != nil {
				return err
			}
		} else if err := control.QueryRow(ctx, sqlUserJoin, j.Email, name, hash).Scan(&user); noRows(err) {
			return errNoInvitation // somebody set a password meanwhile
		} else if err != nil {
			return err
		}
		run.by.User = user
		return nil
	}
	run.also = func(ctx context.Context, h *hand) error {
		did, err := h.tx.Exec(ctx, sqlInvitationAccept, h.ID, j.hash[:], h.now)
		if err == nil && did.RowsAffected() == 0 {
			err = errNoInvitation
		}
		return err
	}
	return user, j.sc.arranging(ctx, run)
}
