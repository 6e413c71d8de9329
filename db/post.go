package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Post is a thread of immutable versions, as screens show it.
type Post struct {
	ID                model.PostID
	State             model.PostState
	Review            string // draft, in_review, changes_requested, approved
	Excerpt           string
	Notes             string
	Labels            []model.LabelID // those that the actor may see, a campaign among them; sorted
	CurrentVersionID  model.VersionID
	ApprovedVersionID *model.VersionID
	Revision          int
	ArchivedAt        *time.Time
	CreatedBy         model.UserID
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// Version is one immutable version of a post.
type Version struct {
	ID        model.VersionID
	PostID    model.PostID
	Number    int
	Content   model.Content
	Hash      []byte
	CreatedBy model.UserID
	CreatedAt time.Time
	Hidden    int              // accounts of clients that the reader does not see; what only they get is not in Content
	Accounts  []VersionAccount `db:"-"` // those of Content, by name; of a version that was read by its number
}

// PostPage is a post with its current version and those of its targets that the
// actor may see.
type PostPage struct {
	Post    Post
	Version Version
	Targets []Target
	Older   map[model.VersionID]model.Content // of targets that carry another version than the current one
	Hidden  int                               // targets of clients that the actor may not see
}

const sqlPostGet = `
	SELECT id, state, review, excerpt, notes, current_version_id, approved_version_id, revision, archived_at, created_by, created_at, updated_at,
	       ARRAY(SELECT pl.label_id FROM tenant.post_labels pl WHERE pl.tenant_id = p.tenant_id AND pl.post_id = p.id
	                AND EXISTS (SELECT FROM tenant.labels l WHERE l.tenant_id = pl.tenant_id AND l.id = pl.label_id AND (l.client_id IS NULL OR $3 OR l.client_id = ANY ($4)))
	              ORDER BY pl.label_id) AS labels
	  FROM tenant.posts p WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id`

// sqlPostLock locks in order of ids, so that two batches cannot lock each other out.
const sqlPostLock = sqlPostGet + ` FOR NO KEY UPDATE OF p`

const sqlVersionGet = `
	SELECT id, post_id, number, content, content_hash, created_by, created_at
	  FROM tenant.post_versions WHERE tenant_id = $1 AND id = ANY ($2)`

// Post reads a post. It refuses with NotFound unless the actor may see at least
// one of its targets.
func (sc *Scope) Post(ctx context.Context, id model.PostID) (page PostPage, err error) {
	defer wrap(&err, "read post %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err = sc.postPage(ctx, tx, id, sqlPostGet)
		return err
	})
	return page, err
}

func (sc *Scope) postPage(ctx context.Context, tx pgx.Tx, id model.PostID, sqlPost string) (PostPage, error) {
	pages, err := sc.postPages(ctx, tx, []model.PostID{id}, sqlPost)
	if err != nil {
		return PostPage{}, err
	}
	page, there := pages[id]
	if !there {
		return page, errNoPost
	}
	return page, nil
}

// postPages reads posts in a handful of statements, however many they are. What
// the actor may not see is not among them.
func (sc *Scope) postPages(ctx context.Context, tx pgx.Tx, ids []model.PostID, sqlPost string) (map[model.PostID]PostPage, error) {
	posts, err := sc.postRecords(ctx, tx, ids, sqlPost)
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	pages, versions := map[model.PostID]PostPage{}, []model.VersionID{}
	for _, p := range posts {
		versions = append(versions, p.CurrentVersionID)
	}
	current, err := sc.versions(ctx, tx, versions)
	if err != nil {
		return nil, err
	}
	all, err := sc.targetsOf(ctx, tx, ids...)
	if err != nil {
		return nil, err
	}
	of := map[model.PostID][]Target{}
	for _, t := range all {
		of[t.PostID] = append(of[t.PostID], t)
	}
	for _, p := range posts {
		page, sees := sc.seenPage(PostPage{Post: p, Version: current[p.CurrentVersionID], Targets: of[p.ID]})
		if sees {
			pages[p.ID] = page
		}
	}
	return pages, sc.addOlder(ctx, tx, pages)
}

func (sc *Scope) postRecords(ctx context.Context, tx pgx.Tx, ids []model.PostID, sqlPost string) ([]Post, error) {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	rows, err := tx.Query(ctx, sqlPost, sc.Actor.Tenant, ids, all, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Post])
}

// seenPage leaves of a page what the actor may see, and says whether that is
// anything.
func (sc *Scope) seenPage(page PostPage) (_ PostPage, sees bool) {
	all := page.Targets
	page.Targets = nil
	for _, t := range all {
		if sc.Actor.May(model.PostsView, t.ClientID) {
			page.Targets = append(page.Targets, t)
		}
	}
	page.Hidden = len(all) - len(page.Targets)
	if len(page.Targets) > 0 {
		return page, true
	}
	return page, len(all) == 0 && (page.Post.CreatedBy == sc.Actor.User || sc.Actor.Role.EveryClient())
}

