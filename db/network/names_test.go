package network

import (
	"slices"
	"strings"
	"testing"
)

func TestAllIsSortedAndEachNameIsFoundAgain(t *testing.T) {
	t.Parallel()
	all := All()
	if !slices.IsSortedFunc(all, func(a, b *Network) int { return strings.Compare(string(a.Name), string(b.Name)) }) {
		t.Error("All is not sorted")
	}
	for _, n := range all {
		if got, ok := Get(n.Name); !ok || got != n {
			t.Errorf("Get(%q) gives %v, %v", n.Name, got, ok)
		}
		for _, s := range []string{string(n.Name), strings.ToUpper(string(n.Name)), n.Label, " " + n.Label + "\n"} {
			if got, ok := Parse(s); !ok || got != n.Name {
				t.Errorf("Parse(%q) gives %q, %v", s, got, ok)
			}
		}
	}
	if _, ok := Get("Facebook"); ok {
		t.Error("Get took a name that is not canonical")
	}
}

func TestWireNamesAreWhatEachAggregatorCallsANetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                         Name
		direct, blotato, ghl, bundle string
	}{
		{Bluesky, "bluesky", "Bluesky", "Bluesky", "BLUESKY"},
		{Discord, "discord", "", "", ""},
		{Facebook, "facebook", "Facebook", "Facebook", "FACEBOOK"},
		{GoogleBusiness, "google_business", "", "Google", "GOOGLE_BUSINESS"},
		{Instagram, "instagram", "Instagram", "Instagram", "INSTAGRAM"},
		{LinkedIn, "linkedin", "LinkedIn", "LinkedIn", "LINKEDIN"},
		{Mailchimp, "mailchimp", "", "", ""},
		{Mastodon, "mastodon", "", "", "MASTODON"},
		{Medium, "medium", "", "", ""},
		{Pinterest, "pinterest", "Pinterest", "Pinterest", "PINTEREST"},
		{Slack, "slack", "", "", ""},
		{Telegram, "telegram", "", "", ""},
		{TikTok, "tiktok", "TikTok", "TikTok", "TIKTOK"},
		{Webhook, "webhook", "", "", ""},
		{Threads, "threads", "Threads", "Threads", "THREADS"},
		{WordPress, "wordpress", "", "", ""},
		{X, "x", "Twitter", "Twitter", "TWITTER"},
		{YouTube, "youtube", "YouTube", "YouTube", "YOUTUBE"},
	} {
		for p, want := range map[Publisher]string{Direct: c.direct, Blotato: c.blotato, GHL: c.ghl, Bundle: c.bundle} {
			got, ok := WireName(c.name, p)
			if got != want || ok != (want != "") {
				t.Errorf("%s at %s: got %q, %v, want %q", c.name, p, got, ok, want)
			}
			if want == "" {
				continue
			}
			for _, wire := range []string{want, strings.ToLower(want), strings.ToUpper(want)} {
				if back, ok := FromWire(p, wire); !ok || back != c.name {
					t.Errorf("%q from %s: got %q, %v", wire, p, back, ok)
				}
			}
		}
	}
}

func TestNamesThatAreNoneAreNotGuessed(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", " ", "face", "facebookk", "myspace", "\xff", strings.Repeat("facebook", 10)} {
		if got, ok := Parse(s); ok {
			t.Errorf("Parse(%q) gives %q", s, got)
		}
		if got, ok := FromWire(Blotato, s); ok {
			t.Errorf("FromWire(%q) gives %q", s, got)
		}
	}
	if got, ok := FromWire("nobody", ""); ok {
		t.Errorf("a publisher that is none gives %q", got)
	}
	if got, ok := FromWire(Blotato, "MASTODON"); ok {
		t.Errorf("Blotato does not reach %q", got)
	}
	if Label("elsewhere") != "elsewhere" {
		t.Error("an unknown name is not its own label")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Facebook")
	f.Add("INSTAGRAM ")
	f.Fuzz(func(t *testing.T, s string) {
		name, ok := Parse(s)
		if _, known := Get(name); ok != known {
			t.Errorf("%q is %q, %v", s, name, ok)
		}
	})
}
