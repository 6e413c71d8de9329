package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// roles are what a member can be, widest first, with what that means.
var roles = []struct {
	role        model.Role
	label, says string
}{
	{model.Owner, "Owner", "Everything, and makes other owners."},
	{model.Admin, "Admin", "Everything for every client: people, clients, accounts, posts."},
	{model.Manager, "Manager", "Plans, approves and publishes for the clients chosen below, and connects their accounts."},
	{model.Editor, "Editor", "Writes posts and uploads files for the clients chosen below."},
	{model.Viewer, "Viewer", "Sees posts, files and accounts of the clients chosen below."},
}

// permissions are what a member can be given for one client, in plain words.
var permissions = []struct {
	is   model.Permission
	says string
}{
	{model.PostsView, "See posts, calendar and approvals"},
	{model.PostsWrite, "Write posts"},
	{model.PostsSchedule, "Schedule, move and publish"},
	{model.PostsApprove, "Approve"},
	{model.PostsResolve, "Say whether a post of unknown outcome is live"},
	{model.MediaView, "See files"},
	{model.MediaWrite, "Upload and change files"},
	{model.AccountsView, "See accounts"},
	{model.AccountsManage, "Connect and change accounts"},
	{model.ActivityView, "See activity"},
}

func roleLabel(role model.Role) string {
	for _, r := range roles {
		if r.role == role {
			return r.label
		}
	}
	return string(role)
}

// showMembers answers GET /settings/members.
func (d *Desk) showMembers(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	all, err := scope.Members(r.Context())
	if err != nil {
		return err
	}
	p := settings.MembersProps{Invite: at(scope, "/settings/members/new")}
	for _, m := range all.Members {
		p.Members = append(p.Members, settings.Member{
			Name: m.Name, Email: m.Email, Role: roleLabel(m.Role), Reaches: reachWords(m, all.Clients), Href: at(scope, "/settings/members/"+id(m.ID)), You: m.ID == scope.Actor.User, Off: m.Disabled,
		})
	}
	for _, i := range all.Invitations {
		path := at(scope, "/settings/invitations/"+id(i.ID))
		p.Invited = append(p.Invited, settings.Invited{
			Email: i.Email, Role: strings.ToLower(roleLabel(i.Role)), Inviter: i.Inviter, Until: clientTime(i.ExpiresAt, scope.Workspace.Zone), Over: !d.Now().Before(i.ExpiresAt),
			Again: path + "/successor", Revoke: path + "/revocation",
		})
	}
	return d.showSettings(w, r, scope, http.StatusOK, page{title: "Members"}, settings.Members(p))
}

// reachWords names the clients that a member reaches, or says how many.
func reachWords(m db.Member, clients []db.MemberClient) string {
	if m.Role.EveryClient() {
		return "Every client"
	}
	var names []string
	for _, c := range clients {
		if len(m.Access[c.ID]) > 0 {
			names = append(names, c.Name)
		}
	}
	switch {
	case len(names) == 0:
		return "No client yet: sees nothing"
	case len(names) > 3:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:2], ", "), len(names)-2)
	}
	return strings.Join(names, ", ")
}

// showMember answers GET /settings/members/{member}.
func (d *Desk) showMember(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawMember(w, r, scope, http.StatusOK, func(*settings.MemberProps, db.Member, []db.MemberClient) {})
}

func (d *Desk) drawMember(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.MemberProps, db.Member, []db.MemberClient)) error {
	m, clients, err := scope.Member(r.Context(), pathID[model.UserID](r, "member"))
	if err != nil {
		return err
	}
	path := at(scope, "/settings/members/"+id(m.ID))
	p := settings.MemberProps{
		Title: m.Name, Say: m.Email, Crumbs: []ui.Crumb{{Label: "Members", Href: at(scope, "/settings/members")}}, Action: path, Seen: m.Seen(), Name: m.Name,
		Roles: roleChoices(scope.Actor, m.Role), Every: m.Role.EveryClient(), Grants: grants(m.Role, m.Access, clients), Remove: path + "/removal",
	}
	if m.Role == model.Owner && scope.Actor.Role != model.Owner {
		p.Locked, p.Remove = "Only an owner can change or remove an owner.", ""
	}
	with(&p, m, clients)
	return d.showSettings(w, r, scope, status, page{title: "Members"}, settings.MemberForm(p))
}

func roleChoices(a model.Actor, chosen model.Role) (list []ui.Option) {
	for _, r := range roles {
		list = append(list, ui.Option{Value: string(r.role), Label: r.label, Help: r.says, Chosen: r.role == chosen, Disabled: r.role == model.Owner && a.Role != model.Owner && chosen != model.Owner})
	}
	return list
}

// grants are what a role reaches of each client.
func grants(role model.Role, access map[model.ClientID][]model.Permission, clients []db.MemberClient) (list []settings.Grant) {
	for _, c := range clients {
		have := access[c.ID]
		g := settings.Grant{ID: id(c.ID), Client: c.Name, Archived: c.Archived, Reach: "some", Words: "Only what is chosen"}
		switch {
		case role.EveryClient():
			g.Reach, g.Words = "none", "By the role"
		case len(have) == 0:
			g.Reach, g.Words = "none", "Not at all"
		case containsAll(have, role.Grants()):
			g.Reach, g.Words = "all", "All that the role allows"
		}
		for _, one := range permissions {
			g.Each = append(g.Each, ui.Option{Value: string(one.is), Label: one.says, Chosen: slices.Contains(have, one.is)})
		}
		list = append(list, g)
	}
	return list
}

