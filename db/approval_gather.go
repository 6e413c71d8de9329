package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// gatherFor is how long a mail that one decision of many owes waits for what the
// next ones add to it: posts that reach a further stage, decisions for a writer.
const gatherFor = 2 * time.Minute

// gathered are the mails that wait.
var gathered = map[string]bool{model.MailReviewRequest: true, model.MailApprovalWaiting: true, model.MailDecision: true}

// waitingMail is one that has not left yet.
type waitingMail struct {
	ID      model.MailID
	Link    model.LinkID // zero if it carries none
	Content model.ApprovalMail
}

// The mailer counts a try as it takes a mail: what it has is not to be changed.
const sqlMailWaiting = `
	SELECT m.id, coalesce(l.id, 0) AS link, m.content
	  FROM tenant.mails m
	  LEFT JOIN tenant.review_links l ON l.tenant_id = m.tenant_id AND m.key = m.kind || ':' || l.id AND l.approver_id = $5 AND l.revoked_at IS NULL AND l.asked_from IS NULL
	 WHERE m.tenant_id = $1 AND m.kind = $2 AND m.to_email = $3 AND m.next_at > $4 AND m.tries = 0 AND m.sent_at IS NULL AND NOT m.given_up
	   AND ($5 = 0 OR l.id IS NOT NULL) AND m.content ->> 'sender' = coalesce(nullif($6, ''), m.content ->> 'sender')
	 ORDER BY m.id DESC LIMIT 1 FOR NO KEY UPDATE OF m`

// waiter is which waiting mail is looked for: its kind, whom it goes to, the approver
// whose link it carries if it carries one, and who sends it if only that one's will do.
type waiter struct {
	kind, email string
	who         model.ApproverID
	sender      string
}

// waiting finds the newest such mail that still waits for more; nil if there is none.
func (m *mailing) waiting(ctx context.Context, tx pgx.Tx, h waiter) (*waitingMail, error) {
	if !m.gathers {
		return nil, nil
	}
	rows, err := tx.Query(ctx, sqlMailWaiting, m.sc.Actor.Tenant, h.kind, h.email, m.sc.now(), h.who, h.sender)
	if err != nil {
		return nil, err
	}
	one, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[waitingMail])
	if noRows(err) {
		return nil, nil
	}
	return one, err
}

const sqlMailGather = `UPDATE tenant.mails SET content = $3 WHERE tenant_id = $1 AND id = $2`

// gather adds posts to a mail that waits.
func (m *mailing) gather(ctx context.Context, tx pgx.Tx, w waitingMail, more []model.ApprovalMailPost) error {
	w.Content.Posts = append(w.Content.Posts, more...)
	w.Content.Client = oneClient(w.Content.Posts)
	_, err := tx.Exec(ctx, sqlMailGather, m.sc.Actor.Tenant, w.ID, w.Content)
	return err
}

// gatherLink does the same, and the link of the mail opens those posts too.
func (m *mailing) gatherLink(ctx context.Context, tx pgx.Tx, w waitingMail, to approver, asks []ask) error {
	requests := requestsOf(asks)
	if _, err := tx.Exec(ctx, sqlLinkRequests, m.sc.Actor.Tenant, slices.Repeat([]model.LinkID{w.Link}, len(requests)), requests); err != nil {
		return err
	}
	return m.gather(ctx, tx, w, inTheirZone(m.content(asks).Posts, to.Zone))
}

func requestsOf(asks []ask) (ids []model.RequestID) {
	for _, a := range asks {
		ids = append(ids, a.request)
	}
	return ids
}
