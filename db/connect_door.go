package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// ConnectScope is the only door of whoever holds a connect link: one person of one
// client, who can connect its accounts at the networks that they were asked for, and
// nothing else. While it works, row-level security hides every other client.
type ConnectScope struct {
	Agency   string // in whose name the page is
	Look     ShownLook
	Client   string
	Zone     string // the client's
	Person   string
	Sender   string // who sent the link; empty if they are no member any more
	Networks []network.Name
	Note     string
	Expires  time.Time
	Ended    bool // its holder said that all is done

	sc   *Scope
	hash [32]byte
	link connectRow
	gone error // why the link no longer works; nil if it does
}

// connectRow is a link as it is opened.
type connectRow struct {
	ID        model.ConnectLinkID
	ClientID  model.ClientID
	Client    string
	Zone      string
	Archived  bool // the client
	Name      string
	Networks  []network.Name
	Note      string
	MadeBy    model.UserID
	TokenHash []byte
	ExpiresAt time.Time
	Revoked   bool
	Ended     bool
	AskedAt   *time.Time
}

// heldLink is the one by which whoever acts came in: what it lets them do, in which
// browser, and whom the agency's side of it concerns.
type heldLink struct {
	id       model.ConnectLinkID
	client   model.ClientID
	name     string // of the client
	networks []network.Name
	browser  [32]byte
	token    secret.Token
	madeBy   model.UserID
	team     team
}

// linkID is that of the link by which the actor came in; zero for members.
func (sc *Scope) linkID() model.ConnectLinkID {
	if sc.held == nil {
		return 0
	}
	return sc.held.id
}

// asked refuses whoever holds a link what they were not asked for.
func (sc *Scope) asked(name network.Name, by network.Publisher) error {
	if sc.held == nil || by == network.Direct && slices.Contains(sc.held.networks, name) {
		return nil
	}
	return model.Refuse(model.NotFound, "This link does not ask for that.")
}

// browser is the one that the actor's link is open in; nil for members.
func (sc *Scope) browser() []byte {
	if sc.held == nil {
		return nil
	}
	return sc.held.browser[:]
}

const sqlConnectOpen = `
	SELECT l.id, l.client_id, c.name AS client, c.zone, c.archived_at IS NOT NULL AS archived, l.name, l.networks, l.note, l.made_by, l.token_hash,
	       l.expires_at, l.revoked_at IS NOT NULL AS revoked, l.ended_at IS NOT NULL AS ended, l.asked_at
	  FROM tenant.connect_links l JOIN tenant.clients c ON c.tenant_id = l.tenant_id AND c.id = l.client_id
	 WHERE l.tenant_id = $1 AND (l.token_hash = $2 OR l.id = $3)`

var errNoConnectLink = model.Refuse(model.NotFound, "This is not a link to connect accounts. Open the one in your e-mail again, whole.")

// Connecting opens a connect link in a browser, which may be the zero one while nobody
// signs in anywhere. It refuses with NotFound what is no link, and with Gone one that
// ran out, was taken back or used up; the ConnectScope that comes along with a Gone can
// only ask for a fresh one.
func (s *Store) Connecting(ctx context.Context, token string, browser [32]byte) (_ *ConnectScope, err error) {
	defer wrap(&err, "open connect link")
	w, err := s.reviewWorkspace(ctx, token)
	if _, no := model.Refused(err); no {
		return nil, errNoConnectLink
	}
	if err != nil {
		return nil, err
	}
	hash := secret.HashToken(token)
	cs, err := s.openConnect(ctx, w, hash[:], 0, browser)
	if cs != nil && cs.sc.held != nil {
		cs.sc.held.token = secret.NewToken(token)
	}
	return cs, err
}

// openConnect opens a link by its hash or its id.
func (s *Store) openConnect(ctx context.Context, w Workspace, hash []byte, id model.ConnectLinkID, browser [32]byte) (*ConnectScope, error) {
	door, err := s.door(w)
	if err != nil {
		return nil, err
	}
	team, err := door.team(ctx)
	if err != nil {
		return nil, err
	}
	cs := &ConnectScope{sc: door}
	err = door.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlConnectOpen, w.ID, hash, id)
		if err != nil {
			return err
		}
		if cs.link, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[connectRow]); err != nil {
			return err
		}
		cs.Look, err = door.shownLook(ctx, tx, cs.link.ClientID)
		return err
	})
	if noRows(err) {
		return nil, errNoConnectLink
	}
	if err != nil {
		return nil, err
	}
	l := cs.link
	cs.Agency = cs.Look.Name
	cs.Client, cs.Zone, cs.Person, cs.Sender, cs.Networks, cs.Note, cs.Expires, cs.Ended = l.Client, l.Zone, l.Name, team[l.MadeBy].Name, l.Networks, l.Note, l.ExpiresAt, l.Ended
	cs.hash, cs.gone = [32]byte(l.TokenHash), cs.whyGone()
	door.changed, door.Actor.Name = s.changed, l.Name
	door.held = &heldLink{id: l.ID, client: l.ClientID, name: l.Client, networks: l.Networks, browser: browser, madeBy: l.MadeBy, team: team}
	if cs.gone == nil {
		door.Actor.Clients = map[model.ClientID][]model.Permission{l.ClientID: {model.AccountsView, model.AccountsManage}}
	}
	return cs, cs.gone
}

