package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/network"
	"herald/jobs/networks/fault"
)

// Quotas keep to the limits that networks document, before they have to say so: of an
// account, of the operator's app over all accounts, and of a publisher's key over all
// that it reaches. Each is a list of what went
// out within its span, in Redis, so that all processes count together. Nothing rests
// on Redis: a list that is lost is read from the databases again, and while Redis is
// away the network's own refusal is what holds.
type Quotas struct {
	Redis redis.UniversalClient
	Pipe  *db.Pipeline
	Now   func() time.Time
	Log   *slog.Logger
	Apps  map[network.Name]network.Rate // what an operator was granted instead of the quota that the catalogue has for the app
}

// Take counts a publish against every quota that it falls under, or says in a fault
// which has no room and how long that lasts. The same publish counts once, however
// often it waits for something else meanwhile.
func (q *Quotas) Take(ctx context.Context, key db.Key, work db.Work) *fault.Fault {
	n, ok := met(work.Account)
	if q == nil || !ok {
		return nil
	}
	for _, rate := range n.Held(work.Format) {
		if granted, has := q.Apps[n.Name]; has && rate.App {
			rate.Max, rate.Per = granted.Max, granted.Per
		}
		wait, err := q.room(ctx, key, work, rate)
		if err != nil {
			q.Log.WarnContext(ctx, "quota not counted", "network", n.Name, "err", err)
			return nil
		}
		if wait > 0 {
			return full(n, work.Account.Publisher, rate, wait)
		}
	}
	return nil
}

// full is the fault of a quota without room.
func full(n *network.Network, by network.Publisher, r network.Rate, wait time.Duration) *fault.Fault {
	label, whose := n.Label, "an account"
	switch {
	case r.App:
		whose = "Herald's app"
	case r.Key:
		label, whose = network.PublisherLabel(by), "a key"
	}
	f := fault.New(fault.RateLimited, "quota", fmt.Sprintf("%s takes %s of %s, and those are used up. The post goes out as soon as there is room.", label, r.Words(), whose))
	f.Wait, f.Everyone = wait, r.App
	return f
}

// lost is what the script answers where Redis does not know what went out.
const lost = -1

// room asks for a place in a quota, and reads its list from the databases if Redis
// has none.
func (q *Quotas) room(ctx context.Context, key db.Key, work db.Work, r network.Rate) (time.Duration, error) {
	list := listOf(key, work, r)
	member := fmt.Sprintf("%s/%d/%d/%d", key.Shard, key.Tenant, key.Target, work.Used)
	for range 2 {
		now := q.Now().UnixMilli()
		ms, err := taking.Run(ctx, q.Redis, []string{list, list + ":known"}, now, r.Per.Milliseconds(), r.Max, member, cost(r, work)).Int64()
		if err != nil || ms != lost {
			return time.Duration(ms) * time.Millisecond, err
		}
		if err := q.learn(ctx, key, work, r, list); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// cost is how many places a publish takes: one, or, of a limit on calls or files, as
// many as it makes of them: the files are sent, the post is made, and it is asked what
// became of it. Nothing takes more than there is.
func cost(r network.Rate, work db.Work) int {
	switch {
	case r.What == "call" && r.Key:
		return min(r.Max, 2+len(work.Media))
	case r.What == "media":
		return min(r.Max, len(work.Media))
	}
	return 1
}

// taking takes its places if there are so many, and answers in how many milliseconds
// there will be else: when the oldest of those that are too many has left the span.
var taking = redis.NewScript(`
local now, span, most, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
if redis.call('EXISTS', KEYS[2]) == 0 then return -1 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - span)
if cost > 0 and not redis.call('ZSCORE', KEYS[1], ARGV[4]) then
	local over = redis.call('ZCARD', KEYS[1]) + cost - most - 1
	if over >= 0 then
		return math.max(1, tonumber(redis.call('ZRANGE', KEYS[1], over, over, 'WITHSCORES')[2]) + span - now)
	end
	redis.call('ZADD', KEYS[1], now, ARGV[4])
	for i = 2, cost do redis.call('ZADD', KEYS[1], now, ARGV[4] .. '#' .. i) end
end
redis.call('PEXPIRE', KEYS[1], span)
redis.call('PEXPIRE', KEYS[2], span)
return 0`)

// listOf is where a quota's list is. The braces keep what belongs to it on one node
// of a cluster.
func listOf(key db.Key, work db.Work, r network.Rate) string {
	of, whose := string(work.Account.Network), "app"
	switch {
	case r.Key:
		of, whose = string(work.Account.Publisher), keyOf(work.Account)
	case !r.App:
		whose = fmt.Sprintf("%s/%d/%d", key.Shard, key.Tenant, work.Account.ID)
	}
	return fmt.Sprintf("herald:quota:{%s/%s/%s/%s}", of, whose, r.What, r.Per)
}

// keyOf tells publishers' keys apart without telling them. GoHighLevel counts by
// sub-account, whose tokens change.
func keyOf(a db.Account) string {
	whose := a.Settings["location_id"]
	if a.Publisher != network.GHL || whose == "" {
		whose = a.Token.Reveal()
	}
	sum := sha256.Sum256([]byte("quota " + whose))
	return hex.EncodeToString(sum[:16])
}

// learn writes into Redis what the databases know of a quota. Two that do so at once
// write the same.
func (q *Quotas) learn(ctx context.Context, key db.Key, work db.Work, r network.Rate, list string) error {
	sent, err := q.sent(ctx, key, work, r)
	if err != nil {
		return err
	}
	_, err = q.Redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for _, s := range sent {
			p.ZAdd(ctx, list, redis.Z{Score: float64(s.At.UnixMilli()), Member: fmt.Sprintf("%s/%d/%d", s.Shard, s.Tenant, s.Target)})
		}
		p.Set(ctx, list+":known", 1, r.Per)
		p.PExpire(ctx, list, r.Per)
		return nil
	})
	return err
}

// sent is what counts against a quota. Of a span of minutes nothing is read: it is
// over before a restart is, and the network tells.
func (q *Quotas) sent(ctx context.Context, key db.Key, work db.Work, r network.Rate) ([]db.Sent, error) {
	since := q.Now().Add(-r.Per)
	switch {
	case r.Per < time.Hour, r.Key:
		return nil, nil
	case r.App:
		return q.Pipe.SentByApp(ctx, work.Account.Network, since, r.Max)
	}
	return q.Pipe.SentByAccount(ctx, key.Shard, key.Tenant, work.Account.ID, since)
}
