package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// Declaration says what should be there, as herald apply reads it from files. A
// nil field, and a thing that is not named, is left as it is. Lists that are
// replaced as a whole are nil if they were not given.
type Declaration struct {
	Plans      []DeclaredPlan
	Users      []DeclaredUser
	Workspaces []DeclaredWorkspace
	Cost       secret.Cost // of hashing passwords; zero takes the default
}

// DeclaredPlan is a plan. At is where it was written, as file:line, here and
// below; what is refused about it begins with that.
type DeclaredPlan struct {
	At          string
	Name        string
	PostsAMonth *int64 // 0: no limit
	MediaBytes  *int64 // 0: no limit
}

// DeclaredUser is a person who may sign in.
type DeclaredUser struct {
	At           string
	Email        string
	Name         *string
	Zone         *string
	Password     secret.Token // either this
	PasswordHash string       // or this, argon2id in PHC form, or neither
	Disabled     *bool
}

// DeclaredWorkspace is a workspace with what is in it.
type DeclaredWorkspace struct {
	At      string
	Slug    string
	Name    *string
	Zone    *string
	Plan    *string
	Shard   *string
	State   *string // active or suspended
	Paused  *bool
	Members []DeclaredMember
	Labels  []DeclaredLabel
	Notes   []DeclaredNote
	Clients []DeclaredClient
}

// DeclaredMember is a user's place in a workspace.
type DeclaredMember struct {
	At     string
	User   string // e-mail address
	Role   *model.Role
	Remove bool
	Access []DeclaredAccess
}

// DeclaredAccess is what a member may do for one client; no permission at all
// takes the client away from the member.
type DeclaredAccess struct {
	At          string
	Client      string             // slug
	All         bool               // all that the member's role grants
	Permissions []model.Permission // sorted
}

// DeclaredClient is a brand with its people, times and accounts.
type DeclaredClient struct {
	At             string
	Slug           string
	Name           *string
	Zone           *string
	LateCutoff     *time.Duration // 0: the operator's setting
	TimeIsMaterial *bool
	AutoSchedule   *bool
	RemindAfter    *time.Duration // 0: never, here and below
	RemindEvery    *time.Duration
	EscalateAfter  *time.Duration
	EscalateTo     []string // e-mail addresses of members; replaced as a whole
	Paused         *bool
	Apart          *int    // minutes by which posts of one account should be apart
	Holidays       *string // whose the calendar shows: a region of db/holiday; empty for nobody's
	Labels         []DeclaredLabel
	Notes          []DeclaredNote
	Archived       *bool // put away: out of the lists in which something new is made
	Approvers      []DeclaredApprover
	Stages         []DeclaredStage    // replaced as a whole
	Blackouts      []DeclaredBlackout // replaced as a whole
	Accounts       []DeclaredAccount
}

// DeclaredApprover is a client's person who decides from a link.
type DeclaredApprover struct {
	At     string
	Email  string
	Name   *string
	Remove bool
}

// DeclaredStage is one stage of a client's workflow.
type DeclaredStage struct {
	At     string
	Name   string
	Rule   string   // any or all
	People []string // e-mail addresses of approvers of the client, or members
}

// DeclaredBlackout is a time in which nothing is published, on the client's clocks.
type DeclaredBlackout struct {
	At       string
	From, To model.LocalTime
	Reason   string
}

// DeclaredAccount is an account of a client.
type DeclaredAccount struct {
	At           string
	Slug         string
	Network      *network.Name
	Publisher    *network.Publisher
	Handle       *string
	RemoteID     *string
	Address      *string
	Scopes       []string          // replaced as a whole
	Settings     map[string]string // merged into what is there; an empty value takes the key away
	Token        secret.Token
	RefreshToken secret.Token
	TokenExpires *time.Time // zero: does not expire
	State        *string    // active or disabled
	Paused       *bool
	Slots        []DeclaredSlot // replaced as a whole
}

// DeclaredSlot is a time of the week at which an account usually posts.
type DeclaredSlot struct {
	Weekday time.Weekday
	Minute  int // of the day
}

// Declare brings the databases to what d says, and lists what it changed, a line
// each; none if everything was so already. It may run twice and at once.
//
// All of d is first written and rolled back, so that whatever is refused is
// refused before anything happened: the error then joins one refusal for each
// problem. Then the control plane is committed, then each workspace. A crash in
// between leaves whole workspaces, and the next run makes the rest.
func (s *Store) Declare(ctx context.Context, d Declaration) (changes []string, err error) {
	defer wrap(&err, "declare")
	if d.Cost == (secret.Cost{}) {
		d.Cost = secret.DefaultCost()
	}
	return s.declare(ctx, &declaring{doc: d, by: model.Actor{Name: operator}})
}

// declare is one run, alone.
func (s *Store) declare(ctx context.Context, run *declaring) (changes []string, err error) {
	err = s.alone(ctx, func() error {
		run.store, run.now, run.slugs = s, s.now().UTC(), map[model.TenantID]string{}
		changes, err = run.run(ctx)
		return err
	})
	return changes, err
}

const sqlDeclareAlone = `SELECT pg_try_advisory_xact_lock(hashtext('herald declare'))`

