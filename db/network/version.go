package network

import (
	"cmp"
	"strings"
	"time"
)

// Versions are the versions of a network's API, for those that end them.
type Versions struct {
	Asked  string            // which Herald asks for unless the operator says otherwise
	Ends   map[string]string // the last day of each whose end is announced, as 2026-09-24
	Source string
}

// What Herald asks for unless the operator says otherwise.
const (
	GraphVersion    = "v25.0"
	LinkedInVersion = "202607"
)

var graphVersions = &Versions{
	Asked: GraphVersion,
	Ends: map[string]string{
		"v20.0": "2026-09-24", "v21.0": "2027-01-21", "v22.0": "2027-05-20", "v23.0": "2027-10-08", "v24.0": "2028-02-18", "v25.0": "2028-07-29",
	},
	Source: "Meta's changelog of the Graph API; the end of v26.0 was not announced yet",
}

var linkedinVersions = &Versions{
	Asked:  LinkedInVersion,
	Ends:   map[string]string{"202511": "2026-11-16", "202601": "2027-01-15", "202602": "2027-02-15", "202603": "2027-03-16"},
	Source: "LinkedIn's table of migrations; a version is kept for a year at least, and its end is announced later",
}

// versionSoon is how long before its end people hear of a version.
const versionSoon = 90 * 24 * time.Hour

// Version says which version of its API a network is asked for, where set is what the
// operator chose, and until when it is served if that is announced: "v25.0, until
// 29 July 2028". Empty for networks that end no versions.
func (n *Network) Version(set string) string {
	version, last := n.version(set)
	if last.IsZero() {
		return version
	}
	return version + ", until " + last.Format("2 January 2006")
}

// VersionEnds says, in a sentence for the operator, that the version asked for ends
// within ninety days of now, or is over; empty if it does not, or nobody knows.
func (n *Network) VersionEnds(set string, now time.Time) (say string, over bool) {
	version, last := n.version(set)
	if last.IsZero() || last.Sub(now) > versionSoon {
		return "", false
	}
	day, over := last.Format("2 January 2006"), !now.Before(last.AddDate(0, 0, 1))
	say = n.Label + " serves version " + version + " of its API until " + day
	if over {
		say = n.Label + " has served version " + version + " of its API until " + day
	}
	return say + ", and Herald asks for that one. Whoever runs Herald sets HERALD_" + strings.ToUpper(string(n.Name)) + "_VERSION to a newer one.", over
}

// version is what is asked for, and the last day on which it is served, from its
// beginning in UTC.
func (n *Network) version(set string) (version string, last time.Time) {
	if n.Versions == nil {
		return "", time.Time{}
	}
	version = cmp.Or(set, n.Versions.Asked)
	last, _ = time.Parse(time.DateOnly, n.Versions.Ends[version])
	return version, last
}
