package desk

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/views/composer"
	"herald/views/ui"
)

// readLabels reads the labels of a form, the campaign among them.
func (c *composition) readLabels(p *parts) (err error) {
	if c.labels, err = ids[model.LabelID](p.Values["label"]); err != nil {
		return err
	}
	campaign, err := optionalID(p.Get("campaign"))
	if campaign != 0 {
		c.labels = append(c.labels, model.LabelID(campaign))
	}
	slices.Sort(c.labels)
	c.labels = slices.Compact(c.labels)
	return err
}

// keepLabels reads which labels there are, and leaves of the form's those.
func (e *editing) keepLabels(ctx context.Context) (err error) {
	if e.labels, err = e.scope.Labels(ctx); err != nil {
		return err
	}
	e.form.labels = slices.DeleteFunc(slices.Clone(e.form.labels), func(id model.LabelID) bool {
		gone := !slices.ContainsFunc(e.labels, func(l db.Label) bool { return l.ID == id })
		if gone {
			e.lost = model.Refuse(model.NotFound, "One of the labels is not there any more. Choose the labels again.")
		}
		return gone
	})
	return nil
}

func (e *editing) labelsPart() composer.Labels {
	p := composer.Labels{Keep: at(e.scope, "/labels"), Problem: e.fields["label"], Campaigns: []ui.Option{{Label: "None"}}}
	for _, l := range e.labels {
		chosen := slices.Contains(e.form.labels, l.ID)
		if l.Kind == db.Campaign {
			o := ui.Option{Value: id(l.ID), Label: l.Name, Chosen: chosen}
			if l.Client != "" {
				o.Label += " · " + l.Client
			}
			p.Campaigns = append(p.Campaigns, o)
			continue
		}
		p.Labels = append(p.Labels, composer.LabelChoice{Value: id(l.ID), Name: l.Name, Client: l.Client, Tint: strconv.Itoa(l.Tint), Chosen: chosen})
	}
	return p
}

// labelNames are those of labels, in order of names.
func (e *editing) labelNames(ids []model.LabelID) string {
	var names []string
	for _, l := range e.labels {
		if slices.Contains(ids, l.ID) {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}