// alone runs f while no other Declare runs on this control database. Waiting
// holds no connection, so that runs of one process cannot starve each other.
func (s *Store) alone(ctx context.Context, f func() error) error {
	for {
		var mine bool
		err := pgx.BeginFunc(ctx, s.control, func(tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, sqlDeclareAlone).Scan(&mine); err != nil || !mine {
				return err
			}
			return f()
		})
		if err != nil || mine {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// declaring is one run of Declare, or of a settings screen.
type declaring struct {
	store    *Store
	doc      Declaration
	by       model.Actor                         // whose change it is
	screen   bool                                // a person reads what is refused on a screen, not beside a file
	first    func(context.Context, pgx.Tx) error // before anything of the control plane; may be nil
	also     func(context.Context, *hand) error  // before anything of a workspace, in each pass; may be nil
	now      time.Time
	places   []place
	before   seats // who could sign in, and who can now
	after    seats
	slugs    map[model.TenantID]string
	changes  []string
	problems []error
}

// place is a workspace that the run touches: one that is named, or one whose
// plan is.
type place struct {
	Workspace
	suspended *time.Time
	paused    *time.Time
	posts     *int64 // of its plan
	bytes     *int64
	members   map[string]model.UserID // by e-mail; of named ones only
	roles     map[model.UserID]model.Role
	gone      []model.UserID // members that were taken out
	notes     []note         // of members, for the workspace's audit log
	said      DeclaredWorkspace
	told      bool // that the control plane changed
}

func (d *declaring) run(ctx context.Context) ([]string, error) {
	control, err := d.store.control.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = control.Rollback(context.WithoutCancel(ctx)) }()
	if d.first != nil {
		if err := d.first(ctx, control); err != nil {
			return nil, err
		}
	}
	if err := d.control(ctx, control); err != nil {
		return nil, err
	}
	done := d.changes
	if err := d.tenants(ctx, pgx.Tx.Rollback); err != nil {
		return nil, err
	}
	if len(d.problems) > 0 {
		return nil, errors.Join(d.problems...)
	}
	d.changes = done
	if err := control.Commit(ctx); err != nil {
		return nil, err
	}
	if err := d.tenants(ctx, pgx.Tx.Commit); err != nil {
		return d.changes, err
	}
	if err := d.release(ctx); err != nil {
		return d.changes, err
	}
	return d.changes, errors.Join(d.problems...)
}

// release lets go what a pause held that is over by now.
func (d *declaring) release(ctx context.Context) error {
	for _, p := range d.places {
		pool, err := d.store.shard(p.Shard)
		if err != nil {
			return err
		}
		if err := d.scope(p, pool).release(ctx); err != nil {
			return fmt.Errorf("workspace %s: %w", p.Slug, err)
		}
	}
	return nil
}

// scope is that of whoever changes the workspace, who decides nothing.
func (d *declaring) scope(p place, pool *pgxpool.Pool) *Scope {
	return &Scope{Workspace: p.Workspace, Actor: model.Actor{Tenant: p.ID, User: d.by.User, Name: d.by.Name}, pool: pool, control: d.store.control, ring: d.store.ring, now: func() time.Time { return d.now }}
}

// tenants writes each workspace in a transaction of its own and ends it. With
// problems known, nothing is committed.
func (d *declaring) tenants(ctx context.Context, end func(pgx.Tx, context.Context) error) error {
	for _, p := range d.places {
		pool, err := d.store.shard(p.Shard)
		if err != nil {
			return err
		}
		if err := d.tenant(ctx, pool, p, end); err != nil {
			return fmt.Errorf("workspace %s: %w", p.Slug, err)
		}
	}
	return nil
}

func (d *declaring) refuse(at, format string, args ...any) {
	say := fmt.Sprintf(format, args...)
	if d.screen {
		d.problems = append(d.problems, model.Refuse(model.Unprocessable, strings.ToUpper(say[:1])+say[1:]+"."))
		return
	}
	d.problems = append(d.problems, model.Refuse(model.Unprocessable, at+": "+say))
}

// wayOut is the end of a refusal: what to write into the file, or where to go.
func (d *declaring) wayOut(file, screen string) string {
	if d.screen {
		return screen
	}
	return file
}

// told adds the line of a change: "client nord/bakery: name and zone changed".
func (d *declaring) told(what string, diff difference) {
	d.changes = append(d.changes, what+": "+diff.String())
}

// difference is what changes about one thing.
type difference struct {
	made  bool
	words []string
}

func (f difference) none() bool { return !f.made && len(f.words) == 0 }

func (f difference) String() string {
	if f.made {
		return "made"
	}
	list := slices.Compact(slices.Clone(f.words))
	if n := len(list); n > 1 {
		list = append(list[:n-2], list[n-2]+" and "+list[n-1])
	}
	text := ""
	for i, w := range list {
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return text + " changed"
}

// set takes over a declared value where it differs from what is there.
func set[T comparable](f *difference, word string, have *T, want *T) {
	if want != nil && *have != *want {
		*have = *want
		f.words = append(f.words, word)
	}
}

// setOrNone is set for a column that is null where nothing is the matter: the
// zero value stands for null.
func setOrNone[T comparable](f *difference, word string, have **T, want *T) {
	var none, was T
	if want == nil {
		return
	}
	if *have != nil {
		was = **have
	}
	if was == *want {
		return
	}
	*have = want
	if *want == none {
		*have = nil
	}
	f.words = append(f.words, word)
}

// setSince is set for a time that says since when something holds.
func setSince(f *difference, word string, have **time.Time, want *bool, now time.Time) {
	if want == nil || (*have != nil) == *want {
		return
	}
	*have = nil
	if *want {
		*have = &now
	}
	f.words = append(f.words, word)
}
