package desk

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/library"
)

// checkPart is what each network says. Accounts of one network that get the same
// and hear the same stand together.
func (e *editing) checkPart() composer.Check {
	var c composer.Check
	if e.checkNo != nil {
		c.Say = e.checkNo.Say
	}
	for _, t := range e.checked.Targets {
		g := e.checkGroup(t)
		i := slices.IndexFunc(c.Groups, func(have composer.CheckGroup) bool { return alike(have, g) })
		if i < 0 {
			c.Groups = append(c.Groups, g)
			continue
		}
		c.Groups[i].Handles = append(c.Groups[i].Handles, t.Handle)
	}
	return c
}

func alike(a, b composer.CheckGroup) bool {
	says := func(x, y composer.CheckProblem) bool { return x.Say == y.Say }
	return a.Network == b.Network && a.Limit == b.Limit && a.Text == b.Text && a.Format == b.Format && slices.EqualFunc(a.Problems, b.Problems, says)
}

func (e *editing) checkGroup(t db.CheckedTarget) composer.CheckGroup {
	g := composer.CheckGroup{Handles: []string{t.Handle}, Label: "Unknown network"}
	if t.Network != nil {
		g.Network, g.Label, g.Limit, g.Length = t.Network.Name, t.Network.Label, t.Network.LimitOf(t.Draft), t.Network.Length(t.Draft)
		g.Text, g.Format = t.Network.Body(t.Draft), formatWord(t.Network.FormatOf(t.Draft))
	}
	g.Shows = e.shows(t)
	for _, p := range t.Problems {
		g.Problems = append(g.Problems, composer.CheckProblem{Say: p.Say, Warn: p.Warn, Href: e.place(t, p.Field)})
		g.MayFit = g.MayFit || p.Code == network.TextTooLong
	}
	return g
}

// shows are the target's files as the network will show them, as far as there is
// a picture of them.
func (e *editing) shows(t db.CheckedTarget) (list []library.Shown) {
	if t.Network == nil {
		return nil
	}
	for i, media := range t.Media {
		a := e.assets[media]
		if a.State != db.MediaReady || a.ThumbPath == "" || a.Width == 0 {
			continue
		}
		list = append(list, e.shown(t, i, a))
	}
	return list
}

func (e *editing) shown(t db.CheckedTarget, i int, a db.Asset) library.Shown {
	sent := t.Draft.Media[i]
	s := library.Shown{Thumb: e.desk.mediaURL(e.scope, a.ID, "thumbnail"), Alt: cmp.Or(sent.Alt, a.Name), Width: a.Width, Height: a.Height,
		Say: fmt.Sprintf("%d × %d, %s", sent.Width, sent.Height, typeWord(sent.Type))}
	if r, err := network.ParseRecipe(t.Recipes[i]); err == nil {
		s.Part = r.Crop
	}
	if e.scope.Actor.May(model.MediaWrite, a.ClientID) {
		key := network.PresetOf(t.Network.Name, t.Network.FormatOf(t.Draft))
		s.Href = at(e.scope, "/media/"+id(a.ID)+"/crop?preset="+url.QueryEscape(key))
	}
	return s
}

// place is where in the form a problem is mended: the network's own words if it
// has some.
func (e *editing) place(t db.CheckedTarget, field string) string {
	if t.Network == nil {
		return "#composer-accounts"
	}
	_, own := e.form.variants[t.Network.Name]
	switch {
	case slices.Contains([]string{"text", "link", "first_comment"}, field) && own:
		return "#" + field + "-" + string(t.Network.Name)
	case slices.Contains([]string{"text", "link", "first_comment"}, field):
		return "#" + field
	case strings.HasPrefix(field, "options."):
		return fmt.Sprintf("#option-%d-%s", t.AccountID, strings.TrimPrefix(field, "options."))
	case strings.HasPrefix(field, "media."):
		return mediaPlace(t.Media, strings.TrimPrefix(field, "media."))
	}
	return "#composer-media"
}

func mediaPlace(media []model.MediaID, index string) string {
	if i, err := web.Count(index); err == nil && i >= 0 && i < len(media) {
		return fmt.Sprintf("#media-%d", media[i])
	}
	return "#composer-media"
}

// formatWord is what people call the shape of a post.
func formatWord(f network.Format) string {
	switch f {
	case network.FormatText:
		return "Text post"
	case network.FormatLink:
		return "Link post"
	case network.FormatImage:
		return "Picture"
	case network.FormatImages:
		return "Pictures"
	case network.FormatVideo:
		return "Video"
	case network.FormatReel:
		return "Reel"
	case network.FormatStory:
		return "Story"
	case network.FormatCarousel:
		return "Carousel"
	}
	return string(f)
}
