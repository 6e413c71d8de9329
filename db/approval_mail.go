package db

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// linkLife is how long a review link works.
const linkLife = 14 * 24 * time.Hour

// ask is one request with the stage whose people are told now.
type ask struct {
	request model.RequestID
	client  model.ClientID
	stage   model.AskedStage
	sender  string // who asked for approval
	post    model.ApprovalMailPost
}

// mailing gathers who has to be told what by one transaction, so that each
// person gets one mail however many posts it is about.
type mailing struct {
	sc        *Scope
	team      team
	approvers map[model.ApproverID][]ask
	users     map[model.UserID][]ask
	writers   map[model.UserID][]model.ApprovalMailPost
	first     int64                                     // the first decision that writers hear of: names the batch
	back      map[model.UserID][]model.ApprovalMailPost // posts that nobody is asked about any more
	returned  []giving
	late      map[model.UserID][]unplanned // approved, and not scheduled
	from      model.LinkID                 // the link whose reader asked for the mail; zero if nobody did
	form      string                       // the key of the form by which it was asked for
	gathers   bool                         // who is asked hears of what follows soon in the same mail
	owed      []mailRow                    // written together at the end
}

func newMailing(sc *Scope, team team) *mailing {
	return &mailing{sc: sc, team: team, approvers: map[model.ApproverID][]ask{}, users: map[model.UserID][]ask{}, writers: map[model.UserID][]model.ApprovalMailPost{},
		back: map[model.UserID][]model.ApprovalMailPost{}, late: map[model.UserID][]unplanned{}}
}

// ask adds requests for the people of their stages. Who acts now needs no mail.
func (m *mailing) ask(list []ask) {
	for _, a := range list {
		for _, p := range a.stage.People {
			switch {
			case p.Approver != 0:
				m.approvers[p.Approver] = append(m.approvers[p.Approver], a)
			case p.User != m.sc.Actor.User:
				m.users[p.User] = append(m.users[p.User], a)
			}
		}
	}
}

// tell adds what was decided for the writer of a post, unless the writer did it.
func (m *mailing) tell(writer model.UserID, decision int64, post model.ApprovalMailPost) {
	if writer == m.sc.Actor.User {
		return
	}
	m.first = cmp.Or(m.first, decision)
	m.writers[writer] = append(m.writers[writer], post)
}

func (m *mailing) send(ctx context.Context, tx pgx.Tx) error {
	people, err := m.sc.approversStanding(ctx, tx, slices.Collect(maps.Keys(m.approvers)))
	if err != nil {
		return err
	}
	if err := m.sendLinks(ctx, tx, people); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(m.users)) {
		if err := m.sendWaiting(ctx, tx, id, m.users[id]); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.writers)) {
		if err := m.sendDecisions(ctx, tx, id, m.writers[id]); err != nil {
			return err
		}
	}
	for _, g := range m.returned {
		m.sendBack(g)
	}
	for _, id := range slices.Sorted(maps.Keys(m.late)) {
		m.sendUnplanned(id, m.late[id])
	}
	return m.write(ctx, tx)
}

const sqlLinksAdd = `
	INSERT INTO tenant.review_links (tenant_id, token_hash, approver_id, expires_at, created_at, asked_from, form_key)
	SELECT $1, w.hash, w.approver, $4, $5, nullif($6, 0), nullif($7, '') FROM unnest($2::bytea[], $3::bigint[]) AS w(hash, approver)
	RETURNING approver_id, id`

const sqlLinkRequests = `INSERT INTO tenant.review_link_requests (tenant_id, link_id, request_id) SELECT $1, link, request FROM unnest($2::bigint[], $3::bigint[]) AS w(link, request)`

