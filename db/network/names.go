package network

import "strings"

// Publisher is the route a network is reached by.
type Publisher string

// The publishers.
const (
	Direct  Publisher = "direct" // the network's own API
	Blotato Publisher = "blotato"
	GHL     Publisher = "ghl"
	Bundle  Publisher = "bundle"
)

// names is the one table of what a network is called where. An empty wire name
// means that the aggregator does not reach the network.
var names = []struct {
	Name                 Name
	Label                string
	Blotato, GHL, Bundle string
	Also                 []string // other words people use, lower case, with _ for spaces
}{
	{Bluesky, "Bluesky", "Bluesky", "Bluesky", "BLUESKY", []string{"bsky", "atproto"}},
	{Discord, "Discord", "", "", "", []string{"discord_webhook"}},
	{Facebook, "Facebook", "Facebook", "Facebook", "FACEBOOK", []string{"fb", "facebook_page"}},
	{GHLBlog, "GoHighLevel blog", "", "", "", []string{"highlevel_blog", "leadconnector_blog"}},
	{GoogleBusiness, "Google Business Profile", "", "Google", "GOOGLE_BUSINESS", []string{"gbp", "gmb", "google_my_business"}},
	{Instagram, "Instagram", "Instagram", "Instagram", "INSTAGRAM", []string{"ig", "insta"}},
	{LinkedIn, "LinkedIn", "LinkedIn", "LinkedIn", "LINKEDIN", []string{"li", "linked_in"}},
	{Mailchimp, "Mailchimp", "", "", "", []string{"newsletter"}},
	{Mastodon, "Mastodon", "", "", "MASTODON", []string{"fediverse"}},
	{Medium, "Medium", "", "", "", []string{"medium_com"}},
	{Pinterest, "Pinterest", "Pinterest", "Pinterest", "PINTEREST", []string{"pin"}},
	{Slack, "Slack", "", "", "", []string{"slack_channel"}},
	{Telegram, "Telegram", "", "", "", []string{"tg"}},
	{Threads, "Threads", "Threads", "Threads", "THREADS", []string{"meta_threads"}},
	{TikTok, "TikTok", "TikTok", "TikTok", "TIKTOK", []string{"tik_tok"}},
	{WordPress, "WordPress", "", "", "", []string{"wp"}},
	{X, "X", "Twitter", "Twitter", "TWITTER", []string{"twitter", "x_twitter", "twitter_x"}},
	{Webhook, "Webhook", "", "", "", []string{"generic_webhook"}},
	{YouTube, "YouTube", "YouTube", "YouTube", "YOUTUBE", []string{"yt"}},
}

// Rumble is a network without an API that the public may use. It would be reached by
// an aggregator that offers it, and none that Herald speaks to does.
const Rumble Name = "rumble"

// Unreached says why nothing can be published to a network that people know; empty
// for every other word.
func Unreached(s string) string {
	if strings.EqualFold(strings.TrimSpace(s), string(Rumble)) {
		return "Rumble has no public API, and none of the publishers that Herald can use offers it"
	}
	return ""
}

// Label is what a screen calls a network. A name that is not in the table is
// its own label.
func Label(name Name) string {
	for _, row := range names {
		if row.Name == name {
			return row.Label
		}
	}
	return string(name)
}

// Parse reads a network's name as people, files and other services write it,
// in any case. It is safe on any input.
func Parse(s string) (Name, bool) {
	if len(s) > 64 {
		return "", false
	}
	s = strings.ToLower(strings.Join(strings.FieldsFunc(s, apart), "_"))
	for _, row := range names {
		if s == string(row.Name) || s == strings.ReplaceAll(strings.ToLower(row.Label), " ", "_") {
			return row.Name, true
		}
		for _, also := range row.Also {
			if s == also {
				return row.Name, true
			}
		}
	}
	return "", false
}

func apart(r rune) bool {
	return r == ' ' || r == '_' || r == '-' || r == '\t' || r == '\n' || r == '\r'
}

// WireName is what the publisher calls the network, and false if it does not
// reach it.
func WireName(name Name, p Publisher) (string, bool) {
	for i, row := range names {
		if row.Name == name {
			wire := wireName(i, p)
			return wire, wire != ""
		}
	}
	return "", false
}

// FromWire reads a publisher's name of a network, in any case.
func FromWire(p Publisher, wire string) (Name, bool) {
	wire = strings.TrimSpace(wire)
	for i, row := range names {
		if w := wireName(i, p); w != "" && strings.EqualFold(w, wire) {
			return row.Name, true
		}
	}
	return "", false
}

func wireName(i int, p Publisher) string {
	switch p {
	case Direct:
		return string(names[i].Name)
	case Blotato:
		return names[i].Blotato
	case GHL:
		return names[i].GHL
	case Bundle:
		return names[i].Bundle
	}
	return ""
}
