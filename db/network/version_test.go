package network

import (
	"strings"
	"testing"
	"time"
)

func TestPeopleHearOfAVersionBeforeItEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		net      Name
		set, now string
		version  string
		say      string
		over     bool
	}{
		{Facebook, "", "2026-12-01", "v25.0, until 29 July 2028", "", false},
		{Facebook, "v21.0", "2026-10-01", "v21.0, until 21 January 2027", "", false},
		{Facebook, "v21.0", "2026-12-01", "v21.0, until 21 January 2027", "Facebook serves version v21.0 of its API until 21 January 2027, and", false},
		{Instagram, "v21.0", "2027-01-21", "v21.0, until 21 January 2027", "Instagram serves version v21.0 of its API until", false},
		{Instagram, "v21.0", "2027-01-22", "v21.0, until 21 January 2027", "Instagram has served version v21.0 of its API until", true},
		{Facebook, "v26.0", "2030-01-01", "v26.0", "", false},
		{LinkedIn, "", "2026-12-01", "202607", "", false},
		{LinkedIn, "202511", "2026-12-01", "202511, until 16 November 2026", "sets HERALD_LINKEDIN_VERSION", true},
		{Mastodon, "v9", "2026-12-01", "", "", false},
	} {
		n, _ := Get(c.net)
		now, err := time.Parse(time.DateOnly, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Version(c.set); got != c.version {
			t.Errorf("%s: %q, want %q", c.net, got, c.version)
		}
		say, over := n.VersionEnds(c.set, now)
		if over != c.over || !strings.Contains(say, c.say) || (c.say == "") != (say == "") {
			t.Errorf("%s %s on %s: %q, over %v", c.net, c.set, c.now, say, over)
		}
	}
}

func TestTheEndsOfVersionsAreDays(t *testing.T) {
	t.Parallel()
	for _, n := range All() {
		if n.Versions == nil {
			continue
		}
		if n.Versions.Asked == "" || n.Versions.Source == "" {
			t.Errorf("%s does not say which version is asked for, or who says when they end", n.Name)
		}
		for version, day := range n.Versions.Ends {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				t.Errorf("%s %s: %v", n.Name, version, err)
			}
		}
	}
}
