package db

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// Guards are the settings that a claim is judged by.
type Guards struct {
	Straight      []string      // "network/format" whose adapter has nothing to prepare
	GuardStale    time.Duration // a provider-call guard older than this is nobody's
	RefreshAhead  time.Duration
	LateCutoff    time.Duration
	Grace         time.Duration // of a suspension
	Hold          time.Duration // how long a postponed target waits
	AccountCap    int           // publishes per AccountWindow; 0: no cap
	AccountWindow time.Duration
}

// Claim asks for the right to publish one target. Owner is unique to the ask.
type Claim struct {
	Key
	Owner uuid.UUID
}

// Verdict is how a claim was judged.
type Verdict string

// The verdicts; see tenant.claim_targets.
const (
	Claimed   Verdict = "claimed"
	Obsolete  Verdict = "obsolete"
	Early     Verdict = "early"
	Busy      Verdict = "busy"
	Refresh   Verdict = "refresh"
	Postponed Verdict = "postponed"
	Refused   Verdict = "refused"
)

// Claimed target: what a worker needs to publish it.
type Work struct {
	Verdict      Verdict
	Reason       string
	RetryAt      *time.Time
	Post         model.PostID
	Client       model.ClientID
	Attempt      int
	Used         int // attempts used since a person last scheduled it
	LimitedSince *time.Time
	DueAt        time.Time
	InFlight     bool // the attempt is in flight already: there is nothing to prepare
	Format       network.Format
	Account      Account
	Part         model.Part
	Media        []StoredMedia
	Handles      map[string]string
}

// Account is an account as a worker uses it, its tokens opened.
type Account struct {
	ID        model.AccountID
	Network   network.Name
	Publisher network.Publisher // the route to it
	Handle    string
	RemoteID  string
	Address   string
	Settings  map[string]string
	Scopes    []string
	Token     secret.Token
	Refresh   secret.Token
	Expires   *time.Time

	RefreshExpires *time.Time // where it was leased to be renewed; nil: not known

	// Why a token is empty that is there: no key of the ring opens it. The account
	// is well; who needs the token waits until the operator has put the key back.
	Shut        error
	RefreshShut error
}

// StoredMedia is an asset of a version as it is sent: the rendition that was made
// for its target, or the asset itself.
type StoredMedia struct {
	ID         model.MediaID     `json:"id"`
	Rendition  model.RenditionID `json:"rendition"` // 0: the asset itself
	Kind       network.MediaKind `json:"kind"`
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Path       string            `json:"path"`
	Bytes      int64             `json:"bytes"`
	Width      int               `json:"width"`
	Height     int               `json:"height"`
	DurationMS int64             `json:"duration_ms"`
	Alt        string            `json:"-"` // from the version
}

const sqlClaim = `
	SELECT c.*, tenant.publisher_of(c.tenant_id, c.account_id)
	  FROM tenant.claim_targets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS c`

