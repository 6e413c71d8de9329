package boot

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/secret"
)

// TestNetworksFetchFromTheObjectStoreWhereItHasAddresses: else from Herald, by a
// link that is theirs alone and covers the workspace.
func TestNetworksFetchFromTheObjectStoreWhereItHasAddresses(t *testing.T) {
	t.Parallel()
	ring, err := secret.ParseRing("a passphrase for a test that is long enough to be one")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)
	file := db.StoredMedia{ID: 31, Path: blob.Key(7, now, "jpg")}
	for address, want := range map[string]string{
		"s3://bucket?endpoint=http://s3:9000&public=https://media.example": "https://media.example/bucket/" + file.Path + "?",
		"s3://bucket?endpoint=http://s3:9000&public=none":                  "https://herald.example/m/",
		"file://" + t.TempDir():                                            "https://herald.example/m/",
	} {
		blobs, err := blob.OpenURL(address, blob.Credentials{ID: "id", Secret: "hush-hush"})
		if err != nil {
			t.Fatal(err)
		}
		m := media{blobs: blobs, ring: ring, baseURL: "https://herald.example", now: func() time.Time { return now }}
		got, err := m.URL(t.Context(), 7, file, 6*time.Hour)
		if err != nil || !strings.HasPrefix(got, want) || strings.Contains(got, "hush") {
			t.Errorf("%s: %s, %v", address, got, err)
			continue
		}
		if signed, ours := strings.CutPrefix(got, "https://herald.example/m/"); ours {
			link, err := ring.VerifyMedia(secret.ForNetwork, signed, now.Add(6*time.Hour-time.Second))
			if _, late := ring.VerifyMedia(secret.ForNetwork, signed, now.Add(6*time.Hour)); err != nil || late == nil || link.Tenant != 7 || link.Media != 31 || link.File != "original" {
				t.Errorf("%s: %+v, %v, later %v", address, link, err, late)
			}
		} else if u, _ := url.Parse(got); u.Query().Get("X-Amz-Expires") != "21600" {
			t.Errorf("%s lives %s s", address, u.Query().Get("X-Amz-Expires"))
		}
	}
}
