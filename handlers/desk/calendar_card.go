package desk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/calendar"
	"herald/views/ui"
)

// cardDrawer draws cards of one page, whose times are those of zone.
func cardDrawer(scope *db.Scope, zone string, c db.Choices) func(db.CalendarCard) calendar.Card {
	byID := map[model.ClientID]db.CalendarClient{}
	for _, c := range c.Clients {
		byID[c.ID] = c
	}
	labels := labelDrawer(c.Labels)
	return func(c db.CalendarCard) calendar.Card {
		p := calendar.Card{
			Labels: labels(c.Labels), Clash: clashWords(c.Collisions),
			Href: at(scope, "/posts/"+id(c.Post)), Words: c.Excerpt, Marks: marks(c.Networks), Clients: clientNames(c.Clients, byID),
			State: db.ShownTogether(c.Shown), Status: shownWords(c.Shown),
		}
		if !c.DueAt.IsZero() {
			p.ISO, p.Clock, p.Also = c.DueAt.UTC().Format(time.RFC3339), clock(c.DueAt, zone), clientClock(c, zone, byID)
		}
		if movable(c.Shown) {
			p.Key = cardKey(c.Post, c.DueAt)
		}
		for _, t := range c.Targets[:min(len(c.Targets), rowTargets)] {
			p.Targets = append(p.Targets, calendar.Target{
				Href: at(scope, "/targets/"+id(t.ID)), Mark: calendar.Mark{Network: string(t.Network), Label: network.Label(t.Network)}, Account: t.Account, State: t.Shown,
			})
		}
		p.More, p.MoreHref = len(c.Targets)-len(p.Targets), p.Href
		return p
	}
}

// labelDrawer draws those labels of a post that the reader may see; a campaign is
// the last of them.
func labelDrawer(known []db.Label) func([]model.LabelID) []ui.LabelProps {
	return func(ids []model.LabelID) (tags []ui.LabelProps) {
		for _, kind := range []db.LabelKind{db.PlainLabel, db.Campaign} {
			for _, l := range known {
				if l.Kind == kind && slices.Contains(ids, l.ID) {
					tags = append(tags, ui.LabelProps{Name: l.Name, Tint: l.Tint, Campaign: kind == db.Campaign})
				}
			}
		}
		return tags
	}
}

// movable says whether a card can be dragged: nothing of it was published or
// given up, and nothing is being published.
func movable(shown []string) bool {
	return !slices.ContainsFunc(shown, func(s string) bool {
		return slices.Contains([]string{"publishing", "published", "failed", "unknown_outcome", "needs_reconnect"}, s)
	}) && slices.ContainsFunc(shown, func(s string) bool { return s != "cancelled" })
}

// rowTargets is how many targets a row of the list names.
const rowTargets = 8

func marks(names []network.Name) []calendar.Mark {
	var all []calendar.Mark
	for _, n := range names {
		all = append(all, calendar.Mark{Network: string(n), Label: network.Label(n)})
	}
	return all
}

func clientNames(ids []model.ClientID, byID map[model.ClientID]db.CalendarClient) string {
	if len(ids) == 0 {
		return "No client"
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = byID[id].Name
	}
	slices.Sort(names)
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return strings.Join(names, " and ")
}

// clientClock is the time at the card's one client, where it is another than the
// calendar's.
func clientClock(c db.CalendarCard, zone string, byID map[model.ClientID]db.CalendarClient) string {
	if len(c.Clients) != 1 {
		return ""
	}
	theirs := byID[c.Clients[0]].Zone
	there, err := model.At(c.DueAt, theirs)
	here, err2 := model.At(c.DueAt, zone)
	switch {
	case err != nil || err2 != nil || there.Local == here.Local:
		return ""
	case there.Local.Date != here.Local.Date:
		return there.Local.Wall().Format("Mon 15:04 ") + placeName(theirs)
	}
	return clock(c.DueAt, theirs) + " " + placeName(theirs)
}

// shownWords says how many targets stand where: "8 published, 2 failed". Where
// all stand alike the status is enough.
func shownWords(shown []string) string {
	counts := map[string]int{}
	for _, s := range shown {
		counts[s]++
	}
	if len(counts) <= 1 {
		return ui.StatusWord(db.ShownTogether(shown))
	}
	var parts []string
	for _, s := range db.Shown() {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], strings.ToLower(ui.StatusWord(s))))
		}
	}
	return strings.Join(parts, ", ")
}
