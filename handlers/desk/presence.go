package desk

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
)

// Presence says who has a post open; see cmd/internal/live.
type Presence interface {
	Attend(ctx context.Context, tenant model.TenantID, post model.PostID, user model.UserID, now time.Time) (others map[model.UserID]time.Time)
	Attended(model.TenantID, model.PostID) (words <-chan struct{}, stop func())
}

// presenceBeat is how often a page that stays open says so.
const presenceBeat = 15 * time.Second

// showPresence answers GET /posts/{id}/presence with server-sent events: "here" says
// who else is editing the post, whenever that is somebody else. While it is listened
// to, the reader is said to be there. It ends with the reader's session or right to
// write the post.
func (d *Desk) showPresence(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	page, err := d.postOf(r.Context(), scope, r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := scope.Editable(page); err != nil {
		return err
	}
	words, stop := d.Presence.Attended(scope.Actor.Tenant, page.Post.ID)
	defer stop()
	s, said := openStream(w), ""
	beat, end := time.NewTicker(presenceBeat), time.After(liveSpan)
	defer beat.Stop()
	for s.err == nil {
		others := d.Presence.Attend(r.Context(), scope.Actor.Tenant, page.Post.ID, scope.Actor.User, d.Now())
		if say := d.presenceWords(r.Context(), scope, page.Post.ID, others); say != said {
			s.event("here", say)
			said = say
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-end:
			return nil
		case _, open := <-words:
			if !open {
				return nil
			}
		case <-beat.C:
			if user, err := d.Sessions.User(r); err != nil || user != scope.Actor.User {
				return nil
			}
			if _, still := d.attendant(r.Context(), scope, page.Post.ID, scope.Actor.User); !still {
				return nil
			}
			s.beat()
		}
	}
	return nil
}

// attendant is the name of a user who may write the post now. Who may not is nobody's
// business, whatever Redis remembers.
func (d *Desk) attendant(ctx context.Context, scope *db.Scope, post model.PostID, user model.UserID) (name string, may bool) {
	their, err := d.Store.Enter(ctx, user, scope.Workspace.Slug)
	if err != nil || !their.Actor.MayAnywhere(model.PostsWrite) {
		return "", false
	}
	page, err := their.Post(ctx, post)
	return their.Actor.Name, err == nil && their.Editable(page) == nil
}

// presenceWords say who else is editing, whoever began first before the others; nothing
// if nobody is.
func (d *Desk) presenceWords(ctx context.Context, scope *db.Scope, post model.PostID, others map[model.UserID]time.Time) string {
	type one struct {
		name  string
		since time.Time
	}
	var all []one
	for user, since := range others {
		if name, may := d.attendant(ctx, scope, post, user); may {
			all = append(all, one{strings.Join(strings.Fields(name), " "), since})
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, o := range all {
		names = append(names, o.name+" (since "+clockIn(o.since, scope.Workspace.Zone)+")")
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is editing this post, too. Saving asks about what you both changed."
	}
	return listed(names) + " are editing this post, too. Saving asks about what several of you changed."
}

// clockIn is a time of today in a sentence.
func clockIn(at time.Time, zone string) string {
	location, err := model.LoadZone(zone)
	if err != nil {
		location = time.UTC
	}
	return at.In(location).Format("15:04") + ", " + web.City(zone)
}
