package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// mention is a member whom words name after an @.
type mention struct {
	who   teammate
	words string
}

// mentionsMost is how many people one comment tells.
const mentionsMost = 20

// mentions finds whom a text names: @ and the whole name, or the first one where no two
// members share it. An @ inside a word names nobody, nor does one before a longer word.
func (t team) mentions(body string) (list []mention) {
	names := t.callNames()
	for at := strings.IndexByte(body, '@'); at >= 0 && len(list) < mentionsMost; {
		before, rest := body[:at], body[at+1:]
		if words, who, ok := longestName(names, rest); ok && !endsInWord(before) {
			if !slices.ContainsFunc(list, func(m mention) bool { return m.who.ID == who.ID }) {
				list = append(list, mention{who, words})
			}
		}
		next := strings.IndexByte(rest, '@')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return list
}

// callName is one way to call a member.
type callName struct {
	name string
	who  teammate
}

// callNames are the whole names, and the first ones that are one member's alone.
func (t team) callNames() (list []callName) {
	first, whole := map[string]int{}, map[string]int{}
	for _, m := range t {
		whole[fold(m.Name)]++
		first[fold(firstName(m.Name))]++
	}
	for _, id := range slices.Sorted(maps.Keys(t)) {
		m := t[id]
		if m.Name != "" && whole[fold(m.Name)] == 1 {
			list = append(list, callName{m.Name, m})
		}
		if n := firstName(m.Name); n != "" && n != m.Name && first[fold(n)] == 1 && whole[fold(n)] == 0 {
			list = append(list, callName{n, m})
		}
	}
	slices.SortStableFunc(list, func(a, b callName) int { return cmp.Compare(len(b.name), len(a.name)) })
	return list
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func firstName(name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	return first
}

// longestName is the longest of the names that rest begins with, as it stands there.
func longestName(names []callName, rest string) (words string, who teammate, ok bool) {
	runes := []rune(rest)
	for _, n := range names {
		long := len([]rune(n.name))
		if long > len(runes) || !strings.EqualFold(string(runes[:long]), n.name) {
			continue
		}
		if long == len(runes) || !wordRune(runes[long]) {
			return string(runes[:long]), n.who, true
		}
	}
	return "", who, false
}

func endsInWord(s string) bool {
	runes := []rune(s)
	return len(runes) > 0 && wordRune(runes[len(runes)-1])
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// Mentionable is a member whom an internal comment can name.
type Mentionable struct {
	Name string // as it is written after the @
}

// Mentionable lists whom a comment about an approval request can tell: who may see its
// post, but for the actor, by the names that a comment is read by.
func (sc *Scope) Mentionable(ctx context.Context, id model.RequestID) (list []Mentionable, err error) {
	defer wrap(&err, "list whom a comment on request %d can name", id)
	one, err := sc.Approval(ctx, id)
	if err != nil {
		return nil, err
	}
	team, err := sc.team(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err := sc.postPage(ctx, tx, one.PostID, sqlPostGet)
		if err != nil {
			return err
		}
		var all []mention
		for _, n := range team.callNames() {
			if n.who.ID != sc.Actor.User && !slices.ContainsFunc(all, func(m mention) bool { return m.who.ID == n.who.ID }) {
				all = append(all, mention{n.who, n.name})
			}
		}
		sees, err := newMailing(sc, team).seers(ctx, tx, all, page)
		for _, m := range all {
			if _, may := sees[m.who.ID]; may {
				list = append(list, Mentionable{Name: m.words})
			}
		}
		return err
	})
	slices.SortFunc(list, func(a, b Mentionable) int { return cmp.Compare(fold(a.Name), fold(b.Name)) })
	return list, err
}

const sqlMentionInsert = `
	INSERT INTO tenant.comment_mentions (tenant_id, comment_id, user_id, words, told) SELECT $1, $2, unnest($3::bigint[]), unnest($4::text[]), unnest($5::boolean[])`

// tellNamed keeps whom an internal comment names and owes each a mail, who may see the post;
// untold are those who may not. Nobody is told of their own words.
func (m *mailing) tellNamed(ctx context.Context, tx pgx.Tx, c model.Comment, page PostPage) (untold []string, err error) {
	named := slices.DeleteFunc(m.team.mentions(c.Body), func(one mention) bool { return one.who.ID == m.sc.Actor.User })
	if c.Visibility != model.Internal || len(named) == 0 {
		return nil, nil
	}
	sees, err := m.seers(ctx, tx, named, page)
	if err != nil {
		return nil, err
	}
	var ids []model.UserID
	var words []string
	var told []bool
	for _, one := range named {
		client, may := sees[one.who.ID]
		ids, words, told = append(ids, one.who.ID), append(words, one.words), append(told, may)
		if !may {
			untold = append(untold, one.who.Name)
			continue
		}
		if err := m.tellOne(ctx, tx, c, page, one.who, client); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, sqlMentionInsert, m.sc.Actor.Tenant, c.ID, ids, words, told)
	return untold, err
}

// seers are those who may see the post, each with a client of it that they may see, or
// zero for a post of no client.
func (m *mailing) seers(ctx context.Context, tx pgx.Tx, named []mention, page PostPage) (map[model.UserID]model.ClientID, error) {
	sees := map[model.UserID]model.ClientID{}
	var ids []model.UserID
	clients := clientsOf(page.Targets)
	for _, one := range named {
		ids = append(ids, one.who.ID)
		if len(clients) == 0 && (one.who.Role.EveryClient() || one.who.ID == page.Post.CreatedBy) {
			sees[one.who.ID] = 0
		}
	}
	for _, client := range clients {
		viewers, err := m.sc.viewers(ctx, tx, client, ids, m.team)
		if err != nil {
			return nil, err
		}
		for _, v := range viewers {
			if _, has := sees[v.ID]; !has {
				sees[v.ID] = client
			}
		}
	}
	return sees, nil
}

func (m *mailing) tellOne(ctx context.Context, tx pgx.Tx, c model.Comment, page PostPage, to teammate, client model.ClientID) error {
	theirs, err := m.sc.networksOf(ctx, tx, page.Version.Content.Accounts, []model.ClientID{client})
	if err != nil {
		return err
	}
	post := model.ApprovalMailPost{Post: c.PostID, Excerpt: eyes{networks: theirs, user: to.ID}.words(page.Version), Words: c.Body}
	for _, t := range page.Targets {
		if t.ClientID == client {
			post.Client, post.Zone, post.DueAt = t.Client, t.ClientZone, earliest(post.DueAt, t.DueAt)
		}
	}
	content := model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: post.Client, Sender: c.Name, Posts: []model.ApprovalMailPost{post},
		Path: fmt.Sprintf("/w/%s/posts/%d", m.sc.Workspace.Slug, c.PostID)}
	return m.insert(ctx, tx, mailRow{key: fmt.Sprintf("%s:%d:%d", model.MailMention, c.ID, to.ID), kind: model.MailMention, email: to.Email, name: to.Name, content: content})
}