var errNoPost = model.Refuse(model.NotFound, "There is no such post.")

const sqlVersionContents = `SELECT id, content FROM tenant.post_versions WHERE tenant_id = $1 AND id = ANY ($2)`

// addOlder reads what the pages' targets carry that their current versions do not
// say, and puts what only others see out of their words.
func (sc *Scope) addOlder(ctx context.Context, tx pgx.Tx, pages map[model.PostID]PostPage) error {
	older, err := sc.olderOf(ctx, tx, pages)
	if err != nil {
		return err
	}
	for id, page := range pages {
		page.Older = map[model.VersionID]model.Content{}
		for _, t := range page.Targets {
			if c, ok := older[t.VersionID]; ok {
				page.Older[t.VersionID] = c
			}
		}
		if page.Hidden > 0 {
			page.Post.Excerpt = page.words()
		}
		pages[id] = page
	}
	return nil
}

func (sc *Scope) olderOf(ctx context.Context, tx pgx.Tx, pages map[model.PostID]PostPage) (map[model.VersionID]model.Content, error) {
	var ids []model.VersionID
	for _, page := range pages {
		for _, t := range page.Targets {
			if t.VersionID != page.Version.ID && !slices.Contains(ids, t.VersionID) {
				ids = append(ids, t.VersionID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, sqlVersionContents, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	older := map[model.VersionID]model.Content{}
	var id model.VersionID
	var canonical []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &canonical}, func() error {
		older[id], err = model.ReadContent(canonical)
		return err
	})
	return older, err
}

// Carries is what a target of the page gets, or got: its own version's content.
func (p PostPage) Carries(t Target) model.Content {
	if c, ok := p.Older[t.VersionID]; ok {
		return c
	}
	return p.Version.Content
}

// words are the first ones of what the page's targets carry.
func (p PostPage) words() string {
	var list []string
	for _, t := range p.Targets {
		if t.State != model.Cancelled || t.VersionID == p.Version.ID {
			list = append(list, model.Excerpt(p.Carries(t).For(string(t.Network), t.AccountID).Text, 140))
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " / ")
}

// Visible is what the current version says to the page's targets. What only
// hidden ones get is another client's, and left out.
func (p PostPage) Visible() model.Content {
	if p.Hidden == 0 {
		return p.Version.Content
	}
	networks := map[model.AccountID]network.Name{}
	for _, t := range p.Targets {
		networks[t.AccountID] = t.Network
	}
	return visible(p.Version.Content, networks)
}

// visible is what content says to some of its accounts.
func visible(all model.Content, to map[model.AccountID]network.Name) model.Content {
	seen := model.Content{Plain: all.Plain, Variants: map[string]model.Variant{}, Options: map[model.AccountID]map[string]string{}}
	for _, id := range all.Accounts {
		if name, ok := to[id]; ok {
			seen.Accounts = append(seen.Accounts, id)
			seen.Options[id] = all.Options[id]
			seen = takeShared(seen, all, string(name))
		}
	}
	for _, t := range all.Tagged {
		t.Accounts = slices.DeleteFunc(slices.Clone(t.Accounts), func(id model.AccountID) bool { return !slices.Contains(seen.Accounts, id) })
		if len(t.Accounts) > 0 {
			seen.Tagged = append(seen.Tagged, t)
		}
	}
	return seen
}

// takeShared adds what accounts of a network get: its variant, and the shared
// parts that the variant does not replace.
func takeShared(seen, all model.Content, network string) model.Content {
	v, own := all.Variants[network]
	if own {
		seen.Variants[network] = v
	}
	if v.Text == nil {
		seen.Text = all.Text
	}
	if v.Link == nil {
		seen.Link = all.Link
	}
	if v.FirstComment == nil {
		seen.FirstComment = all.FirstComment
	}
	if v.Media == nil {
		seen.Media = all.Media
	}
	return seen
}

func (sc *Scope) version(ctx context.Context, tx pgx.Tx, id model.VersionID) (Version, error) {
	list, err := sc.versions(ctx, tx, []model.VersionID{id})
	if err == nil && len(list) == 0 {
		err = pgx.ErrNoRows
	}
	return list[id], err
}

func (sc *Scope) versions(ctx context.Context, tx pgx.Tx, ids []model.VersionID) (map[model.VersionID]Version, error) {
	rows, err := tx.Query(ctx, sqlVersionGet, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	list := map[model.VersionID]Version{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v Version, err error) {
		var canonical []byte
		if err := row.Scan(&v.ID, &v.PostID, &v.Number, &canonical, &v.Hash, &v.CreatedBy, &v.CreatedAt); err != nil {
			return v, err
		}
		v.Content, err = model.ReadContent(canonical)
		list[v.ID] = v
		return v, err
	})
	return list, err
}

// fresh refuses with Conflict if the post changed after the caller read revision
// seen, and says what it is now.
func fresh(p Post, seen int) error {
	if p.Revision == seen {
		return nil
	}
	return model.Refuse(model.Conflict, fmt.Sprintf(
		"This post changed while you had it open: it is now %s, last changed %s. Nothing was overwritten; reload to see the change.",
		stateWords(p.State), p.UpdatedAt.UTC().Format("2 January 15:04 UTC")))
}

func stateWords(s model.PostState) string {
	switch s {
	case model.PostInReview:
		return "waiting for approval"
	case model.PostChangesRequested:
		return "back with changes requested"
	case model.PostPartiallyFailed:
		return "published in part"
	}
	return string(s)
}

const sqlPostTouch = `
	UPDATE tenant.posts SET revision = revision + 1, updated_at = $3 WHERE tenant_id = $1 AND id = $2`

func (sc *Scope) touch(ctx context.Context, tx pgx.Tx, id model.PostID) error {
	_, err := tx.Exec(ctx, sqlPostTouch, sc.Actor.Tenant, id, sc.now())
	return err
}

// change locks the post, checks what the caller saw, runs f, and brings revision
// and aggregate up to date. Every change of a post goes through here, so posts
// are always locked before their targets.
func (sc *Scope) change(ctx context.Context, id model.PostID, seen int, f func(tx pgx.Tx, page PostPage) error) (page PostPage, err error) {
	err = sc.write(ctx, func(tx pgx.Tx) error {
		old, err := sc.postPage(ctx, tx, id, sqlPostLock)
		if err != nil {
			return err
		}
		if err := fresh(old.Post, seen); err != nil {
			return err
		}
		if err := f(tx, old); err != nil {
			return err
		}
		if err := sc.touch(ctx, tx, id); err != nil {
			return err
		}
		if err := sc.recompute(ctx, tx, id); err != nil {
			return err
		}
		page, err = sc.postPage(ctx, tx, id, sqlPostGet)
		return err
	})
	return page, err
}

// Archivable refuses with the reason why the actor cannot put this post away now.
func (sc *Scope) Archivable(page PostPage) error {
	if err := sc.needAll(model.PostsWrite, page); err != nil {
		return err
	}
	return noneInFlight(page.Targets)
}

// ArchivePost puts a post away: whatever is still on its way is cancelled. What
// is being published or is of unknown outcome cannot be taken back and refuses.
func (sc *Scope) ArchivePost(ctx context.Context, id model.PostID, seen int) (err error) {
	defer wrap(&err, "archive post %d", id)
	_, err = sc.change(ctx, id, seen, func(tx pgx.Tx, page PostPage) error {
		if err := sc.Archivable(page); err != nil {
			return err
		}
		if err := sc.supersede(ctx, tx, id); err != nil {
			return err
		}
		if err := sc.cancelTargets(ctx, tx, page.Targets, "archived"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPostArchive, sc.Actor.Tenant, id, sc.now()); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "archived", subject: "post", id: int64(id), client: onlyClient(page.Targets)})
	})
	return err
}

const sqlPostArchive = `UPDATE tenant.posts SET archived_at = $3 WHERE tenant_id = $1 AND id = $2`

// cancelTargets takes the targets that can still be taken back out of delivery.
func (sc *Scope) cancelTargets(ctx context.Context, tx pgx.Tx, targets []Target, reason string) error {
	var ids []model.TargetID
	for _, t := range targets {
		if t.State.MayBecome(model.Cancelled) {
			ids = append(ids, t.ID)
		}
	}
	if err := sc.askCancel(ctx, tx, ids); err != nil {
		return err
	}
	_, err := sc.moveTargets(ctx, tx, move{ids: ids, to: model.Cancelled, reason: reason})
	return err
}

// needAll refuses unless the actor has p at every client of the post, those it
// cannot see included.
func (sc *Scope) needAll(p model.Permission, page PostPage) error {
	if page.Hidden > 0 {
		return model.Refuse(model.Forbidden, "This post also goes to clients that you do not work for, so it cannot be changed by you.")
	}
	for _, t := range page.Targets {
		if err := sc.need(p, t.ClientID, "post"); err != nil {
			return err
		}
	}
	return nil
}

// noneInFlight refuses while a call to a network may be under way.
func noneInFlight(targets []Target) error {
	for _, t := range targets {
		switch t.State {
		case model.Publishing:
			return model.Refuse(model.Conflict, fmt.Sprintf(
				"%s is being published at this moment, so the post cannot change now. Try again when its outcome is known.", t.Account))
		case model.UnknownOutcome:
			return model.Refuse(model.Conflict, fmt.Sprintf(
				"It is not known yet whether the post is live on %s, so it cannot change now. Herald is asking the network; try again when its outcome is known.", t.Account))
		}
	}
	return nil
}

// clientsOf returns the clients of the targets, once each, sorted.
func clientsOf(targets []Target) []model.ClientID {
	var ids []model.ClientID
	for _, t := range targets {
		ids = append(ids, t.ClientID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// onlyClient returns the one client of the targets, or zero if there are several.
func onlyClient(targets []Target) model.ClientID {
	if ids := clientsOf(targets); len(ids) == 1 {
		return ids[0]
	}
	return 0
}
