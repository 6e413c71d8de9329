package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/preview"
	"herald/views/ui"
)

// fillPost adds what a page says of a post that exists: where its targets stand,
// its approval and its versions.
func (d *Desk) fillPost(ctx context.Context, scope *db.Scope, page db.PostPage, p *composer.Props) error {
	p.Paths = d.paths(scope, page.Post.ID)
	p.Title, p.State, p.Seen = titleOf(page), string(page.Post.State), page.Post.Revision
	p.MayWrite = scope.Actor.MayAnywhere(model.PostsWrite)
	p.Away, p.AwayNot = putAway(scope, page)
	p.Delivery = delivery(scope, page)
	asked, err := scope.PostApprovals(ctx, page.Post.ID)
	if err != nil {
		return err
	}
	p.Asked = askedOf(asked)
	p.Versions, err = d.versions(ctx, scope, page.Post.ID)
	return err
}

// putAway says whether the post can be put away, and why it cannot be just now.
func putAway(scope *db.Scope, page db.PostPage) (offered bool, not string) {
	if page.Post.ArchivedAt != nil {
		return false, ""
	}
	err := scope.Archivable(page)
	if no, ok := model.Refused(err); ok && no.Kind == model.Conflict {
		return true, no.Say
	}
	return err == nil, ""
}

func titleOf(page db.PostPage) string {
	if page.Post.Excerpt == "" {
		return "Post without text"
	}
	return model.Excerpt(page.Post.Excerpt, 70)
}

// delivery is where each target stands. It comes first on the page once anything
// has left the desk.
func delivery(scope *db.Scope, page db.PostPage) composer.Delivery {
	out := composer.Delivery{Hidden: page.Hidden}
	for _, t := range page.Targets {
		row := composer.TargetRow{ID: t.ID, Href: at(scope, fmt.Sprintf("/targets/%d", t.ID)), Network: t.Network, Label: network.Label(t.Network),
			Handle: t.Account, Client: t.Client, State: string(t.State), Say: t.Say, Permalink: t.Permalink}
		if t.VersionID != page.Version.ID {
			row.Words = model.Excerpt(page.Carries(t).For(string(t.Network), t.AccountID).Text, 70)
		}
		if t.HeldBy != "" && db.Holdable(t.State) {
			row.State, row.Say = "held", t.HeldBy+" holds this post, so it does not go out."
		}
		row.When, row.WhenWords = whenOfTarget(t)
		out.Rows = append(out.Rows, row)
		if t.State != model.Draft && t.State != model.Invalid {
			out.First = true
		}
		if (t.State == model.Failed && t.Reason != "manual_check_required" || t.State == model.NeedsReconnect) && scope.Actor.May(model.PostsSchedule, t.ClientID) {
			out.Failed++
		}
	}
	return out
}

func whenOfTarget(t db.Target) (*ui.TimeProps, string) {
	zone := t.ClientZone
	switch {
	case t.PublishedAt != nil:
		return timeIn(*t.PublishedAt, zone), "published"
	case t.State == model.RetryScheduled && t.NextAt != nil && !t.Held():
		return timeIn(*t.NextAt, zone), "next try"
	case t.DueAt == nil:
		return nil, ""
	case t.State == model.Draft || t.State == model.Invalid || t.State == model.Ready:
		return timeIn(*t.DueAt, zone), "planned"
	}
	return timeIn(*t.DueAt, zone), "due"
}

// askedOf is the latest request of each client, with what its people said.
func askedOf(list []db.InboxRequest) (out []composer.Asked) {
	var seen []model.ClientID
	for _, r := range list { // newest first
		if slices.Contains(seen, r.ClientID) {
			continue
		}
		seen = append(seen, r.ClientID)
		a := composer.Asked{Client: r.Client, State: string(r.State), Words: requestWords(r.ApprovalRequest)}
		for _, s := range r.Decisions {
			if s.Words != "" {
				a.Said = append(a.Said, composer.Remark{Name: s.Person.Name, Say: s.Words, When: *timeIn(s.At, r.ClientZone)})
			}
		}
		out = append(out, a)
	}
	return out
}

func requestWords(r model.ApprovalRequest) string {
	if r.State != model.RequestOpen {
		return ui.StatusWord(string(r.State))
	}
	var names []string
	for _, p := range r.Owing() {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return "Waiting"
	}
	return "Waiting for " + listed(names)
}

// readOnly is a page without an editor.
type readOnly struct {
	composer.Props
}

// carried is what each network's accounts get, or got, of a post: each target
// shows the version it carries.
func (d *Desk) carried(ctx context.Context, scope *db.Scope, page db.PostPage) (readOnly, error) {
	return d.contents(ctx, scope, page, 0, page.Carries, page.Version.Content)
}

// saidBy is what each network's accounts would get of one version.
func (d *Desk) saidBy(ctx context.Context, scope *db.Scope, page db.PostPage, v db.Version) (readOnly, error) {
	return d.contents(ctx, scope, page, v.ID, func(db.Target) model.Content { return v.Content }, v.Content)
}

