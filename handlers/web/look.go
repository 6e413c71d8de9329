package web

import (
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/views/layout"
)

// PublicMedia are the addresses of a workspace's files on pages of a link: signed,
// expiring, and enough by themselves, since the reader has no session. The expiry is
// rounded up, so that a browser meets the same address for a while.
func PublicMedia(ring *secret.Ring, of model.TenantID, now time.Time, life time.Duration) func(id model.MediaID, file string) string {
	expires := now.Add(2 * life).Truncate(life)
	return func(id model.MediaID, file string) string {
		return "/m/" + ring.SignMedia(secret.ForNetwork, secret.MediaLink{Tenant: int64(of), Media: int64(id), File: file}, expires)
	}
}

// Look is how such a page appears.
func Look(l db.ShownLook, media func(id model.MediaID, file string) string) layout.Look {
	look := layout.Look{Accent: l.Accent, Own: l.Own}
	if l.Logo != 0 {
		look.Logo = media(l.Logo, "thumbnail")
	}
	return look
}
