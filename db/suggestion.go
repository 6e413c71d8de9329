package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// SuggestionForm is a text that an approver would rather have. Texts stand in
// the order of ReviewItem.Texts; Hash is of the version that the page showed.
type SuggestionForm struct {
	Request model.RequestID
	Hash    string
	Key     string
	Texts   []string
}

// suggestable is what somebody can suggest another text for: the texts as they were
// written, once each, with the networks of the client that get them.
func suggestable(content model.Content, accounts []planAccount, client model.ClientID) (parts []model.SuggestedPart) {
	for _, a := range accounts {
		if a.ClientID != client || !slices.Contains(content.Accounts, a.ID) {
			continue
		}
		text := content.Written(string(a.Network), a.ID).Text
		i := slices.IndexFunc(parts, func(p model.SuggestedPart) bool { return p.From == text })
		if i < 0 {
			parts = append(parts, model.SuggestedPart{From: text, To: text})
			i = len(parts) - 1
		}
		if !slices.Contains(parts[i].Networks, string(a.Network)) {
			parts[i].Networks = append(parts[i].Networks, string(a.Network))
		}
	}
	return parts
}

const sqlSuggestionInsert = `
	INSERT INTO tenant.suggestions (tenant_id, request_id, post_id, version_id, client_id, approver_id, name, parts, form_key, at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING id`

const sqlSuggestionsReplace = `
	UPDATE tenant.suggestions SET state = 'replaced', closed_at = $4 WHERE tenant_id = $1 AND request_id = $2 AND approver_id = $3 AND state = 'open' AND id <> $5`

// Suggest keeps another text for a post of the link, for its writer to take over or
// not; it takes the place of what the person suggested before. The same form again
// adds nothing. It refuses with Conflict a version that is not asked about any more.
func (rs *ReviewScope) Suggest(ctx context.Context, f SuggestionForm) (err error) {
	defer wrap(&err, "suggest by link")
	allowed, err := rs.allowed(ctx)
	if err != nil {
		return err
	}
	about, ok := allowed[f.Request]
	if !ok {
		return errNoRequest
	}
	team, err := rs.sc.team(ctx)
	if err != nil {
		return err
	}
	return rs.sc.write(ctx, func(tx pgx.Tx) error {
		if about, err = rs.sc.requestRow(ctx, tx, f.Request); err != nil {
			return err
		}
		if about.State != model.RequestOpen || about.VersionID != about.CurrentID || f.Hash != about.Hash {
			return &model.Refusal{Kind: model.Conflict, Field: "text", Say: "This changed after you opened it, so your suggestion was not sent. Look at the text as it is now."}
		}
		parts, err := rs.sc.suggested(ctx, tx, about, f.Texts)
		if err != nil {
			return err
		}
		return rs.suggest(ctx, tx, team, about, f.Key, parts)
	})
}

func (rs *ReviewScope) suggest(ctx context.Context, tx pgx.Tx, team team, about requestRow, key string, parts []model.SuggestedPart) error {
	if err := rs.sc.mayWriteMore(ctx, tx, rs.who.ID); err != nil {
		return err
	}
	var id int64
	err := tx.QueryRow(ctx, sqlSuggestionInsert, rs.sc.Actor.Tenant, about.ID, about.PostID, about.VersionID, rs.who.ClientID, rs.who.ID, rs.who.Name, parts, key, rs.sc.now()).Scan(&id)
	if noRows(err) {
		return nil // the same form came twice
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlSuggestionsReplace, rs.sc.Actor.Tenant, about.ID, rs.who.ID, rs.sc.now(), id); err != nil {
		return err
	}
	by := model.AskedPerson{Approver: rs.who.ID, Name: rs.who.Name}
	if err := rs.sc.auditBy(ctx, tx, by, note{verb: "suggested", subject: "post", id: int64(about.PostID), client: rs.who.ClientID, detail: map[string]any{"suggestion": id, "request": about.ID}}); err != nil {
		return err
	}
	return newMailing(rs.sc, team).suggestion(ctx, tx, id, parts, about)
}

