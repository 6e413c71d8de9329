package db

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// Consent is one sign-in of a person at a network, for a client whose accounts they
// may manage. It belongs to the browser that began it.
type Consent struct {
	ID       model.ConsentID
	Client   model.ClientID
	Account  model.AccountID // to be connected again; zero: new ones
	Link     model.ConnectLinkID
	Network  network.Name
	Way      string // of the catalogue's ways to sign in
	Address  string // the server, of a network that is many
	Verifier secret.Token
	Door     secret.Token // of the link that leads back; empty for members
}

const (
	consentLife = 15 * time.Minute // until the person is back
	chooseLife  = time.Hour        // until they have chosen
	consentMost = 60               // begun by one person for a client in an hour
	consentKept = 24 * time.Hour   // after it ran out
)

const sqlConsentCount = `
	SELECT count(*) FROM tenant.consents WHERE tenant_id = $1 AND client_id = $5 AND user_id IS NOT DISTINCT FROM $2 AND link_id IS NOT DISTINCT FROM $3 AND created_at > $4`

const sqlConsentsOver = `DELETE FROM tenant.consents WHERE tenant_id = $1 AND client_id = $2 AND created_at < $3`

const sqlConsentInsert = `
	INSERT INTO tenant.consents (tenant_id, client_id, account_id, user_id, link_id, network, way, address, state_hash, browser_hash, verifier, created_at, expires_at, door)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING id`

// StartConsent begins a sign-in and returns its state, which goes to the network and
// comes back with the person. The actor needs accounts.manage at the client. It
// refuses more than a person would ever begin in an hour.
func (sc *Scope) StartConsent(ctx context.Context, c Consent, browser [32]byte) (_ Consent, state string, err error) {
	defer wrap(&err, "start sign-in at %s", c.Network)
	if err := sc.need(model.AccountsManage, c.Client, "client"); err != nil {
		return c, "", err
	}
	state, hash := newReviewToken(sc.Actor.Tenant)
	verifier, _ := secret.NewLinkToken()
	c.Verifier, c.Link = secret.NewToken(verifier), sc.linkID()
	var door []byte
	if sc.held != nil {
		door = sc.ring.Seal(sc.held.token.Reveal(), doorAAD(sc.Actor.Tenant, hash))
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.consentable(ctx, tx, &c); err != nil {
			return err
		}
		now := sc.now()
		if _, err := tx.Exec(ctx, sqlConsentsOver, sc.Actor.Tenant, c.Client, now.Add(-consentKept)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sqlConsentInsert, sc.Actor.Tenant, c.Client, orNull(c.Account), orNull(sc.Actor.User), orNull(sc.linkID()), c.Network, c.Way, c.Address, hash[:], browser[:],
			sc.ring.Seal(verifier, verifierAAD(sc.Actor.Tenant, hash)), now, now.Add(consentLife), door).Scan(&c.ID)
	})
	return c, state, err
}

// consentable refuses a sign-in for a client that is not there, for an account of
// another client or network, and one too many.
func (sc *Scope) consentable(ctx context.Context, tx pgx.Tx, c *Consent) error {
	if err := sc.asked(c.Network, network.Direct); err != nil {
		return err
	}
	var name string
	if err := tx.QueryRow(ctx, sqlAccountClient, sc.Actor.Tenant, c.Client).Scan(&name); noRows(err) {
		return model.Refuse(model.NotFound, "There is no such client.")
	} else if err != nil {
		return err
	}
	if c.Account != 0 {
		a, err := sc.account(ctx, tx, c.Account, model.AccountsManage, sqlAccountGet)
		if err != nil {
			return err
		}
		if a.ClientID != c.Client || a.Network != c.Network || a.Publisher != network.Direct {
			return noAccount()
		}
		c.Address = a.Address
	}
	var lately int
	if err := tx.QueryRow(ctx, sqlConsentCount, sc.Actor.Tenant, orNull(sc.Actor.User), orNull(sc.linkID()), sc.now().Add(-time.Hour), c.Client).Scan(&lately); err != nil {
		return err
	}
	if lately >= consentMost {
		return model.Refuse(model.TooMany, "You have begun very many sign-ins within the hour. Try again later.")
	}
	return nil
}

func orNull[T ~int64](id T) *int64 {
	if id == 0 {
		return nil
	}
	return new(int64(id))
}

func verifierAAD(tenant model.TenantID, state [32]byte) string {
	return fmt.Sprintf("consents/%d/%s/verifier", tenant, hex.EncodeToString(state[:]))
}

func doorAAD(tenant model.TenantID, state [32]byte) string {
	return fmt.Sprintf("consents/%d/%s/door", tenant, hex.EncodeToString(state[:]))
}

