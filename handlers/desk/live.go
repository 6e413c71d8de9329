package desk

import (
	"net/http"
	"time"

	"herald/db"
	"herald/db/model"
)

// Changes says when a workspace changes; see cmd/internal/live.
type Changes interface {
	Listen(model.TenantID) (words <-chan struct{}, stop func())
}

const (
	liveBeat = 20 * time.Second // shorter than what proxies let a silent answer live
	liveSpan = 15 * time.Minute // then the page asks anew, and who it is is looked up again
)

func (d *Desk) liveRoutes() []route {
	return []route{
		{"GET /w/{slug}/live", model.PostsView, d.showLive},
		{"GET /w/{slug}/posts/{id}/presence", model.PostsWrite, d.showPresence},
	}
}

// showLive answers GET /live with server-sent events: "changed", without content,
// whenever anything in the workspace did. The page asks for itself again and gets
// what its reader may see.
func (d *Desk) showLive(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	words, stop := d.Changes.Listen(scope.Actor.Tenant)
	defer stop()
	s := openStream(w)
	beat, end := time.NewTicker(liveBeat), time.After(liveSpan)
	defer beat.Stop()
	for s.err == nil {
		select {
		case <-r.Context().Done():
			return nil
		case <-end:
			return nil
		case <-beat.C:
			s.beat()
		case _, open := <-words:
			if !open {
				return nil
			}
			s.event("changed", "")
		}
	}
	return nil // the reader is gone; nobody is left to tell
}
