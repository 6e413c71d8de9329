package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/views/ui"
)

// createPostLabels answers POST /posts/labels: the chosen posts get a label or
// campaign, or lose it.
func (d *Desk) createPostLabels(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	label, err := optionalID(r.PostFormValue("label"))
	if err != nil {
		return err
	}
	if label == 0 {
		return model.RefuseField("label", "Choose a label or campaign first.")
	}
	change, words := db.Labelling{Add: []model.LabelID{model.LabelID(label)}}, "labelled"
	if r.PostFormValue("do") == "remove" {
		change, words = db.Labelling{Remove: change.Add}, "without it"
	}
	return d.bulk(w, r, scope, words, func(list []db.PostAct) ([]db.Done, error) {
		for _, c := range list {
			change.Posts = append(change.Posts, c.Post)
		}
		return scope.LabelPosts(r.Context(), change)
	})
}

// labelGroupsToChoose are labels and campaigns for a select.
func labelGroupsToChoose(list []db.Label) []ui.OptionGroup {
	groups := []ui.OptionGroup{{Label: "Labels"}, {Label: "Campaigns"}}
	for _, l := range list {
		i := 0
		if l.Kind == db.Campaign {
			i = 1
		}
		o := ui.Option{Value: id(l.ID), Label: l.Name}
		if l.Client != "" {
			o.Label += " · " + l.Client
		}
		groups[i].Options = append(groups[i].Options, o)
	}
	return groups
}
