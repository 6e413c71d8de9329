package hooks

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/ui"
)

// feed serves what is planned to calendar programs.
type feed struct{ Deps }

// length is how long a post takes in a calendar: enough to be seen.
const length = 15 * time.Minute

// show answers GET /feeds/{file} with the calendar of a secret address.
func (f feed) show(w http.ResponseWriter, r *http.Request) error {
	token, ok := strings.CutSuffix(r.PathValue("file"), ".ics")
	if !ok {
		return model.Refuse(model.NotFound, "There is no such calendar.")
	}
	scope, client, err := f.Edge.Store.Feed(r.Context(), token)
	if err != nil {
		return err
	}
	cards, clients, err := scope.FeedCards(r.Context(), client)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="herald.ics"`)
	h.Set("Cache-Control", "private, max-age=300")
	h.Set("X-Robots-Tag", "noindex")
	return f.calendar(scope, client, cards, clients).SerializeTo(w)
}

func (f feed) calendar(scope *db.Scope, client model.ClientID, cards []db.CalendarCard, clients []db.CalendarClient) *ics.Calendar {
	names := map[model.ClientID]string{}
	for _, c := range clients {
		names[c.ID] = c.Name
	}
	title := scope.Workspace.Name
	if client != 0 {
		title += ": " + names[client]
	}
	c := ics.NewCalendarFor("Herald")
	c.SetMethod(ics.MethodPublish)
	c.SetXWRCalName(title)
	c.SetRefreshInterval("PT15M")
	c.SetXPublishedTTL("PT15M")
	for _, card := range cards {
		f.event(c, scope, client, card, names)
	}
	return c
}

func (f feed) event(c *ics.Calendar, scope *db.Scope, client model.ClientID, card db.CalendarCard, names map[model.ClientID]string) {
	e := c.AddEvent(fmt.Sprintf("%d-%d@%s", card.Post, card.Targets[0].ID, scope.Workspace.Slug))
	e.SetDtStampTime(f.Edge.Now())
	e.SetStartAt(card.DueAt)
	e.SetEndAt(card.DueAt.Add(length))
	words := card.Excerpt
	if words == "" {
		words = "A post without words"
	}
	e.SetSummary(ui.StatusWord(db.ShownTogether(card.Shown)) + ": " + words)
	e.SetTimeTransparency(ics.TransparencyTransparent)
	lines := []string{strings.Join(labels(card.Networks), ", "), strings.Join(clientNames(card.Clients, names), ", ")}
	if client == 0 { // a client's own feed may be passed on to people who cannot sign in
		link := fmt.Sprintf("%s/w/%s/posts/%d", f.BaseURL, scope.Workspace.Slug, card.Post)
		lines = append(lines, link)
		e.SetURL(link)
	}
	e.SetDescription(strings.Join(lines, "\n"))
}

func labels(names []network.Name) (all []string) {
	for _, n := range names {
		all = append(all, network.Label(n))
	}
	return all
}

func clientNames(ids []model.ClientID, names map[model.ClientID]string) (all []string) {
	for _, id := range ids {
		all = append(all, names[id])
	}
	slices.Sort(all)
	return all
}
