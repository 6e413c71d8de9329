package secret

import (
	"encoding/binary"
	"time"
)

// Audience says who may follow a media link.
type Audience string

// The audiences. A link for one of them is forged for the other.
const (
	ForMember  Audience = "media member"  // needs a session with media.view as well
	ForNetwork Audience = "media network" // enough by itself: networks pull without a session

	// ForApprover is enough by itself too: approvers have no session, and the page
	// that holds the link was opened by a review link.
	ForApprover Audience = "media approver"
)

// MediaLink is what the signature of a media address covers: the workspace,
// the asset, and which of its files.
type MediaLink struct {
	Tenant int64
	Media  int64
	File   string // "original", "thumbnail", or the name of a rendition
}

// SignMedia makes the last part of /m/{signed}. To let browsers keep a
// picture, give the same expires for a while: round it up.
func (r *Ring) SignMedia(to Audience, link MediaLink, expires time.Time) string {
	payload := make([]byte, 0, 16+len(link.File))
	payload = binary.BigEndian.AppendUint64(payload, uint64(link.Tenant))
	payload = binary.BigEndian.AppendUint64(payload, uint64(link.Media))
	return r.Sign(string(to), append(payload, link.File...), expires)
}

// VerifyMedia reads what SignMedia made for this audience; it fails with
// ErrForged or ErrExpired.
func (r *Ring) VerifyMedia(to Audience, signed string, now time.Time) (MediaLink, error) {
	payload, err := r.Verify(string(to), signed, now)
	if err != nil {
		return MediaLink{}, err
	}
	if len(payload) < 16 {
		return MediaLink{}, ErrForged
	}
	return MediaLink{
		Tenant: int64(binary.BigEndian.Uint64(payload)),
		Media:  int64(binary.BigEndian.Uint64(payload[8:])),
		File:   string(payload[16:]),
	}, nil
}
