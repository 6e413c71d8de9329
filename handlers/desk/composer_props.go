package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/library"
	"herald/views/ui"
)

// draw answers with the whole page.
func (e *editing) draw(w http.ResponseWriter, r *http.Request, status int) error {
	p := composer.Props{Title: "New post", Paths: e.paths, MayWrite: true}
	if e.form.id != 0 {
		if err := e.desk.fillPost(r.Context(), e.scope, e.page, &p); err != nil {
			return err
		}
	}
	if e.lost != nil && e.problem == nil {
		if no, ok := model.Refused(e.lost); ok {
			e.explain(no, "")
		}
	}
	if err := e.readNext(r.Context()); err != nil {
		return err
	}
	p.Editor, p.Left = e.editor(), e.left
	if inSheet(r) || web.FromHTMX(r) && web.Part(r) == composer.SheetPart {
		return e.drawSheet(w, r, status, p)
	}
	return e.desk.show(w, r, e.scope, status, e.desk.postScreen(p.Title), composer.Page(p))
}

func (e *editing) editor() *composer.Editor {
	f := e.form
	return &composer.Editor{
		Key: f.key, Seen: f.seen, Began: composer.Began{Version: f.began, Standing: f.baseStanding, Notes: f.baseNotes, Labels: f.baseLabels}, Problem: e.problem, Conflict: e.conflict, Naming: e.naming, Warning: e.warning(), Moved: e.moved,
		Clients: e.groups(), Text: f.content.Text, Link: f.content.Link, Comment: f.content.FirstComment, Fields: e.fields,
		Networks: e.networkParts(), Media: e.media(), When: e.when(), Check: e.checkPart(), Foot: e.foot(), Keep: e.keep(),
		Labels: e.labelsPart(), Wordings: e.wordingsPart(), Template: e.templatePart(), Notes: f.notes, Confirm: e.confirmed(),
	}
}

// changed is what a change of the form can have changed on the page. What the queue
// would give was read before.
func (e *editing) changed(do string) templ.Component {
	s := composer.Swap{Paths: e.paths, Moved: e.moved}
	check, foot, networks := e.checkPart(), e.foot(), e.networkParts()
	s.Check = &check
	switch do {
	case "check":
		said := e.whenSays(e.form.when)
		s.Said, s.First, s.Threads = &said, "composer-check", networks.Threads()
		if e.asked() || foot.First() != e.form.way {
			s.Foot = &foot // it says whether the approval still holds, and what comes next
		}
		return composer.Swapped(s)
	case "at":
		when := e.when()
		s.When, s.First, s.Foot = &when, "composer-when", &foot
		return composer.Swapped(s)
	}
	s.Networks, s.Foot, s.First = &networks, &foot, "composer-networks"
	switch do {
	case "up", "down", "place", "remove", "alt", "attach", "arrive", "upload", "fetch":
		media := e.media()
		s.Media, s.First, s.Address = &media, "composer-media", do == "fetch"
	case "refresh", "all", "none":
		media := e.media()
		s.Media = &media
		if when := e.when(); when.Zone != e.form.when.zone {
			s.When = &when
		}
		if do == "refresh" {
			s.Chosen = e.groups()
		} else {
			s.Group, s.First = e.groupOf(e.form.arg), "client-"+e.form.arg
		}
	}
	return composer.Swapped(s)
}

// groups are the clients of the picker; those with a chosen account, or the only
// ones there are, stand open.
func (e *editing) groups() (list []composer.Client) {
	for _, c := range e.clients {
		g := composer.Client{ID: c.ID, Name: c.Name, Paths: e.paths}
		for _, a := range c.Accounts {
			chosen := slices.Contains(e.form.content.Accounts, a.ID)
			if chosen {
				g.Chosen++
			}
			g.Accounts = append(g.Accounts, composer.Account{ID: a.ID, Network: a.Network, Label: network.Label(a.Network), Handle: a.Handle,
				Chosen: chosen, Reconnect: a.State == "needs_reconnect", Disabled: a.State == "disabled", Paused: a.Paused})
		}
		g.Open = g.Chosen > 0 || len(e.clients) <= 3 || c.ID == e.form.owner
		list = append(list, g)
	}
	return list
}

func (e *editing) groupOf(arg string) *composer.Client {
	for _, g := range e.groups() {
		if fmt.Sprint(int64(g.ID)) == arg {
			g.Open = true
			return &g
		}
	}
	return nil
}

// networkParts is what differs by network and account, in the order of names.
func (e *editing) networkParts() composer.Networks {
	n := composer.Networks{Paths: e.paths}
	chosen := e.networks()
	for _, name := range network.All() {
		v, own := e.form.variants[name.Name]
		used := slices.Contains(mapValues(chosen), name.Name)
		switch {
		case used:
			n.Variants = append(n.Variants, e.variant(name, v, own))
		case own:
			n.Kept = append(n.Kept, e.variant(name, v, own))
		}
	}
	n.Open(network.Name(e.form.part))
	for _, t := range e.checked.Targets {
		if fields := e.options(t); len(fields) > 0 {
			n.Accounts = append(n.Accounts, composer.AccountOptions{ID: t.AccountID, Network: t.Network.Name, Label: t.Network.Label, Handle: t.Handle, Fields: fields})
		}
	}
	return n
}

func mapValues(m map[model.AccountID]network.Name) (list []network.Name) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

