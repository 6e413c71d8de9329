package desk_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/handlers/desk"
)

// TestNetworksPage: what each network takes is shown from the catalogue, with what
// an operator has to see to.
func TestNetworksPage(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	wantPage(t, b.as(t, b.agency.Owner)("GET", "/w/north/settings/networks", nil), 200, "Needs the network&#39;s review of the app", "publishes privately only", "Rumble has no public API", "v25.0, until 29 July 2028")
}

func TestNetworksPageSaysWhichVersionsAndReviewsEnd(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	mux := http.NewServeMux()
	(&desk.Desk{Edge: b.edge, Ring: b.Ring, Versions: map[network.Name]string{network.Facebook: "v20.0"}, Reviews: map[network.Name]string{network.TikTok: "2026-10-01"}, Networks: nobody{}}).Register(mux)
	b.mux = mux
	b.Clock.Set(time.Date(2026, time.September, 1, 12, 0, 0, 0, time.UTC))
	wantPage(t, b.as(t, b.agency.Owner)("GET", "/w/north/settings/networks", nil), 200, "Facebook serves version v20.0 of its API until 24 September 2026", "HERALD_FACEBOOK_VERSION",
		"TikTok’s review of Herald’s app runs out on 1 October 2026", "HERALD_TIKTOK_REVIEW_UNTIL")
}

// TestTheAppsOfNetworksAreForThoseWhoManageTheWorkspace: the redirect address, the
// permissions and what is missing.
func TestTheAppsOfNetworksAreForThoseWhoManageTheWorkspace(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	page := b.as(t, b.agency.Owner)("GET", "/w/north/settings/networks", nil)
	wantPage(t, page, 200, "https://herald.example/oauth/facebook/callback", "There is no app.", "a_permission_there")
	viewer := b.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{b.acme: model.Viewer.Grants()})
	if page := b.as(t, viewer)("GET", "/w/north/settings/networks", nil); strings.Contains(page.Body.String(), "/oauth/facebook/callback") {
		t.Error("a viewer is shown the app of Facebook")
	}
}
