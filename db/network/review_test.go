package network

import (
	"strings"
	"testing"
	"time"
)

func TestPeopleHearOfAReviewBeforeItRunsOut(t *testing.T) {
	t.Parallel()
	facebook, _ := Get(Facebook)
	for _, c := range []struct {
		until, now, say string
		over            bool
	}{
		{"", "2027-01-01", "", false},
		{"2027-03-31", "2027-01-29", "", false},
		{"2027-03-31", "2027-01-30", "Facebook’s review of Herald’s app runs out on 31 March 2027.", false},
		{"2027-03-31", "2027-03-31", "runs out on 31 March 2027", false},
		{"2027-03-31", "2027-04-01", "ran out on 31 March 2027", true},
		{"2027-03-31", "2028-04-01", "HERALD_FACEBOOK_REVIEW_UNTIL", true},
	} {
		now, err := time.Parse(time.DateOnly, c.now)
		if err != nil {
			t.Fatal(err)
		}
		say, over := facebook.ReviewEnds(c.until, now)
		if over != c.over || !strings.Contains(say, c.say) || (say == "") != (c.say == "") {
			t.Errorf("until %q on %s: %q, over %v", c.until, c.now, say, over)
		}
	}
}
