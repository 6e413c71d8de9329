package db

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// requestRow is an approval request as it is stored, with the two contents that
// its previews are made of.
type requestRow struct {
	ID         model.RequestID
	PostID     model.PostID
	VersionID  model.VersionID
	Number     int
	Hash       string
	ClientID   model.ClientID
	Client     string
	ClientZone string
	State      model.RequestState
	Stage      int
	Stages     []model.AskedStage
	DueAt      *time.Time
	AskedBy    model.UserID
	AskedAt    time.Time
	ClosedAt   *time.Time
	Archived   bool
	CurrentID  model.VersionID // the post's current version
	WrittenBy  model.UserID
	Content    []byte
	Before     []byte
	BeforeID   model.VersionID
	BeforeIs   string
}

const requestColumns = `
	SELECT r.id, r.post_id, r.version_id, v.number, encode(r.content_hash, 'hex') AS hash, r.client_id, c.name AS client, c.zone AS client_zone,
	       r.state, r.stage, r.stages, r.due_at, r.asked_by, r.asked_at, r.closed_at, p.archived_at IS NOT NULL AS archived,
	       p.current_version_id AS current_id, v.created_by AS written_by, v.content,
	       b.content AS before, coalesce(b.version_id, 0) AS before_id, coalesce(b.is, '') AS before_is
	  FROM tenant.approval_requests r
	  JOIN tenant.posts p ON p.tenant_id = r.tenant_id AND p.id = r.post_id
	  JOIN tenant.post_versions v ON v.tenant_id = r.tenant_id AND v.id = r.version_id
	  JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id
	  LEFT JOIN LATERAL (
		SELECT o.version_id, ov.content, CASE WHEN o.state = 'approved' THEN 'approved' ELSE 'asked' END AS is
		  FROM tenant.approval_requests o JOIN tenant.post_versions ov ON ov.tenant_id = o.tenant_id AND ov.id = o.version_id
		 WHERE o.tenant_id = r.tenant_id AND o.post_id = r.post_id AND o.client_id = r.client_id AND o.id < r.id AND o.version_id <> r.version_id
		 ORDER BY (o.state = 'approved') DESC, o.id DESC LIMIT 1) b ON true`

// reader turns stored requests into what a screen shows. comments is the
// statement that reads remarks: what it leaves out nobody sees.
type reader struct {
	sc       *Scope
	team     team
	comments string
}

const sqlCommentsAll = `
	SELECT m.id, m.post_id, m.visibility, coalesce(m.client_id, 0) AS client_id, coalesce(c.name, '') AS client, m.name, m.approver_id IS NOT NULL AS by_approver, m.body, m.at,
	       ARRAY(SELECT n.words FROM tenant.comment_mentions n WHERE n.tenant_id = m.tenant_id AND n.comment_id = m.id) AS mentions,` + commentFiles + `
	  FROM tenant.comments m LEFT JOIN tenant.clients c ON c.tenant_id = m.tenant_id AND c.id = m.client_id
	 WHERE m.tenant_id = $1 AND m.post_id = ANY ($2) AND (m.visibility = 'internal' OR m.client_id = ANY ($3)) ORDER BY m.id`

const sqlDecisionList = `
	SELECT request_id, stage, coalesce(user_id, 0), coalesce(approver_id, 0), name, verdict, words, override, at
	  FROM tenant.decisions WHERE tenant_id = $1 AND request_id = ANY ($2) ORDER BY id`

