package sim

import "strconv"

// listPage is a page of the account's posts from the newest, n of them after the
// first start ones, as show has them. next is where the next page starts, or "".
func (c *call) listPage(a *account, start, n int, want func(*entry) bool, show func(*entry) any) (list []any, next string) {
	lag, seen := c.lag(), 0
	list = []any{}
	a.newest(func(e *entry) bool {
		if e.removed(c.now) || lag > 0 && c.now.Sub(e.born) < lag || !want(e) {
			return true
		}
		if seen++; seen <= start {
			return true
		}
		if len(list) == n {
			next = strconv.Itoa(start + n)
			return false
		}
		list = append(list, show(e))
		return true
	})
	return list, next
}