// suggested puts the texts of a form beside what they would replace, and refuses what
// changes nothing or is no text.
func (sc *Scope) suggested(ctx context.Context, tx pgx.Tx, about requestRow, texts []string) (parts []model.SuggestedPart, err error) {
	content, err := model.ReadContent(about.Content)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sqlShelfAccounts, sc.Actor.Tenant, content.Accounts)
	if err != nil {
		return nil, err
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowToStructByName[planAccount])
	if err != nil {
		return nil, err
	}
	all := suggestable(content, accounts, about.ClientID)
	if len(texts) != len(all) {
		return nil, model.RefuseField("text", "This form was not whole. What you wrote is still here: send it once more.")
	}
	for i, p := range all {
		p.To = strings.TrimSpace(strings.ReplaceAll(texts[i], "\r\n", "\n"))
		switch {
		case p.To == strings.TrimSpace(p.From):
			continue
		case network.Blank(p.To):
			return nil, model.RefuseField("text", "A suggestion needs a text. If nothing of this should go out, reject the post.")
		case len([]rune(p.To)) > maxSuggested:
			return nil, model.RefuseField("text", fmt.Sprintf("That is too long: keep it under %d characters.", maxSuggested))
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, model.RefuseField("text", "You have not changed the text yet. Edit it, then send it.")
	}
	return parts, nil
}

// maxSuggested bounds a suggested text, in code points.
const maxSuggested = 20_000

// suggestion owes a mail about a suggestion to each person of the agency whom it concerns.
func (m *mailing) suggestion(ctx context.Context, tx pgx.Tx, id int64, parts []model.SuggestedPart, about requestRow) error {
	people := []model.UserID{about.WrittenBy, about.AskedBy}
	slices.Sort(people)
	viewers, err := m.sc.viewers(ctx, tx, about.ClientID, slices.Compact(people), m.team)
	if err != nil {
		return err
	}
	content, err := m.commentContent(ctx, tx, model.Comment{Name: m.sc.Actor.Name, Body: parts[0].To}, about)
	if err != nil {
		return err
	}
	for _, to := range viewers {
		key := fmt.Sprintf("%s:%d:%d", model.MailSuggestion, id, to.ID)
		if err := m.insert(ctx, tx, mailRow{key: key, kind: model.MailSuggestion, email: to.Email, name: to.Name, content: content}); err != nil {
			return err
		}
	}
	return nil
}

const sqlSuggestionList = `
	SELECT id, request_id, version_id, approver_id, name, parts, state, at FROM tenant.suggestions
	 WHERE tenant_id = $1 AND request_id = ANY ($2) AND state <> 'replaced' ORDER BY id`

func (rd reader) suggestions(ctx context.Context, tx pgx.Tx, of []requestRow) (map[model.RequestID][]model.Suggestion, error) {
	var ids []model.RequestID
	for _, row := range of {
		ids = append(ids, row.ID)
	}
	rows, err := tx.Query(ctx, sqlSuggestionList, rd.sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[model.Suggestion])
	all := map[model.RequestID][]model.Suggestion{}
	for _, s := range list {
		all[s.RequestID] = append(all[s.RequestID], s)
	}
	return all, err
}

// storedSuggestion is one as the desk acts on it.
type storedSuggestion struct {
	RequestID model.RequestID
	PostID    model.PostID
	VersionID model.VersionID
	ClientID  model.ClientID
	Parts     []model.SuggestedPart
	State     string
}

const sqlSuggestionGet = `
	SELECT request_id, post_id, version_id, client_id, parts, state FROM tenant.suggestions WHERE tenant_id = $1 AND id = $2`

func (sc *Scope) suggestion(ctx context.Context, tx pgx.Tx, id model.SuggestionID) (s storedSuggestion, err error) {
	rows, err := tx.Query(ctx, sqlSuggestionGet, sc.Actor.Tenant, id)
	if err != nil {
		return s, err
	}
	s, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[storedSuggestion])
	if noRows(err) {
		return s, model.Refuse(model.NotFound, "There is no such suggestion.")
	}
	if err != nil {
		return s, err
	}
	return s, sc.need(model.PostsWrite, s.ClientID, "suggestion")
}

