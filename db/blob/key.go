package blob

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

var keyShape = regexp.MustCompile(
	`^tenants/(0|[1-9][0-9]{0,18})/(media|quarantine)/[0-9]{4}/(0[1-9]|1[0-2])/` +
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[a-z0-9]{1,8}$`)

// Key makes a new key in a workspace's folder of the month of t (in UTC):
// tenants/{id}/media/YYYY/MM/{uuid}.ext. ext is that of the type, without a
// dot. Nobody's file name is part of it.
func Key(tenant int64, t time.Time, ext string) string {
	return fmt.Sprintf("tenants/%d/media/%s/%s.%s", tenant, t.UTC().Format("2006/01"), uuid.NewString(), ext)
}

// Quarantined is the key for an object that turned out to be hostile: in the
// workspace's quarantine folder, where no link leads.
func Quarantined(key string) string { return strings.Replace(key, "/media/", "/quarantine/", 1) }

// ValidKey refuses whatever Key and Quarantined would not have made.
func ValidKey(key string) error {
	if !keyShape.MatchString(key) {
		return fmt.Errorf("%.100q is not a media key", key)
	}
	return nil
}

// TypeOf tells the media type by a key's extension. Bytes are stored under the
// extension of what they were found to be, so this is never a guess; an
// extension not listed here is application/octet-stream, which browsers save
// and do not show.
func TypeOf(key string) string {
	switch path.Ext(key) {
	case ".jpg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".heic":
		return "image/heic"
	case ".mp4":
		return "video/mp4"
	case ".mov":
		return "video/quicktime"
	case ".pdf":
		return "application/pdf"
	}
	return "application/octet-stream"
}