// fill adds previews, decisions and comments to requests, in one statement each.
func (rd reader) fill(ctx context.Context, tx pgx.Tx, rows []requestRow) ([]model.ApprovalRequest, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	decisions, err := rd.decisions(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	comments, err := rd.commentsOf(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	suggestions, err := rd.suggestions(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	shelf, err := rd.shelf(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	holds, err := rd.openHolds(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	var out []model.ApprovalRequest
	for _, row := range rows {
		r := row.request(rd.team)
		r.Hold, r.Waits = holds[heldPart{row.PostID, row.ClientID}], shelf.waits(row)
		r.Decisions, r.Suggestions = decisions[r.ID], suggestions[r.ID]
		if r.Texts, err = shelf.texts(row); err != nil {
			return nil, err
		}
		for _, c := range comments {
			if c.PostID == r.PostID && (c.Visibility == model.Internal || c.ClientID == r.ClientID) {
				r.Comments = append(r.Comments, c)
			}
		}
		if r.Previews, err = shelf.previews(row.Content, row.PostID, row.VersionID, row.ClientID); err != nil {
			return nil, err
		}
		if r.Before, err = shelf.previews(row.Before, row.PostID, row.BeforeID, row.ClientID); err != nil {
			return nil, err
		}
		r.Before = shelf.comparable(r.Before, r.Previews, row.PostID, row.VersionID)
		out = append(out, r)
	}
	return out, nil
}

func (row requestRow) request(team team) model.ApprovalRequest {
	return model.ApprovalRequest{ID: row.ID, PostID: row.PostID, VersionID: row.VersionID, Number: row.Number, Hash: row.Hash,
		ClientID: row.ClientID, Client: row.Client, ClientZone: row.ClientZone, State: row.State, Stage: row.Stage, Stages: row.Stages,
		DueAt: row.DueAt, AskedBy: team.name(row.AskedBy), AskedAt: row.AskedAt, ClosedAt: row.ClosedAt, Archived: row.Archived, BeforeIs: row.BeforeIs}
}

func (rd reader) decisions(ctx context.Context, tx pgx.Tx, of []requestRow) (map[model.RequestID][]model.ApprovalDecision, error) {
	var ids []model.RequestID
	for _, row := range of {
		ids = append(ids, row.ID)
	}
	rows, err := tx.Query(ctx, sqlDecisionList, rd.sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	all := map[model.RequestID][]model.ApprovalDecision{}
	var id model.RequestID
	var d model.ApprovalDecision
	_, err = pgx.ForEachRow(rows, []any{&id, &d.Stage, &d.Person.User, &d.Person.Approver, &d.Person.Name, &d.Verdict, &d.Words, &d.Override, &d.At}, func() error {
		all[id] = append(all[id], d)
		return nil
	})
	return all, err
}

func (rd reader) commentsOf(ctx context.Context, tx pgx.Tx, of []requestRow) ([]model.Comment, error) {
	var posts []model.PostID
	var clients []model.ClientID
	for _, row := range of {
		posts, clients = append(posts, row.PostID), append(clients, row.ClientID)
	}
	return rd.sc.commentList(ctx, tx, rd.comments, posts, clients)
}

// heldPart is what a hold is about.
type heldPart struct {
	post   model.PostID
	client model.ClientID
}

func (rd reader) openHolds(ctx context.Context, tx pgx.Tx, of []requestRow) (map[heldPart]model.Hold, error) {
	var posts []model.PostID
	for _, row := range of {
		posts = append(posts, row.PostID)
	}
	list, err := rd.sc.holds(ctx, tx, posts)
	open := map[heldPart]model.Hold{}
	for _, h := range list {
		if h.Open() {
			open[heldPart{h.PostID, h.ClientID}] = h
		}
	}
	return open, err
}

// shelf is what previews are put together from.
type shelf struct {
	accounts map[model.AccountID]planAccount
	media    map[model.MediaID]planFile
	made     []shelfRendition
	targets  []shelfTarget
}

type shelfTarget struct {
	PostID    model.PostID
	VersionID model.VersionID
	AccountID model.AccountID
	State     model.State
	DueAt     *time.Time
	Zone      *string
	Recipes   []string // how each file is sent
}

// shelfRendition is what was, or is being, made of a file.
type shelfRendition struct {
	ID      model.RenditionID
	MediaID model.MediaID
	Recipe  string
	State   string
	Width   int
	Height  int
}

const sqlShelfAccounts = `
	SELECT a.id, a.client_id, c.name AS client, a.network, a.publisher, a.handle, a.settings
	  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND a.id = ANY ($2) ORDER BY a.network, a.handle, a.id`

const sqlShelfMedia = `
	SELECT id, state, kind, type, bytes, width, height, duration_ms, video_codec, audio_codec, fps::double precision AS fps, frames, thumb_path <> '' AS drawn
	  FROM tenant.media WHERE tenant_id = $1 AND id = ANY ($2)`

const sqlShelfRenditions = `
	SELECT id, media_id, recipe, state, width, height FROM tenant.media_renditions WHERE tenant_id = $1 AND media_id = ANY ($2)`

const sqlShelfTargets = `
	SELECT post_id, version_id, account_id, state, due_at, zone, media_recipes AS recipes FROM tenant.targets
	 WHERE tenant_id = $1 AND post_id = ANY ($2) AND state <> 'cancelled' ORDER BY id`

func (rd reader) shelf(ctx context.Context, tx pgx.Tx, of []requestRow) (s shelf, err error) {
	var accounts []model.AccountID
	var media []model.MediaID
	var posts []model.PostID
	for _, row := range of {
		for _, bytes := range [][]byte{row.Content, row.Before} {
			content, err := readOptional(bytes)
			if err != nil {
				return s, err
			}
			accounts, media = append(accounts, content.Accounts...), append(media, content.AllMedia()...)
		}
		posts = append(posts, row.PostID)
	}
	return rd.sc.stock(ctx, tx, accounts, media, posts)
}

func (sc *Scope) stock(ctx context.Context, tx pgx.Tx, accounts []model.AccountID, media []model.MediaID, posts []model.PostID) (s shelf, err error) {
	s = shelf{accounts: map[model.AccountID]planAccount{}, media: map[model.MediaID]planFile{}}
	rows, err := tx.Query(ctx, sqlShelfAccounts, sc.Actor.Tenant, accounts)
	if err != nil {
		return s, err
	}
	known, err := pgx.CollectRows(rows, pgx.RowToStructByName[planAccount])
	if err != nil {
		return s, err
	}
	for _, a := range known {
		s.accounts[a.ID] = a
	}
	if rows, err = tx.Query(ctx, sqlShelfMedia, sc.Actor.Tenant, media); err != nil {
		return s, err
	}
	files, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[planFile])
	if err != nil {
		return s, err
	}
	for _, f := range files {
		s.media[f.ID] = f
	}
	if rows, err = tx.Query(ctx, sqlShelfRenditions, sc.Actor.Tenant, media); err != nil {
		return s, err
	}
	if s.made, err = pgx.CollectRows(rows, pgx.RowToStructByName[shelfRendition]); err != nil {
		return s, err
	}
	if rows, err = tx.Query(ctx, sqlShelfTargets, sc.Actor.Tenant, posts); err != nil {
		return s, err
	}
	s.targets, err = pgx.CollectRows(rows, pgx.RowToStructByName[shelfTarget])
	return s, err
}

// texts are those that another can be suggested for.
func (s shelf) texts(row requestRow) ([]model.SuggestedPart, error) {
	content, err := readOptional(row.Content)
	if err != nil {
		return nil, err
	}
	var accounts []planAccount
	for _, id := range content.Accounts {
		if a, ok := s.accounts[id]; ok {
			accounts = append(accounts, a)
		}
	}
	slices.SortFunc(accounts, func(a, b planAccount) int {
		return cmp.Or(strings.Compare(string(a.Network), string(b.Network)), strings.Compare(a.Handle, b.Handle), cmp.Compare(a.ID, b.ID))
	})
	return suggestable(content, accounts, row.ClientID), nil
}

// waits says whether something of the request's client is still to go out.
func (s shelf) waits(row requestRow) bool {
	return slices.ContainsFunc(s.targets, func(t shelfTarget) bool {
		return t.PostID == row.PostID && s.accounts[t.AccountID].ClientID == row.ClientID && Holdable(t.State)
	})
}

func readOptional(canonical []byte) (model.Content, error) {
	if canonical == nil {
		return model.Content{}, nil
	}
	return model.ReadContent(canonical)
}

// previews shows what each of a client's accounts would get, or would have got,
// of a version. An account that the version names, and that an earlier version
// already served, gets nothing more and is left out.
func (s shelf) previews(canonical []byte, post model.PostID, version model.VersionID, client model.ClientID) ([]model.Preview, error) {
	content, err := readOptional(canonical)
	if err != nil {
		return nil, err
	}
	var all, owed []model.Preview
	for _, id := range content.Accounts {
		a, ok := s.accounts[id]
		if !ok || a.ClientID != client {
			continue
		}
		t, has := s.target(post, version, id)
		p := s.preview(content, a, t)
		if has {
			p.DueAt = t.DueAt
			if t.Zone != nil {
				p.Zone = *t.Zone
			}
		}
		all = append(all, p)
		if has || !s.servedBefore(post, version, id) {
			owed = append(owed, p)
		}
	}
	if len(owed) > 0 {
		all = owed
	}
	slices.SortStableFunc(all, func(a, b model.Preview) int {
		return strings.Compare(a.Network+" "+a.Account, b.Network+" "+b.Account)
	})
	return all, nil
}

// comparable are the previews of an earlier version without the accounts that it
// served and that the version leaves out for that: nothing changed for them.
func (s shelf) comparable(before, now []model.Preview, post model.PostID, version model.VersionID) []model.Preview {
	return slices.DeleteFunc(before, func(b model.Preview) bool {
		return s.servedBefore(post, version, b.AccountID) && !slices.ContainsFunc(now, func(n model.Preview) bool { return n.AccountID == b.AccountID })
	})
}

// servedBefore says whether a target of an earlier version stands for the account.
// What an edit can still reach follows the newest version, so such a target was sent.
func (s shelf) servedBefore(post model.PostID, version model.VersionID, account model.AccountID) bool {
	return slices.ContainsFunc(s.targets, func(t shelfTarget) bool {
		return t.PostID == post && t.AccountID == account && t.VersionID < version
	})
}

func (s shelf) target(post model.PostID, version model.VersionID, account model.AccountID) (found shelfTarget, ok bool) {
	for _, t := range s.targets {
		if t.PostID == post && t.VersionID == version && t.AccountID == account {
			found, ok = t, true
		}
	}
	return found, ok
}

func (s shelf) preview(content model.Content, a planAccount, t shelfTarget) model.Preview {
	part := content.For(string(a.Network), a.ID)
	p := model.Preview{AccountID: a.ID, Network: string(a.Network), Account: a.Handle, Text: part.Text, Link: part.Link, FirstComment: part.FirstComment}
	n := catalogue(a)
	for i, m := range part.Media {
		p.Media = append(p.Media, s.file(n, part, i, t))
		p.Media[i].ID, p.Media[i].Alt, p.Media[i].SHA256 = m.ID, m.Alt, m.SHA256
	}
	if n != nil {
		s.asSent(&p, n, part)
	} else {
		p.Parts = []string{p.Text}
	}
	return p
}

// file is an attachment as it is sent: by the target's recipe, or, where there is
// no target, by the one that the network would have today.
func (s shelf) file(n *network.Network, part model.Part, i int, t shelfTarget) model.PreviewMedia {
	f := s.media[part.Media[i].ID]
	shown := model.PreviewMedia{Kind: string(f.Kind), Width: f.Width, Height: f.Height, Drawn: f.Drawn}
	if f.Kind == network.Document {
		shown.Pages = int(f.Frames)
	}
	if !f.as("").Played() {
		shown.Plays = s.played(f.ID)
	}
	recipe := ""
	switch {
	case i < len(t.Recipes):
		recipe = t.Recipes[i]
	case n != nil:
		recipe = s.served(n, part, i).String()
	}
	if recipe == "" {
		return shown
	}
	shown.Waits = true
	if r, err := network.ParseRecipe(recipe); err == nil {
		shown.Width, shown.Height = r.Width, r.Height
	}
	for _, r := range s.made {
		if r.MediaID == f.ID && r.Recipe == recipe && r.State == "ready" {
			shown.Rendition, shown.Width, shown.Height, shown.Waits = r.ID, r.Width, r.Height, false
		}
	}
	return shown
}

// played is what was made of a file that browsers play.
func (s shelf) played(id model.MediaID) model.RenditionID {
	for _, r := range s.made {
		if recipe, err := network.ParseRecipe(r.Recipe); err == nil && r.MediaID == id && r.State == "ready" && recipe.Plays() {
			return r.ID
		}
	}
	return 0
}

func (s shelf) served(n *network.Network, part model.Part, i int) network.Recipe {
	draft := s.draft(part)
	format := n.FormatOf(draft)
	crop, focal := part.Media[i].Framed(network.PresetOf(n.Name, format))
	return n.Serve(format, draft.Media[i], network.Framing{Crop: crop, Focal: focal}).Recipe
}

func (s shelf) draft(part model.Part) network.Draft {
	draft := network.Draft{Text: part.Text, Link: part.Link, FirstComment: part.FirstComment, Options: part.Options}
	for _, m := range part.Media {
		draft.Media = append(draft.Media, s.media[m.ID].as(m.Alt))
	}
	return draft
}

// asSent turns a preview's words into those that the network gets.
func (s shelf) asSent(p *model.Preview, n *network.Network, part model.Part) {
	draft, _ := n.Fit(s.draft(part))
	p.Text, p.Parts, p.Format, p.Chosen = n.Body(draft), n.Parts(draft), string(n.FormatOf(draft)), part.Options
	if n.LinkOf(draft) == network.LinkInText {
		p.Link = ""
	}
	for _, o := range n.Options {
		v := part.Options[o.Key]
		if v == "" || v == o.Default {
			continue
		}
		p.Options = append(p.Options, model.PreviewOption{Key: o.Key, Label: o.Label, Value: optionWords(o, v)})
	}
}

func optionWords(o network.Option, v string) string {
	if i := slices.IndexFunc(o.Choices, func(c network.Choice) bool { return c.Value == v }); i >= 0 {
		return o.Choices[i].Label
	}
	switch {
	case o.Kind == network.Switch && v == "true":
		return "Yes"
	case o.Kind == network.Switch:
		return "No"
	}
	return v
}
