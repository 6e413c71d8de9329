package db

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// HostChallenge is where a name shows that it leads to this Herald.
const HostChallenge = "/.well-known/herald-review"

// HostLooker looks at a name that somebody says is theirs.
type HostLooker interface {
	// Records are the TXT records of a name; none is no error.
	Records(ctx context.Context, name string) ([]string, error)
	// Reads is what stands at an address, at most a line of it.
	Reads(ctx context.Context, address string) (string, error)
}

// HostFinding is what a look at a name found.
type HostFinding struct {
	Host   string // which was looked at
	Silent bool   // its DNS did not answer: what was known of it stays
	Owned  bool   // its DNS has the token
	Live   bool   // it leads to this Herald
	Say    string // what is missing
}

// Proof is the record that shows whose a name is.
func (h ReviewHost) Proof() (name, value string) {
	return "_herald." + h.Host, "herald-review=" + h.Token
}

// Look asks the name's DNS for the record, then the name itself whether it leads to the
// Herald at base. Only the record says whose it is: a name that leads here may be
// anybody's here. What is found goes to keep: twice, where the name is shown to be
// theirs for the first time. It has to be known before it can answer, and a proxy may
// have to get it a certificate.
func (h ReviewHost) Look(ctx context.Context, looker HostLooker, base string, keep func(HostFinding) error) (f HostFinding, err error) {
	f = h.shown(ctx, looker)
	if f.Owned && h.OwnedAt == nil {
		if err := keep(f); err != nil {
			return f, err
		}
	}
	if f.Owned {
		f.Say = h.leads(ctx, looker, base)
		f.Live = f.Say == ""
	}
	return f, keep(f)
}

func (h ReviewHost) shown(ctx context.Context, looker HostLooker) HostFinding {
	name, value := h.Proof()
	records, err := looker.Records(ctx, name)
	switch {
	case err != nil:
		return HostFinding{Host: h.Host, Silent: true, Say: "The DNS of this name did not answer. Try again in a moment."}
	case !slices.Contains(records, value):
		return HostFinding{Host: h.Host, Say: "The TXT record at " + name + " is not there yet, or says something else. New records can take an hour to be seen."}
	}
	return HostFinding{Host: h.Host, Owned: true}
}

// leads is what keeps a name from leading here; empty if nothing does.
func (h ReviewHost) leads(ctx context.Context, looker HostLooker, base string) string {
	said, err := looker.Reads(ctx, hostBase(base, h.Host)+HostChallenge)
	if err != nil {
		return "The name is yours, but it does not lead to Herald yet, or has no certificate. Check its CNAME record, and ask who hosts Herald."
	}
	if said != h.Token {
		return "The name is yours, but another site answers there. Check its CNAME record."
	}
	return ""
}

// hostBase is the address of a review page's host: as Herald's own, by another name.
func hostBase(base, host string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	own := u.Port()
	if u.Host = host; u.Scheme == "http" && own != "" {
		u.Host += ":" + own
	}
	return u.Scheme + "://" + u.Host
}

// What a look that misses is followed by, and how many of them in a row take a name out
// of use that worked: one may have met a server that was starting.
const (
	hostLookAgain = 5 * time.Minute // twice as long each time
	hostLookDaily = 24 * time.Hour  // at most, and while it works
	hostMisses    = 3
)

func hostWait(misses int) time.Duration {
	if misses == 0 {
		return hostLookDaily
	}
	wait := hostLookAgain
	for range misses - 1 {
		if wait *= 2; wait >= hostLookDaily {
			return hostLookDaily
		}
	}
	return wait
}

// after is what is known of a name after a look. Nobody asked for one that came by
// itself, so that it takes a name out of use only after several that missed.
func (h ReviewHost) after(f HostFinding, itself bool) (owned, live bool, misses int) {
	if f.Owned && f.Live {
		return true, true, 0
	}
	misses = h.Misses + 1
	if f.Silent || itself && h.LiveAt != nil && misses < hostMisses {
		return h.OwnedAt != nil, h.LiveAt != nil, misses
	}
	return f.Owned, false, misses
}

// deed is what a look changed that is worth a line; empty: nothing.
func (h ReviewHost) deed(live bool) string {
	switch was := h.LiveAt != nil; {
	case live == was:
		return ""
	case live:
		return "host_live"
	}
	return "host_lost"
}

const sqlHostFound = `
	UPDATE control.review_hosts SET owned_at = CASE WHEN $4 THEN coalesce(owned_at, $7) END, live_at = CASE WHEN $5 THEN coalesce(live_at, $7) END, say = $6,
	       looked_at = $7, misses = $8, next_at = $9
	 WHERE workspace_id = $1 AND client_id = $2 AND host = $3`

// found are the arguments of what a look found.
func (h ReviewHost) found(tenant model.TenantID, client model.ClientID, f HostFinding, itself bool, now time.Time) (args []any, deed string) {
	owned, live, misses := h.after(f, itself)
	return []any{tenant, client, f.Host, owned, live, f.Say, now, misses, now.Add(hostWait(misses))}, h.deed(live)
}

// DueHost is a name whose turn it is to be looked at.
type DueHost struct {
	ReviewHost
	WorkspaceID model.TenantID
	ClientID    model.ClientID
}

// hostLease is how long a look may take before another sweeper does it.
const hostLease = 5 * time.Minute

const sqlHostsTake = `
	UPDATE control.review_hosts h SET next_at = $2
	 WHERE h.ctid = ANY (ARRAY(SELECT ctid FROM control.review_hosts WHERE next_at <= $1 ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED))
	RETURNING h.host, h.token, h.owned_at, h.live_at, h.say, h.looked_at, h.misses, h.workspace_id, h.client_id`

// TakeHosts hands out up to limit names whose turn it is, each to one sweeper.
func (p *Pipeline) TakeHosts(ctx context.Context, limit int) (_ []DueHost, err error) {
	defer wrap(&err, "take review hosts")
	rows, err := p.control.Query(ctx, sqlHostsTake, p.now(), p.now().Add(hostLease), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h DueHost, err error) {
		err = row.Scan(&h.Host, &h.Token, &h.OwnedAt, &h.LiveAt, &h.Say, &h.LookedAt, &h.Misses, &h.WorkspaceID, &h.ClientID)
		return h, err
	})
}

// HostFound writes down what a look that came by itself found. A name that somebody
// changed meanwhile, or that somebody else came to hold, is passed over.
func (p *Pipeline) HostFound(ctx context.Context, h DueHost, f HostFinding) (err error) {
	defer wrap(&err, "write down the look at a review host of workspace %d", h.WorkspaceID)
	args, verb := h.found(h.WorkspaceID, h.ClientID, f, true, p.now())
	err = p.hostDeed(ctx, hostDeed{Workspace: h.WorkspaceID, Client: h.ClientID, Verb: verb, Name: "Herald", At: p.now()}, sqlHostFound, args)
	if isUnique(err) {
		return nil // next time it misses
	}
	return err
}
