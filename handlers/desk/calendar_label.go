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
	return d.bulk(w, r, scope, words, func(list []chosenPost) (said []refused, err error) {
		for _, c := range list {
			change.Posts = append(change.Posts, c.id)
		}
		done, err := scope.LabelPosts(r.Context(), change)
		return refusedOf(done), err
	})
}

// refusedOf are the posts of a batch that stayed as they were.
func refusedOf(done []db.Done) (said []refused) {
	for _, one := range done {
		if one.No != nil {
			said = append(said, refused{one.Post, one.No})
		}
	}
	return said
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
