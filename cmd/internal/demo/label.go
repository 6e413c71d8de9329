package demo

import (
	"context"

	"herald/db"
	"herald/db/model"
)

// labelling names a label or campaign of a client.
type labelling struct {
	client, name string
	kind         db.LabelKind
}

// labellings are what a draft is found again by.
func (d draft) labellings() (list []labelling) {
	for _, name := range d.Labels {
		list = append(list, labelling{d.Client, name, db.PlainLabel})
	}
	if d.Campaign != "" {
		list = append(list, labelling{d.Client, d.Campaign, db.Campaign})
	}
	return list
}

// label makes the labels and campaigns of all drafts.
func (h *history) label(ctx context.Context, drafts []draft) (err error) {
	h.labels = map[labelling]model.LabelID{}
	for _, d := range drafts {
		for _, l := range d.labellings() {
			if _, there := h.labels[l]; there {
				continue
			}
			form := db.Label{ClientID: h.clients[l.client].ID, Kind: l.kind, Name: l.name, Tint: len(h.labels) % len(db.Tints)}
			if h.labels[l], err = h.people["nora"].AddLabel(ctx, form); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *history) labelled(p *post) (ids []model.LabelID) {
	for _, l := range p.labellings() {
		ids = append(ids, h.labels[l])
	}
	return ids
}

// note writes what some of the days ahead are about.
func (h *history) note(ctx context.Context) error {
	for _, n := range []struct {
		client string // empty: the whole workspace
		days   int    // from now
		words  string
	}{
		{"", 2, "Team day: answers come in the evening"},
		{"kornblume", 4, "New autumn range in the shops"},
		{"mare", 5, "Photographer on site"},
		{"hemlock", 9, "Press screening, nothing before 18:00"},
	} {
		day := model.LocalOf(h.now.AddDate(0, 0, n.days)).Date
		if _, err := h.people["nora"].AddDayNote(ctx, db.DayNote{ClientID: h.clients[n.client].ID, Date: day, Words: n.words}); err != nil {
			return err
		}
	}
	return nil
}
