package sim

import (
	"slices"
	"strconv"
	"time"

	"herald/db/network"
)

const xDay = 24 * time.Hour

// xQuota is a day's count of posts. The shelf's lock guards it.
type xQuota struct {
	prefix string // of its headers
	limit  int
	used   *window
}

// spend takes one post from the day's counts of the account and of the app, or
// refuses it if one is used up, whatever room the quarter of an hour has. told are
// the headers that say so.
func (t *x) spend(c *call, a *account) (told map[string]string, no *reply) {
	sh, k := c.st.at(network.X), c.sim.Knobs()
	app := sh.appOf(c.bearer())
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.daily[app] == nil {
		sh.daily[app] = new(window)
	}
	quotas := []xQuota{{"x-user-limit-24hour-", k.UserDaily, &a.daily}, {"x-app-limit-24hour-", k.AppDaily, sh.daily[app]}}
	for _, q := range quotas {
		q.used.roll(c.now, xDay)
	}
	if slices.ContainsFunc(quotas, func(q xQuota) bool { return q.used.n >= q.limit }) {
		return xLeft(quotas), xTooMany()
	}
	for _, q := range quotas {
		q.used.n++
	}
	return xLeft(quotas), nil
}

// xLeft are the headers of quotas.
func xLeft(quotas []xQuota) map[string]string {
	told := map[string]string{}
	for _, q := range quotas {
		told[q.prefix+"limit"] = strconv.Itoa(q.limit)
		told[q.prefix+"remaining"] = strconv.Itoa(max(0, q.limit-q.used.n))
		told[q.prefix+"reset"] = strconv.FormatInt(q.used.start.Add(xDay).Unix(), 10)
	}
	return told
}