func (d *Desk) contents(ctx context.Context, scope *db.Scope, page db.PostPage, version model.VersionID, of func(db.Target) model.Content, whole model.Content) (out readOnly, err error) {
	contents := []model.Content{whole}
	for _, t := range page.Targets {
		contents = append(contents, of(t))
	}
	media, err := d.visibleMedia(ctx, scope, contents)
	if err != nil {
		return out, err
	}
	sent, err := scope.SentFiles(ctx, page.Post.ID, version)
	if err != nil {
		return out, err
	}
	type shown struct {
		account model.AccountID
		version model.VersionID
	}
	var done []shown
	for _, t := range standing(page.Targets) {
		content := of(t)
		this := shown{t.AccountID, t.VersionID}
		if !slices.Contains(content.Accounts, t.AccountID) || slices.Contains(done, this) {
			continue
		}
		done = append(done, this)
		part := d.partOf(scope, content.For(string(t.Network), t.AccountID), t.Network, media, sent[t.ID])
		i := slices.IndexFunc(out.Parts, func(have preview.Props) bool { return have.Same(part) })
		if i < 0 {
			out.Parts = append(out.Parts, part)
			i = len(out.Parts) - 1
		}
		if !slices.Contains(out.Parts[i].Handles, t.Account) {
			out.Parts[i].Handles = append(out.Parts[i].Handles, t.Account)
		}
	}
	cards, err := d.linkCards(ctx, scope, out.Parts)
	if err != nil {
		return out, err
	}
	for i := range out.Parts {
		out.Parts[i].Card = cards[out.Parts[i].Reads()]
	}
	if len(out.Parts) == 0 && page.Hidden == 0 {
		shared := d.partOf(scope, whole.For("", 0), "", media, nil)
		shared.Handles = []string{"Without accounts yet"}
		out.Parts = append(out.Parts, shared)
	}
	return out, nil
}

// standing leaves out what was cancelled where the account has another target.
func standing(targets []db.Target) []db.Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t db.Target) bool {
		return t.State == model.Cancelled && slices.ContainsFunc(targets, func(o db.Target) bool {
			return o.AccountID == t.AccountID && (o.State != model.Cancelled || o.ID > t.ID)
		})
	})
}

// partOf is what one account gets, as its network shows it.
func (d *Desk) partOf(scope *db.Scope, p model.Part, name network.Name, media map[model.MediaID]composer.File, sent []model.PreviewMedia) preview.Props {
	n, ok := network.Get(name)
	draft := network.Draft{Text: p.Text, Link: p.Link, FirstComment: p.FirstComment, Options: p.Options}
	var shown []preview.Media
	for i, m := range p.Media {
		f, there := media[m.ID]
		if !there {
			continue
		}
		draft.Media = append(draft.Media, network.Media{Kind: f.Kind(), Alt: m.Alt})
		file := fileShown(f, m.Alt)
		if i < len(sent) && sent[i].ID == m.ID {
			file = d.asSent(scope, file, sent[i])
		}
		shown = append(shown, file)
	}
	if ok {
		for i := range shown {
			shown[i].TakesAlt = n.TakesAlt(n.FormatOf(draft), draft.Media[i].Kind)
		}
		draft, _ = n.Fit(draft)
	}
	out := preview.Of(n, draft)
	out.Media = shown
	for _, o := range out.Choices() {
		out.Says = append(out.Says, preview.Say{Label: o.Label, Value: optionWord(o, p.Options[o.Key])})
	}
	return out
}

// fileShown is a file as it was put in. What is not ready has no picture.
func fileShown(f composer.File, alt string) preview.Media {
	m := preview.Media{Video: f.Video, Document: f.Document, Pages: f.Pages, Source: f.Thumb, Alt: alt, Waits: f.Say}
	if f.Video {
		m.Play = f.Source
	} else {
		m.Href = f.Source
	}
	return m
}

// asSent is a file as it is sent or, while that is still being made, with a word
// about it.
func (d *Desk) asSent(scope *db.Scope, f preview.Media, m model.PreviewMedia) preview.Media {
	f.Width, f.Height = m.Width, m.Height
	if m.Plays != 0 {
		f.Play = d.mediaURL(scope, m.ID, m.File())
	}
	size := fmt.Sprintf("%d × %d", m.Width, m.Height)
	switch {
	case m.Waits:
		f.Waits = "What will be sent is still being made: " + size + ". This is the file that it is made of."
	case m.Rendition != 0 && f.Video:
		f.Play, f.Facts = d.mediaURL(scope, m.ID, m.File()), "As it is sent: "+size
	case m.Rendition != 0:
		f.Source, f.Facts = d.mediaURL(scope, m.ID, m.File()), "As it is sent: "+size
		f.Href = f.Source
	}
	return f
}

func optionWord(o network.Option, value string) string {
	switch o.Kind {
	case network.Choose:
		for _, c := range o.Choices {
			if c.Value == value {
				return c.Label
			}
		}
	case network.Switch:
		return map[string]string{"true": "yes", "false": "no"}[value]
	}
	return value
}

// visibleMedia reads the files of contents that the reader may see.
func (d *Desk) visibleMedia(ctx context.Context, scope *db.Scope, contents []model.Content) (map[model.MediaID]composer.File, error) {
	files := map[model.MediaID]composer.File{}
	var all []model.MediaID
	for _, c := range contents {
		all = append(all, c.AllMedia()...)
	}
	list, err := scope.VisibleMedia(ctx, all)
	for _, a := range list {
		files[a.ID] = d.file(scope, a, "")
	}
	return files, err
}

// clientsOf are the clients of targets, once each, sorted.
func clientsOf(targets []db.Target) (list []model.ClientID) {
	for _, t := range targets {
		list = append(list, t.ClientID)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// dayAndTime is a time in a sentence.
func dayAndTime(when model.When) string {
	return timeIn(when.At, when.Zone).Words + " (" + web.City(when.Zone) + ")"
}

// shortTime is a time as posts show theirs.
func shortTime(when model.When) string {
	location, err := model.LoadZone(when.Zone)
	if err != nil {
		location = time.UTC
	}
	return when.At.In(location).Format("2 Jan, 15:04")
}
