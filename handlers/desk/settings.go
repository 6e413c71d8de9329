package desk

import (
	"context"
	"io"
	"net/http"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// section is one screen of the settings. Needs is as in route; owner leaves it to
// owners alone.
type section struct {
	group, label, icon, path string
	needs                    model.Permission
	owner                    bool
}

// sections are the screens of the settings, in the order in which they are listed;
// those of a group stand together. A screen that belongs there has its line here and
// is drawn by showSettings under its label.
var sections = []section{
	{"Workspace", "General", "building-2", "/settings/general", model.WorkspaceManage, false},
	{"Workspace", "Members", "users", "/settings/members", model.WorkspaceManage, false},
	{"Workspace", "Clients", "briefcase-business", "/settings/clients", model.ClientsManage, false},
	{"Workspace", wordingsTitle, "text-quote", "/wordings", model.PostsWrite, false},
	{"Workspace", "Approval workflows", "list-checks", "/settings/workflows", model.ClientsManage, false},
	{"Workspace", "Review pages", "palette", "/settings/look", model.WorkspaceManage, false},
	{"You", "Profile", "user-round", "/settings/profile", model.PostsView, false},
	{"You", "Calendar addresses", "calendar-plus", "/feeds", model.PostsView, false},
	{"Herald", "Networks", "table-properties", "/settings/networks", model.AccountsView, false},
	{"Herald", "Style", "swatch-book", "/settings/style", model.WorkspaceManage, true},
}

func (s section) shownTo(a model.Actor) bool {
	return a.MayAnywhere(s.needs) && (!s.owner || a.Role == model.Owner)
}

func (d *Desk) settingsRoutes() []route {
	return []route{
		{"GET /w/{slug}/settings", model.PostsView, d.showSettingsStart},
		{"GET /w/{slug}/settings/general", model.WorkspaceManage, d.showWorkspaceSettings},
		{"POST /w/{slug}/settings/general", model.WorkspaceManage, d.editWorkspace},
		{"GET /w/{slug}/settings/members", model.WorkspaceManage, d.showMembers},
		{"GET /w/{slug}/settings/members/new", model.WorkspaceManage, d.showNewMember},
		{"GET /w/{slug}/settings/members/{member}", model.WorkspaceManage, d.showMember},
		{"POST /w/{slug}/settings/members/{member}", model.WorkspaceManage, d.editMember},
		{"POST /w/{slug}/settings/members/{member}/removal", model.WorkspaceManage, d.createMemberRemoval},
		{"POST /w/{slug}/settings/invitations", model.WorkspaceManage, d.createInvitation},
		{"POST /w/{slug}/settings/invitations/{invitation}/successor", model.WorkspaceManage, d.createInvitationSuccessor},
		{"POST /w/{slug}/settings/invitations/{invitation}/revocation", model.WorkspaceManage, d.createInvitationRevocation},
		{"GET /w/{slug}/settings/clients", model.ClientsManage, d.showClients},
		{"GET /w/{slug}/settings/clients/new", model.ClientsManage, d.showNewClient},
		{"POST /w/{slug}/settings/clients", model.ClientsManage, d.createClient},
		{"GET /w/{slug}/settings/look", model.WorkspaceManage, d.showLook},
		{"POST /w/{slug}/settings/look", model.WorkspaceManage, d.editLook},
		{"POST /w/{slug}/settings/look/host", model.WorkspaceManage, d.createHost},
		{"POST /w/{slug}/settings/look/host/checks", model.WorkspaceManage, d.createHostCheck},
		{"POST /w/{slug}/settings/look/host/removal", model.WorkspaceManage, d.createHostRemoval},
		{"POST /w/{slug}/settings/clients/{client}/look/host", model.ClientsManage, d.createHost},
		{"POST /w/{slug}/settings/clients/{client}/look/host/checks", model.ClientsManage, d.createHostCheck},
		{"POST /w/{slug}/settings/clients/{client}/look/host/removal", model.ClientsManage, d.createHostRemoval},
		{"GET /w/{slug}/settings/clients/{client}/look", model.ClientsManage, d.showLook},
		{"POST /w/{slug}/settings/clients/{client}/look", model.ClientsManage, d.editLook},
		{"GET /w/{slug}/settings/clients/{client}", model.ClientsManage, d.showClient},
		{"POST /w/{slug}/settings/clients/{client}", model.ClientsManage, d.editClient},
		{"POST /w/{slug}/settings/clients/{client}/archive", model.ClientsManage, d.archiveClient},
		{"POST /w/{slug}/settings/clients/{client}/blackouts", model.ClientsManage, d.createBlackout},
		{"POST /w/{slug}/settings/clients/{client}/blackouts/{blackout}/removal", model.ClientsManage, d.createBlackoutRemoval},
		{"POST /w/{slug}/settings/clients/{client}/link-tags", model.ClientsManage, d.setLinkTags},
		{"GET /w/{slug}/settings/profile", model.PostsView, d.showProfile},
		{"POST /w/{slug}/settings/profile", model.PostsView, d.editProfile},
		{"POST /w/{slug}/settings/password", model.PostsView, d.createPassword},
		{"POST /w/{slug}/settings/sessions", model.PostsView, d.createSessionEnd},
		{"GET /w/{slug}/settings/style", model.WorkspaceManage, d.showStyle},
	}
}

// showSettingsStart answers GET /settings with the first screen of them.
func (d *Desk) showSettingsStart(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	for _, s := range sections {
		if s.shownTo(scope.Actor) {
			return web.See(w, r, at(scope, s.path))
		}
	}
	return model.Refuse(model.Forbidden, "There is nothing here that your role may change. Ask an owner or admin of the workspace.")
}

// showSettings draws a screen of the settings beside the list of all of them.
func (d *Desk) showSettings(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, p page, body templ.Component) error {
	p.nav = "settings"
	p.styles = append(p.styles, "css/settings.css")
	frame := templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		return settings.Frame(settingsNav(scope, p.title)).Render(templ.WithChildren(ctx, body), out)
	})
	return d.show(w, r, scope, status, p, frame)
}

func settingsNav(scope *db.Scope, current string) (groups []settings.Group) {
	for _, s := range sections {
		if !s.shownTo(scope.Actor) {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].Label != s.group {
			groups = append(groups, settings.Group{Label: s.group})
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, ui.Tab{Label: s.label, Icon: s.icon, Href: at(scope, s.path), Current: s.label == current})
	}
	return groups
}

// showStyle answers GET /settings/style with every part that screens are made of.
func (d *Desk) showStyle(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if scope.Actor.Role != model.Owner {
		return model.Refuse(model.Forbidden, "Only an owner of the workspace sees the parts that screens are made of.")
	}
	return d.showSettings(w, r, scope, http.StatusOK, page{title: "Style", wide: true, styles: []string{"css/style.css"}}, settings.Style(settings.StyleProps{Here: at(scope, "/settings/style")}))
}