func containsAll(have, want []model.Permission) bool {
	return !slices.ContainsFunc(want, func(p model.Permission) bool { return !slices.Contains(have, p) })
}

// readMemberForm reads a role and what it reaches. A client that is not named in the
// form is not reached.
func readMemberForm(r *http.Request) db.MemberForm {
	f := db.MemberForm{Role: model.Role(r.PostFormValue("role")), Access: map[model.ClientID][]model.Permission{}, Seen: r.PostFormValue("seen")}
	for name, values := range r.PostForm {
		client, ok := strings.CutPrefix(name, "reach.")
		if !ok || len(values) == 0 {
			continue
		}
		switch values[0] {
		case "all":
			f.Access[model.ClientID(web.ID(client))] = f.Role.Grants()
		case "some":
			for _, p := range r.PostForm["may."+client] {
				f.Access[model.ClientID(web.ID(client))] = append(f.Access[model.ClientID(web.ID(client))], model.Permission(p))
			}
		}
	}
	return f
}

// editMember answers POST /settings/members/{member}.
func (d *Desk) editMember(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	f := readMemberForm(r)
	m, err := scope.EditMember(r.Context(), pathID[model.UserID](r, "member"), f)
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		return d.drawMember(w, r, scope, web.Status(err), func(p *settings.MemberProps, _ db.Member, clients []db.MemberClient) {
			p.Roles, p.Grants, p.Problem = roleChoices(scope.Actor, f.Role), grants(f.Role, f.Access, clients), problems(no, "role")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/members"), m.Name+" may do that from now on.")
}

// createMemberRemoval answers POST /settings/members/{member}/removal.
func (d *Desk) createMemberRemoval(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	m, err := scope.RemoveMember(r.Context(), pathID[model.UserID](r, "member"), r.PostFormValue("seen"))
	if err != nil {
		return err
	}
	if m.ID == scope.Actor.User {
		return d.say(w, r, "/signin", "You have left "+scope.Workspace.Name+".")
	}
	return d.say(w, r, at(scope, "/settings/members"), m.Name+" is no longer a member.")
}

// showNewMember answers GET /settings/members/new.
func (d *Desk) showNewMember(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawNewMember(w, r, scope, http.StatusOK, db.MemberForm{Role: model.Editor}, func(*settings.MemberProps) {})
}

func (d *Desk) drawNewMember(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, f db.MemberForm, with func(*settings.MemberProps)) error {
	all, err := scope.Members(r.Context())
	if err != nil {
		return err
	}
	clients := slices.DeleteFunc(all.Clients, func(c db.MemberClient) bool { return c.Archived })
	p := settings.MemberProps{
		Title: "Invite somebody", Invite: true, Crumbs: []ui.Crumb{{Label: "Members", Href: at(scope, "/settings/members")}}, Action: at(scope, "/settings/invitations"),
		Roles: roleChoices(scope.Actor, f.Role), Grants: grants(f.Role, f.Access, clients),
	}
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: "Members"}, settings.MemberForm(p))
}

// createInvitation answers POST /settings/invitations.
func (d *Desk) createInvitation(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	f, email := readMemberForm(r), r.PostFormValue("email")
	if err := d.mayInvite(r, scope); err != nil {
		return err
	}
	err := scope.Invite(r.Context(), email, f)
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawNewMember(w, r, scope, web.Status(err), f, func(p *settings.MemberProps) {
			p.Email, p.Problem = email, problems(no, "email")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/members"), "An invitation is on its way to "+strings.ToLower(strings.TrimSpace(email))+".")
}

// invitationsAtOnce bounds what strangers can be mailed from one workspace.
var invitationsAtOnce = db.Bucket{Kind: "invitation", Burst: 50, Drip: 30 * time.Second}

func (d *Desk) mayInvite(r *http.Request, scope *db.Scope) error {
	wait, err := d.Store.Take(r.Context(), invitationsAtOnce, id(scope.Actor.Tenant))
	if err == nil && wait > 0 {
		err = model.Refuse(model.TooMany, "Many people were invited in a short time. Wait a few minutes, then go on.")
	}
	return err
}

// createInvitationSuccessor answers POST /settings/invitations/{invitation}/successor.
func (d *Desk) createInvitationSuccessor(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := d.mayInvite(r, scope); err != nil {
		return err
	}
	email, err := scope.InviteAgain(r.Context(), pathID[model.InvitationID](r, "invitation"))
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/members"), "A fresh link is on its way to "+email+". The one before it no longer works.")
}

// createInvitationRevocation answers POST /settings/invitations/{invitation}/revocation.
func (d *Desk) createInvitationRevocation(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	email, err := scope.RevokeInvitation(r.Context(), pathID[model.InvitationID](r, "invitation"))
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/members"), "The invitation of "+email+" no longer works.")
}
