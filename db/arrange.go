package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
)

// arrange brings the actor's workspace to what w says, by the rules of Declare and in
// the actor's name. Also, if it is not nil, runs before anything of the workspace
// changes and can refuse. Who may do it is the caller's to check.
func (sc *Scope) arrange(ctx context.Context, w DeclaredWorkspace, also func(context.Context, *hand) error) error {
	w.Slug = sc.Workspace.Slug
	run := &declaring{doc: Declaration{Workspaces: []DeclaredWorkspace{w}}, by: sc.Actor, screen: true, also: also}
	return sc.arranging(ctx, run)
}

func (sc *Scope) arranging(ctx context.Context, run *declaring) error {
	shards := map[string]*pgxpool.Pool{MainShard: sc.control, sc.Workspace.Shard: sc.pool}
	_, err := (&Store{control: sc.control, shards: shards, ring: sc.ring, now: sc.now}).declare(ctx, run)
	if err == nil && sc.changed != nil {
		sc.changed(sc.Actor.Tenant)
	}
	return err
}

// seenAs names a state of something, for forms that send it back.
func seenAs(parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

var errStale = model.Refuse(model.Conflict, "Somebody changed this meanwhile. Here is how it is; make your change once more if it still fits.")

// manages refuses unless the actor manages the workspace.
func (sc *Scope) manages() error {
	if sc.Actor.MayAnywhere(model.WorkspaceManage) {
		return nil
	}
	return model.Refuse(model.Forbidden, "Only an owner or admin of the workspace can do that.")
}

// WorkspaceForm is what an agency may change about its workspace.
type WorkspaceForm struct {
	Name string
	Zone string // new posts begin with it where no client says otherwise
	Seen string
}

const sqlWorkspaceSeen = `SELECT name, zone FROM tenant.tenants WHERE tenant_id = $1`

// EditWorkspace changes the workspace's name and zone. It refuses with Conflict if
// they changed since the form was drawn.
func (sc *Scope) EditWorkspace(ctx context.Context, f WorkspaceForm) (err error) {
	defer wrap(&err, "edit workspace")
	if err := sc.manages(); err != nil {
		return err
	}
	if f.Name, err = calledBy(f.Name); err != nil {
		return err
	}
	if _, err := model.LoadZone(f.Zone); err != nil {
		return err
	}
	return sc.arrange(ctx, DeclaredWorkspace{Name: &f.Name, Zone: &f.Zone}, func(ctx context.Context, h *hand) error {
		var name, zone string
		err := h.tx.QueryRow(ctx, sqlWorkspaceSeen, h.ID).Scan(&name, &zone)
		if err == nil && seenAs(name, zone) != f.Seen {
			err = errStale
		}
		return err
	})
}

// calledBy is a name that a person gave to something, without what no name has.
func calledBy(s string) (string, error) {
	s = strings.Join(strings.Fields(s), " ")
	switch {
	case s == "":
		return "", model.RefuseField("name", "Say a name.")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return "", model.RefuseField("name", "The name holds characters that cannot be shown.")
	case utf8.RuneCountInString(s) > nameRunes:
		return "", model.RefuseField("name", fmt.Sprintf("A name has at most %d characters.", nameRunes))
	}
	return s, nil
}

const nameRunes = 100

// WorkspaceSetting is the workspace as its settings show it.
type WorkspaceSetting struct {
	Name        string
	Zone        string
	PausedAt    *time.Time
	PostsAMonth *int   // nil: no limit
	Posts       int    // published this month, in UTC
	MediaBytes  *int64 // nil: no limit
	Bytes       int64  // of files that are kept
}

// Seen is the state that a form of the workspace sends back.
func (w WorkspaceSetting) Seen() string { return seenAs(w.Name, w.Zone) }

const sqlWorkspaceSetting = `
	SELECT t.name, t.zone, t.paused_at, t.posts_a_month, t.media_bytes,
	       coalesce((SELECT u.published FROM tenant.usage_months u WHERE u.tenant_id = t.tenant_id AND u.month = date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC')::date), 0) AS posts,
	       (SELECT coalesce(sum(m.uploaded_bytes), 0)::bigint FROM tenant.media m WHERE m.tenant_id = t.tenant_id AND m.state <> 'deleted') AS bytes
	  FROM tenant.tenants t WHERE t.tenant_id = $1`

// WorkspaceSetting reads the workspace with how much of its plan is used.
func (sc *Scope) WorkspaceSetting(ctx context.Context) (w WorkspaceSetting, err error) {
	defer wrap(&err, "read workspace setting")
	if err := sc.manages(); err != nil {
		return w, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlWorkspaceSetting, sc.Actor.Tenant, sc.now())
		if err != nil {
			return err
		}
		w, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[WorkspaceSetting])
		return err
	})
	return w, err
}