// sendLinks makes a link for each approver and the mails that carry them. The tokens
// exist nowhere but sealed in those mails.
func (m *mailing) sendLinks(ctx context.Context, tx pgx.Tx, people []approver) error {
	var fresh []approver
	for _, to := range people {
		waiting, err := m.waiting(ctx, tx, waiter{kind: model.MailReviewRequest, email: to.Email, who: to.ID})
		switch {
		case err != nil:
			return err
		case waiting == nil:
			fresh = append(fresh, to)
		default:
			if err := m.gatherLink(ctx, tx, *waiting, to, m.approvers[to.ID]); err != nil {
				return err
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return m.freshLinks(ctx, tx, fresh)
}

func (m *mailing) freshLinks(ctx context.Context, tx pgx.Tx, people []approver) error {
	tokens := map[model.ApproverID]string{}
	var hashes [][]byte
	var ids []model.ApproverID
	for _, to := range people {
		token, hash := newReviewToken(m.sc.Actor.Tenant)
		tokens[to.ID], hashes, ids = token, append(hashes, hash[:]), append(ids, to.ID)
	}
	until := m.sc.now().Add(linkLife)
	rows, err := tx.Query(ctx, sqlLinksAdd, m.sc.Actor.Tenant, hashes, ids, until, m.sc.now(), m.from, m.form)
	if err != nil {
		return err
	}
	links := map[model.ApproverID]model.LinkID{}
	var who model.ApproverID
	var link model.LinkID
	if _, err := pgx.ForEachRow(rows, []any{&who, &link}, func() error {
		links[who] = link
		return nil
	}); err != nil {
		return err
	}
	var opens []model.LinkID
	var requests []model.RequestID
	for _, to := range people {
		for _, a := range m.approvers[to.ID] {
			opens, requests = append(opens, links[to.ID]), append(requests, a.request)
		}
		m.oweLink(to, links[to.ID], tokens[to.ID], until)
	}
	_, err = tx.Exec(ctx, sqlLinkRequests, m.sc.Actor.Tenant, opens, requests)
	return err
}

func (m *mailing) oweLink(to approver, link model.LinkID, token string, until time.Time) {
	content := m.content(m.approvers[to.ID])
	content.Posts = inTheirZone(content.Posts, to.Zone)
	content.Until, content.Fresh = &until, m.from != 0
	key := fmt.Sprintf("%s:%d", model.MailReviewRequest, link)
	sealed := m.sc.ring.Seal(token, MailAAD(m.sc.Actor.Tenant, key))
	m.owe(mailRow{key: key, kind: model.MailReviewRequest, email: to.Email, name: to.Name, content: content, sealed: sealed})
}

// inTheirZone has the times of posts told in a zone of the reader's own; an empty one is
// the client's.
func inTheirZone(posts []model.ApprovalMailPost, zone string) []model.ApprovalMailPost {
	for i := range posts {
		posts[i].Zone = cmp.Or(zone, posts[i].Zone)
	}
	return posts
}

func newReviewToken(tenant model.TenantID) (token string, hash [32]byte) {
	random, _ := secret.NewLinkToken()
	token = strconv.FormatInt(int64(tenant), 36) + "." + random
	return token, secret.HashToken(token)
}

func (m *mailing) sendWaiting(ctx context.Context, tx pgx.Tx, user model.UserID, asks []ask) error {
	to, ok := m.team[user]
	if !ok {
		return nil
	}
	waiting, err := m.waiting(ctx, tx, waiter{kind: model.MailApprovalWaiting, email: to.Email})
	if err != nil {
		return err
	}
	if waiting != nil {
		return m.gather(ctx, tx, *waiting, m.content(asks).Posts)
	}
	content := m.content(asks)
	content.Path = "/w/" + m.sc.Workspace.Slug + "/approvals"
	key := fmt.Sprintf("%s:%d:%d:%d", model.MailApprovalWaiting, asks[0].request, asks[0].stage.Position, user)
	m.owe(mailRow{key: key, kind: model.MailApprovalWaiting, email: to.Email, name: to.Name, content: content})
	return nil
}

func (m *mailing) sendDecisions(ctx context.Context, tx pgx.Tx, user model.UserID, posts []model.ApprovalMailPost) error {
	to, ok := m.team[user]
	if !ok {
		return nil
	}
	waiting, err := m.waiting(ctx, tx, waiter{kind: model.MailDecision, email: to.Email, sender: m.sc.Actor.Name})
	if err != nil {
		return err
	}
	approvals := "/w/" + m.sc.Workspace.Slug + "/approvals"
	if waiting != nil {
		waiting.Content.Path = approvals
		return m.gather(ctx, tx, *waiting, posts)
	}
	content := model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: oneClient(posts), Sender: m.sc.Actor.Name, Posts: posts, Path: approvals}
	if len(posts) == 1 {
		content.Path = fmt.Sprintf("/w/%s/posts/%d", m.sc.Workspace.Slug, posts[0].Post)
	}
	key := fmt.Sprintf("%s:%d:%d", model.MailDecision, m.first, user)
	m.owe(mailRow{key: key, kind: model.MailDecision, email: to.Email, name: to.Name, content: content})
	return nil
}

// giveBack adds a post of which nobody is asked any more, for who submitted it.
func (m *mailing) giveBack(sender model.UserID, request model.RequestID, post model.ApprovalMailPost) {
	if m.back[sender] == nil {
		m.returned = append(m.returned, giving{sender, request})
	}
	m.back[sender] = append(m.back[sender], post)
}

// giving is one mail about posts that were given back; the first request names it.
type giving struct {
	to      model.UserID
	request model.RequestID
}

func (m *mailing) sendBack(g giving) {
	to, ok := m.team[g.to]
	if !ok {
		return
	}
	posts := m.back[g.to]
	content := model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: oneClient(posts), Posts: posts, Path: "/w/" + m.sc.Workspace.Slug + "/posts"}
	if len(posts) == 1 {
		content.Path = fmt.Sprintf("/w/%s/posts/%d", m.sc.Workspace.Slug, posts[0].Post)
	}
	key := fmt.Sprintf("%s:%d:%d", model.MailGivenBack, g.request, g.to)
	m.owe(mailRow{key: key, kind: model.MailGivenBack, email: to.Email, name: to.Name, content: content})
}

func (m *mailing) content(asks []ask) model.ApprovalMail {
	mail := model.ApprovalMail{Agency: m.sc.Workspace.Name, Sender: asks[0].sender}
	for _, a := range asks {
		a.post.Request = a.request
		mail.Posts = append(mail.Posts, a.post)
	}
	mail.Client = oneClient(mail.Posts)
	return mail
}

func oneClient(posts []model.ApprovalMailPost) string {
	for _, p := range posts {
		if p.Client != posts[0].Client {
			return ""
		}
	}
	return posts[0].Client
}

// mailRow is one mail owed.
type mailRow struct {
	key, kind, email, name string
	content                model.ApprovalMail
	sealed                 []byte
}

const sqlMailInsert = `
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $8)`

func (m *mailing) insert(ctx context.Context, tx pgx.Tx, r mailRow) error {
	_, err := tx.Exec(ctx, sqlMailInsert, m.sc.Actor.Tenant, r.key, r.kind, r.email, r.name, r.content, r.sealed, m.sc.now(), m.leaves(r))
	return err
}

// leaves is when a mail may leave.
func (m *mailing) leaves(r mailRow) time.Time {
	if m.gathers && gathered[r.kind] {
		return m.sc.now().Add(gatherFor)
	}
	return m.sc.now()
}

func (m *mailing) owe(r mailRow) { m.owed = append(m.owed, r) }

const sqlMailsAdd = `
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at)
	SELECT $1, w.key, w.kind, w.email, w.name, w.content::jsonb, w.sealed, w.at, $9
	  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[]) WITH ORDINALITY AS w(key, kind, email, name, content, sealed, at, n) ORDER BY w.n`

// write writes what is owed.
func (m *mailing) write(ctx context.Context, tx pgx.Tx) error {
	if len(m.owed) == 0 {
		return nil
	}
	var keys, kinds, emails, names, contents []string
	var sealed [][]byte
	var at []time.Time
	for _, r := range m.owed {
		content, err := json.Marshal(r.content)
		if err != nil {
			return err
		}
		keys, kinds, emails, names = append(keys, r.key), append(kinds, r.kind), append(emails, r.email), append(names, r.name)
		contents, sealed, at = append(contents, string(content)), append(sealed, r.sealed), append(at, m.leaves(r))
	}
	_, err := tx.Exec(ctx, sqlMailsAdd, m.sc.Actor.Tenant, keys, kinds, emails, names, contents, sealed, at, m.sc.now())
	return err
}
