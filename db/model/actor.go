package model

import (
	"log/slog"
	"slices"
)

// Role is what a person is in one workspace.
type Role string

// The roles, widest first.
const (
	Owner   Role = "owner"
	Admin   Role = "admin"
	Manager Role = "manager"
	Editor  Role = "editor"
	Viewer  Role = "viewer"
)

// Permission names one thing a person may do for one client, or, for the
// workspace ones, in the workspace.
type Permission string

// The permissions.
const (
	PostsView       Permission = "posts.view"
	PostsWrite      Permission = "posts.write"
	PostsSchedule   Permission = "posts.schedule"
	PostsApprove    Permission = "posts.approve"
	PostsResolve    Permission = "posts.resolve" // say that an unknown outcome is live or is not
	MediaView       Permission = "media.view"
	MediaWrite      Permission = "media.write"
	AccountsView    Permission = "accounts.view"
	AccountsManage  Permission = "accounts.manage"
	ActivityView    Permission = "activity.view"
	ClientsManage   Permission = "clients.manage"
	WorkspaceManage Permission = "workspace.manage" // pause, people, settings
)

var viewer = []Permission{PostsView, MediaView, AccountsView, ActivityView}
var editor = append(slices.Clone(viewer), PostsWrite, MediaWrite)
var manager = append(slices.Clone(editor), PostsSchedule, PostsApprove, PostsResolve, AccountsManage)
var admin = append(slices.Clone(manager), ClientsManage, WorkspaceManage)

// Grants returns what a role may do where nothing narrower was said.
func (r Role) Grants() []Permission {
	switch r {
	case Owner, Admin:
		return slices.Clone(admin)
	case Manager:
		return slices.Clone(manager)
	case Editor:
		return slices.Clone(editor)
	case Viewer:
		return slices.Clone(viewer)
	}
	return nil
}

// EveryClient says whether the role reaches all clients of the workspace
// without being named at each.
func (r Role) EveryClient() bool { return r == Owner || r == Admin }

// Actor is one person acting in one workspace. A person in two workspaces is
// two Actors.
type Actor struct {
	Tenant  TenantID
	User    UserID
	Name    string
	Role    Role
	Clients map[ClientID][]Permission // for roles that do not reach every client
}

// May says whether the actor has p for the client.
func (a Actor) May(p Permission, client ClientID) bool {
	if a.Role.EveryClient() {
		return slices.Contains(a.Role.Grants(), p)
	}
	return slices.Contains(a.Clients[client], p)
}

// MayAnywhere says whether the actor has p for at least one client, or for the
// workspace as a whole.
func (a Actor) MayAnywhere(p Permission) bool {
	if a.Role.EveryClient() {
		return slices.Contains(a.Role.Grants(), p)
	}
	for _, granted := range a.Clients {
		if slices.Contains(granted, p) {
			return true
		}
	}
	return false
}

// ClientsWith returns the clients for which the actor has p, and all=true if
// that is every client of the workspace.
func (a Actor) ClientsWith(p Permission) (ids []ClientID, all bool) {
	if a.Role.EveryClient() {
		return nil, slices.Contains(a.Role.Grants(), p)
	}
	for id, granted := range a.Clients {
		if slices.Contains(granted, p) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, false
}

// LogValue keeps names and client sets out of the log.
func (a Actor) LogValue() slog.Value {
	return slog.GroupValue(slog.Int64("tenant", int64(a.Tenant)), slog.Int64("user", int64(a.User)))
}
