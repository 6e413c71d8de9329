package desk

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/preview"
)

// checkPart is what each network says. Accounts of one network that get the same
// and hear the same stand together.
func (e *editing) checkPart() composer.Check {
	c := composer.Check{Plain: e.form.content.Plain}
	if e.checkNo != nil {
		c.Say = e.checkNo.Say
	}
	for _, t := range e.checked.Targets {
		g := e.checkGroup(t)
		i := slices.IndexFunc(c.Groups, func(have composer.CheckGroup) bool { return alike(have, g) })
		if i < 0 {
			g.Key = c.Key(g.Network, t.AccountID)
			c.Groups = append(c.Groups, g)
			continue
		}
		c.Groups[i].Look.Handles = append(c.Groups[i].Look.Handles, t.Handle)
	}
	for address, card := range e.cards {
		if card.Waits {
			c.Unread = append(c.Unread, address)
		}
	}
	slices.Sort(c.Unread)
	c.Open(e.form.look)
	return c
}

func alike(a, b composer.CheckGroup) bool {
	return a.Network == b.Network && a.Limit == b.Limit && a.Format == b.Format && slices.Equal(a.Problems, b.Problems) && a.Look.Same(b.Look)
}

func (e *editing) checkGroup(t db.CheckedTarget) composer.CheckGroup {
	g := composer.CheckGroup{Label: "Unknown network", Look: preview.Props{Handles: []string{t.Handle}}}
	if t.Network != nil {
		g.Network, g.Label, g.Limit, g.Length = t.Network.Name, t.Network.Label, t.Network.LimitOf(t.Draft), t.Network.Length(t.Draft)
		g.Format, g.Look = formatWord(t.Network.FormatOf(t.Draft)), e.look(t)
	}
	for _, l := range t.Links {
		if pair := (composer.TaggedLink{From: l.From, To: l.To}); !slices.Contains(g.Links, pair) {
			g.Links = append(g.Links, pair)
		}
	}
	for _, p := range t.Problems {
		g.Problems = append(g.Problems, composer.CheckProblem{Say: p.Say, Warn: p.Warn, Href: e.place(t, p)})
		g.MayFit = g.MayFit || p.Code == network.TextTooLong
		g.MaySplit = g.MayFit && t.Network != nil && t.Network.Thread > 0
	}
	return g
}

// look is the target's post as its network will show it.
func (e *editing) look(t db.CheckedTarget) preview.Props {
	p := preview.Of(t.Network, t.Draft)
	p.Handles = []string{t.Handle}
	if when, err := e.form.when.resolve(); err == nil && !when.At.IsZero() {
		p.When = shortTime(when)
	}
	for i, id := range t.Media {
		p.Media = append(p.Media, e.shown(t, i, e.assets[id]))
	}
	p.Card = e.cards[p.Reads()]
	return p
}

// shown is a file as the network will show it: of the thumbnail the part that is
// sent. What is not ready yet has no picture.
func (e *editing) shown(t db.CheckedTarget, i int, a db.Asset) preview.Media {
	sent := t.Draft.Media[i]
	m := preview.Media{Video: sent.Kind == network.Video, Document: sent.Kind == network.Document, Pages: pagesOf(a), Alt: sent.Alt, TakesAlt: t.Network.TakesAlt(t.Network.FormatOf(t.Draft), sent.Kind), Width: sent.Width, Height: sent.Height}
	if m.Document && m.Pages > 0 {
		m.Facts = pageWords(m.Pages) + ", " + typeWord(sent.Type)
	} else if sent.Width > 0 {
		m.Facts = fmt.Sprintf("%d × %d, %s", sent.Width, sent.Height, typeWord(sent.Type))
	}
	if m.Document && a.State == db.MediaReady {
		m.Href = e.desk.mediaURL(e.scope, a.ID, "original")
	}
	if a.State != db.MediaReady || a.ThumbPath == "" || a.Width == 0 {
		return m
	}
	m.Source, m.Whole = e.desk.mediaURL(e.scope, a.ID, "thumbnail"), model.Crop{Width: a.Width, Height: a.Height}
	if r, err := network.ParseRecipe(t.Recipes[i]); err == nil {
		m.Part = r.Crop
	}
	if !m.Document && e.scope.Actor.May(model.MediaWrite, a.ClientID) {
		key := network.PresetOf(t.Network.Name, t.Network.FormatOf(t.Draft))
		m.Crop = at(e.scope, "/media/"+id(a.ID)+"/crop?preset="+url.QueryEscape(key))
	}
	return m
}

// place is where in the form a problem is mended: the network's own words if it
// has some.
func (e *editing) place(t db.CheckedTarget, p network.Problem) string {
	if t.Network == nil {
		return "#composer-accounts"
	}
	field := p.Field
	v, own := e.form.variants[t.Network.Name]
	if field == "text" && own && e.writesThread(t.Network.Name) {
		return "#" + pieceID(t.Network.Name, v.pieceOf(p.Part))
	}
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
	if field == "when" {
		return "#composer-when"
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
	case network.FormatDocument:
		return "Document"
	}
	return string(f)
}
