package network

import (
	"slices"
	"strconv"
)

// most bounds what a server may say about itself: a host that users choose
// could otherwise lift every limit or make sizes overflow.
const most = 1 << 40

// With returns the network as an account meets it: what its server said about
// its own limits, or a person entered, in the account's settings. Unknown keys
// and values that cannot be are passed over; n itself does not change.
func (n *Network) With(settings map[string]string) *Network {
	own := *n
	own.Formats = slices.Clone(n.Formats)
	for key, apply := range n.learn {
		v, err := strconv.ParseInt(settings[key], 10, 64)
		if err == nil && v > 0 && v <= n.bound(key) {
			apply(&own, v)
		}
	}
	return &own
}

// bound is the largest value that is believed.
func (n *Network) bound(key string) int64 {
	switch key {
	case "max_characters", "description_limit":
		return 1_000_000
	case "video_seconds":
		return 86_400
	case "characters_reserved_per_url", "max_media_attachments", "max_hashtags":
		return 1000
	}
	return most
}

func (n *Network) each(change func(*FormatRule)) {
	for i := range n.Formats {
		change(&n.Formats[i])
	}
}
