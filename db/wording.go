package db

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// WordingKind tells what a wording is for.
type WordingKind string

// The kinds.
const (
	Hashtags WordingKind = "hashtags" // put into a text
	Snippet  WordingKind = "snippet"  // put into a text
	Template WordingKind = "template" // a post starts from it
)

// Wording is what a workspace writes again and again. It is copied into the posts
// that use it.
type Wording struct {
	ID       model.WordingID
	ClientID model.ClientID // zero: of the whole workspace
	Client   string
	Kind     WordingKind
	Name     string
	Content  WordingContent
	Revision int
}

// WordingContent is what it says. Only a template has more than a text. It names no
// account and no file: those belong to one post.
type WordingContent struct {
	Text         string                       `json:"text"`
	Link         string                       `json:"link,omitempty"`
	FirstComment string                       `json:"first_comment,omitempty"`
	Variants     map[string]model.Variant     `json:"variants,omitempty"` // by network name
	Options      map[string]map[string]string `json:"options,omitempty"`  // by network name
	Labels       []model.LabelID              `json:"labels,omitempty"`
}

// What is kept is bounded.
const (
	maxWordings     = 500    // of a workspace
	maxSnippet      = 10_000 // characters
	maxHashtags     = 100    // of a group
	maxTemplateText = 100_000
)

const sqlWordingList = `
	SELECT w.id, coalesce(w.client_id, 0) AS client_id, coalesce(c.name, '') AS client, w.kind, w.name, w.content, w.revision
	  FROM tenant.wordings w LEFT JOIN tenant.clients c ON c.tenant_id = w.tenant_id AND c.id = w.client_id
	 WHERE w.tenant_id = $1 AND (w.client_id IS NULL OR $2 OR w.client_id = ANY ($3)) ORDER BY lower(w.name), w.id`

// Wordings lists those of the workspace and of the clients that the actor may write
// for, by name.
func (sc *Scope) Wordings(ctx context.Context) (list []Wording, err error) {
	defer wrap(&err, "list wordings")
	clients, all := sc.Actor.ClientsWith(model.PostsWrite)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlWordingList, sc.Actor.Tenant, all, clients)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Wording])
		}
		return err
	})
	return list, err
}

const sqlWordingGet = `
	SELECT w.id, coalesce(w.client_id, 0) AS client_id, coalesce(c.name, '') AS client, w.kind, w.name, w.content, w.revision
	  FROM tenant.wordings w LEFT JOIN tenant.clients c ON c.tenant_id = w.tenant_id AND c.id = w.client_id
	 WHERE w.tenant_id = $1 AND w.id = $2`

// Wording reads one that the actor may use.
func (sc *Scope) Wording(ctx context.Context, id model.WordingID) (w Wording, err error) {
	defer wrap(&err, "read wording %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		w, err = sc.wording(ctx, tx, id)
		return err
	})
	return w, err
}

func (sc *Scope) wording(ctx context.Context, tx pgx.Tx, id model.WordingID) (w Wording, err error) {
	rows, err := tx.Query(ctx, sqlWordingGet, sc.Actor.Tenant, id)
	if err != nil {
		return w, err
	}
	w, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Wording])
	if noRows(err) || err == nil && w.ClientID != 0 && !sc.Actor.May(model.PostsWrite, w.ClientID) {
		return Wording{}, errNoWording
	}
	return w, err
}

var errNoWording = model.Refuse(model.NotFound, "There is no such hashtag group, snippet or template, or not any more.")

const sqlWordingInsert = `
	INSERT INTO tenant.wordings (tenant_id, client_id, kind, name, content, created_at, updated_at)
	SELECT $1, nullif($2::bigint, 0), $3, $4, $5, $6, $6 WHERE (SELECT count(*) FROM tenant.wordings WHERE tenant_id = $1) < $7 RETURNING id`

// AddWording keeps one. It refuses a name that is taken among those of its kind and
// client, and what says nothing.
func (sc *Scope) AddWording(ctx context.Context, w Wording) (id model.WordingID, err error) {
	defer wrap(&err, "add wording")
	if err := sc.needKeep(w.ClientID); err != nil {
		return 0, err
	}
	if w.Content, err = w.tidy(); err != nil {
		return 0, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.wordingFits(ctx, tx, w); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, sqlWordingInsert, sc.Actor.Tenant, w.ClientID, w.Kind, tidyName(w.Name), w.Content, sc.now(), maxWordings).Scan(&id)
		if noRows(err) {
			return model.Refuse(model.Conflict, fmt.Sprintf("This workspace keeps %d hashtag groups, snippets and templates. Remove some that are not used any more.", maxWordings))
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, wordingNote("made", id, w))
	})
	return id, err
}

// wordingFits refuses a client that is not there, and labels that the actor may not
// see.
func (sc *Scope) wordingFits(ctx context.Context, tx pgx.Tx, w Wording) error {
	if err := sc.clientThere(ctx, tx, w.ClientID); err != nil {
		return err
	}
	_, err := sc.labelsThere(ctx, tx, w.Content.Labels)
	return err
}

