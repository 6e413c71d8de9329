package desk_test

import "testing"

// TestNetworksPage: what each network takes is shown from the catalogue, with what
// an operator has to see to.
func TestNetworksPage(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	wantPage(t, b.as(t, b.agency.Owner)("GET", "/w/north/settings/networks", nil), 200, "Needs the network&#39;s review of the app", "publishes privately only", "Rumble has no public API")
}