func choicesAAD(tenant model.TenantID, id model.ConsentID) string {
	return fmt.Sprintf("consents/%d/%d/choices", tenant, id)
}

// errNoConsent says the same of every sign-in that is not this person's, here and now:
// what came back with them tells nothing of others'.
var errNoConsent = model.Refuse(model.NotFound, "This sign-in was not begun in this browser, was used before, or took too long. Begin it again.")

const sqlConsentReturned = `
	SELECT id, client_id, coalesce(account_id, 0), coalesce(user_id, 0), coalesce(link_id, 0), way, address, verifier, door FROM tenant.consents
	 WHERE tenant_id = $1 AND state_hash = $2 AND browser_hash = $3 AND network = $4 AND expires_at > $5 AND returned_at IS NULL FOR UPDATE`

const sqlConsentReturn = `UPDATE tenant.consents SET returned_at = $3, expires_at = $4 WHERE tenant_id = $1 AND id = $2`

// ReturnConsent takes up a sign-in whose person is back: the state that came with them,
// the browser it was begun in, who is signed in there (zero: nobody), and the network
// that it was for. It works once. What is returned acts as the one who began it, with
// the rights that they have now. It refuses with NotFound whatever does not fit together.
func (s *Store) ReturnConsent(ctx context.Context, state string, browser [32]byte, user model.UserID, name network.Name) (_ *Scope, c Consent, err error) {
	defer wrap(&err, "return from sign-in at %s", name)
	w, err := s.reviewWorkspace(ctx, state)
	if _, no := model.Refused(err); no {
		return nil, c, errNoConsent
	}
	if err != nil {
		return nil, c, err
	}
	door, err := s.door(w)
	if err != nil {
		return nil, c, err
	}
	hash, whose := secret.HashToken(state), model.UserID(0)
	var sealed, shut []byte
	c.Network = name
	err = door.write(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlConsentReturned, w.ID, hash[:], browser[:], name, s.now()).Scan(&c.ID, &c.Client, &c.Account, &whose, &c.Link, &c.Way, &c.Address, &sealed, &shut)
		if noRows(err) || err == nil && whose != user && whose != 0 {
			return errNoConsent
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlConsentReturn, w.ID, c.ID, s.now(), s.now().Add(chooseLife))
		return err
	})
	if err != nil {
		return nil, c, err
	}
	verifier, err := s.ring.Open(sealed, verifierAAD(w.ID, hash))
	if err != nil {
		return nil, c, errNoConsent // the key it was sealed under is gone
	}
	back, err := door.open(shut, doorAAD(w.ID, hash))
	if err != nil {
		return nil, c, errNoConsent
	}
	c.Verifier, c.Door = secret.NewToken(verifier), secret.NewToken(back)
	sc, err := s.consentScope(ctx, w, whose, c, browser)
	return sc, c, err
}

// door is a Scope of nobody in a workspace: it grants nothing.
func (s *Store) door(w Workspace) (*Scope, error) {
	pool, err := s.shard(w.Shard)
	if err != nil {
		return nil, err
	}
	return &Scope{Workspace: w, Actor: model.Actor{Tenant: w.ID}, pool: pool, control: s.control, ring: s.ring, now: s.now}, nil
}

// consentScope is that of whoever began a sign-in, with the rights they have now.
func (s *Store) consentScope(ctx context.Context, w Workspace, user model.UserID, c Consent, browser [32]byte) (*Scope, error) {
	if user == 0 {
		cs, err := s.openConnect(ctx, w, nil, c.Link, browser)
		if err != nil {
			return nil, err
		}
		return cs.sc, nil
	}
	sc, err := s.Enter(ctx, user, w.Slug)
	if _, no := model.Refused(err); no {
		return nil, errNoConsent
	}
	if err != nil {
		return nil, err
	}
	return sc, sc.need(model.AccountsManage, c.Client, "client")
}

// Choice is one thing that a sign-in lets Herald publish to.
type Choice struct {
	Kind     string // what the network calls it, as Page
	RemoteID string
	Handle   string
	Name     string
	Scopes   []string // nil: the network did not say
	Settings map[string]string
	Lacks    string // why nothing can be published there; empty if it can
	Token    secret.Token
	Refresh  secret.Token
	Expires  *time.Time

	RefreshExpires *time.Time // as the network said; nil: it did not

	Known *KnownAccount `json:"-"` // an account of the workspace that it is already; read, never kept
}

// KnownAccount is an account that a choice is already.
type KnownAccount struct {
	ID     model.AccountID
	Client string
	Here   bool // of the client that the sign-in is for
	State  AccountState
}

// sealedChoice is a choice as it is kept.
type sealedChoice struct {
	Choice
	Token, Refresh string
}

