package graph

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"herald/jobs/networks/httpx"
)

// appWindow is how long to leave an app alone that is over its own limit. The
// limit rolls over one hour and the header names no time, so a quarter of it
// frees some room.
const appWindow = 15 * time.Minute

// usage is one counter of a usage header. The counters are percentages.
type usage struct {
	Calls   float64 `json:"call_count"`
	CPU     float64 `json:"total_cputime"`
	Time    float64 `json:"total_time"`
	Minutes float64 `json:"estimated_time_to_regain_access"`
}

func (u usage) spent() bool { return max(u.Calls, u.CPU, u.Time) >= 100 }

// businessWait is how long the answer says the business is locked out: the
// longest time in x-business-use-case-usage. Zero if it says nothing.
func businessWait(h http.Header) time.Duration {
	var all map[string][]usage
	if json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &all) != nil {
		return 0
	}
	var longest float64
	for _, list := range all {
		for _, u := range list {
			longest = max(longest, u.Minutes)
		}
	}
	return time.Duration(max(0, min(longest, 24*60)) * float64(time.Minute))
}

// appWait is how long to wait when x-app-usage says that the app is over its
// limit. Zero if it is not, or says nothing.
func appWait(h http.Header) time.Duration {
	var u usage
	if json.Unmarshal([]byte(h.Get("X-App-Usage")), &u) != nil || !u.spent() {
		return 0
	}
	return appWindow
}

// wait is how long a rate-limited answer asks for: by its headers, else by its
// row of the table, else not at all, and the pipeline chooses.
func wait(a *httpx.Answer, row time.Duration) time.Duration {
	return httpx.CapWait(cmp.Or(businessWait(a.Header), httpx.RetryAfter(a), row, appWait(a.Header)))
}