const sqlSuggestionClose = `UPDATE tenant.suggestions SET state = $3, closed_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

// TakeSuggestion writes the suggested text as the post's next version, which then has
// to be submitted as any edit has. It refuses with Conflict a suggestion that was
// answered before, or is about an earlier version.
func (sc *Scope) TakeSuggestion(ctx context.Context, id model.SuggestionID) (page PostPage, err error) {
	defer wrap(&err, "take suggestion %d", id)
	var s storedSuggestion
	var now PostPage
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if s, err = sc.suggestion(ctx, tx, id); err != nil {
			return err
		}
		now, err = sc.postPage(ctx, tx, s.PostID, sqlPostGet)
		return err
	})
	if err != nil {
		return page, err
	}
	if err := s.takeable(now); err != nil {
		return page, err
	}
	return sc.change(ctx, s.PostID, now.Post.Revision, func(tx pgx.Tx, old PostPage) error {
		if err := sc.needAll(model.PostsWrite, old); err != nil {
			return err
		}
		if err := sc.closeSuggestion(ctx, tx, id, s, "taken"); err != nil {
			return err
		}
		form := PostForm{Content: s.onto(old.Version.Content, old.Targets), Notes: old.Post.Notes, Labels: old.Post.Labels, Named: clientsOf(old.Targets), written: true}
		return sc.revise(ctx, tx, old, form)
	})
}

func (s storedSuggestion) takeable(now PostPage) error {
	switch {
	case s.State == "taken":
		return model.Refuse(model.Conflict, "This suggestion was taken over already.")
	case now.Version.ID != s.VersionID:
		return model.Refuse(model.Conflict, "The post has changed since, and the suggestion is about the text as it was. Open the post and take over by hand what still fits.")
	}
	return nil
}

func (sc *Scope) closeSuggestion(ctx context.Context, tx pgx.Tx, id model.SuggestionID, s storedSuggestion, state string) error {
	tag, err := tx.Exec(ctx, sqlSuggestionClose, sc.Actor.Tenant, id, state, sc.now())
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return model.Refuse(model.Conflict, "This suggestion was answered meanwhile.")
	}
	return sc.audit(ctx, tx, note{verb: "suggestion_" + state, subject: "post", id: int64(s.PostID), client: s.ClientID, detail: map[string]any{"suggestion": id}})
}

// DeclineSuggestion says that the text stays as it is. Twice is once.
func (sc *Scope) DeclineSuggestion(ctx context.Context, id model.SuggestionID) (request model.RequestID, err error) {
	defer wrap(&err, "decline suggestion %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		s, err := sc.suggestion(ctx, tx, id)
		if request = s.RequestID; err != nil || s.State == "declined" {
			return err
		}
		return sc.closeSuggestion(ctx, tx, id, s, "declined")
	})
	return request, err
}

// onto puts the suggested texts where the old ones were written: in a network's own
// text where it has one, else in the shared one. A network of another client that took
// the shared text keeps the old one as its own.
func (s storedSuggestion) onto(c model.Content, targets []Target) model.Content {
	variants := maps.Clone(c.Variants)
	if variants == nil {
		variants = map[string]model.Variant{}
	}
	was := c.Text
	for _, p := range s.Parts {
		for _, net := range p.Networks {
			if v := variants[net]; v.Text != nil || p.From != was {
				v.Text = &p.To
				variants[net] = v
			}
		}
		if p.From != was {
			continue
		}
		c.Text = p.To
		for _, t := range targets {
			if v := variants[string(t.Network)]; v.Text == nil && !slices.Contains(p.Networks, string(t.Network)) {
				v.Text = &was
				variants[string(t.Network)] = v
			}
		}
	}
	c.Variants = variants
	return c
}
