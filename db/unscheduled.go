package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Unscheduled is a post that is approved and planned, and that nobody has scheduled.
type Unscheduled struct {
	Tenant    model.TenantID
	Post      model.PostID
	DueAt     time.Time // the planned time
	Workspace string
	Slug      string
	Writer    model.UserID // of the approved version
	Targets   []UnscheduledTarget
	Access    []Access
}

// UnscheduledTarget is one of its targets.
type UnscheduledTarget struct {
	Client    model.ClientID `json:"client"`
	Name      string         `json:"name"` // the client's
	Zone      string         `json:"zone"` // the client's
	Network   string         `json:"network"`
	Words     string         `json:"words"`      // the first ones that go there
	PlannedBy model.UserID   `json:"planned_by"` // zero if nobody in particular
}

// Access is what somebody whose role does not reach every client may do at one.
type Access struct {
	User   model.UserID       `json:"user"`
	Client model.ClientID     `json:"client"`
	May    []model.Permission `json:"may"`
}

// Unscheduled lists, of one shard, the posts whose people are to be told at now that
// nobody has scheduled them: a day before the planned time, or two hours if they came to it
// later, and once it has passed. At most limit targets are looked at.
func (p *Pipeline) Unscheduled(ctx context.Context, shard string, now time.Time, limit int) (list []Unscheduled, err error) {
	defer wrap(&err, "list unscheduled posts of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.unscheduled_plans($1, $2)`, now, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Unscheduled])
}

// ToldUnscheduled says that the people of those posts were told at now. The caller
// owes the mails first, each once by its key, so that who dies in between owes none twice.
func (p *Pipeline) ToldUnscheduled(ctx context.Context, shard string, now time.Time, list []Unscheduled) (err error) {
	defer wrap(&err, "tell of unscheduled posts of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	var tenants []model.TenantID
	var posts []model.PostID
	var dues []time.Time
	for _, u := range list {
		tenants, posts, dues = append(tenants, u.Tenant), append(posts, u.Post), append(dues, u.DueAt)
	}
	_, err = pool.Exec(ctx, `SELECT tenant.told_unscheduled($1, $2, $3, $4)`, tenants, posts, dues, now)
	return err
}

// Known are the users whom the post concerns or who have something to do with its clients.
func (u Unscheduled) Known() (users []model.UserID) {
	users = append(users, u.Writer)
	for _, t := range u.Targets {
		users = append(users, t.PlannedBy)
	}
	for _, a := range u.Access {
		users = append(users, a.User)
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// Concerns says whether the user wrote the post or chose its time.
func (u Unscheduled) Concerns(user model.UserID) bool {
	return user == u.Writer || slices.ContainsFunc(u.Targets, func(t UnscheduledTarget) bool { return t.PlannedBy == user })
}

// For are the targets for whose clients somebody has a permission.
func (u Unscheduled) For(who Recipient, p model.Permission) (list []UnscheduledTarget) {
	for _, t := range u.Targets {
		if who.Role.EveryClient() || slices.ContainsFunc(u.Access, func(a Access) bool { return a.User == who.ID && a.Client == t.Client && slices.Contains(a.May, p) }) {
			list = append(list, t)
		}
	}
	return list
}