const sqlConsentKeep = `UPDATE tenant.consents SET choices = $3 WHERE tenant_id = $1 AND id = $2 AND user_id IS NOT DISTINCT FROM $4 AND link_id IS NOT DISTINCT FROM $5 AND returned_at IS NOT NULL AND ended_at IS NULL`

// KeepChoices keeps what a sign-in lets us connect, sealed, until it is chosen from.
func (sc *Scope) KeepChoices(ctx context.Context, c Consent, choices []Choice) (err error) {
	defer wrap(&err, "keep choices of sign-in %d", c.ID)
	var list []sealedChoice
	for _, one := range choices {
		list = append(list, sealedChoice{one, one.Token.Reveal(), one.Refresh.Reveal()})
	}
	plain, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, sqlConsentKeep, sc.Actor.Tenant, c.ID, sc.ring.Seal(string(plain), choicesAAD(sc.Actor.Tenant, c.ID)), orNull(sc.Actor.User), orNull(sc.linkID()))
		if err == nil && did.RowsAffected() == 0 {
			return errNoSignIn
		}
		return err
	})
}

const sqlConsentGet = `
	SELECT id, client_id, coalesce(account_id, 0), coalesce(link_id, 0), network, way, address, choices FROM tenant.consents
	 WHERE tenant_id = $1 AND id = $2 AND user_id IS NOT DISTINCT FROM $3 AND link_id IS NOT DISTINCT FROM $4 AND expires_at > $5 AND choices IS NOT NULL AND ended_at IS NULL
	   AND (link_id IS NULL OR browser_hash = $6)`

const sqlChoicesKnown = `
	SELECT DISTINCT ON (a.remote_id) a.remote_id, a.id, c.name, a.client_id = $5, a.state, a.client_id
	  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND a.network = $2 AND a.address = $3 AND a.publisher = 'direct' AND a.remote_id = ANY ($4) AND a.remote_id <> ''
	 ORDER BY a.remote_id, a.client_id <> $5, a.id`

// Choices reads what the actor's own sign-in lets them connect, and which of it is an
// account already. Another's, one that ran out and one that is done are not there;
// whoever holds a link finds their own in the browser that they began it in.
func (sc *Scope) Choices(ctx context.Context, id model.ConsentID) (c Consent, choices []Choice, err error) {
	defer wrap(&err, "read choices of sign-in %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		c, choices, err = sc.choices(ctx, tx, id, sqlConsentGet)
		return err
	})
	return c, choices, err
}

func (sc *Scope) choices(ctx context.Context, tx pgx.Tx, id model.ConsentID, sql string) (c Consent, choices []Choice, err error) {
	var sealed []byte
	err = tx.QueryRow(ctx, sql, sc.Actor.Tenant, id, orNull(sc.Actor.User), orNull(sc.linkID()), sc.now(), sc.browser()).
		Scan(&c.ID, &c.Client, &c.Account, &c.Link, &c.Network, &c.Way, &c.Address, &sealed)
	if noRows(err) {
		return c, nil, errNoSignIn
	}
	if err != nil {
		return c, nil, err
	}
	if err := sc.need(model.AccountsManage, c.Client, "client"); err != nil {
		return c, nil, err
	}
	plain, err := sc.ring.Open(sealed, choicesAAD(sc.Actor.Tenant, c.ID))
	if err != nil {
		return c, nil, errNoConsent
	}
	var list []sealedChoice
	if err := json.Unmarshal([]byte(plain), &list); err != nil {
		return c, nil, err
	}
	var ids []string
	for _, one := range list {
		one.Choice.Token, one.Choice.Refresh = secret.NewToken(one.Token), secret.NewToken(one.Refresh)
		choices, ids = append(choices, one.Choice), append(ids, one.RemoteID)
	}
	return c, choices, sc.known(ctx, tx, c, ids, choices)
}

var errNoSignIn = model.Refuse(model.NotFound, "There is no such sign-in, or it ran out. Begin it again.")

// known marks what is an account already, of clients that the actor may see.
func (sc *Scope) known(ctx context.Context, tx pgx.Tx, c Consent, ids []string, choices []Choice) error {
	rows, err := tx.Query(ctx, sqlChoicesKnown, sc.Actor.Tenant, c.Network, c.Address, ids, c.Client)
	if err != nil {
		return err
	}
	var remote string
	var k KnownAccount
	var client model.ClientID
	_, err = pgx.ForEachRow(rows, []any{&remote, &k.ID, &k.Client, &k.Here, &k.State, &client}, func() error {
		if !sc.Actor.May(model.AccountsView, client) {
			return nil
		}
		for i := range choices {
			if choices[i].RemoteID == remote {
				choices[i].Known = new(k)
			}
		}
		return nil
	})
	return err
}