func (cs *ConnectScope) whyGone() error {
	switch {
	case cs.link.Archived:
		return model.Refuse(model.Gone, fmt.Sprintf("%s no longer works for %s, so there is nothing to connect.", cs.Agency, cs.Client))
	case cs.link.Revoked:
		return model.Refuse(model.Gone, fmt.Sprintf("%s took this link back.", cs.Agency))
	case cs.link.Ended:
		return model.Refuse(model.Gone, fmt.Sprintf("You said that all is connected, so this link is used up. %s knows.", cs.Agency))
	case !cs.sc.now().Before(cs.Expires):
		return model.Refuse(model.Gone, fmt.Sprintf("This link ran out on %s.", inZone(cs.Expires, cs.Zone)))
	}
	return nil
}

// Scope is what the holder of a link that works signs in at networks with. It may
// manage the client's accounts as far as connecting them goes, at the networks of the
// link.
func (cs *ConnectScope) Scope() *Scope { return cs.sc }

// Workspace is whose link it is.
func (cs *ConnectScope) Workspace() model.TenantID { return cs.sc.Actor.Tenant }

// ClientID is whose accounts are connected.
func (cs *ConnectScope) ClientID() model.ClientID { return cs.link.ClientID }

// PageToken is what a page's forms send back, as ReviewScope's.
func (cs *ConnectScope) PageToken() string { return cs.sc.pageToken(cs.hash) }

// Confirm refuses a form without a token of this link's page, as ReviewScope's does.
func (cs *ConnectScope) Confirm(pageToken string) error { return cs.sc.confirm(cs.hash, pageToken) }

// Accounts are those that the client has at the link's networks, as far as they are
// connected without a publisher between.
func (cs *ConnectScope) Accounts(ctx context.Context) (list []AccountCard, err error) {
	defer wrap(&err, "list accounts by connect link")
	if cs.gone != nil {
		return nil, cs.gone
	}
	err = cs.sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlAccountList, cs.sc.Actor.Tenant, cs.sc.now(), false, []model.ClientID{cs.link.ClientID})
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[AccountCard])
		return err
	})
	return slices.DeleteFunc(list, func(a AccountCard) bool { return cs.sc.asked(a.Network, a.Publisher) != nil }), err
}

const sqlConnectEnd = `UPDATE tenant.connect_links SET ended_at = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL`

// End says that all is done: the link opens nothing more, and who sent it hears at once
// of what was connected. It is safe to do twice.
func (cs *ConnectScope) End(ctx context.Context) (err error) {
	defer wrap(&err, "end connect link %d", cs.link.ID)
	if cs.gone != nil {
		return cs.gone
	}
	return cs.sc.write(ctx, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, sqlConnectEnd, cs.sc.Actor.Tenant, cs.link.ID, cs.sc.now())
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		if err := cs.sc.hurryConnected(ctx, tx); err != nil {
			return err
		}
		return cs.sc.audit(ctx, tx, note{verb: "connect_link_ended", subject: "client", id: int64(cs.link.ClientID), client: cs.link.ClientID, detail: map[string]any{"link": cs.link.ID}})
	})
}

// askAgain is how long nothing more is mailed after a fresh link was asked for.
const askAgain = 24 * time.Hour

const sqlConnectAsk = `UPDATE tenant.connect_links SET asked_at = $3 WHERE tenant_id = $1 AND id = $2 AND (asked_at IS NULL OR asked_at <= $4)`

// MayAskFresh says whether the agency can be asked for a fresh link.
func (cs *ConnectScope) MayAskFresh() bool { return !cs.link.Archived }

// AskFresh tells who sent the link that its holder asks for a fresh one: they decide.
// Asked again within a day, it mails nothing more.
func (cs *ConnectScope) AskFresh(ctx context.Context) (err error) {
	defer wrap(&err, "ask for a fresh connect link")
	if !cs.MayAskFresh() {
		return cs.gone
	}
	return cs.sc.write(ctx, func(tx pgx.Tx) error {
		now := cs.sc.now()
		did, err := tx.Exec(ctx, sqlConnectAsk, cs.sc.Actor.Tenant, cs.link.ID, now, now.Add(-askAgain))
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		if err := cs.sc.mailAsked(ctx, tx); err != nil {
			return err
		}
		return cs.sc.audit(ctx, tx, note{verb: "connect_link_asked", subject: "client", id: int64(cs.link.ClientID), client: cs.link.ClientID, detail: map[string]any{"link": cs.link.ID}})
	})
}