// queueClaims adds the claims of one group to a batch; out gets one Work per
// claim, in order.
func (p *Pipeline) queueClaims(b *pgx.Batch, claims []Claim, g Guards, out []Work) {
	keys := make([]Key, len(claims))
	owners := make([]uuid.UUID, len(claims))
	place := make(map[[2]int64]int, len(claims))
	for i, c := range claims {
		keys[i], owners[i] = c.Key, c.Owner
		place[[2]int64{int64(c.Tenant), int64(c.Target)}] = i
		out[i].Verdict = Obsolete
	}
	k := columns(keys)
	b.Queue(sqlClaim, k.tenants, k.targets, k.versions, k.seqs, owners, p.now(), g.Straight, g.GuardStale, g.RefreshAhead, g.LateCutoff,
		g.Grace, g.Hold, g.AccountCap, g.AccountWindow).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := p.scanWork(rows, place, out); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// claimRow is a row of claim_targets; what a target that was not claimed lacks is null.
type claimRow struct {
	tenant         model.TenantID
	target         model.TargetID
	post           *model.PostID
	client         *model.ClientID
	account        *model.AccountID
	network        *network.Name
	format         *network.Format
	publisher      *network.Publisher
	attempt, used  *int
	limited, due   *time.Time
	straight       *bool
	handle         *string
	remote         *string
	address        *string
	settings       []byte
	scopes         []string
	token, refresh []byte
	expires        *time.Time
	content        []byte
	media, handles []byte
}

func (p *Pipeline) scanWork(rows pgx.Rows, place map[[2]int64]int, out []Work) error {
	var r claimRow
	var w Work
	if err := rows.Scan(&r.tenant, &r.target, &w.Verdict, &w.Reason, &w.RetryAt, &r.post, &r.client, &r.account, &r.network, &r.format,
		&r.attempt, &r.used, &r.limited, &r.due, &r.straight, &r.handle, &r.remote, &r.address, &r.settings, &r.scopes, &r.token, &r.refresh,
		&r.expires, &r.content, &r.media, &r.handles, &r.publisher); err != nil {
		return err
	}
	if r.account != nil {
		w.Account.ID = *r.account
	}
	if w.Verdict == Claimed {
		if err := p.fill(&w, r); err != nil {
			return err
		}
	}
	out[place[[2]int64{int64(r.tenant), int64(r.target)}]] = w
	return nil
}

func (p *Pipeline) fill(w *Work, r claimRow) (err error) {
	w.Post, w.Client, w.Attempt, w.Used, w.LimitedSince, w.DueAt = *r.post, *r.client, *r.attempt, *r.used, r.limited, *r.due
	w.Format, w.InFlight = *r.format, *r.straight
	w.Account = Account{ID: *r.account, Network: *r.network, Publisher: *r.publisher, Handle: *r.handle, RemoteID: *r.remote, Address: *r.address, Scopes: r.scopes, Expires: r.expires}
	if err := p.openAccount(&w.Account, r.tenant, r.settings, r.token, r.refresh); err != nil {
		return err
	}
	w.Part, w.Media, err = readPart(r.content, r.media, w.Account)
	if err != nil {
		return err
	}
	return readHandles(r.handles, &w.Handles)
}

// openAccount opens the sealed tokens. One that does not open (the key ring lost
// its key) is said in Shut, and no network is asked with an empty one.
func (p *Pipeline) openAccount(a *Account, tenant model.TenantID, settings, token, refresh []byte) error {
	a.Settings = map[string]string{}
	if len(settings) > 2 {
		if err := json.Unmarshal(settings, &a.Settings); err != nil {
			return err
		}
	}
	a.Token, a.Shut = p.unseal(token, TokenAAD(tenant, a.ID, "token"))
	a.Refresh, a.RefreshShut = p.unseal(refresh, TokenAAD(tenant, a.ID, "refresh"))
	return nil
}

// unseal opens a sealed value; nothing sealed is an empty token. Its error is
// about this value alone: the row is read all the same.
func (p *Pipeline) unseal(sealed []byte, aad string) (secret.Token, error) {
	if len(sealed) == 0 {
		return secret.Token{}, nil
	}
	plain, err := p.ring.Open(sealed, aad)
	if err != nil {
		return secret.Token{}, err
	}
	return secret.NewToken(plain), nil
}

// readPart takes from a version what one account gets, with its media in the
// version's order and alt texts.
func readPart(canonical, stored []byte, a Account) (part model.Part, media []StoredMedia, err error) {
	content, err := model.ReadContent(canonical)
	if err != nil {
		return part, nil, err
	}
	part = content.For(string(a.Network), a.ID)
	if len(part.Media) == 0 || len(stored) == 0 {
		return part, nil, nil
	}
	var files []StoredMedia
	if err := json.Unmarshal(stored, &files); err != nil {
		return part, nil, err
	}
	byID := map[model.MediaID]StoredMedia{}
	for _, f := range files {
		byID[f.ID] = f
	}
	for _, m := range part.Media {
		if f, ok := byID[m.ID]; ok {
			f.Alt = m.Alt
			media = append(media, f)
		}
	}
	return part, media, nil
}

func readHandles(raw []byte, into *map[string]string) error {
	if len(raw) == 0 {
		*into = map[string]string{}
		return nil
	}
	return json.Unmarshal(raw, into)
}