func (e *editing) variant(n *network.Network, v variantForm, own bool) composer.Variant {
	out := composer.Variant{Network: n.Name, Label: n.Label, Own: own, Explicit: v.own, Text: v.text, Link: v.link, Comment: v.comment,
		TakesLink: n.Link != network.LinkNone, TakesWords: n.Comment.Max > 0}
	out.Thread = e.thread(n.Name, v, own)
	if !own {
		return out
	}
	out.FileOrder = slices.Contains(v.own, partOrder)
	for _, m := range v.inOrder(e.form.content.Media) {
		file := composer.VariantFile{ID: m.ID, Name: e.assets[m.ID].Name, Taken: v.takes(m.ID)}
		if !e.form.has(m.ID) {
			file.Extra, file.Alt = true, m.Alt
		}
		out.Files = append(out.Files, file)
	}
	return out
}

// options are the choices that matter for what the account would get now.
func (e *editing) options(t db.CheckedTarget) (fields []composer.OptionField) {
	if t.Network == nil {
		return nil
	}
	for _, o := range t.Network.Options {
		value := e.form.content.Options[t.AccountID][o.Key]
		if !t.Network.Matters(o, t.Draft) && value == "" {
			continue
		}
		f := composer.OptionField{Name: fmt.Sprintf("option.%d.%s", t.AccountID, o.Key), ID: fmt.Sprintf("option-%d-%s", t.AccountID, o.Key), Option: o, Value: value, Steers: t.Network.Steers(o) || o.Key == network.OptThread}
		for _, p := range t.Problems {
			if p.Field == "options."+o.Key && !p.Warn {
				f.Problem = p.Say
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// media is the post's files and where more are put.
func (e *editing) media() composer.Media {
	m := composer.Media{Paths: e.paths, Said: e.taken.said, Refused: e.taken.refused, Address: strings.Join(e.taken.kept, " "), Problem: e.fields["media"],
		Accept: accepted, Say: e.desk.whatIsTaken(e.desk.uploadBytes())}
	if form := e.desk.formBytes(); form < e.desk.uploadBytes() {
		m.Plain = "Without JavaScript: up to " + megabytes(form) + " each."
	}
	for _, c := range e.form.content.Media {
		m.Files = append(m.Files, e.desk.file(e.scope, e.assets[c.ID], c.Alt))
	}
	m.Watch = attachmentWatch(e.scope, e.form.content.Media, e.assets)
	m.Picker = composer.Picker{Path: at(e.scope, "/media/picker")}
	if e.picker != nil {
		m.Picker = *e.picker
	}
	var no string
	if m.Owner, no = e.owner(); no != "" && len(e.owners()) == 0 {
		m.Nobody = no
	}
	for _, c := range e.owners() {
		m.Owners = append(m.Owners, ui.Option{Value: fmt.Sprint(int64(c.ID)), Label: c.Name, Chosen: c.ID == m.Owner})
	}
	if no != "" && m.Nobody == "" {
		m.Owners = append([]ui.Option{{Value: "", Label: "Choose a client", Chosen: true}}, m.Owners...)
	}
	return m
}

// file is an attachment as it is shown. What is not ready has no address.
func (d *Desk) file(scope *db.Scope, a db.Asset, alt string) composer.File {
	f := composer.File{ID: a.ID, Name: a.Name, Alt: alt, Library: a.Alt, Video: a.Kind == network.Video, Document: a.Kind == network.Document, Pages: pagesOf(a), Facts: factsOf(a)}
	if a.State != db.MediaReady {
		s := standingOf(a)
		f.State, f.StateWords, f.Say = s.State, s.Word(), s.Say
		return f
	}
	f.Source = d.mediaURL(scope, a.ID, "original")
	if a.ThumbPath != "" {
		f.Thumb = d.mediaURL(scope, a.ID, "thumbnail")
	}
	return f
}

// attachmentWatch asks again for those attachments that may change by themselves.
func attachmentWatch(scope *db.Scope, media []model.ContentMedia, assets map[model.MediaID]db.Asset) string {
	l := lookup{path: at(scope, "/media/attachments"), values: map[string][]string{}}
	for _, m := range media {
		if assets[m.ID].State.OnItsWay() {
			l.values["media"] = append(l.values["media"], id(m.ID))
		}
	}
	if len(l.values) == 0 {
		return ""
	}
	return l.address(l.values)
}

// factsOf says a file's measures: 1200 × 800, JPEG, 340 KB.
func factsOf(a db.Asset) string {
	var facts []string
	if a.Width > 0 && a.Kind != network.Document {
		facts = append(facts, fmt.Sprintf("%d × %d", a.Width, a.Height))
	}
	if n := pagesOf(a); n > 0 {
		facts = append(facts, pageWords(n))
	}
	_, kind, _ := strings.Cut(a.Type, "/")
	facts = append(facts, strings.ToUpper(kind))
	if a.DurationMs > 0 {
		facts = append(facts, fmt.Sprintf("%.1f s", float64(a.DurationMs)/1000))
	}
	return strings.Join(append(facts, library.Bytes(max(a.Bytes, a.UploadedBytes))), ", ")
}

// confirmed are the clients that were confirmed by name, as long as they are
// exactly those of the post: another client asks again.
func (e *editing) confirmed() []model.ClientID {
	named := slices.Compact(slices.Sorted(slices.Values(e.form.named)))
	if e.naming == nil && slices.Equal(named, e.chosenClients()) {
		return named
	}
	return nil
}

// warning is what a change costs.
func (e *editing) warning() string {
	switch {
	case e.form.id == 0:
		return ""
	case e.page.Post.Review == "in_review":
		return "This version is waiting for approval. Changing anything that is sent takes the request back; submit it again afterwards."
	case e.page.Post.ApprovedVersionID != nil:
		return "This version is approved. Changing anything that is sent takes the approval back, and whatever is planned with it. Labels, notes and the time can change freely."
	}
	return ""
}
