package network

import (
	"slices"
	"strconv"
	"strings"
)

// most bounds what a server may say about itself: a host that users choose
// could otherwise lift every limit or make sizes overflow.
const most = 1 << 40

// With returns the network as an account meets it: what its server said about
// its own limits, or a person entered, in the account's settings. Unknown keys
// and values that cannot be are passed over; n itself does not change.
func (n *Network) With(settings map[string]string) *Network {
	own := *n
	own.Formats, own.Options = slices.Clone(n.Formats), slices.Clone(n.Options)
	for i := range own.Options {
		own.Options[i].narrow(settings[own.Options[i].Learned])
	}
	for key, apply := range n.learn {
		v, err := strconv.ParseInt(settings[key], 10, 64)
		if err == nil && v > 0 && v <= n.bound(key) {
			apply(&own, v)
		}
	}
	return &own
}

// narrow leaves those choices that the account has. A list of none that is known
// says nothing.
func (o *Option) narrow(list string) {
	if o.Learned == "" || list == "" {
		return
	}
	has := strings.Split(list, ",")
	left := slices.DeleteFunc(slices.Clone(o.Choices), func(c Choice) bool { return !slices.Contains(has, c.Value) })
	if len(left) > 0 {
		o.Choices = left
	}
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