const sqlWordingChange = `
	UPDATE tenant.wordings SET name = $4, content = $5, revision = revision + 1, updated_at = $6 WHERE tenant_id = $1 AND id = $2 AND revision = $3`

// ChangeWording gives one another name and content. What it is and whose it is stay.
// It refuses with Conflict if it changed after the caller read revision seen.
func (sc *Scope) ChangeWording(ctx context.Context, id model.WordingID, seen int, name string, content WordingContent) (err error) {
	defer wrap(&err, "change wording %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		w, err := sc.wording(ctx, tx, id)
		if err == nil {
			err = sc.needKeep(w.ClientID)
		}
		if err != nil {
			return err
		}
		w.Content, w.Name = content, tidyName(name)
		if w.Content, err = w.tidy(); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, sqlWordingChange, sc.Actor.Tenant, id, seen, w.Name, w.Content, sc.now())
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return model.Refuse(model.Conflict, "Somebody changed “"+w.Name+"” while you had it open. Nothing of yours was saved; open it again to see what it says now.")
		}
		return sc.audit(ctx, tx, wordingNote("changed", id, w))
	})
}

const sqlWordingDelete = `DELETE FROM tenant.wordings WHERE tenant_id = $1 AND id = $2`

// RemoveWording takes one away. Posts that used it keep their words.
func (sc *Scope) RemoveWording(ctx context.Context, id model.WordingID) (w Wording, err error) {
	defer wrap(&err, "remove wording %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if w, err = sc.wording(ctx, tx, id); err == nil {
			err = sc.needKeep(w.ClientID)
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlWordingDelete, sc.Actor.Tenant, id); err != nil {
			return err
		}
		return sc.audit(ctx, tx, wordingNote("removed", id, w))
	})
	return w, err
}

func wordingNote(verb string, id model.WordingID, w Wording) note {
	return note{verb: verb, subject: string(w.Kind), id: int64(id), client: w.ClientID, detail: map[string]any{"name": tidyName(w.Name)}}
}

// tidy brings the content into the form that is kept, and refuses what says nothing
// or too much.
func (w Wording) tidy() (WordingContent, error) {
	switch w.Kind {
	case Hashtags:
		return tidyHashtags(w.Content.Text)
	case Template:
		return w.Content.tidyTemplate()
	}
	text := network.Clean(w.Content.Text)
	switch {
	case network.Blank(text):
		return WordingContent{}, model.RefuseField("text", "Write what it says.")
	case utf8.RuneCountInString(text) > maxSnippet:
		return WordingContent{}, model.RefuseField("text", fmt.Sprintf("Keep a snippet under %d characters.", maxSnippet))
	}
	return WordingContent{Text: text}, nil
}

// tidyHashtags reads words parted by blanks or commas as hashtags, each once.
func tidyHashtags(text string) (c WordingContent, err error) {
	seen := map[string]bool{}
	var tags []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || network.Blank(string(r)) }) {
		word = strings.Trim(word, "#＃")
		if fold := strings.ToLower(word); word != "" && !seen[fold] {
			seen[fold] = true
			tags = append(tags, "#"+word)
		}
	}
	c.Text = strings.Join(tags, " ")
	switch {
	case len(tags) == 0:
		return c, model.RefuseField("text", "Write at least one hashtag.")
	case len(tags) > maxHashtags || utf8.RuneCountInString(c.Text) > maxSnippet:
		return c, model.RefuseField("text", fmt.Sprintf("Keep to %d hashtags in a group.", maxHashtags))
	}
	for _, tag := range tags {
		if strings.ContainsAny(tag[1:], "#＃") {
			return c, model.RefuseField("text", "Put a blank between hashtags: “"+model.Excerpt(tag, 40)+"” is several in one.")
		}
	}
	return c, nil
}

func (c WordingContent) tidyTemplate() (WordingContent, error) {
	c.Text, c.FirstComment, c.Link = network.Clean(c.Text), network.Clean(c.FirstComment), strings.TrimSpace(c.Link)
	says := !network.Blank(c.Text) || !network.Blank(c.FirstComment) || c.Link != ""
	size := utf8.RuneCountInString(c.Text + c.FirstComment + c.Link)
	variants := map[string]model.Variant{}
	for name, v := range c.Variants {
		v.Media = nil
		if v == (model.Variant{}) {
			continue
		}
		variants[name] = v
		for _, part := range []*string{v.Text, v.Link, v.FirstComment} {
			if part != nil {
				says, size = says || !network.Blank(*part), size+utf8.RuneCountInString(*part)
			}
		}
	}
	c.Variants = variants
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(_ string, chosen map[string]string) bool { return len(chosen) == 0 })
	switch {
	case !says && len(c.Options) == 0 && len(c.Labels) == 0:
		return c, model.RefuseField("text", "A template has to say something: write a text first.")
	case size > maxTemplateText:
		return c, model.RefuseField("text", fmt.Sprintf("Keep the texts of a template under %d characters in all.", maxTemplateText))
	}
	return c, nil
}
