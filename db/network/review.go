package network

import (
	"strings"
	"time"
)

// reviewSoon is how long before its end people hear of an app's review: networks take
// weeks for another.
const reviewSoon = 60 * 24 * time.Hour

// ReviewEnds says, in a sentence for the operator, that a network's review of Herald's
// app runs out within sixty days of now, or has; empty if it does not. until is the last
// day, as 2027-03-31, in UTC: networks tell it to whoever owns the app and to nobody
// else, so that the operator enters it. It is empty where nobody did.
func (n *Network) ReviewEnds(until string, now time.Time) (say string, over bool) {
	last, err := time.Parse(time.DateOnly, until)
	if err != nil || last.Sub(now) > reviewSoon {
		return "", false
	}
	verb, over := " runs out on ", !now.Before(last.AddDate(0, 0, 1))
	if over {
		verb = " ran out on "
	}
	return n.Label + "’s review of Herald’s app" + verb + last.Format("2 January 2006") + ". Whoever runs Herald renews it there and enters the new day as HERALD_" +
		strings.ToUpper(string(n.Name)) + "_REVIEW_UNTIL.", over
}
