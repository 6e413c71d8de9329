package network

import (
	"testing"
	"time"
)

func TestWhatIsHeldOfANetworksRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on     Name
		format Format
		want   []string
	}{
		{X, FormatText, []string{"100 posts in 15 min", "10,000 posts in 24 h"}}, {Facebook, FormatReel, []string{"30 reels in 24 h"}}, {Facebook, FormatText, nil},
		{YouTube, FormatVideo, []string{"100 posts in 24 h"}}, {GoogleBusiness, FormatText, []string{"10 posts in 60 s"}}, {Instagram, FormatImage, nil}, {Mastodon, FormatText, nil}, {Webhook, FormatText, nil},
	} {
		n, _ := Get(c.on)
		var got []string
		for _, r := range n.Held(c.format) {
			got = append(got, r.Words())
		}
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] || len(got) > 1 && got[1] != c.want[1] {
			t.Errorf("%s %s: %q, want %q", c.on, c.format, got, c.want)
		}
	}
}

// A publisher's bounds are those of the key, whatever it reaches.
func TestWhatIsHeldOfAPublishersRates(t *testing.T) {
	t.Parallel()
	for p, want := range map[Publisher]int{Blotato: 2, Bundle: 3, GHL: 1} {
		n, _ := get(t, Facebook).Via(p)
		list := n.Held(FormatText)
		for _, r := range list {
			if !r.Key || r.App {
				t.Errorf("%s: %+v is not of its key", p, r)
			}
		}
		if len(list) != want {
			t.Errorf("%s holds %v, want %d", p, list, want)
		}
	}
}

// TestQuotasOfTheAppAreCountedWhereTheIndexIs: the count over everybody, when Redis has
// lost it, reads an index that names these networks (migration 0069).
func TestQuotasOfTheAppAreCountedWhereTheIndexIs(t *testing.T) {
	t.Parallel()
	var got []Name
	for _, n := range All() {
		for _, r := range n.Rates {
			if r.Held && r.Per <= 0 || r.Held && r.Per > 24*time.Hour {
				t.Errorf("%s is held over %v", n.Name, r.Per)
			}
			if r.Held && r.App {
				got = append(got, n.Name)
			}
		}
	}
	if len(got) != 2 || got[0] != X || got[1] != YouTube {
		t.Errorf("quotas of the app: %v, and the index has x and youtube", got)
	}
}
