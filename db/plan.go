package db

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// plan is a form checked against what is stored: who gets what.
type plan struct {
	content model.Content
	parts   []plannedTarget
	files   map[model.MediaID]planFile
}

// plannedTarget is what one account would get, with what its network says of it.
type plannedTarget struct {
	account  planAccount
	draft    network.Draft
	media    []model.MediaID
	links    []network.Tagging // as they were written and as they go out
	recipes  []string          // how each of media is sent; empty: as it is
	net      *network.Network
	problems []network.Problem
}

type planAccount struct {
	ID        model.AccountID
	ClientID  model.ClientID
	Client    string
	Network   network.Name
	Publisher network.Publisher
	Handle    string
	Settings  map[string]string
}

func (p plan) onlyClient() model.ClientID {
	ids := p.clients()
	if len(ids) == 1 {
		return ids[0]
	}
	return 0
}

func (p plan) clients() []model.ClientID {
	var ids []model.ClientID
	for _, t := range p.parts {
		ids = append(ids, t.account.ClientID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

const sqlPlanAccounts = `
	SELECT a.id, a.client_id, c.name AS client, a.network, a.publisher, a.handle, a.settings
	  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND a.id = ANY ($2) AND (a.state <> 'disabled' OR a.id = ANY ($3)) ORDER BY c.name, a.network, a.handle`

// plan checks one form.
func (sc *Scope) plan(ctx context.Context, tx pgx.Tx, old PostPage, form PostForm) (p plan, err error) {
	g, err := sc.ground(ctx, tx, []PostForm{form}, old.Version.Content.Accounts)
	if err != nil {
		return p, err
	}
	if p, err = g.plan(sc, old, form); err != nil {
		return p, err
	}
	made, err := sc.renditionsOf(ctx, tx, p.parts)
	p.judgeRenditions(made)
	return p, err
}

// ground is what forms are checked against: read at once, however many they are.
type ground struct {
	accounts  []planAccount
	files     []planFile
	rules     []LinkTags
	campaigns []campaignOf
}

// ground reads it. Accounts that are switched off are among it if they are kept ones.
func (sc *Scope) ground(ctx context.Context, tx pgx.Tx, forms []PostForm, kept []model.AccountID) (g ground, err error) {
	accounts, media := []model.AccountID{}, []model.MediaID{}
	for _, f := range forms {
		accounts, media = append(accounts, f.Content.Accounts...), append(media, f.Content.AllMedia()...)
	}
	rows, err := tx.Query(ctx, sqlPlanAccounts, sc.Actor.Tenant, accounts, kept)
	if err != nil {
		return g, err
	}
	if g.accounts, err = pgx.CollectRows(rows, pgx.RowToStructByName[planAccount]); err != nil {
		return g, err
	}
	if rows, err = tx.Query(ctx, sqlPlanMedia, sc.Actor.Tenant, media); err != nil {
		return g, err
	}
	if g.files, err = pgx.CollectRows(rows, pgx.RowToStructByName[planFile]); err != nil {
		return g, err
	}
	return g, sc.addTags(ctx, tx, &g, forms)
}

// plan checks a form against the ground that was read for it, renditions apart. An
// error is a refusal.
func (g ground) plan(sc *Scope, old PostPage, form PostForm) (p plan, err error) {
	p.content = withoutBlanks(form.Content).Untagged()
	accounts := g.accountsOf(form)
	if err := sc.checkAccounts(accounts, form); err != nil {
		return p, err
	}
	if p.files, err = sc.planMedia(&p.content, g.files, accounts, form.written); err != nil {
		return p, err
	}
	tags := g.tagger(accounts, form)
	for _, a := range accounts {
		if form.Fit {
			fit(&p.content, a, tags[a.ID])
		}
	}
	if form.keepsTags(old, p.content) {
		p.content.Tagged = old.Version.Content.Tagged
	} else {
		p.content = tags.tagged(p.content, accounts)
	}
	for _, a := range accounts {
		p.parts = append(p.parts, planTarget(p.content, a, p.files))
	}
	return p, nil
}

func (g ground) accountsOf(form PostForm) (list []planAccount) {
	for _, a := range g.accounts {
		if slices.Contains(form.Content.Accounts, a.ID) {
			list = append(list, a)
		}
	}
	return list
}

// withoutBlanks empties first comments and options of which nobody would see
// anything: their networks would refuse them when the post is out already.
func withoutBlanks(c model.Content) model.Content {
	if network.Blank(c.FirstComment) {
		c.FirstComment = ""
	}
	c.Variants = maps.Clone(c.Variants)
	for name, v := range c.Variants {
		if v.FirstComment != nil && network.Blank(*v.FirstComment) {
			v.FirstComment = new(string)
			c.Variants[name] = v
		}
	}
	options := map[model.AccountID]map[string]string{}
	for account, chosen := range c.Options {
		options[account] = maps.Clone(chosen)
		maps.DeleteFunc(options[account], func(_, value string) bool { return network.Blank(value) })
	}
	c.Options = options
	return c
}

// checkAccounts refuses accounts that are not there or not the writer's, and
// accounts of several clients that the writer did not confirm by name.
func (sc *Scope) checkAccounts(accounts []planAccount, form PostForm) error {
	if wanted := slices.Compact(slices.Sorted(slices.Values(form.Content.Accounts))); len(accounts) != len(wanted) {
		return model.Refuse(model.NotFound, "One of the accounts is not there any more. Choose the accounts again.")
	}
	var clients []model.ClientID
	var names []string
	for _, a := range accounts {
		if err := sc.need(model.PostsWrite, a.ClientID, "account"); err != nil {
			return err
		}
		if !slices.Contains(clients, a.ClientID) {
			clients = append(clients, a.ClientID)
			names = append(names, a.Client)
		}
	}
	named := slices.Compact(slices.Sorted(slices.Values(form.Named)))
	slices.Sort(clients)
	if len(clients) > 1 && !slices.Equal(clients, named) {
		return model.RefuseField("named", "This post goes to accounts of several clients: "+strings.Join(names, ", ")+". Confirm each of them by name.")
	}
	return nil
}

// planFile is an asset as a version uses it.
type planFile struct {
	ID         model.MediaID
	ClientID   model.ClientID
	State      MediaState
	Kind       network.MediaKind
	Type       string
	Sha256     []byte
	Bytes      int64
	Width      int
	Height     int
	DurationMs int64
	VideoCodec string
	AudioCodec string
	FPS        float64 `db:"fps"`
	Frames     int64
	Drawn      bool // there is a thumbnail
	Name       string
	Alt        string
	Focal      model.Focal
	Crops      map[string]model.Crop
}

const sqlPlanMedia = `
	SELECT m.id, m.client_id, m.state, m.kind, m.type, m.sha256, m.bytes, m.width, m.height, m.duration_ms, m.video_codec, m.audio_codec, m.fps::double precision AS fps, m.frames, m.thumb_path <> '' AS drawn,
	       m.name, m.alt, jsonb_build_object('x', m.focal_x, 'y', m.focal_y) AS focal,
	       coalesce((SELECT jsonb_object_agg(c.preset, jsonb_build_object('x', c.x, 'y', c.y, 'width', c.width, 'height', c.height))
	                   FROM tenant.media_crops c WHERE c.tenant_id = m.tenant_id AND c.media_id = m.id), '{}') AS crops
	  FROM tenant.media m WHERE m.tenant_id = $1 AND m.id = ANY ($2) AND m.state <> 'deleted'`

// planMedia picks the assets of a content out of what was read, refuses those that are
// not there or belong to a client the post does not go to, and writes their hashes
// into the content.
func (sc *Scope) planMedia(content *model.Content, read []planFile, accounts []planAccount, written bool) (map[model.MediaID]planFile, error) {
	ids := content.AllMedia()
	files := map[model.MediaID]planFile{}
	for _, f := range read {
		if !slices.Contains(ids, f.ID) {
			continue
		}
		files[f.ID] = f
		if err := sc.need(model.MediaView, f.ClientID, "file"); err != nil {
			return nil, err
		}
		if len(accounts) > 0 && !slices.ContainsFunc(accounts, func(a planAccount) bool { return a.ClientID == f.ClientID }) {
			return nil, model.RefuseField("media", "A file belongs to a client that this post does not go to. Upload it for one of the post's clients.")
		}
	}
	if len(files) != len(ids) {
		return nil, model.Refuse(model.NotFound, "One of the files is not there any more. Remove it and attach it again.")
	}
	if !written {
		hashMedia(content, framer{files, accounts})
	}
	return files, nil
}

// hashMedia writes into the content what the assets are and how they are framed.
func hashMedia(content *model.Content, files framer) {
	content.Media = hashed(content.Media, files)
	variants := map[string]model.Variant{}
	for name, v := range content.Variants {
		if v.Media != nil {
			list := hashed(*v.Media, files)
			v.Media = &list
		}
		variants[name] = v
	}
	content.Variants = variants
}

func hashed(list []model.ContentMedia, files framer) []model.ContentMedia {
	out := slices.Clone(list)
	for i := range out {
		f := files.files[out[i].ID]
		out[i].SHA256 = hex.EncodeToString(f.Sha256)
		if out[i].Alt = strings.TrimSpace(out[i].Alt); network.Blank(out[i].Alt) {
			out[i].Alt = f.Alt
		}
		out[i].Crops, out[i].Focal = files.crops(f), nil
		if f.Focal != model.Centre {
			out[i].Focal = &f.Focal
		}
	}
	return out
}

// framer knows how files are framed for the networks of some accounts.
type framer struct {
	files    map[model.MediaID]planFile
	accounts []planAccount
}

// crops are those of a file that any of the accounts' networks looks at.
func (fr framer) crops(f planFile) map[string]model.Crop {
	kept := map[string]model.Crop{}
	for preset, c := range f.Crops {
		of, _, _ := strings.Cut(preset, "/")
		if slices.ContainsFunc(fr.accounts, func(a planAccount) bool { return string(a.Network) == of }) {
			kept[preset] = c
		}
	}
	return kept
}

// catalogue returns the network as it counts for one account: an instance may
// have limits of its own among the account's settings.
func catalogue(a planAccount) *network.Network {
	n, ok := network.Get(a.Network)
	if ok {
		n, ok = n.Via(a.Publisher)
	}
	if !ok {
		return nil
	}
	return n.With(a.Settings)
}

func planTarget(content model.Content, a planAccount, files map[model.MediaID]planFile) plannedTarget {
	t := plannedTarget{account: a, net: catalogue(a)}
	part := content.For(string(a.Network), a.ID)
	t.draft = network.Draft{Text: part.Text, Link: part.Link, FirstComment: part.FirstComment, Options: part.Options}
	t.links = taggings(content.Written(string(a.Network), a.ID), part)
	for _, m := range part.Media {
		t.media = append(t.media, m.ID)
		t.draft.Media = append(t.draft.Media, files[m.ID].as(m.Alt))
	}
	if t.net == nil {
		t.recipes = make([]string, len(t.media))
		t.problems = []network.Problem{{Field: "accounts", Code: "network_unknown", Say: "Herald does not know this network any more."}}
		return t
	}
	t.serve(part.Media)
	t.problems = append(t.net.Check(t.draft), t.problems...)
	t.judgeFiles(files)
	return t
}

// as is the asset as rules see it, with the alt text of a post.
func (f planFile) as(alt string) network.Media {
	return network.Media{Kind: f.Kind, Type: f.Type, Bytes: f.Bytes, Width: f.Width, Height: f.Height, Duration: time.Duration(f.DurationMs) * time.Millisecond, Alt: alt,
		Frames: f.Frames, Pending: f.State.OnItsWay(), VideoCodec: f.VideoCodec, AudioCodec: f.AudioCodec, FPS: f.FPS}
}

// serve works out how each file is sent: what rules see from then on is what the
// network will get.
func (t *plannedTarget) serve(media []model.ContentMedia) {
	format := t.net.FormatOf(t.draft)
	for i, m := range media {
		crop, focal := m.Framed(network.PresetOf(t.net.Name, format))
		was := t.draft.Media[i]
		s := t.net.Serve(format, was, network.Framing{Crop: crop, Focal: focal})
		t.draft.Media[i] = s.Media
		t.recipes = append(t.recipes, s.Recipe.String())
		if s.Stilled {
			t.problems = append(t.problems, network.Problem{Field: fmt.Sprintf("media.%d", i), Code: network.MediaStilled, Warn: true,
				Say: fmt.Sprintf("%s moves, and %s does not take it like that: its first frame is sent, as a still picture. Attach it as a video if it has to move.",
					fileWord(t.draft.Media, i), t.net.Label)})
		}
		if s.Cropped {
			t.problems = append(t.problems, network.Problem{Field: fmt.Sprintf("media.%d", i), Code: network.MediaCropped, Warn: true,
				Say: fmt.Sprintf("%s is %d × %d and %s does not take that shape: it is cropped to %d × %d. Look whether what matters is in it, or choose the crop.",
					fileWord(t.draft.Media, i), was.Width, was.Height, t.net.Label, s.Media.Width, s.Media.Height)})
		}
	}
}

// fileWord is what to call a file at the start of a sentence.
func fileWord(media []network.Media, i int) string {
	word := media[i].Kind.Word()
	if len(media) == 1 {
		return "The " + word
	}
	return strings.ToUpper(word[:1]) + word[1:] + fmt.Sprintf(" %d", i+1)
}

// judgeFiles says which files cannot be used, or not yet.
func (t *plannedTarget) judgeFiles(files map[model.MediaID]planFile) {
	for i, id := range t.media {
		p := network.Problem{Field: fmt.Sprintf("media.%d", i)}
		switch state := files[id].State; {
		case state == MediaReady:
			continue
		case state.OnItsWay():
			p.Code, p.Warn = network.MediaNotReady, true
			p.Say = fileWord(t.draft.Media, i) + " is not ready yet: it is still being " + stateOfFile(state) + "."
		default:
			p.Code, p.Say = "media_refused", "This file was refused when it was checked. Remove it."
		}
		t.problems = append(t.problems, p)
	}
}

func stateOfFile(s MediaState) string {
	switch s {
	case MediaUploading:
		return "uploaded"
	case MediaScanning:
		return "scanned"
	}
	return "prepared"
}

// fit shortens what is too long for the account's network, as a variant of its
// own, so that the writer and the approver see exactly what will be sent.
func fit(content *model.Content, a planAccount, tags network.LinkTags) {
	n := catalogue(a)
	if n == nil {
		return
	}
	part := content.Written(string(a.Network), a.ID)
	text := tags.Text(part.Text)
	short, cut := n.Fit(network.Draft{Text: text, Link: tags.Link(part.Link), Options: part.Options})
	if !cut {
		return
	}
	v := content.Variants[string(a.Network)]
	written := network.Untag(short.Text, network.Taggings(part.Text, text))
	v.Text = &written
	if content.Variants == nil {
		content.Variants = map[string]model.Variant{}
	}
	content.Variants[string(a.Network)] = v
}

// noProblems is an empty list, so that the column holds [] and not null.
var noProblems = []network.Problem{}

func blocking(problems []network.Problem) bool {
	return slices.ContainsFunc(problems, func(p network.Problem) bool { return !p.Warn })
}
